"""What instances do beside their events: begin, compare, be copied, kept and shown."""

from __future__ import annotations

import contextlib
from typing import Any, TypeVar

from lawful.runtime.elements import Universe
from lawful.runtime.instance import Machine
from lawful.runtime.kernel.dispatch import UNSET
from lawful.runtime.kernel.state import UNSTARTED, Mark, Untold
from lawful.runtime.timers import ALL_AROUND, Around, Clock
from lawful.spec import types as t
from lawful.spec.syntax.declare import slot
from lawful.spec.values.text import shown

from . import snapshots
from .make import assume, bare, equip, plan_of
from .make import begin as give
from .snapshots import Kept

M = TypeVar("M", bound=Machine)


def begin(
    machine: Machine, universe: Universe | None, clock: Clock | None, parameters: dict[str, Any]
) -> None:
    """Make of a new object an instance, with its initial values."""
    plan = equip(machine, universe, clock)
    if plan.abstract:
        raise TypeError(f"{plan.name} is abstract: make an instance of what inherits from it")
    give(machine, parameters)
    if plan.starts:
        machine.__watch__ = UNSTARTED
        return
    if plan.asserted is not None:
        plan.asserted.but_of_steps().judge(machine, "initial")
    elif universe is None and plan.judged and not plan.plain:
        plan.plain = not (plan.required or plan.assumed or plan.families)
        if plan.plain:
            plan.cls.__init__ = plan.constructor(Machine.__init__)


def copied(machine: M) -> M:
    """Another instance on the same clock, without observers."""
    around = machine.__around__
    made = bare(type(machine), None, None)
    if around is not ALL_AROUND:
        made.__around__ = Around(around.clock, around.universe)
    snapshots.fill(made, snapshots.keep(machine, 0.0), 0.0)
    if machine.__watch__ is UNSTARTED:
        made.__watch__ = UNSTARTED
    return made


def pickled(machine: Machine) -> tuple[Any, ...]:
    """What `unpickled` makes the instance of."""
    around = machine.__around__
    kept = snapshots.keep(machine, around.now())
    return kept, dict(around.universe), machine.__watch__ is UNSTARTED


def unpickled(kept: Kept, universe: dict[str, Any], unstarted: bool) -> Machine:
    """An instance with the same values, on the real clock, without observers.

    The class may have changed since: TypeError or ValueError, as for any value from outside, where
    what was kept is no state of it.
    """
    sorts = plan_of(kept.cls).resolved.world.sorts
    told = {sorts[name]: row for name, row in universe.items() if name in sorts}
    made = bare(kept.cls, told or None, None)
    kept = snapshots.judged(kept, made.__around__.universe, partly=unstarted)
    snapshots.fill(made, kept, made.__around__.now())
    assume(made)
    if unstarted:
        made.__watch__ = UNSTARTED
    return made


def compared(machine: Machine) -> list[Any]:
    """What is equal of equal instances: of timers, whether they are armed."""
    fields = machine.__plan__.fields
    return [_armed(getattr(machine, slot(name), UNSET), kind) for name, kind in fields.items()]


def _armed(value: Any, kind: t.Type) -> Any:
    match kind:
        case t.Timer():
            return value is not None
        case t.Clock():
            return None
        case t.Map(value=t.Timer()):
            return {k: v is not None for k, v in value.items()}
        case _:
            return value


def told(machine: Machine) -> str:
    """The instance as it is printed; a mark in a class statement begins then."""
    watch = getattr(machine, "__watch__", None)
    if isinstance(watch, Mark):
        with contextlib.suppress(Untold):
            begin(machine, None, watch.clock, watch.parameters)
    out: list[str] = []
    for name, kind in machine.__plan__.fields.items():
        value = getattr(machine, slot(name), UNSET)
        if value is not UNSET:
            timer = isinstance(kind, t.Timer)
            text = ("armed" if value is not None else "stopped") if timer else shown(value)
            out.append(f"{name}={text}")
    return f"{type(machine).__name__}({', '.join(out)})"
