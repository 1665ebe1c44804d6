"""Draws what `fix` did, or would do, to one file. Imported only when there is something to draw."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from doctor.findings import AppliedFix, FileReport, FixReport, Safety
from doctor.output.finding import hang
from doctor.output.options import Options
from doctor.output.text import count_of, name_path, neutralise, write_command

MOST_FIXES = 20
LONGEST_DIFF_LINE = 400


def draw_outcome(file: FileReport, options: Options) -> list[Text]:
    """The fixes applied, where the copies lie, and what was held back with how to get it."""
    done = file.fix or FixReport()
    lines = [Text(""), _draw_headline(done, options)]
    lines += _draw_fixes(done.applied, options.width)
    for label, path in (("written", done.written), ("backup", done.backup), ("quarantine", done.quarantine), ("receipt", done.receipt)):
        if path:
            lines.append(Text.assemble((f"  {label:<10} ", "bold"), neutralise(path)))
    if done.warning:
        lines += hang(Text.assemble(("  warning    ", "bold yellow"), neutralise(done.warning)), 13, options.width)
    if done.held_back:
        lines += [Text(""), _draw_held_back(done.held_back, options, file.path)]
        lines += _draw_fixes(done.held_back, options.width)
    if options.show_diff and done.diff:
        lines += [Text(""), *_draw_diff(done.diff)]
    return lines


def _draw_headline(done: FixReport, options: Options) -> Text:
    if not done.changed:
        return Text("nothing was changed" if done.held_back or done.is_stopped else "nothing to fix", "bold")
    applied = count_of(len(done.applied), "fix")
    if options.dry_run:
        return Text.assemble(("would apply ", "bold"), (applied, "bold green"), ("; nothing written", "bold"))
    return Text.assemble(("applied ", "bold"), (applied, "bold green"))


def _draw_fixes(fixes: Sequence[AppliedFix], width: int) -> list[Text]:
    lines: list[Text] = []
    for fix in fixes[:MOST_FIXES]:
        line = Text.assemble(("  ", ""), (fix.code, "bold"), f"  {neutralise(fix.title)}")
        if fix.safety is not Safety.SAFE:
            line.append(f"  ({fix.safety.name.lower()})", "yellow")
        if fix.source and fix.source not in fix.title:
            line.append(f"  from {neutralise(fix.source)}" if fix.source != "placeholder" else "  (a marked placeholder)", "dim")
        lines += hang(line, 9, width)
        for lack in fix.missing[:MOST_FIXES]:
            lines += hang(Text.assemble(("         not put back: ", "yellow"), neutralise(lack)), 11, width)
        if len(fix.missing) > MOST_FIXES:
            lines.append(Text(f"         … {len(fix.missing) - MOST_FIXES:,} more; --format json lists them all", "dim"))
    if len(fixes) > MOST_FIXES:
        lines.append(Text(f"  … {len(fixes) - MOST_FIXES:,} more; --format json lists them all", "dim"))
    return lines


def _draw_held_back(held_back: Sequence[AppliedFix], options: Options, path: str) -> Text:
    unsafe = sum(1 for fix in held_back if fix.safety is Safety.UNSAFE)
    recoverable = sum(1 for fix in held_back if fix.recoverable)
    line = Text(f"held back: {count_of(len(held_back), 'fix')}", "bold yellow")
    if recoverable:
        line.append("  put lost rows back with: ", "dim")
        line.append(write_command("fix", "--dry-run", "--recover", *options.carried, name_path(path)))
    # Where they were asked for already, each says why it was held back all the same.
    if unsafe and "--unsafe" not in options.carried:
        line.append("  get what is unsafe with: ", "dim")
        line.append(write_command("fix", "--dry-run", "--unsafe", *options.carried, name_path(path)))
    return line


def _draw_diff(diff: str) -> list[Text]:
    """A unified diff; long lines are cut, since one row may be megabytes."""
    lines = []
    # Not splitlines(): U+2028 inside a row ends no line, and a carriage return belongs to it.
    for raw in diff.removesuffix("\n").split("\n"):
        style = {"+": "green", "-": "red", "@": "cyan"}.get(raw[:1], "")
        line = neutralise(raw[:LONGEST_DIFF_LINE])
        lines.append(Text(line if len(raw) <= LONGEST_DIFF_LINE else f"{line}… ({len(raw):,} characters)", style))
    return lines
