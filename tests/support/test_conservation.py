"""The judge of losses itself: it must see every kind of loss, and let pass what a safe fix may do."""

from __future__ import annotations

from tests.support.conservation import find_inventions, find_losses, find_moves

USER = b'{"role": "user", "content": "hi"}'
CALL = b'{"role": "assistant", "content": [{"type": "tool_call", "id": "a", "name": "bash", "input": {"x": {"role": "tool"}}}]}'
REAL = b'{"role": "tool", "tool_call_id": "a", "content": "done"}'
OTHER = b'{"role": "tool", "tool_call_id": "a", "content": "something else"}'
PLACEHOLDER = b'{"role": "tool", "tool_call_id": "a", "content": "{\\"error\\": \\"unknown_error\\", \\"message\\": \\"interrupted\\"}"}'
REPLY = b'{"role": "assistant", "content": "bye"}'
ADDED = b'{"role": "tool", "tool_call_id": "a", "content": "x", "metadata": {"amplifier-doctor": {"code": "AD301", "from": "placeholder"}}}'


def lines(*rows: bytes) -> bytes:
    return b"".join(row + b"\n" for row in rows)


def test_the_same_bytes_lose_nothing() -> None:
    data = lines(USER, CALL, REAL, REPLY)
    assert find_losses(data, data, b"") == []


def test_a_row_that_is_gone_is_a_loss() -> None:
    assert [loss.line for loss in find_losses(lines(USER, CALL, REAL), lines(USER, CALL), b"")] == [2]


def test_a_row_written_anew_is_a_loss() -> None:
    assert len(find_losses(lines(USER), lines(USER.replace(b": ", b":")), b"")) == 1


def test_a_prompt_may_not_go_to_the_quarantine() -> None:
    assert len(find_losses(lines(USER, REPLY), lines(REPLY), lines(USER))) == 1


def test_an_only_result_may_not_go_to_the_quarantine() -> None:
    assert len(find_losses(lines(CALL, REAL), lines(CALL, PLACEHOLDER), lines(REAL))) == 1


def test_a_placeholder_or_a_second_result_may_go_there_but_not_nowhere() -> None:
    for extra in (PLACEHOLDER, OTHER, REAL):
        before, after = lines(CALL, extra, REAL), lines(CALL, REAL)
        assert find_losses(before, after, lines(extra)) == []
        assert len(find_losses(before, after, b"")) == 1


def test_a_repeated_row_counts_as_often_as_it_stands() -> None:
    assert len(find_losses(lines(USER, USER), lines(USER), b"")) == 1
    assert find_losses(lines(USER, USER), lines(USER), lines(USER)) == []


def test_records_on_one_line_count_one_by_one() -> None:
    glued = lines(USER + REPLY)
    assert find_losses(glued, lines(USER, REPLY), b"") == []
    assert [loss.data for loss in find_losses(glued, lines(USER), b"")] == [REPLY]


def test_the_piece_of_a_torn_record_is_kept_in_the_quarantine() -> None:
    torn = CALL[:-10]
    assert find_losses(lines(USER, torn + REPLY), lines(USER, REPLY), lines(torn)) == []
    assert [loss.data for loss in find_losses(lines(USER, torn + REPLY), lines(USER, REPLY), b"")] == [torn]


def test_fill_bytes_are_nothing_that_can_be_lost() -> None:
    assert find_losses(b"\xef\xbb\xbf" + lines(USER, b"\0\0\0", b"  ", b"\0" + REPLY + b"\r"), lines(USER, REPLY), b"") == []


def test_only_results_may_move() -> None:
    before = lines(USER, CALL, REPLY, REAL)
    assert find_moves(before, lines(USER, CALL, REAL, REPLY)) == []
    assert len(find_moves(before, lines(CALL, USER, REPLY, REAL))) == 1


def test_added_rows_must_be_marked() -> None:
    assert find_inventions(lines(USER), lines(USER, ADDED)) == []
    assert len(find_inventions(lines(USER), lines(USER, REAL))) == 1
