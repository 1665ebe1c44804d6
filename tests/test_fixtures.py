"""Every fixture folder: what is reported, what the fixed file is, and that fixing twice changes nothing.

A case is a folder with `about.txt`, `input/` (the files as found on disk, one session or several below it; a transcript is called
`transcript.jsonl`, a chat log `chat.jsonl` or `chat.json`, and a database is there as the statements that make it), `expected.txt` (all
findings, one a line), and, where they say something, `fixed/` and `expected.fixed.txt` (after the safe fixes), `fixed-unsafe/` and
`expected.unsafe.txt` (after `--unsafe`). An absent file is a statement too: nothing changes, nothing is found. `pytest --update` writes
them; read the diff.
"""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from doctor import check, fix
from doctor.analysis.engine import diagnose, judge
from doctor.analysis.registry import load_rules
from doctor.analysis.targets import aim_session
from doctor.findings import Diagnostic, Safety
from doctor.repair.planner import plan_fix
from doctor.sources.session import read_session
from doctor.sources.walking import find_transcripts as find_targets
from tests.support.cases import NOW, build_database, find_hidden

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = sorted(path.parent for path in FIXTURES.glob("*/about.txt"))
RULES = load_rules()


def find_transcripts(case: Path, folder: Path) -> tuple[Path, list[str]]:
    """(root, targets). Databases are made from their statements (`.sql`) in a copy of the case."""
    root = case / "input"
    if any(root.rglob("*.sql")):
        root = Path(copytree(root, folder / "input"))
        for statements in root.rglob("*.sql"):
            build_database(statements.with_suffix(".db"), statements.read_text())
            statements.unlink()
    found = sorted(path for name in ("transcript.jsonl", "chat.jsonl", "chat.json") for path in root.rglob(name))
    return root, find_targets(str(root)) if "opencode" in case.name else [str(path) for path in found]


def describe(found: Diagnostic, root: Path) -> str:
    """One line: where, code, severity, message, and what the fix would do."""
    place = Path(found.path).relative_to(root).as_posix()
    doubt = "" if found.confidence == "confirmed" else " (possible)"
    fix = f" [{found.fix.safety.name.lower()}: {found.fix.title}]" if found.fix is not None else ""
    return f"{place}:{found.line}: {found.code} {found.severity}{doubt} {found.message}{fix}"


def check_text(path: Path, lines: list[str], update: bool) -> None:
    text = "".join(line + "\n" for line in lines)
    if update:
        path.write_text(text) if text else path.unlink(missing_ok=True)
    assert text == (path.read_text() if path.exists() else "")


def check_bytes(path: Path, data: bytes | None, update: bool) -> None:
    if update and data is None:
        path.unlink(missing_ok=True)
    elif update and data is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert data == (path.read_bytes() if path.exists() else None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_reports_what_is_expected(case: Path, update: bool, tmp_path: Path) -> None:
    lines = []
    root, targets = find_transcripts(case, tmp_path)
    for target in targets:
        diagnosis = diagnose(read_session(target, now=NOW), RULES)
        assert not diagnosis.failures
        lines += [describe(found, root) for found in diagnosis.diagnostics]
    check_text(case / "expected.txt", lines, update)
    assert (case / "about.txt").read_text().strip()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rules_that_are_passed_over_would_find_nothing(case: Path, tmp_path: Path) -> None:
    for target in find_transcripts(case, tmp_path)[1]:
        session = read_session(target, now=NOW)
        aim_session(session)
        assert find_hidden(session, RULES) == []


@pytest.mark.parametrize("safety", [Safety.SAFE, Safety.UNSAFE], ids=lambda safety: safety.name.lower())
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_is_fixed_as_expected(case: Path, safety: Safety, update: bool, tmp_path: Path) -> None:
    fixed, left = ("fixed", "expected.fixed.txt") if safety is Safety.SAFE else ("fixed-unsafe", "expected.unsafe.txt")
    lines = []
    root, targets = find_transcripts(case, tmp_path)
    for target in targets:
        session = read_session(target, now=NOW)
        plan = plan_fix(session, RULES, safety)
        assert plan.failure is None
        data = plan.source.read(0, plan.source.size) if plan.changed else None
        check_bytes(case / fixed / Path(target).relative_to(root), data, update)
        lines += [describe(found, root) for found in plan.after.diagnostics]
        if plan.changed:
            again = plan_fix(plan.after_session, RULES, safety)
            assert again.failure is None and not again.changed
    check_text(case / left, lines, update)


def test_every_rule_is_seen_in_a_fixture() -> None:
    seen = "".join((case / "expected.txt").read_text() for case in CASES if (case / "expected.txt").exists())
    missing = [rule.code for rule in RULES if f": {rule.code} " not in seen]
    assert missing == []


def test_healthy_cases_have_no_finding_above_info() -> None:
    healthy = [case for case in CASES if case.name.startswith("ok-") or "Healthy" in (case / "about.txt").read_text()]
    assert len(healthy) >= 20
    for case in healthy:
        text = (case / "expected.txt").read_text() if (case / "expected.txt").exists() else ""
        assert " error " not in text and " warning " not in text, case.name


def test_verdicts_are_as_listed_and_what_a_fix_makes_true(update: bool, tmp_path: Path) -> None:
    """`fixtures/verdicts.txt` has one line a session: before, and after the safe fixes where they change something.

    "After a fix" is a promise: a fix, an unsafe one at the utmost, must then leave a session that can be resumed; and one that a safe fix
    makes resumable must not be called lost before.
    """
    lines = []
    for case in CASES:
        root, targets = find_transcripts(case, tmp_path / case.name)
        for target in targets:
            session = read_session(target, now=NOW)
            plans = [plan_fix(session, RULES, safety) for safety in (Safety.SAFE, Safety.UNSAFE)]
            before = judge(session, plans[0].before.diagnostics)
            safe, unsafe = (judge(plan.after_session, plan.after.diagnostics) for plan in plans)
            name = f"{case.name}/{Path(target).relative_to(root).as_posix()}"
            lines.append(f"{name}: {before}" + (f" -> {safe}" if plans[0].changed else ""))
            assert before != "after-fix" or "resumable" in (safe, unsafe), name
            assert not plans[0].changed or safe != "resumable" or before in ("after-fix", "resumable"), name
    check_text(FIXTURES / "verdicts.txt", lines, update)


@pytest.mark.parametrize("case", [case for case in CASES if case.name.startswith("notclean-")], ids=lambda case: case.name)
def test_no_case_that_another_repair_leaves_broken_is_still_broken(case: Path, tmp_path: Path) -> None:
    """Written to a file and read anew. Numeric ids and calls in another spelling are edits inside a row: safe fixes leave those alone."""
    path = Path(copytree(case / "input", tmp_path / "input")) / "transcript.jsonl"
    recorded = sorted(path.read_bytes().splitlines())
    for unsafe in (False, True):
        (file,) = fix(path, dry_run=False, unsafe=unsafe, now=NOW, environment={}).files
        assert file.verdict == "resumable" or (case.name, unsafe) == ("notclean-numeric-id", False)
        if not unsafe:
            assert set(recorded) <= set(path.read_bytes().splitlines())
    (file,) = check(path, now=NOW, environment={}).files
    assert [found.code for found in file.diagnostics if found.severity in ("error", "warning")] == []
    assert file.verdict == "resumable" and {wire.answer for wire in file.wires} == {"accepted"}


def test_the_cases_that_another_repair_leaves_broken_are_all_there() -> None:
    assert len([case for case in CASES if case.name.startswith("notclean-")]) == 7
