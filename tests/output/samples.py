"""Reports made by hand: one session on which two executions overlapped, as rules are expected to describe it."""

from __future__ import annotations

from doctor.findings import (
    AppliedFix,
    Confidence,
    Diagnostic,
    Excerpt,
    Failure,
    FileReport,
    Fix,
    FixReport,
    Interval,
    Report,
    Safety,
    Severity,
)

FOLDER = "/srv/sessions/7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0"
PATH = f"{FOLDER}/transcript.jsonl"
EVENTS = f"{FOLDER}/events.jsonl"
TODO = "toolu_015c526dff054b41cc80c976"
DELEGATE = "toolu_01d2db9e62f64841a2b5d9ff"

ROWS = (
    Excerpt(PATH, 4, "assistant", "calls todo toolu_015c…c976, delegate toolu_01d2…d9ff", "", False),
    Excerpt(
        PATH,
        5,
        "tool",
        '↳ todo  {"error": "unknown_error", "message": "Tool execution was interrupted and no result was…',
        "placeholder",
        True,
    ),
    Excerpt(PATH, 9, "assistant", "calls bash toolu_0179…7be2", "foreign turn", False),
    Excerpt(PATH, 10, "tool", '↳ bash  {"error": null, "output": {"returncode": 0, "stderr": "", "stdout": "quick\\n"}, "succ…', "", False),
    Excerpt(
        PATH,
        11,
        "tool",
        '↳ todo  {"error": null, "output": {"count": 1, "status": "updated", "todos": [{"content": "del…',
        "the real result",
        False,
    ),
)
INTERVALS = (
    Interval(
        "Do the slow work with a delegate.",
        16,
        47,
        "2026-11-29T12:18:01.238223361+00:00",
        "2026-11-29T12:18:07.842434303+00:00",
        "ended in error",
    ),
    Interval("Are you there? Run something quick.", 31, 52, "2026-11-29T12:18:02.984302831+00:00", "2026-11-29T12:18:10.270958765+00:00"),
)
FIX = Fix("row 11 takes the place of row 5; row 5 is kept in the quarantine", Safety.SAFE, quarantined=(4,))


def shadowed(**changes: object) -> Diagnostic:
    """A placeholder that stands where the real result belongs."""
    base = Diagnostic(
        code="AD305",
        name="placeholder-shadows-result",
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED,
        message="the real result of todo (toolu_015c…c976) stands six rows too late",
        path=PATH,
        line=5,
        column=1,
        byte_offset=1403,
        ids=(TODO,),
        related=ROWS,
        fix=FIX,
        why="two executions ran on this session (AD501); a repair wrote row 5 while the call was still running (AD507)",
    )
    return base._replace(**changes)


def overlapping(**changes: object) -> Diagnostic:
    """Two executions at the same time, proved by the event log."""
    base = Diagnostic(
        code="AD501",
        name="overlapping-executions",
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED,
        message="two executions ran on this session at the same time",
        path=EVENTS,
        line=32,
        column=1,
        byte_offset=0,
        ids=(),
        related=(),
        fix=None,
        why="line 43: delegate finished, whose call (27) is older than the second start (32)",
        intervals=INTERVALS,
    )
    return base._replace(**changes)


def file_report(*diagnostics: Diagnostic, path: str = PATH, verdict: str = "after-fix", **changes: object) -> FileReport:
    base = FileReport(path, "amplifier", "7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0", verdict, 13, diagnostics, EVENTS, 61)
    return base._replace(**changes)


def seed_report() -> Report:
    """The session as a whole: two placeholders with their real results further down, and the overlap that explains them."""
    delegate = shadowed(
        line=6,
        message="the real result of delegate (toolu_01d2…d9ff) stands six rows too late",
        ids=(DELEGATE,),
        related=(),
        byte_offset=1571,
        fix=FIX._replace(title="row 12 takes the place of row 6; row 6 is kept in the quarantine"),
    )
    return Report((file_report(shadowed(), delegate, overlapping()),))


def clean_file(path: str = "/srv/sessions/a/transcript.jsonl") -> FileReport:
    return FileReport(path, "amplifier", "a", "resumable", 10, ())


def fix_report(**changes: object) -> Report:
    """The same session after its fix."""
    applied = (
        AppliedFix("AD305", FIX.title, Safety.SAFE, 1, ""),
        AppliedFix("AD301", "insert a result for bash (toolu_0179…7be2) behind row 9", Safety.SAFE, 1, "events.jsonl:39"),
    )
    held_back = (AppliedFix("AD302", "take out row 14, which answers no call", Safety.UNSAFE, 2, ""),)
    done = FixReport(
        applied, held_back, True, PATH, PATH + ".bak-doctor-20261129T121900000000Z", PATH + ".receipt.json", PATH + ".quarantine.jsonl",
        before=(shadowed(),),
    )._replace(**changes)  # fmt: skip
    info = overlapping(severity=Severity.INFO)
    return Report((file_report(info, verdict="resumable", fix=done),))


def failure() -> Failure:
    return Failure(
        "/srv/sessions/b/transcript.jsonl", "unreadable", "can't read /srv/sessions/b/transcript.jsonl: no permission to read it"
    )
