"""The older store of files: paths count, not the ids inside; what can't be read is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor import check
from doctor.errors import DoctorError
from doctor.sources.session import read_session
from doctor.sources.walking import find_transcripts
from tests.support.cases import NOW, write_example

FILES = {
    "storage/session/global/ses_1.json": '{"id": "ses_old", "projectID": "global", "time": {"created": 1, "updated": 1}}',
    "storage/message/ses_1/msg_2.json": '{"id": "msg_x", "sessionID": "ses_x", "role": "assistant", "time": {"created": 5}}',
    "storage/message/ses_1/msg_1.json": '{"role": "user", "time": {"created": 9}}',
    "storage/part/msg_1/prt_2.json": '{"type": "text", "text": "second"}',
    "storage/part/msg_1/prt_1.json": '{"type": "text", "text": "first"}',
}


def test_ids_come_from_paths_and_order_from_times(tmp_path: Path) -> None:
    session = read_session(str(write_example(FILES, tmp_path)), now=NOW)
    transcript = session.transcript
    assert session.session_id == "ses_1"
    assert [transcript.form.name_row(transcript, message.line) for message in transcript.messages] == ["msg_2", "msg_1"]
    document = json.loads(transcript.source.read(0, transcript.source.size))
    assert [part["text"] for part in document["messages"][1]["parts"]] == ["first", "second"]
    assert all(message["info"]["sessionID"] == "ses_1" for message in document["messages"])
    assert [found.code for found in check(f"{tmp_path}/storage").files[0].diagnostics if found.code == "AD722"] == ["AD722"]


@pytest.mark.parametrize("place", ["", "storage", "storage#ses_1", "storage#ses_"])
def test_a_store_is_found_by_its_folders_and_by_a_session_in_it(tmp_path: Path, place: str) -> None:
    write_example(FILES, tmp_path)
    assert find_transcripts(str(tmp_path / place)) == [f"{tmp_path}/storage#ses_1"]


@pytest.mark.parametrize("text", ["", '{"id": "se', "[]"])
def test_a_session_whose_own_file_is_lost_is_one_line(tmp_path: Path, text: str) -> None:
    write_example(FILES | {"storage/session/global/ses_1.json": text}, tmp_path)
    with pytest.raises(DoctorError) as refused:
        read_session(f"{tmp_path}/storage#ses_1", now=NOW)
    assert "\n" not in str(refused.value) and "ses_1.json" in str(refused.value)


def test_sessions_that_the_database_has_are_not_read_twice(tmp_path: Path) -> None:
    from doctor.examples import database

    write_example(FILES | {"opencode.sql": database()}, tmp_path)
    assert find_transcripts(str(tmp_path)) == [f"{tmp_path}/opencode.db#ses_1"]


def test_a_store_is_looked_through_once_for_all_its_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts without a message, and what the databases have: both took a look at everything, for each session anew."""
    from doctor.examples import database
    from doctor.sources.formats.opencode import database as databases
    from doctor.sources.formats.opencode import files

    several = {
        name.replace("ses_1", f"ses_{number}").replace("msg_", f"msg_{number}"): text.replace("ses_1", f"ses_{number}")
        for number in range(1, 7)
        for name, text in FILES.items()
    }
    lost = {"storage/part/msg_gone/prt_9.json": '{"type": "text", "text": "hi", "sessionID": "ses_3"}'}
    write_example(several | lost | {"opencode.sql": database().replace("ses_1", "ses_x")}, tmp_path)
    (tmp_path / "opencode-beta.db").write_bytes((tmp_path / "opencode.db").read_bytes())
    counts = {"copy_database": 0, "_scan_orphans": 0}

    def count(module: object, name: str) -> None:
        original = getattr(module, name)

        def counted(*values: object) -> object:
            counts[name] += 1
            return original(*values)

        monkeypatch.setattr(module, name, counted)

    count(databases, "copy_database")
    count(files, "_scan_orphans")
    found = {file.session_id: {one.code for one in file.diagnostics} for file in check(f"{tmp_path}/storage").files}
    assert counts == {"copy_database": 2, "_scan_orphans": 1}
    assert all("AD724" in codes for codes in found.values()) and len(found) == 6
    assert [session for session, codes in found.items() if "AD723" in codes] == ["ses_3"]
    (tmp_path / "storage" / "message" / "ses_5" / "msg_52.json").unlink()
    (tmp_path / "storage" / "part" / "msg_52").mkdir()
    (tmp_path / "storage" / "part" / "msg_52" / "prt_1.json").write_text('{"type": "text", "text": "", "sessionID": "ses_5"}')
    assert "AD723" in {one.code for one in check(f"{tmp_path}/storage#ses_5").files[0].diagnostics}
