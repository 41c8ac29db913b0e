"""Growth of a sort in an instance: one element more in its universe, as a step of its own.

The step is no event: no declaration names it, and no caller takes it by name. It goes where events
go, through observers, journals and stores, so that every log of an instance knows its universe.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lawful.spec import types as t
from lawful.spec.analysis.growth import ELEMENT, growing_maps, growing_sorts, step_name
from lawful.spec.syntax.declare import slot
from lawful.spec.words import Sort

from ..elements import Elements
from ..kernel.commit import judge, raise_from
from ..kernel.dispatch import FAULTS, reader, save, tree, undoing
from ..kernel.plan import Asserted, Plan, Way
from ..kernel.state import PART, State
from . import enforcement
from .observers import Observed


def ways_of_growth(plan: Plan) -> dict[str, Way]:
    """The ways in which the sorts of a machine grow, by the names of the steps."""
    return {step_name(sort): _way(plan, sort) for sort in growing_sorts(plan.machine)}


def _way(plan: Plan, sort: t.Sort) -> Way:
    name = step_name(sort)
    writes = tuple(v.name for v in growing_maps(plan.machine, sort) if not v.ghost)
    slots = tuple(map(slot, writes))
    params, of_parts = ((ELEMENT, sort),), bool(plan.families)
    way = Way(name, name, params, t.NOTHING, (), (), writes, of_parts, slots, grows=True)
    way.read = reader(slots)
    return way


def grow(machine: State, sort: type[Sort], element: str, asserted: Asserted) -> None:
    """See `InstanceAccess.grow`; `asserted` is evaluated at the end of the step."""
    kind, new = _checked(machine, sort, element)
    way, watch = machine.__plan__.growth[step_name(kind)], machine.__watch__

    def step(state: State, new: Sort) -> None:
        _step(state, way, new, asserted)

    if isinstance(watch, Observed):
        watch.run(machine, way, (new,), step)
    else:
        step(machine, new)


def _checked(machine: State, sort: type[Sort], element: str) -> tuple[t.Sort, Sort]:
    """The sort and its new element, if the universe can have it."""
    plan = machine.__plan__
    known = {each.name: each for each in plan.machine.types if isinstance(each, t.Sort)}
    given: Any = sort  # A caller's types may be wrong.
    if not isinstance(given, type) or plan.resolved.world.sorts.get(given.__name__) is not given:
        raise TypeError(f"grow: {given!r} is no sort of {plan.name}")
    name = sort.__name__
    if not known[name].growing:
        base = "OrderedSort" if known[name].ordered else "Sort"
        how = f"declare class {name}({base}, growing=True)"
        raise TypeError(f"grow: {name} has the elements that it has; {how}")
    if type(element) not in (str, sort):
        raise TypeError(f"grow: {element!r} is no {name}")
    universe = machine.__environment__.universe
    if name not in universe:
        what = f"was made without universe={{{name}: [...]}}: every {name} is in it"
        raise ValueError(f"grow: this {plan.name} {what}")
    new = sort(element)
    if new in universe[name]:
        raise ValueError(f"grow: {new!r} is in the universe already")
    return known[name], new


def _step(machine: State, way: Way, new: Sort, asserted: Asserted) -> None:
    """Add the element; undone where it fails.

    A handler begins with the undoing: see `dispatch.undoing`.
    """
    sort, environment = type(new).__name__, machine.__environment__
    saved = save(machine, way)
    undo = undoing(saved)
    try:
        there = environment.universe
        more = Elements({**there, sort: (*there[sort], new)})
        environment.universe, environment.members = more, more.members
        for each, name, grown in [*_grown(machine, way)]:
            setattr(each, slot(name), grown)
        environment.last_transition = way.name
        judge(machine, way, saved)
        enforcement.judge(asserted, machine, way.name)
    except FAULTS as error:
        _ = [*undo]
        raise_from(error, machine, way)
    except BaseException:
        _ = [*undo]
        raise


def _grown(machine: State, way: Way) -> Iterator[tuple[State, str, dict[Any, Any]]]:
    """The total maps with the keys that they lack, of a machine and its parts."""
    kind = way.params[0][1]
    assert isinstance(kind, t.Sort)
    for each in tree(machine):
        maps = [v.name for v in growing_maps(each.__plan__.machine, kind) if not v.ghost]
        if not maps:
            continue
        fresh = _fresh(each)
        for name in maps:
            default, held = getattr(fresh, slot(name)), getattr(each, slot(name))
            yield each, name, {**held, **{k: v for k, v in default.items() if k not in held}}


def _fresh(machine: State) -> State:
    """A new state of the same class in the same environment, which has its initial values."""
    plan = machine.__plan__
    made: State = plan.cls.__new__(plan.cls)
    made.__environment__ = machine.__environment__
    made.__watch__ = PART
    for name in plan.parameters:
        setattr(made, slot(name), getattr(machine, slot(name)))
    plan.fresh(made)
    return made
