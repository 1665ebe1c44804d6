"""`--no-excerpt` for every format: nothing that a row, a prompt or a diff says gets through."""

from __future__ import annotations

import pytest

from doctor.findings import AppliedFix, Interval, Report, Safety
from doctor.output.privacy import hide_contents
from doctor.output.reporters import FORMATS
from doctor.repair.replacements import Replacement
from tests.output.reports import write
from tests.output.samples import FIX, file_report, fix_report, shadowed

SECRET = "hunter2"


def secretive() -> Report:
    """The secret stands wherever contents may stand."""
    quoted = f"«{SECRET}»"
    row = shadowed().related[0]._replace(text=SECRET, label=f"the prompt {quoted}")
    fix = FIX._replace(title=f"put {quoted} back", missing=(quoted,), replacements=(Replacement(0, 1, SECRET.encode(), (0, 1)),))
    found = shadowed(
        message=f"the turn {quoted} is missing", why=quoted, related=(row,), fix=fix, intervals=(Interval(SECRET, 0, 1, "", "", quoted),)
    )
    applied = AppliedFix("AD504", f"put {quoted} back", Safety.SAFE, 1, "", missing=(quoted,))
    done = fix_report(applied=(applied,), held_back=(applied,), before=(found,), diff=f"-{SECRET}").files[0].fix
    return Report((file_report(found, accepted=(found,), fix=done), file_report(found, accepted=(found,))))


@pytest.mark.parametrize("format", FORMATS)
def test_no_contents(format: str) -> None:
    report = secretive()
    hidden = Report(tuple(map(hide_contents, report.files)))
    text = write(format, hidden, command="fix", show_diff=True, excerpt=False)
    assert SECRET not in text
    assert SECRET in write(format, report, command="fix", show_diff=True), "the test would not notice"


def test_all_else_stays() -> None:
    found = secretive().files[0].diagnostics[0]
    hidden = hide_contents(secretive().files[0]).diagnostics[0]
    assert hidden.message == "the turn «…» is missing" and hidden.fix is not None and hidden.fix.title == "put «…» back"
    assert (hidden.code, hidden.line, hidden.ids, hidden.related[0].line) == (found.code, found.line, found.ids, found.related[0].line)
