"""The pages of `--help`: what a command does, and examples that can be pasted. A test gives each example to the parser."""

from __future__ import annotations

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


EXIT_CODES = {
    "check": "0 clean, or only information; 1 findings at or above --fail-on; 2 the job could not be done; 130 interrupted.",
    "baseline": "0 written, or up to date; 1 something is new or gone; 2 the job could not be done; 130 interrupted.",
    "fix": "0 nothing is left; 1 something is left, or a dry run would change something; 2 the job could not be done; 130 interrupted.",
    "scan": "0 nothing above information; 1 some session has findings; 2 one could not be judged, or there is none; 130 interrupted.",
}
"""Every other command: 0 done, 2 could not do it."""


class Page(Record):
    """`summary` stands in the list of commands. `examples` are (what it does, the words behind the program's name)."""

    summary: str
    text: str
    examples: tuple[tuple[str, str], ...]


PAGES = {
    "": Page(
        "Finds out why a coding agent's session can't be resumed, and repairs its transcript without losing a recorded byte.",
        "A session is named by its transcript, its folder, or the beginning of its id. Nothing but `fix` and `undo` writes to a session.",
        (
            ("What is wrong, and can it be resumed?", "check 7a2c5a9f"),
            ("What would a repair do? Nothing is written:", "fix --dry-run 7a2c5a9f"),
            ("Repair it, after a verified backup; and take that back:", "fix 7a2c5a9f"),
            ("", "undo 7a2c5a9f"),
            ("Which sessions of this machine are in trouble?", "scan --broken"),
        ),
    ),
    "check": Page(
        "Say what is wrong and whether the session can be resumed.",
        "Reads transcripts with what lies beside them (event log, metadata, backup) and reports what is wrong, what each provider would "
        "answer, and what a fix would do. One session that can't be read does not stop the others.\n\n"
        "Several formats can be had in one run: each --format may name a file, and one of them goes to standard output.",
        (
            ("One session, by the beginning of its id:", "check 7a2c5a9f"),
            ("A CI gate over recordings, as a log and for code scanning:", "check recordings --format concise --format sarif:out.sarif"),
            (
                "In GitHub Actions, with annotations and a page for the job's summary:",
                'check recordings --format github --format "markdown:$GITHUB_STEP_SUMMARY"',
            ),
            (
                "Torn lines and calls without a result only, for a log that others read:",
                "check recordings --select AD101,AD301 --no-excerpt",
            ),
            ("Would Anthropic accept the next request?", "check --for anthropic transcript.jsonl"),
            ("A transcript from a pipe:", "check - --format json"),
        ),
    ),
    "fix": Page(
        "Repair transcripts; a verified backup comes first.",
        "Moves late results to their calls, puts real results in the place of placeholders, restores torn rows, and checks the result "
        "before it replaces anything. Safe fixes lose no recorded byte; what changes or takes out a row needs --unsafe. A session that "
        "somebody is in is not touched.",
        (
            ("The exact change, nothing written:", "fix --dry-run 7a2c5a9f"),
            ("As a diff, long rows cut (--format json has it whole, for `patch`):", "fix --diff transcript.jsonl"),
            ("Repair, and take it back:", "fix 7a2c5a9f"),
            ("", "undo 7a2c5a9f"),
            ("Put lost turns back from the client's backup and the event log:", "fix --recover 7a2c5a9f"),
            ("Leave the session alone and write the repaired transcript elsewhere:", "fix -o repaired.jsonl 7a2c5a9f"),
            ("Repair a tree, and keep a record of it:", "fix recordings --format json --output-file fixes.json"),
        ),
    ),
    "undo": Page(
        "Bring a transcript back as it was before its last fix.",
        "Restores the newest backup that `fix` made, and keeps what it replaces. Refuses where the transcript was changed since.",
        (("", "undo 7a2c5a9f"), ("Although the session went on since:", "undo --force 7a2c5a9f")),
    ),
    "explain": Page(
        "Say what a finding means and what its fix does, or what a provider's error text means.",
        "With a code or a name: why it matters, how it happens, how it is fixed, with examples. With --error: which of the known refusals "
        "a text is, in plain words, and with a session which of its rows it is about.",
        (
            ("", "explain AD305"),
            ("What does this 400 mean?", "explain --error 'messages.3: `tool_use` ids were found without `tool_result` blocks'"),
            ("Out of a log, with the session that it is about:", "explain --error - 7a2c5a9f"),
        ),
    ),
    "rules": Page(
        "List all rules.",
        "One line a rule; as Markdown the whole catalogue with examples.",
        (("", "rules"), ("For programs:", "rules --format json")),
    ),
    "timeline": Page(
        "Draw what ran when: executions, requests, tools, repairs, errors, and where executions overlap.",
        "Needs the session's event log. Long stretches without an event are folded. The order of events is that of the log.",
        (
            ("In the terminal:", "timeline 7a2c5a9f"),
            ("As one page with the transcript beside it:", "timeline 7a2c5a9f --html page.html"),
        ),
    ),
    "scan": Page(
        "List all sessions of this machine, or of a folder, the worst first.",
        "Says of each session how old and how large it is, whether somebody is in it, what was found, and whether it can be resumed.",
        (
            ("What broke in the last week?", "scan --broken --since 7d"),
            ("Sessions of the project in this folder, as JSON:", "scan --project . --format json"),
        ),
    ),
    "baseline": Page(
        "Accept the findings of today, or say what is new and what is gone since.",
        "Writes a file of accepted findings, which `check --baseline FILE` (or `baseline` in the configuration) counts apart: a gate then "
        "fails on new ones only. Findings are known by their kind, not by their row, so that they stay accepted when rows move. Where the "
        "file is there already, it is compared and left alone, unless --update or --prune is given.",
        (
            ("Accept what a tree of recordings has today:", "baseline recordings"),
            ("What is new, and what is gone since?", "baseline recordings"),
            ("Take out what is gone, accept nothing new:", "baseline recordings --prune"),
            ("Into a file of another name, and check against it:", "baseline recordings --baseline ci/accepted.json"),
            ("", "check recordings --baseline ci/accepted.json"),
        ),
    ),
    "config": Page(
        "Show the configuration that is in force, or the JSON Schema of one.",
        "A configuration is the table [tool.amplifier-doctor] of a pyproject.toml, or an amplifier-doctor.toml; the nearest one upwards "
        "from the current folder counts. `check`, `fix` and `baseline` go by it.",
        (
            ("Which settings are in force, and where does each come from?", "config show"),
            ("For an editor that completes and checks TOML by a schema:", "config schema"),
        ),
    ),
}


def describe(command: str) -> dict[str, Any]:
    """The arguments that typer wants for a command's page; `command` is "" for the program itself."""
    page = PAGES[command]
    codes = EXIT_CODES.get(command or "check", "0 done; 2 could not be done.")
    return {
        "help": f"{page.summary}\n\n{page.text}",
        "short_help": page.summary,
        "epilog": f"{_list_examples(page)}\n\nExit codes: {codes}",
    }


def _list_examples(page: Page) -> str:
    """Examples are not wrapped (that is what \\b is for): they are to be pasted."""
    lines = ["\b", "Examples:"]
    for purpose, words in page.examples:
        lines += [f"  {purpose}"] if purpose else []
        lines.append(f"    amplifier-doctor {words}")
    return "\n".join(lines)
