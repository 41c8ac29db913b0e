"""Traces in the Informal Trace Format (ITF), which Apalache, Quint and trace viewers use.

Source: Apalache, ADR-015 (https://apalache-mc.org/docs/adr/015adr-trace.html). Integers of any
size are `{"#bigint": "…"}`, by its rule 4; sets, maps and tuples have their tags; a record is an
object; a value of a union is `{"tag": …, "value": …}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json

from ..verdict import Trace

UNIT: dict[str, Json] = {"#tup": []}


def itf(machine: ir.Machine, trace: Trace, about: str) -> dict[str, Json]:
    """The trace as an ITF document; `about` is its description.

    Each state has the event that led to it under `#meta`. The last state of a lasso is that at
    `loop`; the format requires that it is left out.
    """
    kinds = {v.name: v.type for v in machine.variables}
    kinds |= {p.name: p.type for p in machine.parameters}
    states = trace.states
    if trace.loop is not None and trace.loop < len(states) - 1:
        states = states[:-1]
    rows: list[Json] = []
    for index, state in enumerate(states):
        meta: dict[str, Json] = {"index": index}
        if index:
            meta["action"] = trace.steps[index - 1].event
        row: dict[str, Json] = {"#meta": meta}
        rows.append(row | {name: _itf(data, kinds[name], machine) for name, data in state.items()})
    names: list[Json] = list(trace.initial)
    out: dict[str, Json] = {
        "#meta": {"format": "ITF", "description": about},
        "vars": names,
        "states": rows,
    }
    return out if trace.loop is None else out | {"loop": trace.loop}


def _itf(data: Any, kind: t.Type, machine: ir.Machine) -> Json:
    match kind:
        case t.Int() | t.Clock() | t.Timer(ticks=True):
            return _option(None) if data is None else _number(data)
        case t.Enum() | t.Sort() | t.Text() | t.Bool() | t.Timer():
            return data  # type: ignore[no-any-return]  # plain, as its type says
        case t.Float():
            return {"#unserializable": repr(data)}
        case t.Opaque(name=name):
            return f"{name}_{data['id']}"
        case t.Nothing():
            return _option(None)
        case t.Record(fields=fields):
            return {name: _itf(data[name], of, machine) for name, of in fields}
        case t.Union(options=options):
            return _alternative(data, options, machine)
        case t.Tuple(items=items):
            rows = zip(data["$tuple"], items, strict=True)
            return {"#tup": [_itf(each, item, machine) for each, item in rows]}
        case t.Part(machine=name):
            return _part(data, machine.part(name), machine)
        case _:
            return _container(data, kind, machine)


def _part(data: Mapping[str, Any], part: ir.Machine, machine: ir.Machine) -> Json:
    kinds = {v.name: v.type for v in part.variables}
    kinds |= {p.name: p.type for p in part.parameters}
    return {name: _itf(each, kinds[name], machine) for name, each in data.items()}


def _container(data: Any, kind: t.Type, machine: ir.Machine) -> Json:
    match kind:
        case t.Seq(item=item):
            rows = data if kind.mutable else data["$tuple"]
            return [_itf(each, item, machine) for each in rows]
        case t.Set(item=item):
            return {"#set": [_itf(each, item, machine) for each in data["$set"]]}
        case t.Bag(item=item):
            return _map(data, item, t.INT, machine)
        case t.Map(key=key, value=value):
            return _map(data, key, value, machine)
        case _:
            raise TypeError(f"no ITF form for {kind}")


def _map(data: Any, key: t.Type, value: t.Type, machine: ir.Machine) -> Json:
    rows = data["$map"] if "$map" in data else data.items()
    return {"#map": [[_itf(k, key, machine), _itf(v, value, machine)] for k, v in rows]}


def _alternative(data: Any, options: tuple[t.Type, ...], machine: ir.Machine) -> Json:
    if data is None:
        return _option(None)
    tag = data["$"] if is_object(data) and "$" in data else None
    for option in options:
        if isinstance(option, t.Record) and option.name == tag:
            return {"tag": option.name, "value": _itf(data, option, machine)}
        if not isinstance(option, t.Record | t.Nothing) and tag is None:
            return _option(_itf(data, option, machine))
    raise TypeError(f"{data!r} is none of {', '.join(map(str, options))}")


def _option(data: Json) -> Json:
    return {"tag": "None", "value": UNIT} if data is None else {"tag": "Some", "value": data}


def _number(data: Any) -> Json:
    return {"#bigint": str(data["$int"] if is_object(data) else data)}
