"""The rule for ghosts: history for properties, read by nothing that a machine does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import ir
from ..analysis.ghosts import Dependence, Read, ghosts_of
from ..analysis.places import holder
from ..analysis.walk import everything, own_expressions, statements
from ..errors import Problems
from ..syntax.members import Members


def ghosts_are_not_read(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """Note where a guard, an output or an ordinary variable depends on a ghost."""
    ghosts = ghosts_of(machine)
    if not any(ghosts.values()):
        return
    dependence = Dependence(machine, ghosts)
    rows = [row.function for row in (*machine.transitions, *machine.bases)]
    whens = [row.when for row in machine.ignores if row.when is not None]
    own = {name: f for (owner, name), f in dependence.helpers.items() if owner == machine.name}
    for function in _bodies((*rows, *machine.initials, *whens), own):
        for expr in _Body(dependence, function).forbidden():
            problems.add(
                "L214",
                expr.place,
                f"{_shown(expr)}, which is or depends on a ghost",
                "ordinary variables in guards, outputs and other variables",
                "make it an ordinary variable, or use it in properties alone",
            )


def _shown(read: Read) -> str:
    """Its name; one without a name in the declaration came out of a ghost that the statement
    changes."""
    return read.name if read.name.strip("_0123456789") else "what this takes"


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


class _Body:
    """Judges one body: where it depends on a ghost and must not."""

    def __init__(self, dependence: Dependence, function: ir.Function) -> None:
        self.dependence = dependence
        self.body = function.body
        self.locals = dependence.locals_of(function.body)

    def reads(self, expr: ir.Node) -> Iterator[Read]:
        """The places where an expression reads a ghost."""
        return self.dependence.reads((expr,), self.locals)

    def forbidden(self) -> Iterator[Read]:
        """The place where the machine's behaviour depends on a ghost."""
        yield from self._in_block(self.body)

    def _in_block(self, body: Iterable[ir.Stmt]) -> Iterator[Read]:
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

    def _decides(self, test: ir.Expr, body: tuple[ir.Stmt, ...]) -> Iterator[Read]:
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
        return (
            isinstance(held, ir.Field)
            and isinstance(held.of, ir.Self)
            and self.dependence.is_ghost(held)
        )
