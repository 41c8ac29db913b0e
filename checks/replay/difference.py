"""Comparison of JSON values: what a row says with what the machine does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from lawful.runtime.journal import HIDDEN
from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.integer_texts import read
from lawful.spec.ir import Json

from .rows import ABSENT, Absent

LARGE = "$int"  # The key of a large integer.
SET, MAP = "$set", "$map"
LONGEST = 60  # Characters of a value in a sentence; the details of a deviation have all of it.


def same(a: Any, b: Any) -> bool:
    """Whether two JSON forms are the same value.

    `1` and `true` differ, and so do `1` and `1.0`: no variable and no output is a float. A value
    that the journal hides equals any other. Other programs may write a large integer plainly, the
    items of a set and the entries of a map in another order, and each map as its entries.
    """
    # `==` is fast but takes True for 1. Equal texts show that the types are equal, too.
    if a != b:
        one, other = _plain(a), _plain(b)
        return hidden(a) or (one == other and _alike(one, other))
    return a is None or a.__class__ is str or json.dumps(a) == json.dumps(b) or _alike(a, b)


def _plain(data: Any) -> Any:
    """The same with plain integers in the place of large ones in their JSON form, each set and map
    in one order, and maps as their entries."""
    if is_list(data):
        return [*map(_plain, data)]
    if not is_object(data):
        return data
    if data.keys() == {LARGE} and _is_integer(data[LARGE]):
        return read(str(data[LARGE]))
    plain = {name: _plain(each) for name, each in data.items()}
    if data.keys() <= {SET, MAP} and all(map(is_list, data.values())):
        return {tag: sorted(plain[tag], key=json.dumps) for tag in plain}
    if any(name.startswith("$") for name in data):
        return plain
    return {MAP: sorted([[k, v] for k, v in plain.items()], key=json.dumps)}


def hidden(data: Any) -> bool:
    """Whether the journal hides this value (see `runtime.journal.Hidden`)."""
    return is_object(data) and data.keys() == {HIDDEN}


def _alike(a: Any, b: Any) -> bool:
    """Whether two forms that are equal to Python also have the same types everywhere."""
    if is_object(a) and is_object(b):
        return all(_alike(a[k], b[k]) for k in a)
    if is_list(a) and is_list(b):
        return all(map(_alike, a, b))
    return bool(a.__class__ is b.__class__)


def exact(data: Any) -> bool:
    """Whether large integers and opaque values are in their canonical form."""
    if is_list(data):
        return all(map(exact, data))
    if not is_object(data):
        return True
    if LARGE in data and not _is_integer(data[LARGE]):
        return False
    if "$opaque" in data and data.get("id").__class__ not in (int, str):
        return False
    return all(map(exact, data.values()))


def _is_integer(text: object) -> bool:
    """Whether it is the text of an integer that this process can read."""
    if not isinstance(text, str):
        return False
    try:
        read(text)
    except ValueError:
        return False
    return True


def changes(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """The new values of what differs between two states, by path: `state`, `sender.window`."""
    out: dict[str, Json] = {}
    for name, value in after.items():
        old: Any = before.get(name)
        if name in before and same(old, value):
            continue
        if _is_part(old) and _is_part(value) and old.keys() == value.keys():
            out.update({f"{name}.{k}": v for k, v in changes(old, value).items()})
        else:
            out[name] = value
    return out


def _is_part(value: Any) -> TypeGuard[dict[str, Any]]:
    # A map with keys that are strings has the same form, and is treated as a part, too.
    return is_object(value) and bool(value) and not any(k.startswith("$") for k in value)


def at(state: Mapping[str, Json], path: str) -> Json | Absent:
    """The value at a path of a state; ABSENT where there is none."""
    found: Any = state
    for name in path.split("."):
        if not is_object(found) or name not in found:
            return ABSENT
        found = found[name]
    return found  # type: ignore[no-any-return]  # a part of JSON is JSON


def pair(row: Json, machine: Json) -> Json:
    """The JSON form of a difference: the value in the row, and the value of the machine."""
    return {"row": row, "machine": machine}


def sentence(found: Mapping[str, Json]) -> str:
    """The first few differences in words."""
    parts: list[str] = []
    for name, both in list(found.items())[:3]:
        row, machine = (short(both[k]) for k in ("row", "machine")) if is_object(both) else "??"
        parts.append(
            f"{name.removeprefix('changed.')} is {row} in the row, {machine} in the machine"
        )
    return "; ".join(parts) + (" ..." if len(found) > 3 else "")


def short(value: Json) -> str:
    """A value as JSON text, cut where it is long."""
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
