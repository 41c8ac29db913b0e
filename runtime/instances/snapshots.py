"""Instances as data: copies, pickles, and snapshots that outlive the process.

    snapshot := {"v": 1, "machine", "shape", "parameters": {name: JSON}, "variables": {name: JSON},
                 "universe": {sort: [element]}}          of an instance with a universe

Values have the JSON form of everything else, with three additions: a timer is the seconds that are
left (less than 0 if it is overdue), or null; a clock is the seconds that it has run; an opaque
value has an encoding of its own instead of a hash (see `opaque_values`). A part is an object of its
own `machine`, `parameters` and `variables`; a map of parts is a list of [key, part].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lawful.spec import types as t
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.syntax.declare import slot
from lawful.spec.values.world import World, decode, encode

from ..compile.arguments import ValueContext, admitted, complete
from ..elements import Elements, Universe
from ..kernel.plan import Plan
from ..kernel.state import State
from ..kernel.views import native
from ..timers import begun, ticks_of
from .make import plan_of

KEYS = {"v", "machine", "shape", "parameters", "variables", "universe"}
LEFT = t.Union((t.FLOAT, t.NOTHING))  # The type of a timer in a snapshot.


@dataclass(frozen=True, slots=True)
class Kept:
    """The values of an instance; timers as the seconds left, parts as a `Kept` of their own."""

    cls: type[State]
    parameters: dict[str, Any]
    variables: dict[str, Any]


def keep(machine: State, now: float) -> Kept:
    """The values of an instance as of a time."""
    plan = machine.__plan__
    parameters = {p.name: getattr(machine, slot(p.name)) for p in plan.machine.parameters}
    variables = {
        name: _kept(getattr(machine, slot(name)), plan.fields[name], now)
        for name in plan.variables
        if hasattr(machine, slot(name))
    }
    return Kept(type(machine), parameters, variables)


def _kept(value: Any, kind: t.Type, now: float) -> Any:
    match kind:
        case t.Timer():
            return None if value is None else value - now
        case t.Clock():
            return now - value.begun
        case t.Part():
            return keep(value, now)
        case t.Map(value=t.Timer() | t.Part() as of):
            return {k: _kept(v, of, now) for k, v in value.items()}
        case _:
            return value


def fill(machine: State, kept: Kept, now: float) -> None:
    """Give a new instance the values that were kept of another."""
    for name, value in (*kept.parameters.items(), *kept.variables.items()):
        kind = machine.__plan__.fields[name]
        setattr(machine, slot(name), _filled(machine, value, kind, now))


def _filled(state: State, value: Any, kind: t.Type, now: float) -> Any:
    match kind:
        case t.Timer():
            return None if value is None else value + now
        case t.Clock(tick=tick):
            return ticks_of(state.__environment__, tick, begun(now, value, tick))
        case t.Part():
            part = state.__plan__.part_of(value.cls, state, None)
            fill(part, value, now)
            return part
        case t.Map(value=t.Timer() | t.Part() as of):
            return {k: _filled(state, v, of, now) for k, v in value.items()}
        case _:
            return value


# Snapshots.


def snapshot(machine: State, shape: str, now: float) -> dict[str, Any]:
    """The JSON form of an instance as of a time. TypeError for an opaque value that has no
    encoding, or is of another type than its annotation says."""
    data = {"v": 1, "shape": shape, **_part(keep(machine, now))}
    told = machine.__environment__.universe.texts()
    return data | {"universe": told} if told else data


def _part(kept: Kept) -> dict[str, Any]:
    plan = plan_of(kept.cls)
    rows = {"parameters": kept.parameters, "variables": kept.variables}
    return {
        "machine": plan.name,
        **{
            name: {k: written(v, plan.fields[k], plan) for k, v in row.items()}
            for name, row in rows.items()
        },
    }


def written(value: Any, kind: t.Type, plan: Plan) -> Any:
    """The JSON form of a value of this machine, an argument say, as in a snapshot."""
    world = plan.resolved.world
    match kind:
        case t.Part():
            return _part(value)
        case t.Map(key=key, value=t.Part() as of):
            pairs = [(encode(_closed(k, key, world), key), v) for k, v in value.items()]
            return sorted(([k, written(v, of, plan)] for k, v in pairs), key=repr)
        case _:
            return encode(_closed(value, kind, world), plain(kind))


def taken(data: Any, kind: t.Type, plan: Plan) -> Any:
    """The value whose JSON form `written` made. ValueError for other data."""
    world = plan.resolved.world
    return _opened(decode(data, kind, world), kind, world)


def plain(kind: t.Type) -> t.Type:
    """The type whose JSON form stands in a snapshot: of a timer, the seconds that are left."""
    match kind:
        case t.Timer():
            return LEFT
        case t.Clock():
            return t.FLOAT
        case t.Map(key=key, value=t.Timer()):
            return t.Map(key, LEFT, kind.mutable, kind.total)
        case _:
            return kind


def elements_in(data: Mapping[str, Any], plan: Plan) -> Universe:
    """The universe in a snapshot, of the machine's sorts; ValueError for another form."""
    rows: Any = data.get("universe", {})
    form = rows.__class__ is dict and all(
        row.__class__ is list and all(each.__class__ is str for each in row)
        for row in rows.values()
    )
    if not form:
        raise ValueError(f"{plan.name}: a universe is {{sort: [element]}}, not {rows!r}")
    sorts = plan.resolved.world.sorts
    return {sorts[name]: row for name, row in rows.items() if name in sorts}


