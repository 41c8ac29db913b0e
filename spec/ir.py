"""The typed IR: what every engine reads.

    Machine    := name, variables, parameters, transitions, events, ignores, initials,
                  properties, functions, parts, fairness
    Transition := name, event, header(source, target, of, timer), Function
    Function   := params, body: Stmt*, output

    Stmt  := Assign(place, value)            one assignment; a place is Local, Field or Item
           | Update(place, op, args, into)   a container or timer is changed where it stands
           | Unpack(names, value)            a tuple into locals
           | Branch(test, then, other) | Loop(names, over, body) | Break | Continue
           | Return(value) | Require(test, why) | Refuse(why)     guards refuse the event
           | Assert(test)                           false breaks the property `asserts`
           | Step(part, name, args, into)           a part's transition, event or start
           | Base(name, args, into)                 an ancestor's transition, header included
           | Do(call, into)                         a helper that changes the state
           | Tick(clock)                            one tick passes, for every timer, too

    Expr  := Const | Local | Self | Field(of, name) | Item(of, key)
           | Op(op, args)                    strict; `ops.TABLE` gives its meaning
           | And | Or | If                   left to right, short circuit
           | Make(args)                      the record that is the node's type
           | New(args)                       a part in its initial state, with these parameters
           | View(args)                      a state of an abstract machine
           | Comp(kind, element, key, clauses)
           | IsA(of, options) | Narrow(of)   a type test; a value seen at a narrower type
           | Needed(of, why)                 the value, or refuses where it is None
           | Can(part, name, args)           whether that call would not be refused
           | Enabled(event, args)            whether a transition of this machine takes the event
           | Call(function, args)            a helper
           | Domain                          every value of a sort, enum or bool
           | Format(parts)                   text, in reasons and outputs

Every node has a place in the source; every expression has a type. Expressions never change the
state, so an engine may evaluate one twice. Order of evaluation is left to right.
"""

from __future__ import annotations

from typing import Literal, TypeVar

from .errors import Place
from .quick_dataclass import dataclass, field
from .types import Type
from .verdicts import PropertyKind

Plain = bool | int | float | str | None
Json = Plain | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Node:
    """Base of everything that stands somewhere in the source."""

    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """Base of expressions."""

    type: Type


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A literal: bool, int, float, text or None; an enum's member or a sort's element by name."""

    value: Plain


@dataclass(frozen=True, slots=True)
class Local(Expr):
    """A parameter of the function, an assigned local or the variable of a loop."""

    name: str


@dataclass(frozen=True, slots=True)
class Self(Expr):
    """The machine whose body this is."""


@dataclass(frozen=True, slots=True)
class Field(Expr):
    """A machine's variable or parameter, a record's field, a timer's `armed`, a clock's `now`."""

    of: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Item(Expr):
    """A map's value, a list's or tuple's element, a bag's count; undefined where there is none."""

    of: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class Op(Expr):
    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class And(Expr):
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Or(Expr):
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class If(Expr):
    test: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True)
class Make(Expr):
    """A record of the node's type; `args` in the order of its fields."""

    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class New(Expr):
    """A machine of the node's type (a `Part`): its defaults, and these parameters by name."""

    args: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class View(Expr):
    """A state of the abstract machine that the type names: its defaults, and these by name."""

    args: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """`for names in over if all(conditions)`; several names unpack a tuple."""

    names: tuple[str, ...]
    over: Expr
    conditions: tuple[Expr, ...]


CompKind = Literal["set", "list", "tuple", "map", "all", "any", "sum", "min", "max", "first"]


@dataclass(frozen=True, slots=True)
class Comp(Expr):
    """A comprehension, quantifier or fold; `key`: of maps; `first`: one at most, no more seen."""

    kind: CompKind
    element: Expr
    key: Expr | None
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class IsA(Expr):
    of: Expr
    options: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Narrow(Expr):
    """The value of `of`, known to be of the node's type: a test came before."""

    of: Expr


@dataclass(frozen=True, slots=True)
class Needed(Expr):
    of: Expr
    why: Expr


@dataclass(frozen=True, slots=True)
class Can(Expr):
    part: Expr
    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Enabled(Expr):
    """Whether a transition of the machine itself takes the event, its `ignore`s aside. No
    declaration has it: see `spec.lower.steps`."""

    event: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A helper or property of the machine `of` (its type is a `Part`) that changes nothing; a
    function of a module has no `of` and stands in the machine whose body this is."""

    function: str
    of: Expr | None
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Domain(Expr):
    """Every value of the sort, enum or bool that is this iterable's element type."""


