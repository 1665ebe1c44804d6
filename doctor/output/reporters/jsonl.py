"""One JSON object a line, as soon as it is known: for streams over many sessions. `type` says what a line is.

`run` comes first and `summary` last; without the last one the run was cut short. Each `file` comes before its `finding`s.
"""

from __future__ import annotations

from doctor.findings import Failure, FileReport
from doctor.output.documents import build_failure, build_file, build_run, build_summary, write_json
from doctor.output.reporters import Reporter
from doctor.output.summary import Totals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class JsonLines(Reporter):
    """The objects of the JSON report, taken apart."""

    def begin(self) -> None:
        self._put("run", build_run(self.options))

    def add(self, file: FileReport) -> None:
        whole = build_file(file, self.options)
        findings = {"finding": whole.pop("diagnostics"), "accepted": whole.pop("accepted")}
        self._put("file", whole | {"findings": len(file.diagnostics)})
        for kind, rows in findings.items():
            for row in rows:
                self._put(kind, {"transcript": file.path, "session_id": file.session_id, **row})
        # Whoever reads along waits for this file, not for a full buffer.
        self.stream.flush()

    def fail(self, failure: Failure) -> None:
        self._put("failure", build_failure(failure))
        self.stream.flush()

    def finish(self, totals: Totals) -> None:
        self._put("summary", build_summary(totals))

    def _put(self, kind: str, row: dict[str, Any]) -> None:
        self.stream.write(write_json({"type": kind, **row}, self.stream) + "\n")


REPORTER = JsonLines
