"""What a rule wants to know of a text or of an arguments string."""

from __future__ import annotations

from doctor.analysis.wires.shape import ARGUMENTS_NOT_JSON, ARGUMENTS_NOT_OBJECT, BLANK, EMPTY, ENDS_BLANK
from doctor.jsontext import read_json

CUT = ("…", "...")
"""Ends of values that a recorder shortened: what was really sent is not known, so it is not judged."""


def judge_text(text: str) -> int:
    """EMPTY, BLANK or ENDS_BLANK for a text; 0 for a plain one."""
    if not text:
        return EMPTY
    if text.isspace():
        return BLANK | ENDS_BLANK
    return ENDS_BLANK if text[-1].isspace() else 0


def judge_arguments(arguments: object) -> int:
    """Flags for the arguments of a Chat or Responses call, which are an object written as a string."""
    if not isinstance(arguments, str):
        return ARGUMENTS_NOT_OBJECT
    if arguments.endswith(CUT):
        return 0
    try:
        return 0 if isinstance(read_json(arguments), dict) else ARGUMENTS_NOT_JSON
    except ValueError:
        return ARGUMENTS_NOT_JSON
    except RecursionError:
        # Providers read deeper than this one does: doubt is no refusal.
        return 0
