from __future__ import annotations

import pytest

from doctor.findings import Report, Safety, Severity
from doctor.output.statistics import list_statistics
from doctor.output.summary import choose_exit_code, total
from tests.output.samples import FIX, clean_file, failure, file_report, fix_report, seed_report, shadowed

ERROR = file_report(shadowed())
WARNING = file_report(shadowed(severity=Severity.WARNING), verdict="resumable")
INFO = file_report(shadowed(severity=Severity.INFO), verdict="resumable")


@pytest.mark.parametrize(
    ("files", "fail_on", "code"),
    [
        ((), Severity.WARNING, 0),
        ((clean_file(),), Severity.INFO, 0),
        ((INFO,), Severity.WARNING, 0),
        ((INFO,), Severity.INFO, 1),
        ((WARNING,), Severity.WARNING, 1),
        ((WARNING,), Severity.ERROR, 0),
        ((clean_file(), ERROR), Severity.ERROR, 1),
    ],
)
def test_findings_at_or_above_the_threshold_are_1(files: tuple, fail_on: Severity, code: int) -> None:
    assert choose_exit_code(total(Report(files)), fail_on=fail_on) == code


def test_a_job_that_could_not_be_done_wins() -> None:
    assert choose_exit_code(total(Report((ERROR,), (failure(),)))) == 2
    assert choose_exit_code(total(Report((), (failure(),))), exit_zero=True) == 2


def test_exit_zero_hides_findings() -> None:
    assert choose_exit_code(total(Report((ERROR,))), exit_zero=True) == 0


def test_a_pending_change_is_1() -> None:
    report = fix_report()
    assert choose_exit_code(total(report)) == 0
    assert choose_exit_code(total(report), pending=True) == 1
    assert choose_exit_code(total(fix_report(changed=False)), pending=True) == 0


def test_counts() -> None:
    report = Report((*seed_report().files, clean_file(), INFO))
    totals = total(report)
    assert (totals.files, totals.clean) == (3, 2)
    assert (totals.errors, totals.warnings, totals.infos) == (3, 0, 1)
    assert (totals.safe_fixes, totals.unsafe_fixes) == (3, 0)
    assert totals.verdicts == {"after-fix": 1, "resumable": 2}
    assert [(entry.code, entry.count, entry.files) for entry in totals.list_codes()] == [("AD305", 3, 2), ("AD501", 1, 1)]


def test_unsafe_fixes_are_counted_apart() -> None:
    unsafe = shadowed(fix=FIX._replace(safety=Safety.UNSAFE))
    totals = total(Report((file_report(unsafe),)))
    assert (totals.safe_fixes, totals.unsafe_fixes) == (0, 1)


def test_statistics_are_one_line_a_code() -> None:
    lines = list_statistics(total(seed_report()))
    assert [line.split()[:4] for line in lines] == [
        ["2", "AD305", "error", "placeholder-shadows-result"],
        ["1", "AD501", "error", "overlapping-executions"],
    ]
    assert list_statistics(total(Report(()))) == []
