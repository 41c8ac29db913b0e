"""Ghosts: which expressions and locals depend on them, and a body without them.

A ghost is history for properties. The machine's behaviour must not depend on one
(`spec.legal.unread_ghosts` refuses it), so that a machine can run without its ghosts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from .. import ir
from .. import types as t
from ..flat import Erased
from .places import variable_of
from .walk import everything, statements

Ghosts = Mapping[str, frozenset[str]]  # Names of ghosts by the names of machines.
Read = ir.Field | ir.Local


def ghosts_of(machine: ir.Machine) -> dict[str, frozenset[str]]:
    """The ghosts of a machine and its parts, by the machines' names."""
    whole = (machine, *machine.parts)
    return {each.name: frozenset(v.name for v in each.variables if v.ghost) for each in whole}


class Dependence:
    """Finds what depends on a ghost in the bodies of a machine: directly, through a local, or
    through a helper or property that the body calls, of the machine itself or of a part."""

    def __init__(self, machine: ir.Machine, ghosts: Ghosts) -> None:
        self.machine = machine
        self.ghosts = ghosts
        self.helpers = {
            (m.name, f.name): f
            for m in (machine, *machine.parts)
            for f in (*m.functions, *(p.function for p in m.properties))
        }

    def locals_of(self, body: Iterable[ir.Stmt]) -> frozenset[str]:
        """The locals that hold what a ghost decides, wherever in the body that is."""
        body = tuple(body)
        found: frozenset[str] = frozenset()
        while (more := frozenset(self._assigned(body, found))) - found:
            found |= more
        return found

    def _assigned(self, body: tuple[ir.Stmt, ...], known: frozenset[str]) -> Iterator[str]:
        for stmt in statements(body):
            match stmt:
                case ir.Assign(target=ir.Local(name=name), value=value):
                    yield from (name,) if self.any_read((value,), known) else ()
                case ir.Update(into=ir.Local(name=name), target=target, args=args):
                    yield from (name,) if self.any_read((target, *args), known) else ()
                case ir.Unpack(names=names, value=value) | ir.Loop(names=names, over=value):
                    yield from names if self.any_read((value,), known) else ()
                case _:
                    pass

    def any_read(self, nodes: Iterable[ir.Node], known: frozenset[str]) -> bool:
        """Whether one of the nodes reads a ghost or one of the locals `known`."""
        return next(self.reads(nodes, known), None) is not None

    def reads(self, nodes: Iterable[ir.Node], known: frozenset[str]) -> Iterator[Read]:
        """The places where the nodes read a ghost or one of the locals `known`."""
        for node in everything(nodes):
            match node:
                case ir.Field() if self.is_ghost(node):
                    yield node
                case ir.Local(name=name) if name in known:
                    yield node
                case ir.Call():
                    for found in self._in_helper(node, self.machine.name):
                        yield dataclasses.replace(found, place=node.place)
                case _:
                    pass

    def is_ghost(self, field: ir.Field) -> bool:
        """Whether the field is a ghost of the machine that it is read of."""
        owner = field.of.type
        return isinstance(owner, t.Part) and field.name in self.ghosts.get(owner.machine, ())

    def _in_helper(self, call: ir.Call, within: str) -> Iterator[ir.Field]:
        """The ghosts that a helper or property reads; a body of the machine `within` calls it."""
        owner = within if call.of is None else _machine(call.of)
        key = (owner, call.function)
        for node in everything(self.helpers[key].body) if key in self.helpers else ():
            if isinstance(node, ir.Field) and self.is_ghost(node):
                yield node
            elif isinstance(node, ir.Call):
                yield from self._in_helper(node, owner)


def _machine(of: ir.Expr) -> str:
    return of.type.machine if isinstance(of.type, t.Part) else ""


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
    """Leaves out what only ghosts see, in the bodies of one machine."""

    def __init__(self, machine: ir.Machine, ghosts: Ghosts) -> None:
        self.dependence = Dependence(machine, ghosts)
        self.idle = not any(ghosts.values())

    def body(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """The statements that are left."""
        if self.idle:
            return body
        return tuple(self._block(body, self.dependence.locals_of(body)))

    def _block(self, body: Iterable[ir.Stmt], known: frozenset[str]) -> Iterator[ir.Stmt]:
        for stmt in body:
            match stmt:
                case ir.Branch(test=test):
                    then, other = (tuple(self._block(b, known)) for b in (stmt.then, stmt.other))
                    if then or other or not self.dependence.any_read((test,), known):
                        yield dataclasses.replace(stmt, then=then, other=other)
                case ir.Loop(over=over):
                    if not self.dependence.any_read((over,), known):
                        body = tuple(self._block(stmt.body, known))
                        yield dataclasses.replace(stmt, body=body)
                case _:
                    if not self._goes(stmt, known):
                        yield stmt

    def _goes(self, stmt: ir.Stmt, known: frozenset[str]) -> bool:
        match stmt:
            case ir.Step() | ir.Base() | ir.Do() | ir.Return():
                return False  # What these read is no ghost: it would have been refused.
            case ir.Unpack(value=value):
                return self.dependence.any_read((value,), known)
            case _:  # A local that sometimes holds what a ghost decides is used for ghosts alone.
                return self.dependence.any_read((stmt,), known)


def erased(machine: ir.Machine) -> Erased:
    """The machine as it runs: nothing assigns its ghosts, which keep their places and hold None."""
    ghosts = ghosts_of(machine)

    def bare(v: ir.Variable) -> ir.Variable:
        return dataclasses.replace(v, type=t.NOTHING, initial=None) if v.ghost else v

    def one(m: ir.Machine) -> ir.Machine:
        eraser = Eraser(dataclasses.replace(m, parts=machine.parts), ghosts)

        def body(f: ir.Function) -> ir.Function:
            return dataclasses.replace(f, body=eraser.body(f.body))

        def row(tr: ir.Transition) -> ir.Transition:
            return dataclasses.replace(tr, function=body(tr.function))

        return dataclasses.replace(
            m,
            variables=tuple(map(bare, m.variables)),
            initials=tuple(map(body, m.initials)),
            transitions=tuple(map(row, m.transitions)),
            bases=tuple(map(row, m.bases)),
            functions=tuple(map(body, m.functions)),
        )

    return Erased(dataclasses.replace(one(machine), parts=tuple(map(one, machine.parts))))
