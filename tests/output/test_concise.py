from __future__ import annotations

import io

from doctor.findings import Confidence, Report, Severity
from doctor.output.options import Options
from doctor.output.reporters import write_report
from tests.output.samples import EVENTS, PATH, clean_file, file_report, fix_report, seed_report, shadowed


def write(report: Report, **options: object) -> str:
    stream = io.StringIO()
    write_report("concise", report, stream, Options(**options))
    return stream.getvalue()


def test_one_line_a_finding() -> None:
    assert write(seed_report()).splitlines() == [
        f"{PATH}:5:1: AD305 error the real result of todo (toolu_015c…c976) stands six rows too late [safe fix]",
        f"{PATH}:6:1: AD305 error the real result of delegate (toolu_01d2…d9ff) stands six rows too late [safe fix]",
        f"{EVENTS}:32:1: AD501 error two executions ran on this session at the same time",
    ]


def test_a_clean_file_says_nothing() -> None:
    assert write(Report((clean_file(),))) == ""


def test_the_session_as_a_whole_is_line_0() -> None:
    found = shadowed(line=0, column=1, fix=None, confidence=Confidence.POSSIBLE, severity=Severity.WARNING, message="odd")
    assert write(Report((file_report(found),))) == f"{PATH}:0:0: AD305 warning odd [possible]\n"


def test_a_name_with_a_line_end_stays_on_its_line() -> None:
    assert write(Report((file_report(shadowed(path="a\nb\x1b[2J", message="x\ny")),))).count("\n") == 1


def test_fixes_are_listed_first() -> None:
    lines = write(fix_report(), command="fix").splitlines()
    assert lines[0].startswith(f"{PATH}: fixed AD305 ")
    assert lines[2].startswith(f"{PATH}: held back AD302 ") and lines[2].endswith("[unsafe]")
    assert write(fix_report(), command="fix", dry_run=True).startswith(f"{PATH}: would fix AD305 ")


def test_statistics_come_last() -> None:
    assert write(seed_report(), statistics=True).splitlines()[-1].startswith("1  AD501")