@dataclass(frozen=True, slots=True)
class Format(Expr):
    """An f-string; its parts are constants and values."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Stmt(Node):
    """Base of statements."""


@dataclass(frozen=True, slots=True)
class Assign(Stmt):
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Update(Stmt):
    """`target.op(*args)` changes the container or timer at `target`; `into` takes what it gives."""

    target: Expr
    op: str
    args: tuple[Expr, ...]
    into: Expr | None


@dataclass(frozen=True, slots=True)
class Unpack(Stmt):
    names: tuple[str, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Branch(Stmt):
    test: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Loop(Stmt):
    names: tuple[str, ...]
    over: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Break(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Require(Stmt):
    test: Expr
    why: Expr | None


@dataclass(frozen=True, slots=True)
class Refuse(Stmt):
    why: Expr


@dataclass(frozen=True, slots=True)
class Assert(Stmt):
    test: Expr


@dataclass(frozen=True, slots=True)
class Step(Stmt):
    """The transition, event or `@initial` of the part at `part`, within the same atomic step."""

    part: Expr
    name: str
    args: tuple[Expr, ...]
    into: Expr | None


@dataclass(frozen=True, slots=True)
class Base(Stmt):
    """`super().name(...)`: `name` is the key of the ancestor's transition in `Machine.bases`."""

    name: str
    args: tuple[Expr, ...]
    into: Expr | None


@dataclass(frozen=True, slots=True)
class Do(Stmt):
    call: Call
    into: Expr | None


@dataclass(frozen=True, slots=True)
class Tick(Stmt):
    """Refused while an urgent timer is due; else clocks and timers go on. See `ticks`."""

    clock: Expr


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A body: `params` are (name, type); `output` is None's type where nothing is returned."""

    name: str
    params: tuple[tuple[str, Type], ...]
    output: Type
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A field of the machine; `initial` is None where only an `@initial` assigns it."""

    name: str
    type: Type
    initial: Expr | None
    ghost: bool


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A field fixed when an instance is made; `default` as JSON-like plain value."""

    name: str
    type: Type
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Transition(Node):
    """`source` and `target` are names of states of the place `control`; `timer` is the place of
    the timer whose firing this is. One that is not given is None."""

    name: str
    event: str
    control: Expr | None
    source: tuple[str, ...] | None
    target: tuple[str, ...] | None
    timer: Expr | None
    function: Function
    doc: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Event(Node):
    """An event; every transition's event has a row, declared with `@event` or not."""

    name: str
    params: tuple[tuple[str, Type], ...]
    output: Type
    choice: bool
    doc: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Ignore(Node):
    """The event is accepted and nothing changes; `when` is a function of its arguments."""

    name: str
    event: str
    source: tuple[str, ...] | None
    when: Function | None
    otherwise: bool
    because: str


Fair = tuple[Literal["weak", "strong"], tuple[str, ...], tuple[str, ...]]  # Transitions, `each`.


@dataclass(frozen=True, slots=True)
class Property(Node):
    """A step property's first parameter is the state after; what refines gives a `View`."""

    name: str
    kind: PropertyKind
    function: Function
    doc: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Machine(Node):
    """A resolved machine. `types`: enums, sorts, opaques and records; `bases`: the ancestors'
    transitions that `super()` reaches; `functions`: helpers; `abstracts`: what it refines."""

    name: str
    module: str
    doc: str = field(compare=False)
    variables: tuple[Variable, ...]
    parameters: tuple[Parameter, ...]
    transitions: tuple[Transition, ...]
    events: tuple[Event, ...]
    ignores: tuple[Ignore, ...]
    initials: tuple[Function, ...]
    properties: tuple[Property, ...]
    functions: tuple[Function, ...]
    bases: tuple[Transition, ...]
    parts: tuple[Machine, ...]
    types: tuple[Type, ...]
    deadlock_ok: bool
    abstracts: tuple[Machine, ...] = ()
    fairness: tuple[Fair, ...] = ()

    def transition(self, name: str) -> Transition:
        """The transition of that name; KeyError if there is none."""
        return _named(self.transitions, name)

    def event(self, name: str) -> Event:
        """The event of that name; KeyError if there is none."""
        return _named(self.events, name)

    def part(self, name: str) -> Machine:
        """The part machine of that name; KeyError if there is none."""
        return _named(self.parts, name)

    def serving(self, event: str) -> tuple[Transition, ...]:
        """The transitions that serve the event, in the order of the declaration."""
        return tuple(t for t in self.transitions if t.event == event and not self.is_of_ignores(t))

    def is_of_ignores(self, row: Transition) -> bool:
        """Whether this is the step in which the `ignore`s of an event are evaluated."""
        return any(row.name == ignore.name for ignore in self.ignores)

    def of_kind(self, kind: PropertyKind) -> tuple[Property, ...]:
        """The properties of one kind, in the order of the declaration."""
        return tuple(p for p in self.properties if p.kind == kind)


_Row = TypeVar("_Row", Transition, Event, Machine)


def _named(rows: tuple[_Row, ...], name: str) -> _Row:
    for row in rows:
        if row.name == name:
            return row
    raise KeyError(name)
