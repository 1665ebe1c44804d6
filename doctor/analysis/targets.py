"""Whom a session talks to, and what that provider's API would say to it. Gives a Session its targets and its judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.analysis.plain import is_plainly_accepted
from doctor.errors import DoctorError
from doctor.refusals import (
    ACCEPTED,
    ANTHROPIC,
    CONVERSE,
    DEPENDS,
    ERROR,
    GEMINI,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    PAIRING_RULES,
    REFUSED,
    WARNING,
    WIRES,
    RefusalMeaning,
    WireVerdict,
)
from doctor.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AS_STORED = "whether the platform sends this row as it is stored"
GIVEN, RECORDED, GUESSED = "given", "recorded", "guessed"
STRICTEST = (ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, GEMINI)
"""What Amplifier's own provider modules speak: a session that names no provider may be resumed with any of them."""
_OF_PROVIDER = {
    "anthropic": (ANTHROPIC,),
    "claude": (ANTHROPIC,),
    "openai": (OPENAI_RESPONSES,),
    "azure-openai": (OPENAI_RESPONSES,),
    "azure": (OPENAI_RESPONSES,),
    "vllm": (OPENAI_RESPONSES,),
    "chat-completions": (OPENAI_CHAT,),
    "openai-chat": (OPENAI_CHAT,),
    "openai-compatible": (OPENAI_CHAT,),
    "ollama": (OPENAI_CHAT,),
    "github-copilot": (OPENAI_CHAT,),
    "copilot": (OPENAI_CHAT,),
    "mistral": (OPENAI_CHAT,),
    "gemini": (GEMINI,),
    "google": (GEMINI,),
    "vertex": (GEMINI,),
    "bedrock": (ANTHROPIC, CONVERSE),
    "amazon-bedrock": (CONVERSE,),
    "openrouter": (OPENAI_CHAT,),
}
"""By the name of Amplifier's provider module without `provider-`, which reaches Bedrock both ways, and by OpenCode's provider ids."""
_OF_MODEL = (("claude", (ANTHROPIC,)), ("gemini", (GEMINI,)), ("gpt-", (OPENAI_RESPONSES,)), ("o1", (OPENAI_RESPONSES,)),
             ("o3", (OPENAI_RESPONSES,)), ("o4", (OPENAI_RESPONSES,)))  # fmt: skip
_SOUND = {wire: WireVerdict(wire, ACCEPTED) for wire in WIRES}


def check_wires(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once.

    Raises DoctorError: one of them is no wire.
    """
    for name in names:
        if name not in WIRES:
            raise DoctorError("usage", f"--for: there is no wire {name!r}; choose from {', '.join(WIRES)}")
    return tuple(dict.fromkeys(names))


def aim_session(session: Session, wires: Sequence[str] = (), model: str = "", host: str = "") -> None:
    """Sets what a session is judged against: the wires that are given, else those that it recorded, else all that its client speaks."""
    recorded, recorded_model = find_recorded(session)
    session.targets = tuple(wires) or recorded or STRICTEST
    session.aim = GIVEN if wires else RECORDED if recorded else GUESSED
    session.model = model or recorded_model
    session.host = host
    session.judge_wires = judge_session
    session.explain_error = _explain_error


def find_recorded(session: Session) -> tuple[tuple[str, ...], str]:
    """(wires, model) of the session's last request: what the event log says, else the metadata. Unknown names say nothing."""
    log, metadata = session.events, session.metadata or {}
    model = log.model if log is not None else ""
    wires = tell_wires(log.provider, model) if log is not None else ()
    named = metadata.get("model")
    if not model and isinstance(named, str):
        model = named
    if not wires:
        provider = metadata.get("provider")
        wires = tell_wires(provider if isinstance(provider, str) else "", model) or _read_providers(metadata.get("config"))
    return wires, model


def _read_providers(config: Any) -> tuple[str, ...]:
    """The wires of the provider modules that a sub-session was set up with; an unknown one among them leaves it open."""
    listed = config.get("providers") if isinstance(config, dict) else None
    found: tuple[str, ...] = ()
    for entry in listed if isinstance(listed, list) else ():
        module = entry.get("module") if isinstance(entry, dict) else None
        wires = tell_wires(module, "") if isinstance(module, str) else ()
        if not wires:
            return ()
        found += wires
    return tuple(dict.fromkeys(found))


def tell_wires(provider: str, model: str) -> tuple[str, ...]:
    """The wires of a provider's name (`anthropic`, `provider-anthropic`, `anthropic-2`), else of a model's; () when neither is known."""
    name = provider.lower().removeprefix("provider-").replace("_", "-")
    while name:
        if name in _OF_PROVIDER:
            return _OF_PROVIDER[name]
        name = name.rpartition("-")[0]
    name = model.lower()
    maker, slash, rest = name.partition("/")
    if slash and maker in _OF_PROVIDER:
        return _OF_PROVIDER[maker]
    name = rest if slash else name
    return next((wires for prefix, wires in _OF_MODEL if name.startswith(prefix)), ())


def judge_session(session: Session) -> Mapping[str, WireVerdict]:
    """The answer of every wire, also of those that are no targets: a reader wants to know where a session could go on."""
    form = session.transcript.form
    if form is not None:
        from doctor.pairing import pair_calls

        sent = form.as_sent(session.transcript)
        session = session.with_transcript(sent, pair_calls(sent.messages))
    if is_plainly_accepted(session):
        return _SOUND
    from doctor.analysis.wires.shape import Settings
    from doctor.analysis.wires.verdict import judge_transcript

    settings = Settings(session.model, session.host, session.as_request)
    verdicts = judge_transcript(session.transcript, session.pairing, WIRES, settings)
    return verdicts if session.as_request or not session.is_record else {wire: _doubt(one) for wire, one in verdicts.items()}


def _doubt(verdict: WireVerdict) -> WireVerdict:
    """A verdict on a platform's own record: which of its rows are sent, and in what form, the platform decides. Pairs of calls and
    results go out as they are."""
    found = tuple(
        one if one.rule in PAIRING_RULES or one.severity != ERROR else one._replace(severity=WARNING, depends=one.depends or AS_STORED)
        for one in verdict.violations
    )
    is_refused = any(one.severity == ERROR for one in found)
    return WireVerdict(verdict.wire, REFUSED if is_refused else DEPENDS if found else ACCEPTED, found)


def _explain_error(text: str) -> RefusalMeaning | None:
    from doctor.analysis.errors_catalogue import explain_error

    found = explain_error(text)
    return RefusalMeaning(found.rule, found.provider, found.codes, found.ids) if found is not None else None
