"""What a finding is called across runs: a hash that stays when rows are added above it, the file moves or its contents are hidden."""

# No postponed annotations: see doctor/findings.py.

import re
from collections.abc import Iterable

from doctor.findings import Diagnostic

VERSION = "amplifierDoctor/v1"
"""The name of this recipe, as SARIF's partialFingerprints want it. Another recipe needs another name: baselines hold its hashes."""

_LENGTH = 32
_QUOTE = re.compile("«[^»]*»")
"""A quoted prompt (`doctor.evidence.quote`). Left out: `--no-excerpt` hides it, and the hash of a short prompt is as good as the prompt."""
_NUMBERS = re.compile(r"(?<![0-9A-Za-z_])[0-9]+(?![0-9A-Za-z_])(?:(?:, | and |[-.:,])[0-9]+(?![0-9A-Za-z_]))*")
"""Rows, events, byte counts, times and lists of them; not the digits of an id such as call_1 or toolu_015c."""


def fingerprint(diagnostic: Diagnostic) -> str:
    """32 hex digits over the code, the ids and the message without its numbers and quotes.

    Neither path, session nor place goes in, and none of the rows around it: the engine reads those for the first findings of a file only.
    The severity is left out as well: it depends on what the session is judged for.
    """
    from hashlib import sha256

    parts = (VERSION, diagnostic.code, *sorted(diagnostic.ids), normalise(diagnostic.message))
    text = "\0".join(part.replace("\0", "") for part in parts)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def fingerprint_all(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """One for each finding of a file, in their order: `fingerprint:1`, and `:2` for the second of the same."""
    seen: dict[str, int] = {}
    named = []
    for diagnostic in diagnostics:
        mark = fingerprint(diagnostic)
        seen[mark] = seen.get(mark, 0) + 1
        named.append(f"{mark}:{seen[mark]}")
    return named


def normalise(message: str) -> str:
    """A message without what changes from run to run, or that logs must not say: numbers become #, quotes go."""
    return " ".join(_NUMBERS.sub("#", _QUOTE.sub("«»", message)).split())
