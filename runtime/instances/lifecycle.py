"""The methods of `Machine` that are no events: making, comparing, copying, pickling, printing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from lawful.spec import types as t
from lawful.spec.syntax.declare import slot
from lawful.spec.values.text import shown

from ..elements import Universe
from ..kernel.dispatch import UNSET
from ..kernel.state import UNSTARTED, Mark, State, Untold
from ..timers import SHARED_ENVIRONMENT, Clock, Environment
from . import snapshots
from .make import assume, assume_own, bare, equip, plan_of
from .make import begin as give
from .part_parameters import as_declared
from .snapshots import Kept

M = TypeVar("M", bound=State)


def begin(
    machine: State,
    universe: Universe | None,
    clock: Clock | None,
    parameters: dict[str, Any],
    otherwise: Callable[..., None] | None = None,
) -> None:
    """Make of a new object an instance, with its initial values.

    A class without parts then gets an `__init__` of its own, which does only what its parameters
    and initial values need; it calls `otherwise` where it is given a universe, or a clock that it
    has no timer for.
    """
    plan = equip(machine, universe, clock, parameters)
    if plan.abstract:
        raise TypeError(f"{plan.name} is abstract: make an instance of a subclass")
    give(machine, parameters)
    if plan.starts:
        machine.__watch__ = UNSTARTED
        return
    if plan.asserted is not None:
        from .enforcement import judge  # Few services enforce properties.

        judge(plan.asserted.invariants(), machine, "initial")
        return
    quick = plan.judged and not plan.families and plan.general is None
    if quick and otherwise is not None and universe is None:
        plan.general = otherwise
        plan.cls.__init__ = plan.constructor(otherwise, assume_own)
        plan.cls.__init__.__qualname__ = plan.name  # For Python's messages.


def copied(machine: M) -> M:
    """Another instance on the same clock, without observers."""
    environment = machine.__environment__
    made = bare(type(machine), None, None)
    if environment is not SHARED_ENVIRONMENT:
        made.__environment__ = Environment(environment.clock, environment.universe)
    snapshots.fill(made, snapshots.keep(machine, 0.0), 0.0)
    if machine.__watch__ is UNSTARTED:
        made.__watch__ = UNSTARTED
    return made


def pickled(machine: State) -> tuple[Any, ...]:
    """The arguments of `unpickled` for this instance."""
    environment = machine.__environment__
    kept = snapshots.keep(machine, environment.now())
    return kept, dict(environment.universe), machine.__watch__ is UNSTARTED


def unpickled(kept: Kept, universe: dict[str, Any], unstarted: bool) -> State:
    """An instance with the same values, on the real clock, without observers.

    The class may have changed since: TypeError or ValueError where the values are no state of it.
    """
    sorts = plan_of(kept.cls).resolved.world.sorts
    listed = {sorts[name]: row for name, row in universe.items() if name in sorts}
    made = bare(kept.cls, listed or None, None, kept.parameters)
    kept = snapshots.judged(kept, made.__environment__.universe, partly=unstarted)
    snapshots.fill(made, kept, made.__environment__.now())
    as_declared(made)
    assume(made)
    if unstarted:
        made.__watch__ = UNSTARTED
    return made


def compared(machine: State) -> list[Any]:
    """The values by which instances are compared: of timers, whether they are armed."""
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


def text_of(machine: State) -> str:
    """The text of an instance; a mark of a class statement becomes an instance first."""
    out = (f"{name}={text}" for name, text in _values(machine))
    return f"{type(machine).__name__}({', '.join(out)})"


def html_of(machine: State) -> str:
    """The same as an HTML table. All text is escaped."""
    from html import escape  # This import takes long, and few instances need it.

    cells = ((escape(name), escape(text)) for name, text in _values(machine))
    rows = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in cells)
    return f"<table><caption>{escape(type(machine).__name__)}</caption>{rows}</table>"


def _values(machine: State) -> Iterator[tuple[str, str]]:
    """The name and the text of each variable and parameter."""
    watch = getattr(machine, "__watch__", None)
    if isinstance(watch, Mark):
        with contextlib.suppress(Untold):
            begin(machine, None, watch.clock, watch.parameters)
    for name, kind in machine.__plan__.fields.items():
        value = getattr(machine, slot(name), UNSET)
        if value is not UNSET:
            timer = isinstance(kind, t.Timer)
            yield name, ("armed" if value is not None else "stopped") if timer else shown(value)
