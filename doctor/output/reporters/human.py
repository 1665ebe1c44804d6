"""For reading: each file with its findings drawn as small conversations, then the verdict and the next command.

A run with nothing to draw is one plain line and never imports rich.
"""

from __future__ import annotations

from collections.abc import Iterable

from doctor.findings import FileReport
from doctor.output.headline import compose_heading, count_rows
from doctor.output.options import Options
from doctor.output.reporters import Reporter
from doctor.output.summary import Totals, is_clean
from doctor.output.text import (
    count_of,
    defuse,
    join_counts,
    make_plain,
    neutralise,
    say,
    speaks_unicode,
    write_command,
)
from doctor.output.verdict import choose_output, describe_verdict, list_doubts, list_unseen_answers, suggest_next
from doctor.refusals import WIRES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console
    from rich.text import Text

NARROWEST = 40


class Human(Reporter):
    """Files with something to say, then one line for all of them.

    A lone file is told more about than one of many, so the first waits for the second.
    """

    waiting: FileReport | None = None
    files = drawn = 0
    console: Console | None = None

    def add(self, file: FileReport) -> None:
        self.files += 1
        if self.files == 1:
            self.waiting = file
            return
        for one in (self.waiting, file) if self.waiting is not None else (file,):
            if _is_worth_drawing(one, alone=False):
                self._draw(one)
        self.waiting = None

    def finish(self, totals: Totals) -> None:
        if self.waiting is not None and _is_worth_drawing(self.waiting, alone=True):
            self._show(self.waiting)
        elif self.waiting is not None:
            say(self.stream, defuse(_describe_clean(self.waiting, self.options)))
        elif self.files:
            say(self.stream, ("\n" if self.drawn else "") + describe_totals(totals, self.options))
        if self.options.statistics:
            from doctor.output.statistics import list_statistics

            for line in list_statistics(totals):
                say(self.stream, line)

    def _show(self, file: FileReport) -> None:
        """A lone file: a sound one with notes is written plainly where no color is wanted."""
        from doctor.output.notes import write_notes

        lines = write_notes(file, self.options._replace(width=max(NARROWEST, self.options.width)))
        if lines is None:
            self._draw(file)
        for line in lines or ():
            say(self.stream, line)

    def _draw(self, file: FileReport) -> None:
        if self.drawn:
            say(self.stream, "\n")
        self.drawn += 1
        lines = _draw_file(file, self.options._replace(width=max(NARROWEST, self.options.width)))
        for line in lines:
            if "::" in line.plain or "##[" in line.plain:
                line.plain = defuse(line.plain)
        if self.options.color:
            self._print(lines)
        else:
            # Without colors rich would write the same characters, in more than twice the time.
            say(self.stream, "\n".join(line.plain for line in lines))

    def _print(self, lines: Iterable[Text]) -> None:
        if self.console is None:
            self.console = _make_console(self.stream, self.options)
        for line in lines:
            self.console.print(line, soft_wrap=True, highlight=False)


REPORTER = Human


def _is_worth_drawing(file: FileReport, alone: bool) -> bool:
    if file.fix is not None and (file.fix.changed or file.fix.held_back):
        return True
    if file.accepted and is_clean(file):
        return alone and bool(file.diagnostics)  # Whatever the verdict: what is behind it is accepted.
    return not is_clean(file) or (alone and bool(file.diagnostics)) or file.verdict not in ("resumable", "live")


def _describe_clean(file: FileReport, options: Options) -> str:
    verdict = describe_verdict(file)
    said = "nothing to fix" if options.command == "fix" else "clean"
    said = f"nothing new · {_count_accepted(len(file.accepted))}" if file.accepted else said
    return f"{neutralise(file.path)}: {said} · {count_rows(file)} · {verdict}"


def _count_accepted(number: int) -> str:
    return f"{count_of(number, 'finding')} accepted by the baseline"


def describe_totals(totals: Totals, options: Options) -> str:
    """`3 sessions: 1 clean, 2 with findings · 4 errors, 1 warning`"""
    parts = [f"{count_of(totals.files, 'session')}: {totals.clean:,} clean, {totals.files - totals.clean:,} with findings"]
    parts.append(join_counts([(totals.errors, "error"), (totals.warnings, "warning"), (totals.infos, "note")]))
    if options.command == "fix":
        changed = count_of(totals.changed, "file")
        parts.append(f"{changed} {'would change' if options.dry_run else 'rewritten'}" if totals.changed else "")
    elif totals.safe_fixes:
        parts.append(count_of(totals.safe_fixes, "safe fix"))
    if totals.accepted:
        parts.append(_count_accepted(totals.accepted))
    if totals.failures:
        parts.append(f"{count_of(totals.failures, 'path')} could not be judged")
    return " · ".join(part for part in parts if part)


def _draw_file(file: FileReport, options: Options) -> list[Text]:
    from rich.text import Text

    from doctor.output.finding import draw_findings, hang
    from doctor.output.outcome import draw_outcome

    lines = [Text.assemble(*pieces) for pieces in compose_heading(file, options)]
    if file.fix is not None:
        lines += draw_outcome(file, options)
        if file.diagnostics and file.fix.changed:
            lines += [Text(""), Text("left after it:" if not options.dry_run else "would be left after it:", "bold")]
    lines += draw_findings(file.diagnostics, file.path, options, () if file.format == "request" else file.targets or WIRES)
    if file.accepted:
        lines += [Text(""), Text(f"{_count_accepted(len(file.accepted))}, not shown", "dim")]
    lines += [Text(""), *_draw_wires(file, options), *hang(_draw_verdict(file), 2, options.width)]
    command = _suggest_after_fix(file, options) if file.fix is not None else suggest_next(file, options)
    if command:
        label, _, rest = command.partition(": ") if file.fix is not None else ("next", "", command)
        lines.append(Text.assemble((f"{label}: ", "bold"), rest))
    return lines


def _draw_wires(file: FileReport, options: Options) -> list[Text]:
    """What the providers say beside what the findings quote: answers of targets, and on what others depend."""
    from rich.text import Text

    from doctor.output.finding import draw_answers, hang

    lines = [] if file.format == "request" else draw_answers(list_unseen_answers(file), options.width)
    for wire, depends in list_doubts(file) if file.format != "request" else ():
        lines += hang(Text.assemble((f"  {wire} may refuse it: ", "bold"), f"it depends on {neutralise(depends)}"), 9, options.width)
    return lines


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
        return "next: " + write_command("fix", *choose_output(file, options), *options.carried, file.path)
    return "undo: " + write_command("undo", file.path) if done.backup else ""


def _make_console(stream: TextIO, options: Options) -> Console:
    from rich.console import Console

    # The environment was read by the command line already: rich must not read it again and decide otherwise.
    return Console(
        file=_PlainStream(stream) if not speaks_unicode(stream) else stream,
        width=max(NARROWEST, options.width),
        force_terminal=True,
        color_system="standard",
        no_color=False,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


class _PlainStream:
    """Stands before a stream that is not Unicode and writes drawing characters as ASCII; other characters are its encoder's matter."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(make_plain(text))

    def flush(self) -> None:
        self.stream.flush()
