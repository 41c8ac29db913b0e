"""How many machines are as expected: one line for a run of several machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lawful.spec.ir import Json

from .commands.exit_codes import ExitCode
from .targets import Skipped


class Judged(NamedTuple):
    """A machine, the exit code that it alone would give, and whether an earlier answer was kept."""

    machine: str
    code: int
    unchanged: bool = False


def text(judged: Sequence[Judged], skipped: Sequence[Skipped]) -> str:
    """The counts, with the names of the machines that are not as expected."""
    found = _by_outcome(judged)
    parts = [f"{len(found['as_expected'])} as expected"]
    for key, what in (("not_as_expected", "not"), ("undecided", "undecided"), ("fault", "faults")):
        if found[key]:
            parts.append(f"{len(found[key])} {what} ({', '.join(found[key])})")
    kept = sum(each.unchanged for each in judged)
    parts += [f"{kept} of them unchanged"] if kept else []
    if skipped:
        names = ", ".join(each.machine for each in skipped)
        parts.append(f"{len(skipped)} not checked, without a scope ({names})")
    return f"{len(judged)} machine{'s' * (len(judged) != 1)}: {'; '.join(parts)}"


def to_json(judged: Sequence[Judged], skipped: Sequence[Skipped]) -> Json:
    """The same counts and names."""
    found = _by_outcome(judged)
    return {
        "machines": len(judged),
        **{key: list(names) for key, names in found.items() if key != "as_expected"},
        "as_expected": len(found["as_expected"]),
        "unchanged": sum(each.unchanged for each in judged),
        "not_checked": [each.machine for each in skipped],
    }


OUTCOMES = {
    ExitCode.AS_EXPECTED: "as_expected",
    ExitCode.VIOLATED: "not_as_expected",
    ExitCode.UNKNOWN: "undecided",
    ExitCode.FAULT: "fault",
}


def _by_outcome(judged: Sequence[Judged]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {key: [] for key in OUTCOMES.values()}
    for each in judged:
        found[OUTCOMES[ExitCode(each.code)]].append(each.machine)
    return found
