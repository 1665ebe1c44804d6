"""The one exception that the doctor raises on purpose: a job that can't be done, said in one line."""

from __future__ import annotations


class DoctorError(Exception):
    """`kind` as in doctor.findings.Failure; `message` says what, where, and what to do, in one line. Exit code 2."""

    def __init__(self, kind: str, message: str, path: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        """Exceptions come back from other processes by what they were made with."""
        return DoctorError, (self.kind, self.message, self.path)
