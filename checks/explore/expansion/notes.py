"""The cells of `info`: where `expand` notes its findings other than successors."""

from __future__ import annotations

from lawful.spec.quick_dataclass import dataclass, field

from ..codegen.text import STATUS


@dataclass
class Notes:
    """The offset in `info` of each note, by name; a name with several cells has its first."""

    rules: int
    cuts: tuple[str, ...]
    properties: tuple[str, ...]
    witnesses: int
    marks: int
    lives: int = 0
    orbits: int = 0  # 1 where the states in the orbit of a state are counted.
    names: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        counts = {
            "admitted": 1,
            "escaped": 1,
            "enabled": self.rules,
            "cut_by": len(self.cuts) + 1,
            "orbit": self.orbits,
            "deadlock": 1,
            "fault": len(STATUS),
            "property": len(self.properties),
            "witness": self.witnesses,
            "mark": self.marks,
            "cut": 1,
            "live": self.lives,
        }
        at = 0
        for name, count in counts.items():
            self.names[name] = at
            at += count
        self.size = at

    def __getitem__(self, name: str) -> int:
        return self.names[name]

    @property
    def failing(self) -> tuple[int, int]:
        """The first cell of the notes of failures, and the one after the last."""
        return self["deadlock"], self["witness"]

    @property
    def marking(self) -> tuple[int, int]:
        """The same for what is noted of a state for paths: its marks, whether a step was cut, and
        the values of liveness properties."""
        return self["mark"], self.size
