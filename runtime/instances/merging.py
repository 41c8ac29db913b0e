"""The state after a row: values in their JSON form, which changes bring up to date.

`container_changes` has the form of a change. What a change says follows from it and from the JSON
of the value before, whatever the type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json
from lawful.spec.values.world import TAGS

from .container_changes import CHANGED, is_change


class Merging:
    """Values in their JSON form, which the changes of rows bring up to date one after another.

    ValueError where a row has another form, or changes what is not there."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self.values: dict[str, Any] = dict(values)

    def take(self, rows: Mapping[str, Json]) -> None:
        """Take over what a row says changed."""
        for name, data in rows.items():
            self.values[name] = _merged(self.values.get(name), data, name)

    def result(self) -> dict[str, Json]:
        """The values now."""
        return {name: _json(value) for name, value in self.values.items()}


class _Items:
    """A set; by the text of each item."""

    keys = frozenset({"added", "removed"})

    def __init__(self, items: list[Json]) -> None:
        self.held = {_text(each): each for each in items}

    def take(self, told: Any, where: str) -> None:
        for each in told["removed"]:
            del self.held[_text(each)]
        self.held.update((_text(each), each) for each in told["added"])

    def json(self) -> Json:
        return {"$set": list(self.held.values())}


class _Entries:
    """A map or a bag: keys and values, by the text of the key."""

    keys = frozenset({"set", "removed"})

    def __init__(self, pairs: Iterable[tuple[Json, Any]]) -> None:
        self.held = {_text(k): (k, v) for k, v in pairs}

    def take(self, told: Any, where: str) -> None:
        for each in told["removed"]:
            del self.held[_text(each)]
        for key, value in told["set"]:
            text = _text(key)
            was = self.held[text][1] if text in self.held else None
            self.held[text] = key, _merged(was, value, where)

    def json(self) -> Json:
        return {"$map": [[k, _json(v)] for k, v in self.held.values()]}


class _Family(_Entries):
    """The parts of a family by their keys: a snapshot has them as a list of pairs."""

    def json(self) -> Json:
        return sorted(([k, _json(v)] for k, v in self.held.values()), key=repr)


class _Sequence:
    """A list; or a tuple, whose form has this `tag`."""

    keys = frozenset({"at", "removed", "added"})

    def __init__(self, items: list[Json], tag: str | None = None) -> None:
        self.held = items
        self.tag = tag

    def take(self, told: Any, where: str) -> None:
        at, gone = told["at"], told["removed"]
        if not 0 <= at <= at + gone <= len(self.held):
            raise IndexError(at)
        self.held[at : at + gone] = told["added"]

    def json(self) -> Json:
        return self.held if self.tag is None else {self.tag: self.held}


def _merged(old: Any, data: Json, where: str) -> Any:
    """A value after a row: what the row tells, or a container with its change."""
    if not is_change(data):
        return data
    told = data[CHANGED]
    opened = _opened(old, is_object(told) and told.keys() == _Entries.keys)
    if opened is None or not is_object(told) or told.keys() != opened.keys:
        raise ValueError(f"{where}: no change of its value: {told!r}")
    try:
        opened.take(told, where)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{where}: no change of its value: {told!r}: {error!r}") from error
    return opened


def _opened(data: Any, entries: bool) -> _Items | _Entries | _Sequence | None:
    """A container to be changed, by its `entries` or otherwise; None for another value."""
    if isinstance(data, _Items | _Entries | _Sequence):
        return data
    if is_list(data):
        return _Family((k, v) for k, v in data) if entries else _Sequence(data)
    if not is_object(data):
        return None
    if data.keys() == {"$set"}:
        return _Items(data["$set"])
    if data.keys() == {"$tuple"}:
        return _Sequence(data["$tuple"], "$tuple")
    if data.keys() == {"$map"}:
        return _Entries((k, v) for k, v in data["$map"])
    return _Entries(data.items()) if TAGS.isdisjoint(data) else None


def _json(value: Any) -> Json:
    opened = isinstance(value, _Items | _Entries | _Sequence)
    return value.json() if opened else value  # type: ignore[no-any-return]  # it was JSON


def _text(data: Json) -> str:
    return json.dumps(data, sort_keys=True)
