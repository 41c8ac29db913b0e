"""The data of symbolic execution: values, paths in the state, frames, and what stops an execution.

A value is a term wherever its type has an encoding. The other kinds of value are `Elements` (what
can be iterated), `Composite` (a record around one of these), `OtherState` and `Unencodable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.composition import Path

from ..algebra.term import Term


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a collection, which exists where `when` is true.

    With `names` it stands for many elements: one for each value of these bound constants.
    """

    names: tuple[Term, ...]
    when: Term
    value: Value


@dataclass(frozen=True, eq=False)
class Elements:
    """What can be iterated, in the order of `rows` where the collection is ordered."""

    rows: tuple[Element, ...]
    item: t.Type
    dense: bool = False  # No gaps: an element exists only where all elements before it exist.

    @property
    def listed(self) -> bool:
        """Whether every row is at most one element."""
        return not any(row.names for row in self.rows)


@dataclass(frozen=True, eq=False)
class Composite:
    """A record or tuple with a field that is not a term."""

    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class OtherState:
    """A state of the machine other than the one that is executed: bodies read it only."""

    state: State


@dataclass(frozen=True, eq=False)
class Unencodable:
    """A value that has no encoding: to read it raises NotEncodable with this reason."""

    why: str


Value: TypeAlias = Term | Elements | Composite | OtherState | Unencodable
State: TypeAlias = Mapping[str, Value]  # By variables and parameters.
Args: TypeAlias = Mapping[str, Value]  # By the names of parameters.


class TypedValue(NamedTuple):
    """A value with the type that it has where it comes from."""

    value: Value
    type: t.Type


class LocalValue(NamedTuple):
    """A value of a local with the type that it has where it comes from.

    `there` is where the local has a value at all: not everywhere, where only a branch or a round of
    a loop assigns it. None for everywhere.
    """

    value: Value
    type: t.Type
    there: Term | None = None


# Stops. `beyond`: a sequence gets longer than the scope allows; `excess`: longer than its `MaxLen`,
# or a total map got a key that is not its own, and is then iterated.
StopKind = Literal["refused", "undefined", "asserts", "bounds", "ambiguous", "beyond", "excess"]
STOPS: tuple[StopKind, ...] = get_args(StopKind)


@dataclass(frozen=True, eq=False)
class Stop:
    """Execution ends here where `when` is true; the stops of one execution exclude each other."""

    kind: StopKind
    when: Term
    node: ir.Node


class Law(NamedTuple):
    """A constant that the execution made, and a condition that it satisfies in every state."""

    constant: Term
    truth: Term


# Paths in the state.


@dataclass(frozen=True, eq=False)
class PathStep:
    """One step down into the state: to a field of a machine, or to a map's value at a key."""

    of: t.Type
    name: str = ""
    key: Term | None = None


StatePath: TypeAlias = tuple[PathStep, ...]
Owner: TypeAlias = StatePath | OtherState | Term  # The machine whose body is executed.


def state_path(path: Path) -> StatePath:
    """The path to a part, or to an arbitrary member of a family, whose key is chosen at its use."""
    found: StatePath = ()
    for hop in path:
        found = (*found, PathStep(t.Part(hop.owner), hop.name))
        if hop.key is not None:
            found = (*found, PathStep(hop.variable.type))
    return found


# Bodies.


@dataclass
class Frame:
    """One body that is executed: its machine, its locals, and the ways out of it so far."""

    machine: ir.Machine
    own: Owner | None
    locals: dict[str, LocalValue] = field(default_factory=lambda: {})
    returns: list[BodyExit] = field(default_factory=lambda: [])
    output: t.Type = t.NOTHING
    broken: list[LoopExit] = field(default_factory=lambda: [])
    continued: list[LoopExit] = field(default_factory=lambda: [])


@dataclass(frozen=True, eq=False)
class BodyExit:
    """A way out of a body: the path condition, the value returned, and the state."""

    when: Term
    value: Value | None
    state: State


@dataclass(frozen=True, eq=False)
class LoopExit:
    """A `break` or `continue`: the path condition, the state, and the locals."""

    when: Term
    state: State
    locals: Mapping[str, LocalValue]


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a transition or event by its name; `node` is where it is written."""

    name: str
    args: tuple[TypedValue, ...]
    node: ir.Node


@dataclass(frozen=True)
class SymbolicStep:
    """One step for all states and arguments at once: where it completes, and where it is stopped.

    `done`: nothing stops it; the caller checks the bounds of the state after it. `stopped` has
    a condition for each kind of stop. `laws` is true, in every state, of the constants that the
    execution made. `outputs` are the values returned, each with its condition. `skipped` is empty,
    or says why it is not known whether everything in the step has a value.
    """

    done: Term
    stopped: Mapping[StopKind, Term]
    laws: Term
    after: State
    outputs: tuple[tuple[Term, Value], ...]
    skipped: str = ""
