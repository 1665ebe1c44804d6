"""The provider APIs as executable contracts: what each would answer to a history, in its own words.

`check_request(body)` judges a request body as it is sent. Modules are loaded when their wire is asked for.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from doctor.analysis.wires.shape import WIRES, History, Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONTRACTS_DATE = "2026-11-29"
"""The day on which the contracts were last compared with what the providers document and answer. APIs change: a refusal that is newer
is not known. `--version` and reports say it."""

MODULES = {wire: wire.replace("-", "_") for wire in WIRES}


def load_contract(wire: str) -> ModuleType:
    """The contract of a wire: a module with `check(history)`. Raises KeyError for a name that is no wire."""
    return import_module(f"doctor.analysis.wires.{MODULES[wire]}")


def check_history(wire: str, history: History) -> list[Violation]:
    """What a wire says to a history: errors first, the literal answer on top."""
    found: list[Violation] = load_contract(wire).check(history)
    return found


def lower_request(body: dict[str, Any], wire: str, host: str = "") -> History:
    """A raw request body as that wire's history."""
    history: History = import_module(f"doctor.analysis.wires.bodies.{MODULES[wire]}").lower_request(body, host)
    return history


def check_request(body: dict[str, Any], wire: str, host: str = "", model: str = "") -> list[Violation]:
    """What a wire says to a request body that is sent as it is. `model` is for wires that name it in the URL, not in the body."""
    history = lower_request(body, wire, host)
    if model and not history.settings.model:
        history = history._replace(settings=history.settings._replace(model=model))
    return check_history(wire, history)
