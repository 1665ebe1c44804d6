"""What a session has, and which rules are asked about it. test_fixtures and test_properties hold that none is passed over wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor import examples, traits
from doctor.analysis.engine import diagnose
from doctor.analysis.registry import find_rule, load_rules
from doctor.analysis.targets import aim_session
from tests.support.cases import find_hidden, open_example

SOUND = examples.user("go") + examples.call("a") + examples.result("a") + examples.reply("done")


def look(example: object, folder: Path) -> int:
    session = open_example(example, folder)
    aim_session(session)
    return traits.find_traits(session)


@pytest.mark.parametrize(
    "example, expected",
    [
        (SOUND, 0),
        ("", traits.NO_ROWS),
        (SOUND + "{", traits.ODD_LINES | traits.UNUSUAL_BYTES),
        (SOUND + examples.reply("done"), traits.ODD_LINES),
        (SOUND.replace('"role": "user"', '"role": "nobody"'), traits.REFUSED_ROWS | traits.UNUSUAL_ROWS | traits.MINDED_ROWS),
        (examples.user("go") + examples.call("a") + examples.placeholder("a"), traits.UNUSUAL_ROWS),
        (examples.user("go") + examples.call("a"), traits.UNPAIRED_CALLS | traits.MINDED_ROWS),
        (SOUND.replace('"a"', '"a.b"'), traits.MINDED_ROWS),
        ({"transcript.jsonl": SOUND, "events.jsonl": examples.event(0, "execution:start", prompt="go")}, traits.EVENTS),
        ({"transcript.jsonl": SOUND, "transcript.jsonl.append-pending": examples.user("more")}, traits.PENDING_APPEND),
    ],
    ids=["sound", "empty", "torn", "repeated", "role", "placeholder", "unanswered", "id", "events", "append"],
)
def test_traits_say_what_a_session_has(example: object, expected: int, tmp_path: Path) -> None:
    assert look(example, tmp_path / "session") == expected


def test_a_rule_is_asked_only_where_a_session_has_what_it_needs(tmp_path: Path) -> None:
    asked = []
    rule = find_rule(load_rules(), "AD301")._replace(check=lambda session: asked.append(session) or ())
    diagnose(open_example(SOUND, tmp_path / "sound"), [rule])
    assert not asked
    diagnose(open_example(examples.call("a"), tmp_path / "unanswered"), [rule])
    assert len(asked) == 1


def test_a_wrong_need_shows(tmp_path: Path) -> None:
    rule = find_rule(load_rules(), "AD301")
    session = open_example(examples.user("go") + examples.call("a"), tmp_path / "unanswered")
    aim_session(session)
    assert find_hidden(session, [rule]) == []
    assert find_hidden(session, [rule._replace(needs=traits.EVENTS)]) == ["AD301"]
