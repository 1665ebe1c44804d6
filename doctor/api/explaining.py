"""`explain` and `explain_error`: what a rule or a provider's error text means."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from doctor.analysis.registry import find_rule, load_rules
from doctor.analysis.targets import check_wires
from doctor.api.reading import Aim, Target, how_to_read, name_target, read_target
from doctor.errors import DoctorError
from doctor.sources.stores import locate_stores
from doctor.sources.walking import find_transcripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doctor.analysis.explaining import ErrorExplanation
    from doctor.rulekit import Rule


def explain(code: str) -> Rule:
    """The rule of a code (`AD301`) or a name (`missing-tool-result`).

    Raises DoctorError: there is none.
    """
    return find_rule(load_rules(), code)


def explain_error(
    text: str,
    session: Target | None = None,
    *,
    wires: Sequence[str] = (),
    model: str = "",
    now: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[ErrorExplanation]:
    """What the providers' error texts inside a text mean: the bare text, a JSON envelope, or a log with one of them in the middle.

    With a `session`, each explanation also names the findings and the rows of that session which the text is about.

    Raises DoctorError: the text holds no error that is known, or the session can't be read.
    """
    from doctor.analysis.explaining import explain_text

    # No default of the signature: its help would print the environment.
    environment = os.environ if environment is None else environment
    read = None
    if session is not None:
        found = [session] if isinstance(session, bytes) else find_transcripts(os.fspath(session), locate_stores(environment))
        if len(found) > 1:
            raise DoctorError("usage", f"--error takes one session, but {name_target(session)} holds {len(found)}")
        read = read_target(found[0], how_to_read(None, False, now, environment), Aim(check_wires(wires), model, ""))
    return explain_text(text, load_rules(), read)
