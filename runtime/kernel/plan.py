"""What is compiled of a machine: its plan, and the ways into it.

Plan      one per class: the ways into it, its helpers, how its instances begin
Way       an event or a transition: its parameters, its candidates, the variables it may write
Candidate one transition, as a function that changes a state in place
Asserted  the properties that are judged after each event
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.named_elements import named_elements
from lawful.spec.quick_dataclass import dataclass, field
from lawful.spec.resolve import Resolved

from .guards import Site

if TYPE_CHECKING:
    from lawful.spec.codec.as_json import Fingerprints

Check = Callable[..., Any]  # See `compile.arguments.checker`.
Row = Callable[..., tuple[Site, str, tuple[Any, ...]] | None]
Instance = Any  # A `state.State`; that module names the plan, so this one cannot name it.


@dataclass(frozen=True, slots=True)
class Guards:
    """The guards of a transition before its first change: `first_false(state, *args)` gives the
    first one that is false, None where all hold. `goes_on(state, *args)`: whether a part takes the
    event with which the rest begins, None where it begins with something else. `decide`: nothing
    after these refuses."""

    name: str
    first_false: Row
    goes_on: Callable[..., bool] | None
    decide: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A transition: `run(state, *args)` changes the state in place, also where it then refuses.

    `source`: the control states of the variable `state` that it needs, None for any; `elsewhere` is
    the site of the refusal in other control states.
    """

    name: str
    run: Callable[..., Any]
    source: tuple[enum.Enum, ...] | None
    elsewhere: Site | None


@dataclass(frozen=True, slots=True)
class Ignoring:
    """An `ignore`: it applies in these control states while `when(state, *args)` is true."""

    source: tuple[enum.Enum, ...] | None
    when: Callable[..., bool] | None


@dataclass(slots=True)
class Way:
    """A way into the machine: an event, or one transition called by its own name.

    `writes`: the variables that it may assign, `slots` their slots. `composite`: it may change
    parts. `checks`: one for each parameter. `method`: what users call, from the first call on; see
    `Plan.method`. `silent`: the control states
    in which an `ignore` applies whatever the arguments are, None for all; `conditional`: whether
    another `ignore` has a condition. `guards`: those of each transition, None until somebody asks
    for them, empty where `commit.choose` runs the transitions. `read` gives the values of `slots`.
    `grows`: it is no event, but the growth of a sort; it changes the universe. `copies`: an
    argument may be a mapping, which the caller could change later.
    """

    name: str
    event: str
    params: tuple[tuple[str, t.Type], ...]
    output: t.Type
    candidates: tuple[Candidate, ...]
    ignores: tuple[Ignoring, ...]
    writes: tuple[str, ...]
    composite: bool
    slots: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    method: Callable[..., Any] | None = None
    silent: tuple[enum.Enum, ...] | None = ()
    conditional: bool = False
    guards: tuple[Guards, ...] | None = None
    read: Callable[[Instance], tuple[Any, ...]] = lambda state: ()
    grows: bool = False
    copies: bool = False


@dataclass(frozen=True, slots=True)
class Alarm:
    """A timer and the ways that its firing may take.

    `find(state)` returns (deadline, arguments) of every armed timer at its place. `urgent`: it
    fires before other timers that are due at the same instant.
    """

    find: Callable[[Instance], list[tuple[float, tuple[Any, ...]]]]
    ways: tuple[Way, ...]
    urgent: bool


@dataclass(frozen=True, slots=True)
class AssertedProperty:
    """A property of a machine, or of the part that its variables on the path lead to."""

    name: str
    path: tuple[str, ...]
    of: ir.Property


