"""Finds the error texts of providers in whatever a person pastes: the bare text, a JSON envelope, a log with other lines around it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache

from doctor.analysis.errors_catalogue.entry import Entry
from doctor.records import Record

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
FRAME = re.compile(r"^[ \t]*[│┃|>]+[ \t]?|[ \t]*[│┃|][ \t]*$", re.MULTILINE)
"""What terminals and loggers draw around a text."""
_ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\/": "/", "\\\\": "\\"}
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nt\"'/\\]")
_STRING_END = re.compile(r"(?<=[^\s:,{\[])[\"'](?=\s*(?:[,}\]\n)]|$))")
_ID = re.compile(r"\b(?:toolu|srvtoolu|mcptoolu|tooluse|call|chatcmpl-tool|fc|rs|msg|ws|functions)[_.][\w.:-]*\w")
_WORD = re.compile(r"[\w.:/|-]+")
_PLACES = re.compile(
    r"messages\.(\d+)(?:\.content\.(\d+))?"
    r"|(?:messages|input|contents)\.?\[(\d+)\](?:\.(?:content|parts|tool_calls)\[(\d+)\])?"
    r"|position (\d+)"
)

_TELLING = re.compile(r"[a-z_]{5,}")
LEAST_SHARED = 3
"""Words that a text must share with the wording of an error to be near it; a field's name such as `tool_use_id` is enough by itself."""

REACH = 1_000
"""Characters around a hit in which its ids and indexes are looked for."""
DEEPEST = 4
"""How many layers of escaping are peeled off: a gateway quotes the provider, a log quotes the gateway."""


class ErrorMatch(Record):
    """What an error text says. `ids` and `indices` are those that it names; `codes` the doctor's codes that cover it."""

    rule: str
    provider: str
    ids: tuple[str, ...]
    indices: tuple[int, ...]
    codes: tuple[str, ...]
    explanation: str
    cure: str
    text: str

    @property
    def code(self) -> str:
        """The likeliest of the codes, "" where no stored transcript is the cause."""
        return self.codes[0] if self.codes else ""


@lru_cache(maxsize=1)
def load_entries() -> tuple[tuple[Entry, re.Pattern[str], str], ...]:
    """(entry, compiled pattern, provider) of the whole catalogue."""
    from doctor.analysis.errors_catalogue import anthropic, bedrock, compatible, google, openai

    entries: list[tuple[Entry, re.Pattern[str], str]] = []
    for module in (anthropic, openai, google, bedrock, compatible):
        for entry in module.ENTRIES:
            provider = module.PROVIDERS[entry.rule[:2]] if hasattr(module, "PROVIDERS") else module.PROVIDER
            # Consoles and chats that render Markdown take the backticks away.
            entries.append((entry, re.compile(entry.pattern.replace("`", "`?"), re.MULTILINE), provider))
    return tuple(entries)


def explain_error(text: str) -> ErrorMatch | None:
    """The first error that a text holds; None when it holds none that is known."""
    return next(iter(find_errors(text)), None)


def find_errors(text: str) -> list[ErrorMatch]:
    """All errors that a text holds, each rule once, in the order in which they stand."""
    for view in _peel(text):
        found = _search(view)
        if found:
            return found
    return []


def find_nearest(text: str) -> tuple[Entry, str] | None:
    """The entry (and its provider) whose wording shares most words with a text that is none of the catalogue, if it is more than a few."""
    words = set(_TELLING.findall(text.lower()))
    scored = []
    for number, (entry, _, provider) in enumerate(load_entries()):
        own = set(_TELLING.findall(entry.pattern.lower()))
        shared = own & words
        if len(shared) >= LEAST_SHARED or any("_" in word for word in shared):
            scored.append((len(shared) / max(len(words), 1) + len(shared) / len(own), -number, entry, provider))
    best = max(scored, default=None, key=lambda item: item[:2])
    return (best[2], best[3]) if best is not None else None


def _search(view: str) -> list[ErrorMatch]:
    hits = []
    for entry, pattern, provider in load_entries():
        hit = pattern.search(view)
        if hit is not None:
            hits.append((hit.start(), entry, hit, provider))
    hits.sort(key=lambda item: item[0])
    return [_describe(view, entry, hit, provider) for _, entry, hit, provider in hits]


def _peel(text: str) -> Iterator[str]:
    """The text as it is, then with one layer after another taken off: colours, frames, escapes, line breaks of a narrow terminal."""
    view = ANSI.sub("", text)
    views = [_STRING_END.sub("\n", view)]
    for _ in range(DEEPEST):
        plain = _ESCAPE.sub(_unescape, view)
        if plain == view:
            break
        view = plain
        views.append(_STRING_END.sub("\n", view))
    if "&" in view:
        views.append(html.unescape(view))
    yield text.strip()
    yield from views
    unframed = FRAME.sub("", view)
    yield unframed
    yield re.sub(r"\s+", " ", unframed)


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPES[match[0]]


def _describe(view: str, entry: Entry, hit: re.Match[str], provider: str) -> ErrorMatch:
    start = max(view.rfind("\n", 0, hit.start()) + 1, hit.start() - REACH // 4)
    stop = min(len(view), hit.end() + REACH)
    end_of_line = view.find("\n", hit.end(), stop)
    sentence = view[start : end_of_line if end_of_line >= 0 else stop]
    ids = list(_find_ids(entry, hit, sentence))
    indices = [int(number) for match in _PLACES.finditer(sentence) for number in match.groups() if number is not None]
    return ErrorMatch(
        entry.rule, provider, tuple(dict.fromkeys(ids)), tuple(indices), entry.codes, entry.explanation, entry.cure, sentence.strip()
    )


def _find_ids(entry: Entry, hit: re.Match[str], sentence: str) -> Iterator[str]:
    """Ids named by the entry's own pattern, by its list pattern, and whatever looks like an id of a known maker."""
    if entry.ids and (listed := re.search(entry.ids, sentence)):
        yield from (name for part in listed[1].split(",") if (name := _clean(part)))
    elif entry.rule in ("AN-02", "AN-03", "AN-30", "OC-03", "OR-04", "OR-05", "OR-06") and hit.lastindex and hit[1]:
        yield _clean(hit[1])
    elif entry.rule in ("OR-01", "OR-02"):
        yield _clean(hit[2])
    yield from (found for found in _ID.findall(sentence) if not found.startswith(("call_id", "msg_id")))


def _clean(part: str) -> str:
    """An id without the quotes, brackets and stops around it."""
    found = _WORD.search(part)
    return found[0].rstrip(".") if found is not None else ""
