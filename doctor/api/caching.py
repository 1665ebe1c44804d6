"""Remembers what was said about sessions, so that a corpus that did not change costs little more than hashing it.

What makes a remembered verdict stay true:

* The key is a hash of every byte that a check of the session can read (`sources.fingerprints`), of the doctor's own code, of the
  interpreter and the parser, and of all options. What is said follows from these alone, with the exceptions below.
* Whether somebody is in a session follows from locks, processes and the clock. So a session that is live, that has an execution without an
  end, or that calls itself in progress is never remembered; and before a remembered verdict is used, locks and writers are looked at anew.
* What is said about sessions that a delegate offers follows from other sessions. Their states are remembered too, and compared.
* Nothing is remembered of a check that failed, or of a session whose files changed between hashing and checking.

The store is one SQLite file: entries come and go in transactions, many runs may share it, and a million sessions are no million files. It
is read with an unpickler that knows the doctor's own report types and nothing else: a store that somebody else wrote can lie but not act.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from zlib import crc32

from doctor import __version__
from doctor.errors import DoctorError
from doctor.findings import FileReport
from doctor.model import Sibling
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "verdicts-1.sqlite"
"""The number changes when the table does."""
MOST_BYTES = 256_000_000
"""About 200,000 sessions. Above it the entries that were not used for longest go."""
SECONDS_A_DAY = 86_400
BATCH = 512
WIRES = FileReport._fields.index("wires")
MOST_ANSWERS = 1_000
BUSY_SECONDS = 5.0
TABLE = "CREATE TABLE IF NOT EXISTS verdicts (key BLOB PRIMARY KEY, used INTEGER NOT NULL, sum INTEGER NOT NULL, report BLOB NOT NULL)"
KNOWN = {
    "doctor.findings": frozenset(("FileReport", "Diagnostic", "Severity", "Confidence", "Safety", "Fix", "Excerpt", "Interval")),
    "doctor.refusals": frozenset(("WireVerdict", "Violation")),
    "doctor.repair.replacements": frozenset(("Replacement",)),
    "doctor.model": frozenset(("Sibling",)),
}
"""The types that a report is made of. All are plain data."""


class Entry(Record):
    """`siblings`: what was found of other sessions, by id."""

    file: FileReport
    siblings: tuple[tuple[str, Sibling], ...] = ()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in KNOWN.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a report")
        return super().find_class(module, name)


def choose_cache(folder: str | None, environment: Mapping[str, str]) -> str:
    """`folder` where one is named ("" for no cache); else the usual one, and none where that can't be written to: nobody asked for it.

    Raises DoctorError: `$AMPLIFIER_DOCTOR_CACHE` names one that can't be used.
    """
    if folder is not None:
        return folder
    usual = locate_cache(environment)
    if usual and not environment.get("AMPLIFIER_DOCTOR_CACHE"):
        try:
            Cache(usual).prepare()
        except DoctorError:
            return ""
    return usual


def locate_cache(environment: Mapping[str, str]) -> str:
    """The folder of the cache: `$AMPLIFIER_DOCTOR_CACHE`, else below the user's cache folder; "" where there is neither."""
    named = environment.get("AMPLIFIER_DOCTOR_CACHE")
    if named:
        return named
    base = environment.get("XDG_CACHE_HOME")
    if not base:
        home = environment.get("HOME") or environment.get("USERPROFILE")
        base = os.path.join(home, ".cache") if home else ""
    return os.path.join(base, "amplifier-doctor") if base else ""


def write_salt(program: bytes, order: Any) -> bytes:
    """What a key holds beside a session's bytes. `order`: all options, as something whose repr tells them apart."""
    import orjson

    return repr((__version__, program, sys.version, orjson.__version__, order)).encode("utf-8", "surrogateescape")


