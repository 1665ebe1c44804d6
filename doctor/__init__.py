"""amplifier-doctor: checks and repairs the session transcripts of coding agents.

`check`, `fix`, `undo`, `explain` and `explain_error` do what the commands do; see `doctor.api` for their arguments. They are imported on
first use, so that a rule file or a start-up that needs only a type does not pay for all of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doctor.api import check, explain, explain_error, fix, undo

__version__ = "0.1.0"
__all__ = ["__version__", "check", "explain", "explain_error", "fix", "undo"]


def __getattr__(name: str) -> object:
    if name in ("check", "explain", "explain_error", "fix", "undo"):
        from doctor import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
