"""What came of playing the traces of a check on the class itself, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from lawful.spec.ir import Json


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A trace that the class does not have; `fault` where that is a fault of lawful."""

    property: str
    why: str
    fault: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """How many traces were played on the class, and those of them that it does not have."""

    traces: int
    unplayed: tuple[Unplayed, ...]

    @property
    def faults(self) -> bool:
        """Whether an instance did what the reference engine does not."""
        return any(each.fault for each in self.unplayed)


def text(found: Played) -> str:
    """How many traces were played, in a line for people."""
    number = found.traces - len(found.unplayed)
    said = f"{found.traces:,} trace{'s' * (found.traces != 1)} on the class itself"
    if not found.unplayed:
        return said
    names = ", ".join(each.property for each in found.unplayed)
    return f"{number:,} of {said}; not by it: {names}"


def to_json(found: Played) -> Json:
    """The same as it stands in the JSON of a check."""
    rows: list[Json] = [
        {"property": each.property, "why": each.why} for each in found.unplayed
    ]
    return {"traces": found.traces, "played": found.traces - len(rows), "not_played": rows}
