"""Headers: what a transition asks before its body, and what it does after it.

    entry   := Source | Firing          each refuses the event where it does not hold
    leaving := Becomes | StaysAmong

The places are read with the arguments as they were given, whatever the body assigns. In an entry a
place of which a key is missing refuses the event, too; it is never undefined.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir
from ..quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """There is a control state at the place; with `states`, it is one of these."""

    control: ir.Expr
    states: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Firing:
    """The timer at the place is armed and, where it counts, due. It is disarmed."""

    timer: ir.Expr


@dataclass(frozen=True, slots=True)
class Becomes:
    """After the body the control state is this one."""

    control: ir.Expr
    state: str


@dataclass(frozen=True, slots=True)
class StaysAmong:
    """The body leaves the control state in one of these, or `bounds` is broken."""

    control: ir.Expr
    states: tuple[str, ...]


def entry(row: ir.Transition) -> Iterator[Source | Firing]:
    """What the header asks, in the order of evaluation."""
    if row.control is not None:
        yield Source(row.control, row.source)
    if row.timer is not None:
        yield Firing(row.timer)


def leaving(row: ir.Transition) -> Becomes | StaysAmong | None:
    """What becomes of the control state after the body; None where the header does not say."""
    if row.target is None or row.control is None:
        return None
    if len(row.target) == 1:
        return Becomes(row.control, row.target[0])
    return StaysAmong(row.control, row.target)


def own_source(row: ir.Transition) -> tuple[str, tuple[str, ...]] | None:
    """The machine's own variable that a header asks for its state, and the states; None where
    there is none, or an argument decides which place is asked."""
    match row.control:
        case ir.Field(of=ir.Self(), name=name) if row.source is not None:
            return name, row.source
        case _:
            return None
