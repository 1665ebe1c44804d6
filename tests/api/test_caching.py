"""Remembered verdicts: never another answer than a check would give, whatever changed and whatever became of the store."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from doctor.api import caching, judging
from doctor.api.caching import FILE, Cache, choose_cache, locate_cache
from doctor.api.checking import check
from doctor.api.judging import check_target
from doctor.errors import DoctorError
from doctor.findings import Report
from tests.cli.sessions import DISPLACED, MISSING, PROMPT, REPLY, SOUND, call, encode, result, write_session

OLD = 1_700_000_000
NOW = OLD + 90 * 86_400.0
CHILD = "0000000000000000-5a1b2c3d4e5f6071_explorer"


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were really checked, in this process."""
    paths: list[str] = []

    def note(target: Any, *more: Any) -> Any:
        paths.append(str(target))
        return check_target(target, *more)

    monkeypatch.setattr(judging, "check_target", note)
    return paths


def age(tree: Path) -> None:
    """Makes all files old: nobody has just written them."""
    for path in tree.rglob("*"):
        os.utime(path, (OLD, OLD))


def look(tmp_path: Path, **how: Any) -> Report:
    environment = {"AMPLIFIER_SESSION_STATE_HOME": str(tmp_path / "state")}
    return check(how.pop("paths", tmp_path / "tree"), **{"cache": str(tmp_path / "cache"), "now": NOW, "environment": environment} | how)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, rows in (("a", SOUND), ("b", MISSING), ("c", DISPLACED)):
        write_session(tmp_path / "tree", rows, name)
    age(tmp_path / "tree")
    return tmp_path


def test_what_did_not_change_is_not_checked_again(tree: Path, checked: list[str]) -> None:
    plain = look(tree, cache="")
    assert look(tree) == plain and len(checked) == 6
    assert look(tree) == plain and len(checked) == 6
    assert look(tree, jobs=2) == plain
    (tree / "tree" / "b" / "transcript.jsonl").write_bytes(encode(SOUND))
    report = look(tree)
    assert [file.verdict for file in report.files] == ["resumable", "resumable", "after-fix"] and len(checked) == 7


