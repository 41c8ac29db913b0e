"""The rule for ghosts: history for properties, read by nothing that a machine does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from .. import ir
from .. import types as t
from ..analysis.places import holder
from ..analysis.walk import everything, own_expressions, statements
from ..errors import Problems
from ..syntax.members import Members


def ghosts_are_not_read(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """Note where a guard, an output or an ordinary variable depends on a ghost."""
    whole = (machine, *machine.parts)
    ghosts = {m.name: {v.name for v in m.variables if v.ghost} for m in whole}
    if not any(ghosts.values()):
        return
    helpers = {
        (m.name, f.name): f
        for m in whole
        for f in (*m.functions, *(p.function for p in m.properties))
    }
    rows = [row.function for row in (*machine.transitions, *machine.bases)]
    whens = [row.when for row in machine.ignores if row.when is not None]
    own = {name: f for (owner, name), f in helpers.items() if owner == machine.name}
    for function in _bodies((*rows, *machine.initials, *whens), own):
        for expr in _Reader(ghosts, helpers, function).forbidden():
            problems.add(
                "L214",
                expr.place,
                f"{expr.name}, which is or depends on a ghost",
                "ordinary variables in guards, outputs and other variables",
                "make it an ordinary variable, or use it in properties alone",
            )


def _bodies(first: Iterable[ir.Function], helpers: dict[str, ir.Function]) -> Iterator[ir.Function]:
    """These bodies, and those of the helpers that they call as statements."""
    seen: set[str] = set()
    waiting = list(first)
    while waiting:
        function = waiting.pop(0)
        yield function
        for node in everything(function.body):
            if isinstance(node, ir.Do) and node.call.function not in seen:
                seen.add(node.call.function)
                if node.call.function in helpers:
                    waiting.append(helpers[node.call.function])


Ghosts = Mapping[str, set[str]]  # By the names of machines, as the keys of helpers begin.
Helpers = Mapping[tuple[str, str], ir.Function]


class _Reader:
    """Analyses one body: which locals depend on ghosts, and where such a dependency is not
    allowed."""

    def __init__(self, ghosts: Ghosts, helpers: Helpers, function: ir.Function) -> None:
        self.ghosts = ghosts
        self.helpers = helpers
        self.body = function.body
        self.locals: set[str] = set()
        while self._learn():
            pass

    def _learn(self) -> bool:
        """Take in the locals that are assigned from a ghost; whether there were new ones."""
        known = len(self.locals)
        for stmt in statements(self.body):
            match stmt:
                case ir.Assign(target=ir.Local(name=name), value=value) if any(self.reads(value)):
                    self.locals.add(name)
                case ir.Unpack(names=names, value=value) if any(self.reads(value)):
                    self.locals.update(names)
                case ir.Loop(names=names, over=over) if any(self.reads(over)):
                    self.locals.update(names)
                case _:
                    pass
        return len(self.locals) > known

    def reads(self, expr: ir.Node) -> Iterator[ir.Field | ir.Local]:
        """The place where an expression reads a ghost, directly or through a local or a helper."""
        for node in everything((expr,)):
            match node:
                case ir.Field() if self._of_ghost(node):
                    yield node
                case ir.Local(name=name) if name in self.locals:
                    yield node
                case ir.Call():
                    for found in self._in_helper(node):
                        yield dataclasses.replace(found, place=node.place)
                case _:
                    pass

    def _of_ghost(self, field: ir.Field) -> bool:
        owner = field.of.type
        return isinstance(owner, t.Part) and field.name in self.ghosts.get(owner.machine, ())

    def _in_helper(self, call: ir.Call) -> Iterator[ir.Field]:
        """The ghosts that a helper or property reads, of the machine or of a part."""
        owner = None if call.of is None else call.of.type
        key = (owner.machine if isinstance(owner, t.Part) else "", call.function)
        for node in everything(self.helpers[key].body) if key in self.helpers else ():
            if isinstance(node, ir.Field) and self._of_ghost(node):
                yield node
            elif isinstance(node, ir.Call):
                yield from self._in_helper(node)

    def forbidden(self) -> Iterator[ir.Field | ir.Local]:
        """The place where the machine's behaviour depends on a ghost."""
        yield from self._in_block(self.body)

    def _in_block(self, body: Iterable[ir.Stmt]) -> Iterator[ir.Field | ir.Local]:
        for stmt in body:
            match stmt:
                case ir.Assign(target=ir.Local()) | ir.Unpack():
                    pass  # A local is judged where it is used.
                case ir.Assign(target=target) | ir.Update(target=target) if self._is_ghost(target):
                    pass
                case ir.Branch(test=test, then=then, other=other):
                    yield from self._decides(test, (*then, *other))
                case ir.Loop(over=over, body=inner):
                    yield from self._decides(over, inner)
                case ir.Do(call=call):  # What the helper does is judged in its own body.
                    for arg in call.args:
                        yield from self.reads(arg)
                case _:
                    for expr in own_expressions(stmt):
                        yield from self.reads(expr)

    def _decides(self, test: ir.Expr, body: tuple[ir.Stmt, ...]) -> Iterator[ir.Field | ir.Local]:
        """A test of a ghost may decide what happens to ghosts, and to nothing else."""
        if any(self._touches_machine(stmt) for stmt in statements(body)):
            yield from self.reads(test)
        yield from self._in_block(body)

    def _touches_machine(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Assign(target=target) | ir.Update(target=target):
                local = isinstance(target, ir.Local) and target.name in self.locals
                return not local and not self._is_ghost(target)
            case ir.Branch() | ir.Loop():
                return False
            case _:
                return True

    def _is_ghost(self, target: ir.Expr) -> bool:
        held = holder(target)
        return isinstance(held, ir.Field) and isinstance(held.of, ir.Self) and self._of_ghost(held)
