"""A machine class while it is written: what it has, and what others may use of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lawful.spec import types as t
from tests.agree.exprs import Callee, Env, Family, Place
from tests.agree.kinds import COLOR, MODE, TURN, WIDE

Lines = list[str]
CONSTANTS = (
    Place("LIMIT", t.INT),
    Place("PAIR", t.Tuple((t.INT, COLOR))),
    Place("FIRST", t.Record("Ping", (("a", t.INT), ("b", t.BOOL)))),
    Place("NAMES", t.Set(t.INT, False)),
    Place("START.at", TURN),
    Place("START.wide", WIDE),
)
CONSTANT_LINES = (
    "LIMIT = 2",
    "PAIR = (1, Color.RED)",
    "FIRST = Ping(1, True)",
    "NAMES = frozenset({1, 2})",
    "START = Stamp(6, 65534)",
    "",
)


@dataclass
class Made:
    """A machine class as far as it is written; its `families` are maps of machines."""

    name: str
    lines: Lines = field(default_factory=list[str])
    variables: list[Place] = field(default_factory=list[Place])
    fixed: list[Place] = field(default_factory=list[Place])
    ghosts: list[Place] = field(default_factory=list[Place])
    parts: list[Callee] = field(default_factory=list[Callee])  # Their transitions.
    families: list[Family] = field(default_factory=list[Family])
    begun: list[Callee] = field(default_factory=list[Callee])  # Starts of parts.
    read: list[Place] = field(default_factory=list[Place])  # What only this class may not change.
    unset: list[Place] = field(default_factory=list[Place])  # Assigned by `@initial` alone.
    calls: list[Callee] = field(default_factory=list[Callee])
    acts: list[Callee] = field(default_factory=list[Callee])
    asks: list[Callee] = field(default_factory=list[Callee])  # Properties.
    haunted: set[str] = field(default_factory=set[str])  # Properties that read ghosts.
    kinds: dict[str, str] = field(default_factory=dict[str, str])  # Their decorators.
    transitions: list[Callee] = field(default_factory=list[Callee])
    initials: list[Callee] = field(default_factory=list[Callee])
    keys: dict[str, t.Type] = field(default_factory=dict[str, t.Type])  # Of families.
    controls: list[str] = field(default_factory=list[str])  # Places of control states in parts.
    timers: list[str] = field(default_factory=list[str])  # Places of timers in parts.
    state: bool = False
    family: bool = False  # Of control states.
    clock: bool = False

    def env(self, *more: Place) -> Env:
        """What its methods read."""
        state = [Place("self.state", MODE)] if self.state else []
        places = (*self.variables, *self.fixed, *self.read, *state, *CONSTANTS, *more)
        return Env(places, tuple(self.calls), tuple(self.parts), tuple(self.families))

    def reads(self) -> list[Place]:
        """What its whole reads of it, from its name on."""
        rows = [*self.variables, *self.fixed, *([Place("self.state", MODE)] * self.state)]
        return [replace(p, text=p.text[5:]) for p in rows if t.immutable(p.kind)]

    def questions(self) -> list[Callee]:
        """The helpers and properties that its whole may call, from its name on."""
        rows = [c for c in (*self.calls, *self.asks) if c.text.startswith("self.")]
        rows = [c for c in rows if c.text not in self.haunted]
        return [replace(c, text=c.text[5:]) for c in rows if c.text.count(".") == 1]

    def heir(self, name: str) -> Made:
        """One that inherits from it, before it has anything of its own."""
        return replace(
            self,
            name=name,
            lines=[],
            transitions=[],
            initials=[],
            controls=[*self.controls],
            timers=[*self.timers],
            ghosts=[*self.ghosts],
            variables=[*self.variables],
            fixed=[*self.fixed],
            read=[*self.read],
            calls=[*self.calls],
            acts=[*self.acts],
            asks=[*self.asks],
            kinds=dict(self.kinds),
            unset=[*self.unset],
            haunted={*self.haunted},
        )
