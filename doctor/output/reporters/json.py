"""One JSON object: the numbers first, then the files. What comes in is spooled, because the numbers are known at the end."""

from __future__ import annotations

from doctor.findings import Failure, FileReport
from doctor.output.documents import build_failure, build_file, build_run, build_summary, write_json
from doctor.output.reporters import Reporter
from doctor.output.spool import Spool
from doctor.output.summary import Totals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Json(Reporter):
    """Indented JSON, pure ASCII where the stream can't take more."""

    def begin(self) -> None:
        self.files = Spool(self.open_spool(), ",\n")
        self.errors = Spool(self.open_spool(), ",\n")

    def add(self, file: FileReport) -> None:
        self._put(self.files, build_file(file, self.options))

    def fail(self, failure: Failure) -> None:
        self._put(self.errors, build_failure(failure))

    def finish(self, totals: Totals) -> None:
        head = write_json({**build_run(self.options), "summary": build_summary(totals)}, self.stream, "")
        self.stream.write(head.removesuffix("\n}"))
        for name, spool in (("files", self.files), ("errors", self.errors)):
            self.stream.write(f',\n  "{name}": [')
            if not spool.is_empty:
                self.stream.write("\n")
                spool.copy(self.stream)
                self.stream.write("\n  ")
            self.stream.write("]")
        self.stream.write("\n}\n")

    def _put(self, spool: Spool, value: Any) -> None:
        spool.add("    " + write_json(value, self.stream, "    "))


REPORTER = Json
