"""The state after a row: values in their JSON form, which changes bring up to date.

`container_changes` has the form of a change. What a change says follows from it and from the JSON
of the value before, whatever the type. Only opaque values that are equal may have several texts:
a row may remove `1.0` from a set that has `1.00`. So where a type is told, such items and keys are
compared as values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from lawful.spec import types as t
from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json
from lawful.spec.values.world import TAGS

from .change_forms import CHANGED
from .container_changes import is_change

Read = Callable[[Any, t.Type], Hashable]  # Makes a value of its JSON form; ValueError for another.
Key = Callable[[Json], Hashable]


class Merging:
    """Values in their JSON form, which the changes of rows bring up to date one after another.

    `kinds` has the types of variables, as far as they are known, and `read` makes values of them.
    ValueError where a row has another form, or changes what is not there."""

    def __init__(
        self,
        values: Mapping[str, Json],
        kinds: Mapping[str, t.Type] | None = None,
        read: Read | None = None,
    ) -> None:
        self.values: dict[str, Any] = dict(values)
        self.kinds = kinds or {}
        self.read = read

    def take(self, rows: Mapping[str, Json]) -> None:
        """Take over what a row says changed."""
        for name, data in rows.items():
            kinds = _Kinds(self.kinds.get(name), self.read)
            self.values[name] = _merged(self.values.get(name), data, name, kinds)

    def result(self) -> dict[str, Json]:
        """The values now."""
        return {name: _json(value) for name, value in self.values.items()}


class _Kinds:
    """The type of a container, None where nobody knows it, and what makes values of it."""

    __slots__ = ("kind", "read")

    def __init__(self, kind: t.Type | None, read: Read | None) -> None:
        self.kind = kind
        self.read = read

    def inside(self) -> _Kinds:
        """The same of what a map has under its keys."""
        return _Kinds(self.kind.value if isinstance(self.kind, t.Map) else None, self.read)

    def key(self) -> Key:
        """What two items, or keys of a map, have in common just if they are equal."""
        read = self.read
        match self.kind:
            case t.Set(item=of) | t.Bag(item=of) | t.Map(key=of) if t.contains(of, t.Opaque):
                return _text if read is None else lambda data: _value(data, of, read)
            case _:
                return _text


def _value(data: Json, kind: t.Type, read: Read) -> Hashable:
    try:
        return read(data, kind)
    except (LookupError, TypeError, ValueError):  # Another version wrote it, of another type.
        return _text(data)


class _Items:
    """A set; by the text, or value, of each item."""

    keys = frozenset({"added", "removed"})

    def __init__(self, items: list[Json], kinds: _Kinds) -> None:
        self.key = kinds.key()
        self.held = {self.key(each): each for each in items}

    def take(self, told: Any, where: str) -> None:
        for each in told["removed"]:
            del self.held[_place(self.held, self.key(each), each, self.key)]
        self.held.update((self.key(each), each) for each in told["added"])

    def json(self) -> Json:
        return {"$set": list(self.held.values())}


class _Entries:
    """A map or a bag: keys and values, by the text, or value, of the key."""

    keys = frozenset({"set", "removed"})

    def __init__(
        self, pairs: Iterable[tuple[Json, Any]], kinds: _Kinds, rows: bool = False
    ) -> None:
        self.rows = rows  # Keys are no names, and may be opaque.
        self.key = kinds.key()
        self.inside = kinds.inside()
        self.held = {self.key(k): (k, v) for k, v in pairs}

    def take(self, told: Any, where: str) -> None:
        for each in told["removed"]:
            del self.held[_place(self.held, self.key(each), each, self.key)]
        for data, value in told["set"]:
            key = self.key(data)
            if self.rows and key not in self.held:
                key = _place(self.held, key, data, self.key)
            had, was = self.held.get(key, (data, None))
            self.held[key] = had, _merged(was, value, where, self.inside)

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


def _merged(old: Any, data: Json, where: str, kinds: _Kinds) -> Any:
    """A value after a row: what the row tells, or a container with its change."""
    if not is_change(data):
        return data
    told = data[CHANGED]
    opened = _opened(old, is_object(told) and told.keys() == _Entries.keys, kinds)
    if opened is None or not is_object(told) or told.keys() != opened.keys:
        raise ValueError(f"{where}: no change of its value: {told!r}")
    try:
        opened.take(told, where)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{where}: no change of its value: {told!r}: {error!r}") from error
    return opened


def _opened(data: Any, entries: bool, kinds: _Kinds) -> _Items | _Entries | _Sequence | None:
    """A container to be changed, by its `entries` or otherwise; None for another value."""
    if isinstance(data, _Items | _Entries | _Sequence):
        return data
    if is_list(data):
        return _Family(((k, v) for k, v in data), kinds) if entries else _Sequence(data)
    if not is_object(data):
        return None
    if data.keys() == {"$set"}:
        return _Items(data["$set"], kinds)
    if data.keys() == {"$tuple"}:
        return _Sequence(data["$tuple"], "$tuple")
    if data.keys() == {"$map"}:
        return _Entries(((k, v) for k, v in data["$map"]), kinds, rows=True)
    return _Entries(data.items(), kinds) if TAGS.isdisjoint(data) else None


def _json(value: Any) -> Json:
    opened = isinstance(value, _Items | _Entries | _Sequence)
    return value.json() if opened else value  # type: ignore[no-any-return]  # it was JSON


def _place(held: Mapping[Hashable, Any], key: Hashable, data: Json, of: Key) -> Hashable:
    """Where an item or a key is. If its type is unknown, since a newer version has dropped the
    variable, it may be there with another text of an equal opaque value."""
    if key in held or of is not _text or isinstance(data, int):
        return key
    from lawful.spec.values.opaque_texts import alike  # Few rows need it.

    found = [each for each in held if alike(json.loads(str(each)), data)]
    return found[0] if len(found) == 1 else key


def _text(data: Json) -> str:
    return json.dumps(data, sort_keys=True)
