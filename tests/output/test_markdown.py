"""The page of a CI job, read by a Markdown parser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from doctor.findings import Report
from doctor.output.reporters.markdown import MOST_FINDINGS, MOST_SESSIONS, escape
from tests.output.reports import CASES, MORE_TEXTS, many, write
from tests.output.samples import clean_file, failure, file_report, fix_report, seed_report, shadowed

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def list_tokens(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        yield token
        yield from token.children or ()


def test_numbers_codes_and_sessions() -> None:
    lines = write("markdown", Report((*seed_report().files, clean_file()), (failure(),)), folder="/srv/sessions").splitlines()
    assert lines[0] == "## amplifier-doctor check: could not do all of it"
    assert lines[2] == "2 sessions, 1 clean · 3 errors · 1 path could not be judged"
    assert "| AD305 | placeholder-shadows-result | error | 2 | 1 | 2 |" in lines
    row = next(line for line in lines if line.startswith("| 7a2c5a9f"))
    assert "| after-fix | 3 errors |" in row and "error **AD305** row 5: the real result of todo" in row
    assert lines[-1].startswith("* can't read /srv/sessions/b/transcript.jsonl")


def test_a_clean_run_is_short() -> None:
    assert write("markdown", Report((clean_file(),))) == "## amplifier-doctor check: clean\n\n1 session, 1 clean\n"


def test_what_fix_did() -> None:
    text = write("markdown", fix_report(), command="fix")
    assert "1 file rewritten" in text and "applied 2 fixes" in text
    assert "1 file would change" in write("markdown", fix_report(), command="fix", dry_run=True)


def test_the_worst_sessions_come_first_and_the_page_stays_short() -> None:
    report = many(MOST_SESSIONS + 30)
    worst = file_report(*[shadowed(message="bad")] * (MOST_FINDINGS + 3), path="worst")
    text = write("markdown", Report((*report.files, worst)))
    rows = [line for line in text.splitlines() if line.endswith(" |") and "after-fix" in line]
    assert len(rows) == MOST_SESSIONS and rows[0].startswith("| worst |") and rows[0].endswith("3 more |")
    assert "and 31 sessions more" in text


def test_a_page_fits_what_github_takes() -> None:
    long = Report(tuple(file_report(*[shadowed(message="x|" * 10_000)] * 20, path=f"{number}") for number in range(500)))
    assert len(write("markdown", long).encode()) < 1024 * 1024


@pytest.mark.parametrize("name", CASES)
def test_only_our_own_markup_is_in_it(name: str) -> None:
    report, options = CASES[name]
    kinds = {token.type for token in list_tokens(write("markdown", report, **options))}
    assert not kinds & {"link_open", "image", "html_block", "fence", "code_block", "code_inline", "s_open", "blockquote_open", "hr"}


@pytest.mark.parametrize("text", MORE_TEXTS)
def test_a_text_is_one_cell(text: str) -> None:
    page = f"| a | b |\n|---|---|\n| {escape(text)} | end |\n"
    cells = [token for token in list_tokens(page) if token.type == "td_open"]
    assert len(cells) == 2 and page.count("\n") == 3
