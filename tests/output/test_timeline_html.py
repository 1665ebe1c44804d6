"""The page as a document. What a browser makes of it is in test_timeline_browser."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from doctor.output.timeline_html import write_page
from tests.output.hostile import SCRIPT, tell_attacks
from tests.output.timelines import SEED, Story, build, read, tell_nine_hours, tell_turn

VOID = {"meta", "link", "br", "hr", "img", "input"}
CHILDLESS = {"rect", "line", "path", "circle"}


class Page(HTMLParser):
    """Collects what a page is made of, and fails on tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in CHILDLESS
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack:
            self.texts.setdefault(self.stack[-1], []).append(data)

    def with_class(self, name: str) -> list[dict[str, str]]:
        return [attributes for _, attributes in self.tags if name in attributes.get("class", "").split()]


def make(folder: Path, with_texts: bool = True) -> str:
    return write_page(build(folder, with_texts), read(folder).transcript, with_texts)


@pytest.fixture(scope="module")
def seed() -> Page:
    return Page(make(SEED))


def test_every_bar_and_every_row_is_there(seed: Page) -> None:
    assert len(seed.with_class("bar")) == 14
    rows = [attributes["data-row"] for tag, attributes in seed.tags if tag == "article"]
    assert rows == [str(number) for number in range(1, 14)]
    assert "".join(seed.texts["h1"]) == "Time line of session 7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0"


def test_bars_name_rows_and_findings(seed: Page) -> None:
    delegate = next(bar for bar in seed.with_class("bar") if bar["aria-label"].startswith("delegate"))
    assert delegate["data-rows"] == "4 6 12"
    assert "events 27-43 · 12:18:01.333 – 12:18:07.646 (6.3 s)" in delegate["aria-label"]
    numbers = set(delegate["data-findings"].split())
    placeholder = next(attributes for tag, attributes in seed.tags if tag == "article" and attributes["data-row"] == "6")
    assert numbers & set(placeholder["data-findings"].split())
    listed = {attributes["data-finding"] for tag, attributes in seed.tags if tag == "li"}
    assert numbers <= listed


def test_the_overlap_is_marked(seed: Page) -> None:
    (band,) = seed.with_class("band")
    shared = seed.with_class("shared")
    assert len(shared) == 2 and {bar["x"] for bar in shared} == {band["x"]}
    assert "overlap, confirmed" in seed.texts["text"]


def test_the_policy_allows_this_script_and_nothing_else(seed: Page) -> None:
    (policy,) = [attributes["content"] for tag, attributes in seed.tags if attributes.get("http-equiv") == "Content-Security-Policy"]
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        digest = base64.b64encode(hashlib.sha256("".join(seed.texts[tag]).encode()).digest()).decode()
        assert allowed[source] == f"'sha256-{digest}'"
    assert set(allowed) == {"default-src", "img-src", "style-src", "script-src", "base-uri", "form-action"}


def test_nothing_points_outside(seed: Page) -> None:
    links = [value for _, attributes in seed.tags for name, value in attributes.items() if name in ("src", "href", "action", "data")]
    assert links == ["data:,"]
    assert not [name for _, attributes in seed.tags for name in attributes if name.startswith("on") or name == "style"]
    assert not re.search(r"url\(|@import|https?:", "".join(seed.texts["style"]) + "".join(seed.texts["script"]))


def test_texts_stay_texts(tmp_path: Path) -> None:
    text = make(tell_attacks().write(tmp_path))
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("script") == 1 and not [tag for tag, _ in page.tags if tag == "img"]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert any(SCRIPT in said for said in page.texts["pre"])
    assert any("{{rows}} {{script}}" in said for said in page.texts["pre"])
    assert any("&lt;b&gt; &amp;" in said for said in page.texts["pre"])
    said = "".join(page.texts["pre"])
    assert "\\u202edlrow" in said and "line\\u2028separator" in said and "\\x1b[31mred" in said and "lone \\ud800" in said
    text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", text)


def test_without_texts_rows_are_only_named() -> None:
    text = make(SEED, with_texts=False)
    page = Page(text)
    assert len([tag for tag, _ in page.tags if tag == "article"]) == 13 and "pre" not in page.texts
    assert "slow work" not in text and "quick command" not in text


def test_large_sessions_make_a_page_of_bounded_size(tmp_path: Path) -> None:
    story = Story()
    for number in range(1_500):
        tell_turn(story, 10 * number, f"turn {number}", number)
        story.reply(None, "x" * 5_000)
    text = make(story.write(tmp_path))
    page = Page(text)
    assert len(page.with_class("bar")) <= 1_500
    assert len([tag for tag, _ in page.tags if tag == "article"]) == 2_000
    assert any("rows left out" in said for said in page.texts["p"])
    assert len(text) < 6_000_000


def test_folds_are_drawn_with_their_length(tmp_path: Path) -> None:
    page = Page(make(tell_nine_hours().write(tmp_path)))
    assert len(page.with_class("fold")) == 1
    assert "⋯ 9 h 17 min" in page.texts["text"]


def test_damaged_rows_are_shown_as_they_lie(tmp_path: Path) -> None:
    story = Story()
    tell_turn(story, 0, "hello", 1)
    story.rows += ['{"role": "user", "content": "torn <b', "[1, 2]", '{"role": "tool", "tool_call_id": 3, "content": {"a": [1]}}']
    said = "".join(Page(make(story.write(tmp_path))).texts["pre"])
    assert '{"role": "user", "content": "torn <b' in said and "[1, 2]" in said and '{"a": [1]}' in said
