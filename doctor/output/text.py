"""Words and values as all reporters print them: made harmless for a terminal, cut, counted, quoted for a shell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

# C0 and C1 controls (ANSI escapes begin with one), soft hyphen, zero-width and bidi marks, line separators, the byte-order mark,
# interlinear marks, non-characters, lone surrogates and tag characters: all that can repaint a terminal or hide text from its reader.
_HARMFUL = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_IDENTIFIER = r"[0-9A-Fa-f-]{20,}"
_PLAIN = str.maketrans({
    "│": "|", "⋮": ":", "…": "...", "·": "-", "─": "-", "├": "|", "┤": "|", "╌": ">", "↳": ">", "↑": "^", "–": "-", "«": '"', "»": '"',
})  # fmt: skip
"""What the drawing characters become on a stream that can't say them."""


def neutralise(text: str) -> str:
    """Text with every character that could act on a terminal or hide shown as an escape: `\\n`, `\\x1b`, `\\u202e`."""
    # All of them are unprintable to Python too, so that most texts need no pattern (compiling it costs a tenth of the start-up).
    return text if text.isprintable() else re.sub(_HARMFUL, _escape, text)


def speaks_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


def speaks_utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def make_plain(text: str) -> str:
    """Text with its drawing characters and quotation marks as ASCII; other characters are the matter of the stream's encoder."""
    return text.translate(_PLAIN)


def say(stream: TextIO, line: str) -> None:
    """Writes one line in the characters that the stream knows."""
    stream.write((line if speaks_unicode(stream) else make_plain(line)) + "\n")


def defuse(line: str) -> str:
    """A line that GitHub's runner would take for a command (`::` at its beginning, `##[` anywhere) as one that it only shows.

    For what is printed without `--format github`: a text in a transcript must not set variables of the job that reads it.
    """
    if "##[" in line:
        line = line.replace("##[", "##\\[")
    bare = line.lstrip()
    return f"{line[: len(line) - len(bare)]}\\{bare}" if bare.startswith("::") else line


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape_in_json(document: str) -> str:
    """The same characters as JSON escapes, and `##[`, which GitHub's runner takes for a command wherever it stands in a line. `document` is
    JSON text: outside its strings none of them but plain line ends occurs."""
    return re.sub(_HARMFUL, _escape_as_json, document).replace("##[", "##\\u005b")


def _escape_as_json(match: re.Match[str]) -> str:
    character = match.group()
    if character == "\n":
        return character
    return "".join(f"\\u{int.from_bytes(pair, 'big'):04x}" for pair in _split_utf16(character))


def _split_utf16(character: str) -> list[bytes]:
    encoded = character.encode("utf-16-be", "surrogatepass")
    return [encoded[index : index + 2] for index in range(0, len(encoded), 2)]


def replace_surrogates(text: str) -> str:
    """Text without lone surrogates (a file name that is not UTF-8 has them): strict JSON parsers refuse their escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def clean_value(value: Any) -> Any:
    """A JSON value with `replace_surrogates` done to every string in it."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {key: clean_value(item) for key, item in value.items()}
    return [clean_value(item) for item in value] if isinstance(value, list) else value


def cut(text: str, width: int) -> str:
    """At most `width` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def shorten_path(path: str, width: int) -> str:
    """A path that fits `width` where it can: leading folders go first, then the middle of long ids. The file name stays whole."""
    separator = "\\" if "\\" in path and "/" not in path else "/"
    parts = [neutralise(part) for part in path.split(separator)]
    if len("/".join(parts)) <= width:
        return separator.join(parts)
    for start in range(1, len(parts) - 1):
        shorter = "…/" + "/".join(parts[start:])
        if len(shorter) <= width:
            return shorter
    folder = parts[-2] if len(parts) > 1 else ""
    if not folder:
        return parts[-1]
    return (f"{folder[:8]}…" if re.match(_IDENTIFIER, folder) else cut(folder, max(9, width - len(parts[-1]) - 1))) + "/" + parts[-1]


def count_of(number: int, noun: str, plural: str = "") -> str:
    """`1 row`, `2 rows`, `2 fixes`."""
    if number == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith(("s", "x", "ch")) else "s"
    return f"{number:,} {plural or noun + ending}"


def join_counts(counts: Iterable[tuple[int, str]], nothing: str = "") -> str:
    """`4 errors, 1 warning`: only what there is."""
    return ", ".join(count_of(number, noun) for number, noun in counts if number) or nothing


def list_numbers(numbers: Sequence[int], limit: int = 6) -> str:
    """`14, 20, 26, …`"""
    shown = ", ".join(str(number) for number in numbers[:limit])
    return f"{shown}, …" if len(numbers) > limit else shown


def name_path(path: str) -> str:
    """A path as an argument: one that begins with a dash would be taken for an option."""
    return f"./{path}" if path.startswith("-") and path != "-" else path


def name_view(path: str) -> str:
    """`chat.view.jsonl` for `chat.jsonl`: where a view of a log that is never rewritten may go."""
    stem, dot, ending = path.rpartition(".")
    return f"{stem}.view.{ending}" if dot and "/" not in ending and stem else f"{path}.view"


def write_command(*words: str) -> str:
    """A command that can be pasted into a shell as it is."""
    return " ".join(["amplifier-doctor", *(_quote(word) for word in words)])


def _quote(word: str) -> str:
    from shlex import quote

    if not re.search(_HARMFUL, word):
        return quote(word)
    # The quoting of bash, zsh and ksh that can spell any byte: a name with an escape sequence must not reach the terminal as it is.
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + re.sub(_HARMFUL, lambda found: "".join(f"\\x{byte:02x}" for byte in encode_name(found.group())), plain) + "'"


def encode_name(text: str) -> bytes:
    """The bytes of a file name, odd ones included."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
