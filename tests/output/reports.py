"""Reports that every format has to get through, and texts that try to be more than text."""

from __future__ import annotations

import io
from typing import Any

from doctor.findings import Failure, Report, Safety, Severity
from doctor.output.options import Options
from doctor.output.reporters import write_report
from doctor.repair.replacements import Replacement
from tests.output.hostile import TEXTS
from tests.output.samples import EVENTS, FIX, PATH, clean_file, failure, file_report, fix_report, overlapping, seed_report, shadowed

MORE_TEXTS = (
    *TEXTS,
    "a\r\n::error file=x,line=1::injected",
    "%0A::add-mask::x %25 100%",
    "##[set-env name=PATH]x ::stop-commands::x",
    "a,b:c,title=x::y",
    "|---|\n# heading\n* [link](javascript:alert(1)) ![i](http://e/x.png) <details> `code` ~~x~~ www.example.com @everyone #12",
    "[words](1) {0} {{1}}",
    "\ufffe\uffff\ud83d \U0001f600 \x85 \u2028",
)


def hostile_report() -> Report:
    """Every text of a report is hostile, its paths and ids too."""
    files = []
    for number, text in enumerate(MORE_TEXTS):
        row = shadowed().related[0]._replace(path=text, role=text, text=text, label=text)
        fix = FIX._replace(title=text, replacements=(Replacement(0, 3, text.encode("utf-8", "surrogatepass"), (0, 1)),))
        found = shadowed(message=text, path=text, ids=(text,), why=text, fix=fix, related=(row,), wires=(("anthropic", text),))
        files.append(file_report(found, path=f"{number}{text}", session_id=text, liveness=text, accepted=(found,)))
    return Report(tuple(files), tuple(Failure(text, "unreadable", text) for text in MORE_TEXTS))


def many(count: int, severity: Severity = Severity.ERROR) -> Report:
    """One session with one finding each."""
    return Report(
        tuple(file_report(shadowed(severity=severity, path=f"/srv/s/{one}", line=one + 1), path=f"/srv/s/{one}") for one in range(count))
    )


def spelled_report() -> Report:
    """Fixes as bytes: whole lines, a piece of one, and bytes that are no text."""
    whole = Replacement(10, 20, b'{"a": "\xc3\xa4"}\n', (1, 3))
    piece = Replacement(2, 3, b"", None)
    binary = Replacement(10, 20, b"\xff\xfe\n", (1, 3))
    fixes = [FIX._replace(replacements=(one,)) for one in (whole, piece, binary)]
    fixes.append(FIX._replace(safety=Safety.UNSAFE, replacements=(whole, piece)))
    return Report((file_report(*(shadowed(fix=fix) for fix in fixes)),))


CASES: dict[str, tuple[Report, dict[str, Any]]] = {
    "seed": (seed_report(), {}),
    "clean": (Report((clean_file(),)), {}),
    "nothing": (Report((), (failure(),)), {}),
    "accepted": (Report((file_report(accepted=(shadowed(), overlapping()), verdict="resumable"),)), {}),
    "session as a whole": (Report((file_report(shadowed(line=0, related=())),)), {}),
    "fix": (fix_report(), {"command": "fix"}),
    "diff": (fix_report(diff="--- a\n+++ b\n"), {"command": "fix", "dry_run": True, "show_diff": True}),
    "spelled": (spelled_report(), {}),
    "folder": (seed_report(), {"folder": "/srv"}),
    "hostile": (hostile_report(), {"folder": "/srv"}),
    "many": (many(60), {}),
}
__all__ = ["CASES", "EVENTS", "MORE_TEXTS", "PATH", "hostile_report", "many", "spelled_report", "write"]


def write(name: str, report: Report, **options: Any) -> str:
    stream = io.StringIO()
    write_report(name, report, stream, Options(**options))
    return stream.getvalue()