@dataclass(frozen=True, slots=True)
class Asserted:
    """What is asserted after each event, and what is not, with the reasons."""

    rows: tuple[AssertedProperty, ...] = ()
    not_asserted: tuple[tuple[AssertedProperty, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that are asserted; those of parts as `variable.property`."""
        return tuple(row.name for row in self.rows)

    @property
    def left(self) -> dict[str, str]:
        """Why other invariants and step properties are not asserted."""
        return {row.name: why for row, why in self.not_asserted}

    @property
    def steps(self) -> bool:
        """Whether a step property is among them, for which the state before is kept."""
        return any(row.of.kind == "step_property" for row in self.rows)

    def invariants(self) -> Asserted:
        """The same without step properties."""
        return Asserted(
            tuple(row for row in self.rows if row.of.kind != "step_property"),
            tuple(each for each in self.not_asserted if each[0].of.kind != "step_property"),
        )


Hint = Callable[[Instance], None]


@dataclass
class Plan:
    """A compiled machine.

    `slots` are those of `variables`; `families` says of each variable of parts whether it is a map
    of them. `control` is the control variable. `fresh` gives a new state its initial values,
    `fresh_but(names)` returns one without these variables. `runs`, `tells` and `logs` have what
    `watched`, `observed` and `logged` compiled. `hints` are the guards of a transition that need no
    argument. `judged`: the bounds of initial values were found to hold. `growth` are the ways in
    which sorts grow.
    """

    resolved: Resolved
    fields: dict[str, t.Type]
    variables: tuple[str, ...]
    slots: tuple[str, ...]
    families: dict[str, bool]
    control: str | None = None
    control_slot: str | None = None
    ways: dict[str, Way] = field(default_factory=dict[str, Way])
    starts: dict[str, Way] = field(default_factory=dict[str, Way])
    growth: dict[str, Way] = field(default_factory=dict[str, Way])
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])
    hints: dict[str, Hint] = field(default_factory=dict[str, Hint])
    alarms: tuple[Alarm, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict[str, Any])
    fresh: Callable[[Instance], None] = print
    fresh_but: Callable[[frozenset[str]], Callable[[Instance], None]] = lambda given: print
    only_reads: Callable[[str], bool] = bool
    text: Callable[[], str] = str
    constructor: Callable[..., Any] = print
    compiled: Callable[[str], Callable[..., Any]] = lambda name: print
    watched: Callable[[str], Callable[..., Any]] = lambda name: print
    observed: Callable[[str], Callable[..., Any] | None] = lambda name: None
    logged: Callable[[str], Callable[..., Any] | None] = lambda name: None
    guards: Callable[[str], tuple[Guards, ...]] = lambda name: ()
    runs: dict[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])
    tells: dict[str, Any] = field(default_factory=dict[str, Any])
    logs: dict[str, Any] = field(default_factory=dict[str, Any])
    parameters: dict[str, Check] = field(default_factory=dict[str, Check])
    required: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    timed: bool = True
    clocked: bool = True  # It reads a `Clock`: a step has to see one instant.
    fingerprint: Fingerprints | None = None
    behaviour: str = ""
    abstract: bool = False
    bounds: tuple[tuple[str, t.Type], ...] = ()  # The slots whose types have bounds.
    judged: bool = False
    asserted: Asserted | None = None  # After each event of the instances made from now on.
    general: Callable[..., None] | None = None  # The `__init__` that a quicker one replaced.
    cls: Any = None
    part_of: Callable[..., Any] = print
    maker_of: Callable[..., Any] = print
    maker: Callable[..., Any] | None = None
    store_rows: Any = None  # What makes the rows of a store, from the first one on.
    _named: dict[frozenset[str], dict[str, tuple[str, ...]]] = field(
        default_factory=dict[frozenset[str], dict[str, tuple[str, ...]]]
    )

    @property
    def name(self) -> str:
        return self.resolved.machine.name

    @property
    def machine(self) -> ir.Machine:
        return self.resolved.machine

    @property
    def steps(self) -> dict[str, Way]:
        """The ways into the machine, and those in which its sorts grow: what a log has rows of."""
        return {**self.ways, **self.growth}

    def guards_of(self, way: Way) -> tuple[Guards, ...]:
        """The guards of a way's transitions, compiled when somebody asks for them first."""
        if way.guards is None:
            way.guards = self.guards(way.name)
        return way.guards

    def method(self, way: Way) -> Callable[..., Any]:
        """The method that users call for an event, compiled when somebody asks for it first."""
        if way.method is None:
            way.method = self.compiled(way.name)
        return way.method

    def named(self, given: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The texts of the elements that the declaration names, by their sorts, where these
        parameters have values."""
        key = frozenset(given)
        if key not in self._named:
            self._named[key] = named_elements(self.machine, key)
        return self._named[key]
