"""For reading: each file with its findings drawn as small conversations, then the verdict and the next command.

A run with nothing to draw is one plain line and never imports rich.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from doctor.findings import FileReport, Report
from doctor.output.options import Options
from doctor.output.statistics import list_statistics
from doctor.output.summary import Summary, is_clean, summarise
from doctor.output.text import count_of, cut, join_counts, neutralise, shorten_path, write_command
from doctor.output.verdict import describe_verdict, list_doubts, list_unseen_answers, suggest_next
from doctor.refusals import WIRES

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

NARROWEST = 40

# What the drawing characters become on a stream that can't say them.
_PLAIN = str.maketrans({
    "│": "|", "⋮": ":", "…": "...", "·": "-", "─": "-", "├": "|", "┤": "|", "╌": ">", "↳": ">", "↑": "^", "–": "-",
})  # fmt: skip


def write_report(report: Report, stream: TextIO, options: Options) -> None:
    """Files with something to say, then one line for all of them."""
    shown = [file for file in report.files if _is_worth_drawing(file, alone=len(report.files) == 1)]
    if shown:
        _draw_files(shown, stream, options)
    if len(report.files) == 1 and not shown:
        _say(stream, _describe_clean(report.files[0], options))
    elif len(report.files) > 1:
        _say(stream, ("\n" if shown else "") + describe_summary(summarise(report), report, options))
    if options.statistics:
        for line in list_statistics(summarise(report)):
            _say(stream, line)


def _is_worth_drawing(file: FileReport, alone: bool) -> bool:
    if file.fix is not None and (file.fix.changed or file.fix.held_back):
        return True
    return not is_clean(file) or (alone and bool(file.diagnostics)) or file.verdict not in ("resumable", "live")


def _describe_clean(file: FileReport, options: Options) -> str:
    verdict = describe_verdict(file)
    said = "nothing to fix" if options.command == "fix" else "clean"
    return f"{neutralise(file.path)}: {said} · {_count_rows(file)} · {verdict}"


def _count_rows(file: FileReport) -> str:
    return count_of(file.rows, "request body", "request bodies") if file.format == "request" else count_of(file.rows, "row")


def describe_summary(summary: Summary, report: Report, options: Options) -> str:
    """`3 sessions: 1 clean, 2 with findings · 4 errors, 1 warning`"""
    parts = [f"{count_of(summary.files, 'session')}: {summary.clean:,} clean, {summary.files - summary.clean:,} with findings"]
    parts.append(join_counts([(summary.errors, "error"), (summary.warnings, "warning"), (summary.infos, "note")]))
    if options.command == "fix":
        changed = sum(1 for file in report.files if file.fix is not None and file.fix.changed)
        parts.append(f"{count_of(changed, 'file')} {'would change' if options.dry_run else 'rewritten'}" if changed else "")
    elif summary.safe_fixes:
        parts.append(count_of(summary.safe_fixes, "safe fix"))
    if report.errors:
        parts.append(f"{count_of(len(report.errors), 'path')} could not be judged")
    return " · ".join(part for part in parts if part)


def _draw_files(files: Iterable[FileReport], stream: TextIO, options: Options) -> None:
    console = _make_console(stream, options)
    options = options._replace(width=console.width)
    for number, file in enumerate(files):
        if number:
            _say(stream, "\n")
        for line in _draw_file(file, options, console):
            console.print(line, soft_wrap=True, highlight=False)


def _draw_file(file: FileReport, options: Options, console: Console) -> list[Text]:
    from rich.text import Text

    from doctor.output.finding import draw_findings, hang
    from doctor.output.outcome import draw_outcome

    lines = _draw_heading(file, options)
    if file.fix is not None:
        lines += draw_outcome(file, options, console)
        if file.diagnostics and file.fix.changed:
            lines += [Text(""), Text("left after it:" if not options.dry_run else "would be left after it:", "bold")]
    lines += draw_findings(file.diagnostics, file.path, options, console, () if file.format == "request" else file.targets or WIRES)
    lines += [Text(""), *_draw_wires(file, options, console), *hang(_draw_verdict(file), 2, console, options.width)]
    command = _suggest_after_fix(file, options) if file.fix is not None else suggest_next(file, options)
    if command:
        label, _, rest = command.partition(": ") if file.fix is not None else ("next", "", command)
        lines.append(Text.assemble((f"{label}: ", "bold"), rest))
    return lines


def _draw_wires(file: FileReport, options: Options, console: Console) -> list[Text]:
    """What the providers say beside what the findings quote: answers of targets, and on what others depend."""
    from rich.text import Text

    from doctor.output.finding import draw_answers, hang

    lines = [] if file.format == "request" else draw_answers(list_unseen_answers(file), console, options.width)
    for wire, depends in list_doubts(file) if file.format != "request" else ():
        lines += hang(
            Text.assemble((f"  {wire} may refuse it: ", "bold"), f"it depends on {neutralise(depends)}"), 9, console, options.width
        )
    return lines


def _draw_heading(file: FileReport, options: Options) -> list[Text]:
    from rich.text import Text

    if file.format == "request":
        events = ""
    elif file.events_path.startswith(f"{file.path}:"):
        events = count_of(file.event_lines, "event")
    elif file.events_path:
        events = f"{file.events_path.replace(chr(92), '/').rsplit('/', 1)[-1]} {count_of(file.event_lines, 'line')}"
    else:
        events = "events not read" if "--no-events" in options.carried else "no event log"
    facts = " · ".join(fact for fact in (file.format or "unknown format", _count_rows(file), neutralise(events)) if fact)
    path = shorten_path(file.path, max(24, options.width - len(facts) - 3))
    if len(path) + len(facts) + 3 <= options.width:
        return [Text.assemble((path, "bold underline"), "   ", (facts, "dim"))]
    return [Text(shorten_path(file.path, options.width), "bold underline"), Text(f"  {cut(facts, options.width - 2)}", "dim")]


def _draw_verdict(file: FileReport) -> Text:
    from rich.text import Text

    style = {"resumable": "bold green", "after-fix": "bold yellow", "not-resumable": "bold red"}.get(file.verdict, "bold")
    words, done = describe_verdict(file), file.fix
    if done is None or not done.changed or file.verdict != "resumable":
        return Text(words, style)
    if not done.written:
        return Text(f"would then be {words}", style)
    return Text(f"now {words}" if done.backup else f"{words}, as written there", style)


def _suggest_after_fix(file: FileReport, options: Options) -> str:
    """`undo: …` behind a fix, `next: …` behind a dry run that would change something."""
    done = file.fix
    if done is None or not done.changed:
        return ""
    if options.dry_run:
        # A session inside a store is not a file that could be replaced.
        target = ["-o", "repaired.json"] if "#ses_" in file.path and "--in-place" not in options.carried else []
        target = [] if "--output" in options.carried else target
        return "next: " + write_command("fix", *target, *options.carried, file.path)
    return "undo: " + write_command("undo", file.path) if done.backup else ""


def _make_console(stream: TextIO, options: Options) -> Console:
    from rich.console import Console

    # The environment was read by the command line already: rich must not read it again and decide otherwise.
    return Console(
        file=_PlainStream(stream) if not _speaks_unicode(stream) else stream,
        width=max(NARROWEST, options.width),
        force_terminal=options.color,
        color_system="standard" if options.color else None,
        no_color=not options.color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def _say(stream: TextIO, line: str) -> None:
    stream.write((line if _speaks_unicode(stream) else line.translate(_PLAIN)) + "\n")


def _speaks_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


class _PlainStream:
    """Stands before a stream that is not Unicode and writes drawing characters as ASCII; other characters are its encoder's matter."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(text.translate(_PLAIN))

    def flush(self) -> None:
        self.stream.flush()
