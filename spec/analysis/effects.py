"""Which variables a body may write, and the body without its ghosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from .. import ir
from .. import types as t
from ..flat import Erased
from ..quick_dataclass import dataclass, field
from .places import in_state, root, variable_of
from .walk import everything, statements, written


@dataclass
class Writes:
    """The variables that a step may assign; `parts`: it may change its parts, or which
    there are."""

    variables: dict[str, None] = field(default_factory=dict[str, None])
    parts: bool = False

    def add(self, other: Writes) -> None:
        self.variables.update(other.variables)
        self.parts = self.parts or other.parts


class Reach:
    """Finds the writes of a machine's functions and transitions, including those of functions they
    call."""

    def __init__(self, machine: ir.Machine, ghosts: frozenset[str]) -> None:
        self.ghosts = ghosts
        self.functions = {f.name: f for f in machine.functions}
        self.bases = {b.name: b for b in machine.bases}
        self.known: dict[str, Writes] = {}

    def of_transition(self, transition: ir.Transition) -> Writes:
        out = Writes()
        places = [transition.timer] if transition.timer is not None else []
        if transition.target is not None and transition.control is not None:
            places.append(transition.control)
        for place in places:
            self._place(out, place)
        out.add(self.of_body(transition.function.body))
        return out

    def of_body(self, body: Iterable[ir.Stmt]) -> Writes:
        out = Writes()
        for stmt in statements(body):
            if isinstance(stmt, ir.Step):
                out.parts = True
            for place in written(stmt):
                self._place(out, place)
            match stmt:
                case ir.Do(call=call):
                    out.add(self._named(call.function))
                case ir.Base(name=name):
                    out.add(self._base(name))
                case _:
                    pass
        return out

    def _place(self, out: Writes, place: ir.Expr) -> None:
        name = variable_of(place)
        if name in self.ghosts:
            return  # It is not there when the machine runs.
        if t.contains(place.type, t.Part):
            out.parts = True  # A machine comes or goes.
        if name is not None:
            out.variables[name] = None
        elif not isinstance(root(place), ir.Local):
            out.parts = True

    def _named(self, function: str) -> Writes:
        if function not in self.known:
            self.known[function] = Writes()  # Helpers do not call one another in a circle.
            self.known[function] = self.of_body(self.functions[function].body)
        return self.known[function]

    def _base(self, name: str) -> Writes:
        key = f"super {name}"
        if key not in self.known:
            self.known[key] = self.of_transition(self.bases[name])
        return self.known[key]


def assigned(body: Iterable[ir.Stmt]) -> set[str]:
    """The locals that a body assigns: what its caller gave may be gone."""
    found: set[str] = set()
    for stmt in statements(body):
        match stmt:
            case ir.Loop(names=keys) | ir.Unpack(names=keys):
                found.update(keys)
            case _:
                found.update(p.name for p in written(stmt) if isinstance(p, ir.Local))
    return found


def in_place(stmt: ir.Stmt) -> tuple[str, ...]:
    """The variables whose containers the statement changes in place."""
    found: dict[str, None] = {}
    for each in statements((stmt,)):
        match each:
            case ir.Assign(target=ir.Item() as place) | ir.Update(target=place):
                name = variable_of(place)
                if name is not None and not _is_scalar(place):
                    found[name] = None
            case _:
                pass
    return tuple(found)


def _is_scalar(place: ir.Expr) -> bool:
    """A timer by itself: its variable is assigned, no container changes."""
    return isinstance(place, ir.Field) and isinstance(place.type, t.Timer)


def acts(function: ir.Function) -> bool:
    """Whether a helper changes the state, or can refuse: it is more than an expression."""
    for node in everything(function.body):
        match node:
            case ir.Require() | ir.Refuse() | ir.Assert() | ir.Needed():
                return True
            case ir.Step() | ir.Base() | ir.Do():
                return True
            case ir.Assign(target=target) | ir.Update(target=target):
                if in_state(target):
                    return True
            case _:
                pass
    return False


Ghosts = Mapping[str, frozenset[str]]


def only_reads(machine: ir.Machine, ghosts: Ghosts, key: str) -> bool:
    """Whether a helper or property changes nothing, refuses nothing and sees no ghost."""
    rows = [*machine.functions, *(p.function for p in machine.properties)]
    body = next(f.body for f in rows if f.name == key)
    return all(_only_reads(machine, ghosts, node) for node in everything(body))


def _only_reads(machine: ir.Machine, ghosts: Ghosts, node: ir.Node) -> bool:
    match node:
        case ir.Require() | ir.Refuse() | ir.Needed() | ir.Assert() | ir.Step() | ir.Base():
            return False
        case ir.Do() | ir.Update(target=ir.Field() | ir.Item()):
            return False
        case ir.Assign(target=target) if variable_of(target) is not None:
            return False
        case ir.Field(of=ir.Expr(type=t.Part(machine=owner)), name=field):
            return field not in ghosts.get(owner, ())
        case ir.Call(of=None | ir.Self(), function=function):
            return only_reads(machine, ghosts, function)
        case _:
            return True


class Eraser:
    """Leaves out what only ghosts see; `ghosts` are those of each machine by its name."""

    def __init__(self, ghosts: Ghosts) -> None:
        self.ghosts = ghosts
        self.tainted: set[str] = set()

    def body(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """The statements that are left."""
        if not any(self.ghosts.values()):
            return body
        while True:
            before = len(self.tainted)
            left = tuple(self._block(body))
            if before == len(self.tainted):
                return left

    def _block(self, body: Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
        for stmt in body:
            match stmt:
                case ir.Branch(test=test):
                    then, other = (tuple(self._block(b)) for b in (stmt.then, stmt.other))
                    if then or other or not self._sees((test,)):
                        yield dataclasses.replace(stmt, then=then, other=other)
                case ir.Loop(over=over):
                    if not self._sees((over,)):
                        yield dataclasses.replace(stmt, body=tuple(self._block(stmt.body)))
                case _:
                    if not self._goes(stmt):
                        yield stmt

    def _goes(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Step() | ir.Base() | ir.Return():
                return False  # What these read is no ghost: it would have been refused.
            case ir.Unpack(names=names, value=value):
                gone = self._sees((value,))
                self.tainted.update(names if gone else ())
                return gone
            case ir.Assign(target=ir.Local(name=name), value=value):
                gone = self._sees((value,))
                self.tainted.update((name,) if gone else ())
                return gone
            case ir.Update(into=ir.Local(name=name)):
                gone = self._sees((stmt,))
                self.tainted.update((name,) if gone else ())
                return gone
            case _:
                return self._sees((stmt,))

    def _sees(self, nodes: Iterable[ir.Node]) -> bool:
        for node in everything(nodes):
            match node:
                case ir.Field(of=ir.Expr(type=t.Part(machine=machine)), name=name):
                    if name in self.ghosts.get(machine, ()):
                        return True
                case ir.Local(name=name) if name in self.tainted:
                    return True
                case _:
                    pass
        return False


def ghosts_of(machine: ir.Machine) -> dict[str, frozenset[str]]:
    """The ghosts of a machine and its parts, by the machines' names."""
    whole = (machine, *machine.parts)
    return {each.name: frozenset(v.name for v in each.variables if v.ghost) for each in whole}


