"""The value of a container after an event, from that before it and the change that a row tells.

`runtime.instances.container_changes` has the form of a change.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from lawful.runtime.instances.change_forms import CHANGED
from lawful.runtime.instances.container_changes import is_change
from lawful.spec import types as t
from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json
from lawful.spec.values.world import FrozenBag, FrozenMap, rank

from .deviations import Deviation, Malformed

Read = Callable[[str, Json, t.Type], Any]


def changed(name: str, old: Any, data: Json, kind: t.Type, read: Read) -> Any:
    """The value of a variable after a row; `read` gives the value of a JSON form.

    Raises Malformed for a change of another form, Deviation where it adds what was there or removes
    what was not, and what `read` raises."""
    if not is_change(data):
        return read(name, data, kind)
    rows: Any = data[CHANGED]
    if not is_object(rows) or len(data) > 1:
        raise Malformed(f"the change of {name} is none of a {kind}")
    of = Change(name, rows, read)
    match kind:
        case t.Set(item=item) if rows.keys() == {"added", "removed"}:
            return (old - of.held("removed", item, old)) | of.held("added", item, old)
        case t.Map(key=key, value=value) if rows.keys() == {"set", "removed"}:
            return FrozenMap(of.entries(old, key, value))
        case t.Bag(item=item) if rows.keys() == {"set", "removed"}:
            return FrozenBag(of.entries(old, item, t.INT))
        case t.Seq(item=item) if rows.keys() == {"at", "removed", "added"}:
            at, gone = rows["at"], rows["removed"]
            if type(at) is type(gone) is int and 0 <= at <= at + gone <= len(old):
                return (*old[:at], *of.list("added", item), *old[at + gone :])
        case _:
            pass
    raise Malformed(f"the change of {name} is none of a {kind}")


def key_of_parts(kind: t.Type) -> t.Type | None:
    """The type of the keys of a map of parts; None for another type."""
    match kind:
        case t.Map(key=key, value=t.Part()):
            return key
        case _:
            return None


def parts_changed(name: str, old: Json, data: Json, key: t.Type) -> Json:
    """The JSON form of a map of parts after a row, from the one before it: rows do not tell what
    ghosts hold, so that no value follows from them.

    Raises Malformed for a change of another form, Deviation where it removes what was not there."""
    told: Any = data
    rows = told[CHANGED]
    whole: Any = old
    if not is_object(rows) or rows.keys() != {"set", "removed"} or len(told) > 1:
        raise Malformed(f"the change of {name} is none of a map of parts")
    held = {str(k): (k, v) for k, v in whole.get("$map", whole.items())}
    for k in rows["removed"] if is_list(rows["removed"]) else [None]:
        if held.pop(str(k), None) is None:
            raise Deviation("changed", f"{name}: removed {k!r}, which was not there")
    for row in rows["set"] if is_list(rows["set"]) else [None]:
        if not is_list(row) or len(row) != 2:
            raise Malformed(f"the change of {name} has no list of [key, value]")
        held[str(row[0])] = row[0], row[1]
    pairs = sorted(held.values(), key=lambda row: rank(row[0]))
    if isinstance(key, t.Enum | t.Sort):
        return {str(k): v for k, v in pairs}
    return {"$map": [[k, v] for k, v in pairs]}


class Change:
    """The rows of a change, as values."""

    def __init__(self, name: str, rows: Mapping[str, Any], read: Read) -> None:
        self.name = name
        self.rows = rows
        self.read = read

    def list(self, key: str, kind: t.Type) -> list[Any]:
        """The items under a key, in their order."""
        found = self.rows[key]
        if not is_list(found):
            raise Malformed(f"the change of {self.name} has no list {key}")
        return [self.read(self.name, each, kind) for each in found]

    def held(self, key: str, kind: t.Type, old: Container[Any]) -> frozenset[Any]:
        """The items that were removed, or added; Deviation where `old` does not allow that."""
        found = self.list(key, kind)
        for each in found:
            if (each in old) != (key == "removed"):
                how = "was there" if each in old else "was not there"
                raise Deviation("changed", f"{self.name}: {key} {each!r}, which {how}")
        return frozenset(found)

    def entries(self, old: Mapping[Any, Any], key: t.Type, value: t.Type) -> dict[Any, Any]:
        """The entries of a map or bag after the change."""
        gone, put = self.held("removed", key, old), self.rows["set"]
        out = dict(old)
        for each in gone:
            del out[each]
        for row in put if is_list(put) else [None]:
            if not is_list(row) or len(row) != 2:
                raise Malformed(f"the change of {self.name} has no list of [key, value]")
            at = self.read(self.name, row[0], key)
            if is_change(row[1]) and at not in old:
                raise Malformed(f"the change of {self.name} is of an entry that it has not")
            out[at] = changed(self.name, old.get(at), row[1], value, self.read)
        return out
