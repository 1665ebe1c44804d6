"""amplifier-doctor: checks and repairs the session transcripts of coding agents.

`check`, `fix`, `undo`, `explain` and `explain_error` do what the commands do; see `doctor.api` for their use. They are imported on
first use, so that a rule file or a start-up that needs only a type does not pay for all of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doctor.api.checking import check
    from doctor.api.configuring import load_settings, use_settings
    from doctor.api.explaining import explain, explain_error
    from doctor.api.fixing import fix
    from doctor.api.undoing import undo

__version__ = "0.1.0"
__all__ = ["__version__", "check", "explain", "explain_error", "fix", "load_settings", "undo", "use_settings"]

_HOMES = {
    "check": "checking",
    "explain": "explaining",
    "explain_error": "explaining",
    "fix": "fixing",
    "load_settings": "configuring",
    "undo": "undoing",
    "use_settings": "configuring",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"doctor.api.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