def other_shape(data: Mapping[str, Any], plan: Plan, shape: str) -> str:
    """The words for a snapshot of another shape: which names differ, and what takes it over."""
    had = {*_object(data.get("parameters")), *_object(data.get("variables"))}
    more, new = sorted(map(str, had - {*plan.fields})), sorted({*plan.fields} - had)
    told = [f"{', '.join(more)} in the snapshot alone"] * bool(more)
    told += [f"{', '.join(new)} in {plan.name} alone"] * bool(new)
    what = f"a snapshot of another {plan.name}: shape {data.get('shape')!r}, not {shape!r}"
    names = f" ({'; '.join(told) or 'all names are the same'})"
    how = "renamed={} takes over what has the same name, renamed={new: former} other names"
    return f"{what}{names}; {how}"


def read(
    data: Any, plan: Plan, elements: Elements, *, partly: bool = False, where: str = ""
) -> Kept:
    """The values in a snapshot, with sorts of these elements; ValueError where a value is wrong.

    `partly`: parameters and variables may be missing. `where`: the place of a part."""
    rows = _object(data)
    unknown = sorted(map(repr, set(rows) - KEYS))
    if unknown:
        raise ValueError(f"a snapshot of {plan.name} has no {', '.join(unknown)}")
    if rows.get("machine") != plan.name:
        raise ValueError(f"not a snapshot of {plan.name}: {rows.get('machine', data)!r}")
    held, own = set(plan.fields) - set(plan.variables), set(plan.variables)
    if partly:
        held, own = held & {*rows["parameters"]}, own & {*rows["variables"]}
    return Kept(
        plan.cls,
        _rows(rows.get("parameters"), plan, held, elements, where),
        _rows(rows.get("variables"), plan, own, elements, where),
    )


def renamed(
    data: Mapping[str, Any], plan: Plan, old: Mapping[str, str], change: Callable[[Any], Any] | None
) -> dict[str, Any]:
    """The snapshot of another version with this one's names, `old` giving those that were others
    and `change` the values that are not taken over; what this one does not have is left out.
    ValueError for names that are none."""
    for name, was in old.items():
        kind = "variables" if name in plan.variables else "parameters"
        if name not in plan.fields or was not in _object(data.get(kind)):
            raise ValueError(f"{plan.name}.{name} was not {was}: there are no such {kind}")
    had = {kind: _object(data.get(kind)) for kind in ("parameters", "variables")}
    whole = had["parameters"] | had["variables"]
    given: dict[str, Any] = {} if change is None else change(whole)
    unknown = sorted(set(given) - set(plan.fields))
    if unknown:
        raise ValueError(f"{plan.name} has no {', '.join(unknown)}, which the migration gives")
    rows: dict[str, dict[str, Any]] = {"parameters": {}, "variables": {}}
    for name in plan.fields:
        kind, was = "variables" if name in plan.variables else "parameters", old.get(name, name)
        if name in given:
            rows[kind][name] = given[name]
        elif was in had[kind]:
            rows[kind][name] = had[kind][was]
    return {"machine": data.get("machine"), **rows}


def parameters_in(data: Mapping[str, Any]) -> frozenset[str]:
    """The names of the parameters in a snapshot."""
    return frozenset(_object(data.get("parameters")))


def _object(data: Any) -> dict[str, Any]:
    """The data where they are an object, else nothing."""
    return data if data.__class__ is dict else {}


def _rows(
    data: Any, plan: Plan, wanted: set[str], elements: Elements, where: str
) -> dict[str, Any]:
    rows = _object(data)
    if data.__class__ is not dict or set(rows) != wanted:
        what = f"a snapshot of {plan.name} has {sorted(wanted)}, not {sorted(rows)}"
        raise ValueError(f"{where}: {what}" if where else what)
    known = ValueContext(plan.resolved.world, elements)
    return {k: _read(rows[k], plan.fields[k], plan, k, known) for k in plan.fields if k in wanted}


