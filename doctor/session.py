"""One transcript with all that lies beside it: what a rule gets to see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from doctor.eventlog import EventLog, Execution, RecordedResult, RecordedTurn, ToolRun
from doctor.model import RECORDS, Backup, Liveness, Message, Sibling, Transcript, Turn, split_turns
from doctor.pairing import Pairing
from doctor.refusals import RefusalMeaning, WireVerdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from doctor.notes import RowNote


class Session:
    """One transcript with all that lies beside it: what a rule gets to see."""

    __slots__ = (
        "_backup",
        "_notes",
        "_pending",
        "_recorded_turns",
        "_turns",
        "_wires",
        "aim",
        "as_request",
        "describe",
        "events",
        "explain_error",
        "find_sibling",
        "folder",
        "host",
        "judge_wires",
        "liveness",
        "load_backup",
        "load_pending",
        "metadata",
        "metadata_problem",
        "model",
        "pairing",
        "read_recorded",
        "read_turn",
        "recover",
        "rewound",
        "session_id",
        "targets",
        "transcript",
        "unsaved",
    )

    def __init__(self, transcript: Transcript, pairing: Pairing, **beside: Any) -> None:
        self.transcript = transcript
        self.pairing = pairing
        self.events: EventLog | None = beside.get("events")
        """None when there is no event log, or it was not asked for."""
        self.metadata: dict[str, Any] | None = beside.get("metadata")
        """What metadata.json says, or the client's backup of it where that can't be read; None when neither can."""
        self.metadata_problem: str = beside.get("metadata_problem", "")
        """Why metadata.json can't be read, "" when it can or is not there."""
        self.folder: str | None = beside.get("folder")
        self.session_id: str = beside.get("session_id", "")
        self.liveness: Liveness = beside.get("liveness", Liveness(False, ""))
        self.as_request: bool = beside.get("as_request", False)
        self.rewound: bool = beside.get("rewound", False)
        """A `.bak-pre-rewind-*` file lies beside it: what the events know more was taken out on purpose."""
        self.unsaved: bool = beside.get("unsaved", False)
        """There is no transcript, only an event log: the session ended before its first save."""
        self.load_backup: Callable[[], Backup | None] | None = beside.get("load_backup")
        self.find_sibling: Callable[[str], Sibling] | None = beside.get("find_sibling")
        """Looks another session up by its id. None where the transcript lies on no disk."""
        self.read_recorded: Callable[[EventLog, ToolRun, Transcript], RecordedResult] | None = beside.get("read_recorded")
        self.targets: tuple[str, ...] = ()
        """The wires (see doctor.refusals) that the next request may go to."""
        self.aim = ""
        """How the targets are known: "given", "recorded" in the session, "guessed" (all that the client can talk to); "" before that."""
        self.model = ""
        self.host = ""
        self.judge_wires: Callable[[Session], Mapping[str, WireVerdict]] | None = None
        self.explain_error: Callable[[str], RefusalMeaning | None] | None = None
        self._wires: Mapping[str, WireVerdict] | None = None
        self.recover: bool = beside.get("recover", False)
        """The user asked for lost rows to be put back: rules offer fixes that add whole rows."""
        self.read_turn: Callable[[EventLog, Execution], RecordedTurn] | None = beside.get("read_turn")
        self.load_pending: Callable[[], Backup | None] | None = beside.get("load_pending")
        self.describe: Callable[[Transcript], Mapping[str, Any]] | None = beside.get("describe")
        """What a format knows better than its surroundings, for these or for planned rows: values of attributes by name."""
        self._notes: dict[int, RowNote] = {}
        self._recorded_turns: dict[int, RecordedTurn] = {}
        self._backup: Backup | bool | None = False
        self._pending: Backup | bool | None = False
        self._turns: tuple[Turn, ...] | None = None

    @property
    def backup(self) -> Backup | None:
        """The client's previous version, read at the first question: most checks never ask."""
        if self._backup is False:
            self._backup = self.load_backup() if self.load_backup is not None else None
        return self._backup  # type: ignore[return-value]

    @property
    def pending(self) -> Backup | None:
        """The client's note of an append that it did not finish (`transcript.jsonl.append-pending`), read as rows."""
        if self._pending is False:
            self._pending = self.load_pending() if self.load_pending is not None else None
        return self._pending  # type: ignore[return-value]

    def recorded_turn(self, execution: Execution) -> RecordedTurn | None:
        """All that the event log holds of an execution, read from disk at the first question. Results are left out: they may be huge."""
        if self.events is None or self.read_turn is None or execution.offset < 0:
            return None
        if execution.start_line not in self._recorded_turns:
            self._recorded_turns[execution.start_line] = self.read_turn(self.events, execution)
        return self._recorded_turns[execution.start_line]

    def recorded_result(self, call_id: str, name: str = "") -> RecordedResult | None:
        """What the event log holds of a call's result, read from disk each time; None when it knows no end of this call."""
        if self.events is None or self.read_recorded is None:
            return None
        run = self.events.runs.get(call_id)
        if run is None or run.end_line < 0:
            return None
        if any(call_id == reused for reused, _ in self.pairing.reused):
            return RecordedResult("", "", "several calls of the transcript have this id")
        if name and run.name and run.name != name:
            return RecordedResult("", "", f"there the id belongs to a call of {run.name}")
        return self.read_recorded(self.events, run, self.transcript)

    @property
    def wires(self) -> Mapping[str, WireVerdict]:
        """What each provider API would answer to this transcript, judged at the first question. Empty where nobody can say."""
        if self._wires is None:
            self._wires = self.judge_wires(self) if self.judge_wires is not None else {}
        return self._wires

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The transcript cut at its user prompts; rows before the first prompt belong to a turn without prompts."""
        if self._turns is None:
            messages, notes = self.transcript.messages, self.transcript.notes
            if notes is None:
                self._turns = split_turns(enumerate(messages))
            else:
                threads = notes.threads.values()
                self._turns = tuple(turn for order in threads for turn in split_turns((index, messages[index]) for index in order))
        return self._turns

    @property
    def is_record(self) -> bool:
        """Whether a platform builds its requests from this file in its own way: a client's transcript is sent as it is stored."""
        return self.transcript.format in RECORDS

    def note(self, index: int) -> RowNote:
        """What a row says about itself. Where the format does not keep it, the row is read again."""
        notes = self.transcript.notes
        if notes is not None:
            return notes.rows[index]  # type: ignore[no-any-return]
        if index not in self._notes:
            from doctor.notes import read_note

            self._notes[index] = read_note(self.transcript.read_row(self.transcript.messages[index].line))
        return self._notes[index]

    def messages(self) -> Iterator[tuple[int, Message]]:
        return enumerate(self.transcript.messages)

    def with_transcript(self, transcript: Transcript, pairing: Pairing) -> Session:
        """The same surroundings around other bytes, for a file that is planned but not written."""
        other = Session(transcript, pairing)
        for name in self.__slots__:
            if name not in ("transcript", "pairing", "_turns", "_wires", "_notes"):
                setattr(other, name, getattr(self, name))
        for name, value in self.describe(transcript).items() if self.describe is not None else ():
            setattr(other, name, value)
        return other
