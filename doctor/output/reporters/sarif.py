"""SARIF 2.1.0, the OASIS standard that code scanning reads: rules from the rules themselves, places, fingerprints, fixes, suppressions.

Results are spooled, because the rules that they name stand before them. No contents of rows are in it but in fixes, and those only with
excerpts.
"""

from __future__ import annotations

from doctor.findings import AppliedFix, Failure, FileReport
from doctor.fingerprints import fingerprint_all
from doctor.output import sarif
from doctor.output.documents import write_json
from doctor.output.reporters import Reporter
from doctor.output.spool import Spool
from doctor.output.summary import Totals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Sarif(Reporter):
    """One run. A finding is a result; what could not be judged, and what `fix` did, are notifications of the tool."""

    def begin(self) -> None:
        self.results = Spool(self.open_spool(), ",\n")
        self.notifications = Spool(self.open_spool(), ",\n")
        self.rules: dict[str, int] = {}
        """Index of each rule, in the order in which they come up."""

    def add(self, file: FileReport) -> None:
        for listed, is_accepted in ((file.diagnostics, False), (file.accepted, True)):
            for found, mark in zip(listed, fingerprint_all(listed), strict=True):
                result = sarif.build_result(found, mark, self._find_rule(found.code), file.path, self.options)
                if is_accepted:
                    result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": "accepted by the baseline"}]
                self._put(self.results, result)
        for fix in file.fix.applied if file.fix is not None and file.fix.changed else ():
            self._put(self.notifications, self._build_done(file, fix))

    def fail(self, failure: Failure) -> None:
        self._put(self.notifications, sarif.build_failure(failure, self.options))

    def finish(self, totals: Totals) -> None:
        head, tail = sarif.build_frame(tuple(self.rules), totals, self.options)
        self.stream.write(write_json(head, self.stream).removesuffix("}") + ', "runs": [{')
        self.stream.write('"results": ')
        self._copy(self.results)
        self.stream.write(', "invocations": [' + write_json(tail["invocation"], self.stream).removesuffix("}"))
        self.stream.write(', "toolExecutionNotifications": ')
        self._copy(self.notifications)
        self.stream.write("}], " + write_json(tail["run"], self.stream).removeprefix("{") + "]}\n")

    def _find_rule(self, code: str) -> int:
        return self.rules.setdefault(code, len(self.rules))

    def _build_done(self, file: FileReport, fix: AppliedFix) -> dict[str, Any]:
        verb = "would apply" if self.options.dry_run else "applied"
        rule = {"id": fix.code, "index": self._find_rule(fix.code)}
        return sarif.build_notification("note", f"{verb} {fix.code}: {fix.title}", file.path, self.options) | {"associatedRule": rule}

    def _put(self, spool: Spool, value: Any) -> None:
        spool.add(write_json(value, self.stream))

    def _copy(self, spool: Spool) -> None:
        self.stream.write("[\n")
        spool.copy(self.stream)
        self.stream.write("\n]")


REPORTER = Sarif