def erased(machine: ir.Machine) -> Erased:
    """The machine as it runs: nothing assigns its ghosts, which keep their places and hold None."""
    ghosts = ghosts_of(machine)

    def body(f: ir.Function) -> ir.Function:
        return dataclasses.replace(f, body=Eraser(ghosts).body(f.body))

    def row(tr: ir.Transition) -> ir.Transition:
        return dataclasses.replace(tr, function=body(tr.function))

    def bare(v: ir.Variable) -> ir.Variable:
        return dataclasses.replace(v, type=t.NOTHING, initial=None) if v.ghost else v

    def one(m: ir.Machine) -> ir.Machine:
        return dataclasses.replace(
            m,
            variables=tuple(map(bare, m.variables)),
            initials=tuple(map(body, m.initials)),
            transitions=tuple(map(row, m.transitions)),
            bases=tuple(map(row, m.bases)),
            functions=tuple(map(body, m.functions)),
        )

    return Erased(dataclasses.replace(one(machine), parts=tuple(map(one, machine.parts))))


def all_names(machine: ir.Machine) -> set[str]:
    """Every name that a body of the user's may use."""
    found: set[str] = set()
    for node in everything((machine,)):
        match node:
            case ir.Local(name=key):
                found.add(key)
            case ir.Clause(names=keys) | ir.Loop(names=keys) | ir.Unpack(names=keys):
                found.update(keys)
            case ir.Function(params=params) | ir.Event(params=params):
                found.update(n for n, _ in params)
            case _:
                pass
    return found
