"""Is anything configured? The fast path comes through here: where nothing is, nothing more is imported."""

from __future__ import annotations

from doctor.cli.settings import Gate, Scope, locate_here

TYPE_CHECKING = False

if TYPE_CHECKING:
    from doctor.api.configuring import Course
    from doctor.cli.configuration import Wish


def configure(scope: Scope, gate: Gate, wish: Wish | None) -> tuple[Scope, Gate, Course | None]:
    """Scope and gate as options and configuration together want them. No course: nothing is configured.

    Raises DoctorError: a configuration or a baseline can't be read, or is not sound.
    """
    if wish is None:
        from doctor.sources.discovery import find_candidate

        here = locate_here()
        if here is None or find_candidate(here) is None:
            return scope, gate, None
    from doctor.cli.configuration import Wish, make_plan

    return make_plan(scope, gate, wish or Wish())