def _read(data: Any, kind: t.Type, plan: Plan, what: str, known: ValueContext) -> Any:
    parts = plan.resolved.parts
    match kind:
        case t.Part():
            family = {cls.__name__: cls for cls in _family(parts[kind.machine])}
            named = _object(data).get("machine")
            if not isinstance(named, str) or named not in family:
                raise ValueError(f"{what} is a {kind}, not {named!r}")
            return read(data, plan_of(family[named]), known.elements, where=what)
        case t.Map(key=key, value=t.Part() as of):
            pairs = [(_decoded(k, key, key, known, what), v) for k, v in _pairs(data, what)]
            held = {
                _key(k, key, known, what): _read(v, of, plan, f"{what}[{k!r}]", known)
                for k, v in pairs
            }
            complete(held, kind, known, what)
            return held
        case _:
            value = native(_decoded(data, plain(kind), kind, known, what), kind)
            return _value(value, kind, known, what)


def _decoded(data: Any, form: t.Type, kind: t.Type, known: ValueContext, what: str) -> Any:
    """The value of a JSON form; ValueError that names what is read, for any other JSON."""
    try:
        return _opened(decode(data, form, known.world), kind, known.world)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error


def _key(key: Any, kind: t.Type, known: ValueContext, what: str) -> Any:
    return admitted(key, kind, known, f"a key of {what}")


def _value(value: Any, kind: t.Type, known: ValueContext, what: str) -> Any:
    """Check a value that is no part; timers and clocks are in seconds."""
    form = plain(kind)
    if form is not kind:
        _finite(value.values() if isinstance(kind, t.Map) else (value,), what)
    return admitted(value, form, known, what)


def _finite(held: Iterable[Any], what: str) -> None:
    """ValueError for seconds of timers and clocks that are not finite."""
    for seconds in held:
        if seconds is not None and not math.isfinite(seconds):
            raise ValueError(f"{what}: {seconds} seconds is not a valid time")


def _pairs(data: Any, what: str) -> list[Any]:
    """The rows of a map of parts."""
    rows: list[Any] = data if data.__class__ is list else [None]
    if not all(type(row) is list and len(row) == 2 for row in rows):
        raise ValueError(f"{what} is a list of [key, part]")
    return rows


def judged(kept: Kept, elements: Elements, *, partly: bool = False) -> Kept:
    """Check kept values, maybe of another version of the machine, against this version.

    Returns the same values; TypeError or ValueError where one is not of its type, with sorts of
    these elements. `partly`: variables may be missing."""
    plan = plan_of(kept.cls)
    wanted, own = set(plan.parameters), set(plan.variables)
    if partly:
        own &= set(kept.variables)
    found = set(kept.parameters) | set(kept.variables)
    if (set(kept.parameters), set(kept.variables)) != (wanted, own):
        known = sorted(wanted | own)
        raise ValueError(f"{plan.name} has {known}, and not {sorted(found)}")
    context = ValueContext(plan.resolved.world, elements)
    return Kept(
        kept.cls,
        {k: _judged(v, plan.fields[k], context, k) for k, v in kept.parameters.items()},
        {k: _judged(v, plan.fields[k], context, k) for k, v in kept.variables.items()},
    )


def _judged(value: Any, kind: t.Type, known: ValueContext, what: str) -> Any:
    match kind:
        case t.Part():
            return judged(value, known.elements)
        case t.Map(key=key, value=t.Part()):
            held = {_key(k, key, known, what): judged(v, known.elements) for k, v in value.items()}
            complete(held, kind, known, what)
            return held
        case _:
            return _value(value, kind, known, what)


def _family(cls: type[Any]) -> list[type[Any]]:
    return [cls, *(each for sub in cls.__subclasses__() for each in _family(sub))]


def checked(state: State, name: str, value: Any) -> Any:
    """A variable's value from outside as the machine keeps it; TypeError or ValueError for a value
    that is not of its type."""
    plan = state.__plan__
    kind = plan.fields[name]
    match kind:
        case t.Timer() | t.Clock() | t.Map(value=t.Timer()) | t.Part() | t.Map(value=t.Part()):
            raise TypeError(f"{name} is a {kind}: it starts as declared")
        case t.Set() | t.Seq() | t.Map() | t.Bag():
            value = native(value, kind)
        case _:
            pass
    elements = state.__environment__.universe
    # A caller who makes up a state need not give a universe for it.
    return admitted(value, kind, ValueContext(plan.resolved.world, elements, anyhow=True), name)


def _closed(value: Any, kind: t.Type, world: World) -> Any:
    """The value with each opaque value in it as a token that holds its encoding."""
    if not t.contains(kind, t.Opaque):
        return value
    from .opaque_values import closed  # Few machines have opaque values.

    return closed(value, kind, world)


def _opened(value: Any, kind: t.Type, world: World) -> Any:
    """The value with each token in it as the opaque value that it holds."""
    if not t.contains(kind, t.Opaque):
        return value
    from .opaque_values import opened  # As above.

    return opened(value, kind, world)
