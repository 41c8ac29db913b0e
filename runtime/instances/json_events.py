"""Events as JSON: what a web service gets and gives.

Arguments are an object of the parameters by their names, in the JSON form that values have in
snapshots. The schemas are of JSON Schema 2020-12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

from lawful.spec.ir import Json
from lawful.spec.values.json_schema import DIALECT, schema_of
from lawful.spec.values.other_forms import text_of

from ..kernel.plan import Plan, Way
from .json_arguments import as_described
from .snapshots import taken, written


class EventSchema(TypedDict):
    """The schemas of an event's arguments and of its output."""

    arguments: dict[str, Json]
    output: dict[str, Json]


def schemas(plan: Plan) -> dict[str, EventSchema]:
    """The schemas of each event, in the order of the declaration."""
    world = plan.resolved.world
    return {
        event.name: {
            "arguments": {
                "$schema": DIALECT,
                "title": f"{plan.name}.{event.name}",
                "type": "object",
                "properties": {name: schema_of(kind, world) for name, kind in event.params},
                "required": [name for name, _ in event.params],
                "additionalProperties": False,
            },
            "output": {"$schema": DIALECT, **schema_of(event.output, world)},
        }
        for event in plan.machine.events
    }


def call(take: Callable[..., Any], plan: Plan, way: Way, data: Any) -> Json:
    """`take` a way of this name, with arguments from JSON data; its output as JSON. ValueError for
    other data."""
    return output_form(take(way.name, *arguments(plan, way, data)), plan, way)


def arguments(plan: Plan, way: Way, data: Any) -> list[Any]:
    """The arguments of a way from JSON data; ValueError for other data."""
    names = [name for name, _ in way.params]
    if data.__class__ is not dict or set(data) != set(names):
        found = text_of(data)
        wanted = ", ".join(f"{name}: {kind}" for name, kind in way.params) or "no arguments"
        raise ValueError(f"{way.event} takes an object of {wanted}, not {found}")
    return [_argument(plan, way, name, data[name]) for name in names]


def output_form(output: Any, plan: Plan, way: Way) -> Json:
    """The JSON form of an output, as a snapshot has values."""
    if output is None:
        return None
    form: Json = written(output, way.output, plan)
    return form


def _argument(plan: Plan, way: Way, name: str, data: Any) -> Any:
    kind = dict(way.params)[name]
    try:
        return taken(as_described(data, kind), kind, plan)
    except ValueError as error:
        raise ValueError(f"{way.event}: {name}: {error}") from error
