"""Changes of the containers of a machine, as the statements of a body make them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from .. import ir
from .. import types as t
from ..quick_dataclass import dataclass
from .effects import assigned
from .places import in_state
from .walk import inlined, statements


@dataclass(frozen=True, slots=True)
class Change:
    """The container at `place` is changed; with `below`, those that contain the place; all of the
    state where there is no place.

    A key that is one of `unsure` is not the caller's local of that name.
    """

    place: ir.Expr | None
    below: bool
    unsure: frozenset[str] = frozenset()


def changes(stmt: ir.Stmt, functions: Sequence[ir.Function]) -> Iterator[Change]:
    """The containers that the statement changes where they stand, those of its helper included."""
    match stmt:
        case ir.Update(target=target):
            yield Change(target, False)
        case ir.Assign(target=target, value=value) if not isinstance(target, ir.Local):
            yield Change(target, not _augmented(target, value))
        case ir.Assign(target=target, value=value) if _augmented(target, value):
            yield Change(target, False)
        case ir.Step(part=part):
            yield Change(part, True)
        case ir.Base():
            yield Change(None, False)
        case ir.Tick(clock=clock):
            yield Change(clock, True)
        case ir.Do():
            yield from _of_helper(stmt, functions)
        case _:
            pass
    match stmt:
        case ir.Update(into=into) | ir.Step(into=into) | ir.Base(into=into) | ir.Do(into=into):
            if into is not None and not isinstance(into, ir.Local):
                yield Change(into, True)
        case _:
            pass


def _augmented(target: ir.Expr, value: ir.Expr) -> bool:
    """Whether it may be `x |= y` of a container, which Python changes where it stands."""
    if t.immutable(target.type) or not isinstance(value, ir.Op) or not value.args:
        return False
    first = value.args[0]
    return (first.of if isinstance(first, ir.Narrow) else first) == target


def helper(do: ir.Do, functions: Sequence[ir.Function]) -> ir.Function | None:
    """The helper that is called; None where the call or the helper is refused."""
    found = next((f for f in functions if f.name == do.call.function), None)
    return found if found is not None and len(found.params) == len(do.call.args) else None


def _of_helper(do: ir.Do, functions: Sequence[ir.Function]) -> Iterator[Change]:
    function = helper(do, functions)
    if function is None:
        return
    own = frozenset(assigned(function.body))
    for stmt in statements(inlined(do, functions)):
        for change in changes(stmt, functions):
            if change.place is None or in_state(change.place):
                yield dataclasses.replace(change, unsure=change.unsure | own)