class Cache:
    """The store of one folder, opened at the first use. Whatever goes wrong with it makes it forget, and never stops a check."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, FILE)
        self._connection: Any = None
        self._is_broken = False
        self._added: list[tuple[bytes, int, int, bytes]] = []
        self._used: list[tuple[int, bytes]] = []
        self._wires: dict[bytes, tuple[Any, ...]] = {}

    def prepare(self) -> None:
        """Makes the folder and the table. Raises DoctorError: it can't be made, or written to."""
        folder, reason = os.path.dirname(self.path), ""
        try:
            # Reports quote rows: what they say is nobody else's business.
            os.makedirs(folder, mode=0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            reason = error.strerror or str(error)
        if reason:
            raise DoctorError("usage", f"can't keep a cache in {folder}: {reason}; name another with --cache-dir, or use --no-cache")
        self._try(lambda connection: None)
        self.close()

    def find(self, key: bytes) -> tuple[Entry, int] | None:
        """The entry of a key, and the day on which it was used last."""
        row = self._try(_select, key)
        if row is None or crc32(row[2]) != row[1]:
            return None
        with suppress(Exception):
            file, wires, siblings = _load(row[2])
            if file.__class__ is FileReport:
                # Nearly all sessions have the same answers: they are unpacked once.
                answers = self._wires.get(wires)
                if answers is None:
                    answers = _load(wires)
                    if len(self._wires) < MOST_ANSWERS:
                        self._wires[wires] = answers
                return Entry(FileReport(*file[:WIRES], answers, *file[WIRES + 1 :]), siblings), row[0]
        return None

    def add(self, key: bytes, entry: Entry, day: int) -> None:
        """Written with others, or by `close`."""
        wires = pickle.dumps(entry.file.wires, protocol=pickle.HIGHEST_PROTOCOL)
        report = pickle.dumps((entry.file._replace(wires=()), wires, entry.siblings), protocol=pickle.HIGHEST_PROTOCOL)
        self._added.append((key, day, crc32(report), report))
        if len(self._added) >= BATCH:
            self._write()

    def touch(self, key: bytes, day: int) -> None:
        """Notes that an entry was used."""
        self._used.append((day, key))
        if len(self._used) >= BATCH:
            self._write()

    def note(self, key: bytes, entry: Entry | None, day: int) -> None:
        """Adds an entry, or notes that the one of this key was used."""
        if entry is not None:
            self.add(key, entry, day)
        else:
            self.touch(key, day)

    def close(self) -> None:
        """Writes what is left to write, and makes the store small again where it grew too large."""
        if self._added or self._used:
            self._write()
            self._try(_shrink)
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        # What a checker remembers with is a part of a plain function, and nobody tells that the run is over. It wrote nothing.
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()

    def _write(self) -> None:
        added, used = self._added, self._used
        self._added, self._used = [], []

        def write(connection: Any) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", added)
                connection.executemany("UPDATE verdicts SET used = ? WHERE key = ?", used)

        self._try(write)

    def _try(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """What the action returns; None once the store is of no use. A damaged one is thrown away: the next run begins anew."""
        if self._is_broken:
            return None
        import sqlite3

        try:
            if self._connection is None:
                self._connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
                # A power cut may cost the cache, but no run has to wait for the disk.
                self._connection.execute("PRAGMA synchronous = OFF")
                self._connection.execute(TABLE)
            return action(self._connection, *arguments)
        except sqlite3.OperationalError:
            # Locked for long, on a full disk, or where files can't be locked.
            self._is_broken = True
        except sqlite3.Error:
            self._is_broken = True
            with suppress(OSError):
                os.unlink(self.path)
        return None


def _load(data: bytes) -> Any:
    """Raises an error of any kind for bytes that are no report."""
    return _Unpickler(io.BytesIO(data)).load()


def _select(connection: Any, key: bytes) -> tuple[int, int, bytes] | None:
    # All rows are fetched, of which there is one at most: a statement that is not done would hold its lock.
    rows = connection.execute("SELECT used, sum, report FROM verdicts WHERE key = ?", (key,)).fetchall()
    return rows[0] if rows else None


def _shrink(connection: Any) -> None:
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    if pages * size <= MOST_BYTES:
        return
    with connection:
        connection.execute(
            "DELETE FROM verdicts WHERE key IN (SELECT key FROM verdicts ORDER BY used LIMIT (SELECT COUNT(*) / 2 FROM verdicts))"
        )
    connection.execute("VACUUM")
