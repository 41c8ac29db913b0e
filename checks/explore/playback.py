"""The outcome of playing the traces of a check on the running class, as text and as JSON."""

from __future__ import annotations

from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A trace that no instance was put through, and why.

    `real`: the reference engine, with the declared types, does all of it and finds the property as
    the verdict says, but the class has no instances. `fault`: instances differ from the reference
    engine, which is a fault of lawful. Else the class does not do what the trace shows.
    """

    property: str
    why: str
    real: bool = False
    fault: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """How many traces a check has, and which of them were not played on the class."""

    traces: int
    unplayed: tuple[Unplayed, ...]

    @property
    def doubtful(self) -> frozenset[str]:
        """The properties whose verdict does not stand, because the class does not do what the trace
        shows."""
        return frozenset(each.property for each in self.unplayed if not each.real)

    @property
    def faults(self) -> bool:
        """Whether an instance did what the reference engine does not."""
        return any(each.fault for each in self.unplayed)


def text(found: Played) -> list[str]:
    """How many traces were played, then why others were not, in lines for people."""
    number = found.traces - len(found.unplayed)
    said = f"{number:,} of {found.traces:,} trace{'s' * (found.traces != 1)} on the class itself"
    return [said, *(f"not {each.property}: {each.why}" for each in found.unplayed)]


def to_json(found: Played) -> Json:
    """The same in the form of a check's JSON."""
    rows: list[Json] = [{"property": each.property, "why": each.why} for each in found.unplayed]
    return {"traces": found.traces, "played": found.traces - len(rows), "not_played": rows}
