"""The guards of a transition before its first change, so that refusing undoes nothing.

They are those of the header, and each `require` at the start of the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.partiality import always_defined
from lawful.spec.analysis.walk import everything
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.text import reasons

from .part_steps import PartCall


@dataclass(frozen=True, slots=True)
class GuardedBody:
    """A transition as a method runs it: its guards before the first change, and the rest.

    `writes` are the variables that it may write. `core`: the function that the method calls for
    the rest, instead of containing it. `parts`: its calls of parts, by the `id` of the statements.
    """

    transition: ir.Transition
    body: tuple[ir.Stmt, ...]
    guards: tuple[ir.Require, ...]
    writes: tuple[str, ...]
    core: str | None
    parts: dict[int, PartCall]

    @property
    def rest(self) -> tuple[ir.Stmt, ...]:
        return self.body[len(self.guards) :]

    @property
    def asked(self) -> ir.Can | None:
        """Whether the event of a part, with whose call the rest begins, would not be refused."""
        match self.rest:
            case (ir.Step(place=place, part=part, name=key, args=args), *_):
                # A timer is stopped before the call.
                timed = self.transition.timer is not None
                return None if timed else ir.Can(place, t.BOOL, part, key, args)
            case _:
                return None

    @property
    def total(self) -> bool:
        """Whether evaluating the guards always gives values, and runs no code of a user."""
        tr = self.transition
        read = [each for each in (tr.control, tr.timer) if each is not None]
        nodes = [*read, *self.guards]
        return always_defined(*nodes) and not any(map(_runs_code, everything(nodes)))


def guards_of(tr: ir.Transition, body: tuple[ir.Stmt, ...]) -> tuple[ir.Require, ...]:
    """Each `require` at the start of a body. The header stops the timer, so none reads a timer."""
    found: list[ir.Require] = []
    for stmt in body:
        if not isinstance(stmt, ir.Require) or (tr.timer is not None and _reads_timer(stmt)):
            break
        found.append(stmt)
    return tuple(found)


def overlapping(served: Sequence[GuardedBody]) -> Iterator[tuple[GuardedBody, GuardedBody]]:
    """The pairs whose guards may hold at once, as far as their text tells."""
    for one, other in combinations(served, 2):
        if not _elsewhere(one.transition, other.transition) and not _opposed(one, other):
            yield one, other


def _elsewhere(one: ir.Transition, other: ir.Transition) -> bool:
    """Whether no control state admits both."""
    if one.source is None or other.source is None or one.control != other.control:
        return False
    return not set(one.source) & set(other.source)


def _opposed(one: GuardedBody, other: GuardedBody) -> bool:
    """Whether a guard of one is the opposite of a guard of the other."""
    mine, theirs = (
        [test for stmt in each.guards for test in reasons.conjuncts(stmt.test)]
        for each in (one, other)
    )
    return any(_opposite(a, b) or _opposite(b, a) for a in mine for b in theirs)


def _opposite(one: ir.Expr, other: ir.Expr) -> bool:
    match one, other:
        case ir.Op(op="not", args=(inner,)), _:
            return inner == other
        case ir.Op(op=op, args=args), ir.Op(op=op2, args=args2):
            return ops.OPPOSITES.get(op) == op2 and args == args2
        case _:
            return False


def _reads_timer(stmt: ir.Require) -> bool:
    return any(isinstance(n, ir.Expr) and isinstance(n.type, t.Timer) for n in everything((stmt,)))


def _runs_code(node: ir.Node) -> bool:
    """Whether a value of a user's own class is in it, whose methods may raise."""
    return isinstance(node, ir.Expr) and t.contains(node.type, t.Opaque)


def is_state(control: ir.Expr | None) -> bool:
    """Whether the control state is the variable `state`."""
    match control:
        case ir.Field(of=ir.Self(), name="state"):
            return True
        case _:
            return False