def add(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda tree: (tree / "tree" / "a" / name).write_bytes(data)


EVENT = {"ts": "2020-01-01T00:00:00Z", "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "session:start"}


@pytest.mark.parametrize(
    "change",
    [
        add("transcript.jsonl.backup", encode(SOUND)),
        add("transcript.jsonl.append-pending", encode((PROMPT,))),
        add("transcript.jsonl.bak-pre-rewind-1", b""),
        add("metadata.json", b'{"session_id": "other"}'),
        add("events.jsonl", json.dumps(EVENT).encode() + b"\n"),
        add("transcript.jsonl", encode((PROMPT, REPLY))),
        lambda tree: os.rename(tree / "tree" / "a", tree / "tree" / "aa"),
    ],
)
def test_whatever_a_check_may_read_is_part_of_the_key(tree: Path, checked: list[str], change: Callable[[Path], object]) -> None:
    look(tree)
    checked.clear()
    change(tree)
    report = look(tree)
    assert len(checked) == 1
    assert report == look(tree, cache="")


@pytest.mark.parametrize("how", [{"select": ["AD3"]}, {"as_request": True}, {"wires": ["gemini"]}, {"model": "gpt-5"}, {"events": False}])
def test_other_options_are_other_checks(tree: Path, checked: list[str], how: dict[str, Any]) -> None:
    look(tree)
    checked.clear()
    assert look(tree, **how) == look(tree, **how, cache="")
    assert len(checked) == 6
    assert look(tree, **how) == look(tree, **how, cache="") and len(checked) == 9


def test_another_doctor_is_another_check(tree: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    look(tree)
    monkeypatch.setattr("doctor.sources.fingerprints.hash_program", lambda: b"a rule was changed")
    look(tree)
    assert len(checked) == 6


def test_the_hash_of_the_program_sees_its_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.sources import fingerprints

    before = fingerprints.hash_program()
    assert before == fingerprints.hash_program()
    read = fingerprints.load_bytes
    monkeypatch.setattr(fingerprints, "load_bytes", lambda path, most: read(path, most) + (b"#" if "ad301" in path else b""))
    assert fingerprints.hash_program() != before


def test_a_lock_is_seen_although_the_verdict_is_remembered(tree: Path) -> None:
    look(tree)
    lock = tree / "state" / "v1" / "0f" / "a" / "session.lock"
    (lock.parent).mkdir(parents=True)
    lock.write_bytes(b"")
    # A transcript without metadata or log has no session id: its folder's name stands for it.
    assert look(tree).files[0].verdict == "resumable"
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert look(tree).files[0].verdict == "live"
    assert look(tree).files[0].verdict == "resumable"


def test_what_depends_on_the_clock_is_not_remembered(tree: Path, checked: list[str]) -> None:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(NOW - 60))
    head = {"ts": stamp, "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "execution:start", "session_id": "a"}
    (tree / "tree" / "a" / "events.jsonl").write_text(json.dumps(head | {"data": {"prompt": "go"}}) + "\n")
    (tree / "tree" / "b" / "metadata.json").write_text(json.dumps({"status": "in_progress", "last_updated": stamp}))
    age(tree / "tree")
    assert [file.verdict for file in look(tree, now=NOW).files][:2] == ["live", "live"]
    later = look(tree, now=NOW + 3_600)
    assert later == look(tree, now=NOW + 3_600, cache="") and "live" not in [file.verdict for file in later.files]
    checked.clear()
    assert look(tree, now=NOW).files[0].verdict == "live" and len(checked) == 2


def test_other_sessions_are_asked_anew(tmp_path: Path, checked: list[str]) -> None:
    offer = json.dumps({"error": None, "output": {"session_id": CHILD}, "success": True})
    delegate = json.loads(json.dumps(call("call_1")).replace("bash", "delegate"))
    rows = (PROMPT, delegate, {**result("call_1", offer), "name": "delegate"}, REPLY)
    write_session(tmp_path / "tree" / "sessions", rows, "parent")
    child = write_session(tmp_path / "tree" / "sessions", SOUND, CHILD)
    (child.parent / "metadata.json").write_text(json.dumps({"session_id": CHILD, "parent_id": "parent", "config": {}}))
    age(tmp_path / "tree")
    first = look(tmp_path)
    checked.clear()
    assert look(tmp_path) == first and checked == []
    child.unlink()
    report = look(tmp_path)
    assert report == look(tmp_path, cache="") and report != first
    assert any(found.code == "AD604" for file in report.files for found in file.diagnostics)


def test_a_session_that_changes_meanwhile_is_not_remembered(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree / "tree" / "a" / "transcript.jsonl"

    def change_and_check(target: Any, *more: Any) -> Any:
        if str(target) == str(path):
            path.write_bytes(encode(MISSING))
        return check_target(target, *more)

    with monkeypatch.context() as patch:
        patch.setattr(judging, "check_target", change_and_check)
        look(tree)
    path.write_bytes(encode(SOUND))
    age(tree / "tree")
    assert look(tree).files[0].verdict == "resumable"


def test_what_could_not_be_judged_is_not_remembered(tree: Path, checked: list[str]) -> None:
    (tree / "tree" / "a" / "transcript.jsonl").write_bytes(b'{"type": "session_meta", "payload": {}}\n')
    for _ in range(2):
        assert len(look(tree).errors) == 1
    assert len(checked) == 4


@pytest.mark.parametrize("damage", [b"", b"no database at all, but long enough to be taken for one" * 200, "half"])
def test_a_damaged_store_is_no_reason_to_fail(tree: Path, checked: list[str], damage: bytes | str) -> None:
    plain = look(tree)
    store = tree / "cache" / FILE
    data = store.read_bytes()
    store.write_bytes(data[: len(data) // 2] if isinstance(damage, str) else damage)
    assert look(tree) == plain and look(tree) == plain
    checked.clear()
    assert look(tree) == plain and checked == []


@pytest.mark.parametrize("report", ["cut", "flipped", "foreign", "evil"])
def test_damaged_entries_are_passed_over(tree: Path, checked: list[str], report: str) -> None:
    plain = look(tree)
    with closing(sqlite3.connect(tree / "cache" / FILE)) as connection, connection:
        for key, data in connection.execute("SELECT key, report FROM verdicts").fetchall():
            changed = {
                "cut": data[:-9],
                "flipped": data[:40] + bytes([data[40] ^ 1]) + data[41:],
                "foreign": pickle.dumps(("nothing", ())),
                "evil": pickle.dumps((print, ("read", "me"))),
            }[report]
            checksum = crc32(changed) if report in ("foreign", "evil") else crc32(data)
            connection.execute("UPDATE verdicts SET report = ?, sum = ? WHERE key = ?", (changed, checksum, key))
    checked.clear()
    assert look(tree) == plain and len(checked) == 3


def test_only_types_of_reports_are_loaded() -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.system, ("true",)

    with pytest.raises(pickle.UnpicklingError, match="no part of a report"):
        caching._Unpickler(__import__("io").BytesIO(pickle.dumps(Evil()))).load()


def test_a_store_that_grew_too_large_forgets_what_was_used_longest_ago(
    tree: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    look(tree)
    write_session(tree / "tree", SOUND, "d")
    write_session(tree / "tree", MISSING, "e")
    age(tree / "tree")
    monkeypatch.setattr(caching, "MOST_BYTES", 1)
    look(tree, now=NOW + 5 * 86_400)
    with closing(sqlite3.connect(tree / "cache" / FILE)) as connection, connection:
        days = {day for (day,) in connection.execute("SELECT used FROM verdicts").fetchall()}
    assert days == {int((NOW + 5 * 86_400) // 86_400)}


def test_two_runs_share_a_store(tree: Path) -> None:
    plain = look(tree, cache="")
    store = sqlite3.connect(tree / "cache" / FILE) if look(tree) else None
    assert store is not None
    store.execute("BEGIN IMMEDIATE")
    assert look(tree) == plain
    store.close()


def test_who_lets_go_of_a_cache_closes_it(tree: Path) -> None:
    """From 3.13 on Python warns of what nobody closed; elsewhere the file could not be removed."""
    look(tree)
    cache = Cache(str(tree / "cache"))
    cache.find(b"")
    connection = cache._connection
    del cache
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_where_the_cache_is() -> None:
    assert locate_cache({"AMPLIFIER_DOCTOR_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}) == "/c"
    assert locate_cache({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == "/x/amplifier-doctor"
    assert locate_cache({"HOME": "/h"}) == "/h/.cache/amplifier-doctor"
    assert locate_cache({}) == ""


def test_a_folder_that_can_not_be_used(tmp_path: Path, tree: Path) -> None:
    (tmp_path / "file").write_text("")
    below = str(tmp_path / "file" / "cache")
    with pytest.raises(DoctorError, match="can't keep a cache in"):
        look(tree, cache=below)
    assert choose_cache(None, {"XDG_CACHE_HOME": below}) == ""
    assert choose_cache("", {"HOME": "/h"}) == "" and choose_cache("/named", {"HOME": "/h"}) == "/named"


def test_nobody_else_may_read_it(tree: Path) -> None:
    look(tree)
    modes = [(tree / "cache").stat().st_mode & 0o777, (tree / "cache" / FILE).stat().st_mode & 0o777]
    assert modes == [0o700, 0o600] or os.name == "nt"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_beside_a_transcript_is_not_waited_for(tree: Path) -> None:
    os.mkfifo(tree / "tree" / "a" / "metadata.json")
    assert look(tree) == look(tree, cache="")


@pytest.mark.parametrize("case", ["chat-answered-twice-linked", "opencode-seed-003-export"])
def test_what_other_clients_wrote_is_not_remembered(tmp_path: Path, checked: list[str], case: str) -> None:
    paths = [str(path) for path in (Path(__file__).parents[2] / "fixtures" / case / "input").iterdir()]
    plain = look(tmp_path, paths=paths, cache="")
    assert plain.files and all(look(tmp_path, paths=paths) == plain for _ in range(2)) and len(checked) == 3 * len(paths)
