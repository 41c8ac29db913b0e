"""What an event changed, as JSON: of a large container the entries that differ, else the value.

    change := {"$changed": {"added": [item], "removed": [item]}}                of a set
            | {"$changed": {"set": [[key, value or change]], "removed": [key]}} of a map, of a bag
            | {"$changed": {"at": place, "removed": number, "added": [item]}}   of a list

In a bag the value of an item is how often it is there. A map of containers has a change for each
of them that differs, where it had that key. A container of at most `LEAST` entries that have no
containers in them is told whole, and so is one of which more has changed than is left.

`merged` makes the state after an event from the JSON of the state before it, whatever the types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from lawful.spec import types as t
from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json
from lawful.spec.values.unlike import unlike_keys, unlike_span
from lawful.spec.values.world import TAGS, rank

from ..kernel.dispatch import UNSET
from ..kernel.event_record import Stepped
from ..kernel.plan import Plan
from .touched_entries import Both, touched_by

Form = Callable[[Any, t.Type], Json]
CHANGED = "$changed"  # The one key of a change.
LEAST = 8


def changes(done: Stepped, plan: Plan, form: Form) -> dict[str, Json]:
    """What an event changed, by the names of variables, in this JSON form of values."""
    out: dict[str, Json] = {}
    moved = done.moved
    for name in done.changed if plan.families else moved:
        kind = plan.fields[name]
        if name not in moved:  # Parts are told whole.
            out[name] = form(done.changed[name], kind)
            continue
        old, new = moved[name]
        told: Any = None
        if old is not UNSET and _is_large(new, kind):
            touched = touched_by(plan, done.transition).get(name)
            if touched is not None:
                args = tuple(done.args.values())
                told = _of_touched(Both(old, new, touched, args, done.instance), kind, form)
        if told is None:
            told = UNSET if old == new else _told(old, new, kind, form)
        if told is not UNSET:
            out[name] = told
    return out


def is_change(data: Json) -> TypeGuard[dict[str, Any]]:
    """Whether this is a change, not a value."""
    return is_object(data) and CHANGED in data


def _told(old: Any, new: Any, kind: t.Type, form: Form) -> Any:
    """The change or the new value; UNSET where both values have the same form."""
    found = None
    match kind:
        case t.Timer():
            whole = form(new, kind)
            return UNSET if old is not UNSET and form(old, kind) == whole else whole
        case _ if old is UNSET or not _is_large(new, kind):
            return form(new, kind)
        case t.Seq(item=item):
            found = _of_list(old, new, item, form)
        case _:
            found = _of_entries(old, new, kind, form)
    return form(new, kind) if found is None else found


def _of_entries(old: Any, new: Any, kind: t.Type, form: Form) -> Json | None:
    """The change of a set, map or bag; None where it is told whole."""
    match kind:
        case t.Set(item=item):
            return _of_set(old, new, item, form)
        case t.Map(key=key, value=of):
            return _of_map(old, new, (key, of), form)
        case t.Bag(item=item):
            return _of_map(_there(old), _there(new), (item, t.INT), form)
        case _:
            return None


def _of_touched(both: Both, kind: t.Type, form: Form) -> Any:
    """The same of a container of which it is known which entries may have changed: no other one is
    looked at. UNSET where none has, None where it is not known after all."""
    old, new = both.old, both.new
    if isinstance(kind, t.Seq):
        place = both.place()
        if place is None:
            return None
        at, less = place
        rows = [form(each, kind.item) for each in new[at:]] if not less else []
        if not rows and not less:
            return UNSET
        return {CHANGED: {"at": at, "removed": less, "added": rows}}
    keys = both.keys()
    if keys is None or len(keys) >= max(len(new), 1):
        return None
    match kind:
        case t.Set(item=item):
            added = [form(k, item) for k in keys if k in new and k not in old]
            gone = [form(k, item) for k in keys if k in old and k not in new]
            if not added and not gone:
                return UNSET
            return {CHANGED: {"added": _ranked(added), "removed": _ranked(gone)}}
        case t.Bag(item=item):
            key, of = item, t.INT
            old, new = ({k: each[k] for k in keys if each[k]} for each in (old, new))
        case t.Map(key=key, value=of):
            pass
        case _:
            return None
    put: list[Any] = []
    for k in keys:
        value, was = new.get(k, UNSET), old.get(k, UNSET)
        if value is UNSET or value is was or value == was:
            continue
        told = _told(was, value, of, form)
        if told is not UNSET:
            put.append([form(k, key), told])
    if len(put) > 1:
        put.sort(key=lambda row: rank(row[0]))
    gone = [form(k, key) for k in keys if k in old and k not in new]
    if not put and not gone:
        return UNSET
    return {CHANGED: {"set": put, "removed": _ranked(gone)}}


def _ranked(items: list[Json]) -> list[Json]:
    return sorted(items, key=rank) if len(items) > 1 else items


def _is_large(value: Any, kind: t.Type) -> bool:
    """Whether a change of the value is told, if that is shorter."""
    match kind:
        case t.Map(value=t.Part()):
            return False
        case t.Set(item=item) | t.Seq(item=item) | t.Map(value=item) | t.Bag(item=item):
            return len(value) > LEAST or not (t.immutable(item) or isinstance(item, t.Timer))
        case _:
            return False


def _of_set(old: Any, new: Any, item: t.Type, form: Form) -> Json | None:
    added = new - old
    gone = old - new if len(old) + len(added) != len(new) else ()
    if len(added) + len(gone) >= len(new):
        return None
    rows = (sorted((form(each, item) for each in some), key=rank) for some in (added, gone))
    return {CHANGED: dict(zip(("added", "removed"), rows, strict=True))}


def _of_map(old: Any, new: Any, types: tuple[t.Type, t.Type], form: Form) -> Json | None:
    key, of = types
    put: list[Any] = []
    more = 0
    for k in unlike_keys(old, new):
        more += k not in old
        told = _told(old.get(k, UNSET), new[k], of, form)
        if told is not UNSET and (k not in old or old[k] != new[k]):
            put.append([form(k, key), told])
    gone = old.keys() - new.keys() if len(old) + more != len(new) else ()
    if len(put) + len(gone) >= max(len(new), 1) and t.immutable(of):
        return None
    put.sort(key=lambda row: rank(row[0]))
    removed = sorted((form(k, key) for k in gone), key=rank)
    return {CHANGED: {"set": put, "removed": removed}}


def _there(bag: Mapping[Any, int]) -> Mapping[Any, int]:
    """The items that are in a bag, which may keep a count of 0 of others."""
    return {k: n for k, n in bag.items() if n} if 0 in bag.values() else bag


def _of_list(old: Any, new: Any, item: t.Type, form: Form) -> Json | None:
    at, same = unlike_span(old, new)
    added = new[at : len(new) - same]
    if len(added) >= max(len(new), 1):
        return None
    rows = [form(each, item) for each in added]
    return {CHANGED: {"at": at, "removed": len(old) - same - at, "added": rows}}


# The state after a row.


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


class _Sequence:
    """A list."""

    keys = frozenset({"at", "removed", "added"})

    def __init__(self, items: list[Json]) -> None:
        self.held = items

    def take(self, told: Any, where: str) -> None:
        at, gone = told["at"], told["removed"]
        if not 0 <= at <= at + gone <= len(self.held):
            raise IndexError(at)
        self.held[at : at + gone] = told["added"]

    def json(self) -> Json:
        return self.held


def _merged(old: Any, data: Json, where: str) -> Any:
    """A value after a row: what the row tells, or a container with its change."""
    if not is_change(data):
        return data
    opened, told = _opened(old), data[CHANGED]
    if opened is None or not is_object(told) or told.keys() != opened.keys:
        raise ValueError(f"{where}: no change of its value: {told!r}")
    try:
        opened.take(told, where)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{where}: no change of its value: {told!r}: {error!r}") from error
    return opened


def _opened(data: Any) -> _Items | _Entries | _Sequence | None:
    """A container to be changed; None for another value."""
    if isinstance(data, _Items | _Entries | _Sequence):
        return data
    if is_list(data):
        return _Sequence(data)
    if not is_object(data):
        return None
    if data.keys() == {"$set"}:
        return _Items(data["$set"])
    if data.keys() == {"$map"}:
        return _Entries((k, v) for k, v in data["$map"])
    return _Entries(data.items()) if TAGS.isdisjoint(data) else None


def _json(value: Any) -> Json:
    opened = isinstance(value, _Items | _Entries | _Sequence)
    return value.json() if opened else value  # type: ignore[no-any-return]  # it was JSON


def _text(data: Json) -> str:
    return json.dumps(data, sort_keys=True)
