"""Where `expand` notes what it found beside the successors."""

from __future__ import annotations

from dataclasses import dataclass, field

from .writing import STATUS


@dataclass
class Layout:
    """Where `info` says what."""

    rules: int
    cuts: tuple[str, ...]
    properties: tuple[str, ...]
    witnesses: int
    marks: int
    names: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        counts = {
            "admitted": 1, "escaped": 1, "cut": 1, "deadlock": 1, "fault": len(STATUS),
            "enabled": self.rules, "cut_by": len(self.cuts) + 1,
            "property": len(self.properties), "witness": self.witnesses,
            "mark": self.marks,
        }
        at = 0
        for name, count in counts.items():
            self.names[name] = at
            at += count
        self.size = at

    def __getitem__(self, name: str) -> int:
        return self.names[name]
