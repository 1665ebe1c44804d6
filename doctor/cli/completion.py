"""What a shell offers while a command line is typed: codes and names of rules, ids of sessions, words of options."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

Offer = tuple[str, str]
"""A word and what it is, as shells with descriptions show it."""

MOST_SESSIONS = 100


def complete_rule(incomplete: str) -> list[Offer]:
    """Codes and names that begin so, in the case in which they are being typed: shells drop what does not go on from there."""
    from doctor.analysis.registry import load_rules

    rules = load_rules()
    offers = [(incomplete + rule.code[len(incomplete) :], rule.name) for rule in rules if rule.code.startswith(incomplete.upper())]
    return offers + [(rule.name, rule.code) for rule in rules if incomplete and rule.name.startswith(incomplete)]


def complete_selector(incomplete: str) -> list[Offer]:
    """The last of several codes with commas between them."""
    done, comma, last = incomplete.rpartition(",")
    return [(f"{done}{comma}{word}", help) for word, help in complete_rule(last)]


def complete_session(incomplete: str) -> list[Offer]:
    """Ids of this machine's sessions. Nothing for what can only be a path: shells then offer files, as they do everywhere."""
    from doctor.sources.stores import list_sessions, locate_stores

    if os.sep in incomplete or incomplete.startswith((".", "~", "-")):
        return []
    places = list_sessions(locate_stores(os.environ), incomplete)
    return [(place.session_id, place.project) for place in places[:MOST_SESSIONS]]


def complete_rule_or_session(incomplete: str) -> list[Offer]:
    return complete_rule(incomplete) or complete_session(incomplete)


def complete_word(words: Sequence[str]) -> Callable[[str], list[str]]:
    """One of a few words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete
