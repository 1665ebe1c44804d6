"""How the command line and a configuration come together: what options say wins, and what came to nothing is told afterwards."""

from __future__ import annotations

import os
from collections.abc import Sequence

from doctor.cli.settings import Display, Gate, Scope, locate_here
from doctor.errors import DoctorError
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doctor.api.configuring import Course
    from doctor.sources.configuration import Configuration


class Wish(Record):
    """What the command line says about configurations and baselines. `baseline`: None for the configured one, "" for none."""

    file: str | None = None
    isolated: bool = False
    baseline: str | None = None
    force_exclude: bool = False
    extend_select: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The options that a suggested command has to carry to be under the same configuration."""
        words = ["--config", self.file] if self.file is not None else ["--isolated"] if self.isolated else []
        return (*words, "--extend-select", ",".join(self.extend_select)) if self.extend_select else tuple(words)


def make_plan(scope: Scope, gate: Gate, wish: Wish) -> tuple[Scope, Gate, Course]:
    """Raises DoctorError: a configuration or a baseline can't be read, or is not sound."""
    from doctor.analysis.registry import load_rules
    from doctor.api.configuring import Course, load_baseline, settle_settings
    from doctor.settings.selecting import choose_codes

    settings = settle_settings(find_wanted(wish))
    baseline = settings.baseline if wish.baseline is None else wish.baseline
    codes = choose_codes(load_rules(), settings, scope.select, wish.extend_select, scope.ignore)
    accepted = load_baseline(baseline) if baseline else None
    return (
        scope._replace(select=codes, ignore=(), wires=scope.wires or settings.wires),
        gate._replace(fail_on=gate.fail_on or settings.fail_on),
        Course(settings, accepted, fail_on=gate.fail_on, force_exclude=wish.force_exclude),
    )


def find_wanted(wish: Wish) -> Configuration | None:
    """The configuration that is in force, unjudged."""
    from doctor.sources.configuration import find_configuration, read_configuration

    if wish.isolated and wish.file is not None:
        raise DoctorError("usage", "--config and --isolated exclude each other; leave one out")
    if wish.isolated:
        return None
    if wish.file is not None:
        return read_configuration(os.path.abspath(wish.file))
    here = locate_here()
    return find_configuration(here) if here is not None else None


def say_notes(course: Course, codes: Sequence[str], display: Display, *, pending: bool = False) -> None:
    """One line on stderr for each setting that came to nothing, and for accepted findings of the rules `codes` that are gone."""
    if display.quiet:
        return
    from doctor.cli.streams import say_error
    from doctor.output.text import count_of, write_command

    for line in (*course.list_idle(), course.describe_left_out()):
        if line:
            say_error(line)
    stale = 0 if pending else course.count_stale(codes)
    if stale and course.baseline is not None:
        path = os.path.relpath(course.baseline.path)
        gone = "1 accepted finding is gone" if stale == 1 else f"{stale:,} accepted findings are gone"
        named = () if course.settings.baseline == course.baseline.path else ("--baseline", path)
        say_error(f"{path}: {gone}; take note of it with: {write_command('baseline', '--prune', *named, 'PATH')}")
    if course.accepted and ("concise", "") in display.formats:
        say_error(f"{count_of(course.accepted, 'finding')} accepted by the baseline")
