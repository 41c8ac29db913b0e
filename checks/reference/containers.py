"""Updates of containers: the new immutable value, and the result of the update."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lawful.spec.values.indices import clamped
from lawful.spec.values.text import text_of
from lawful.spec.values.world import FrozenBag, FrozenMap

Held = FrozenBag[Any] | FrozenMap[Any, Any] | tuple[Any, ...]


def put(held: Held, key: Any, value: Any) -> Held:
    """The map, bag or list with the value at the key; IndexError where a list has no such index."""
    if isinstance(held, FrozenBag):
        others = {k: n for k, n in held.items() if k != key}
        return FrozenBag[Any]({**others, key: value} if value else others)
    if isinstance(held, FrozenMap):
        return FrozenMap[Any, Any]({**held, key: value})
    if not -len(held) <= key < len(held):
        raise IndexError(f"there is no item {text_of(key)}")
    at = key % len(held)
    return (*held[:at], value, *held[at + 1 :])


def _remove(held: frozenset[Any], item: Any) -> tuple[Any, Any]:
    if item not in held:
        raise KeyError(item)
    return held - {item}, None


def _without(held: Mapping[Any, Any], key: Any) -> FrozenMap[Any, Any]:
    return FrozenMap({k: v for k, v in held.items() if k != key})


def _map_pop(held: FrozenMap[Any, Any], key: Any, *default: Any) -> tuple[Any, Any]:
    given = held.get(key, *default) if default else held[key]
    return _without(held, key), given


def _map_delete(held: FrozenMap[Any, Any], key: Any) -> tuple[Any, Any]:
    return _map_pop(held, key)[0], None


def _pop(held: tuple[Any, ...], *index: int) -> tuple[Any, Any]:
    given = held[index[0] if index else -1]
    left = list(held)
    left.pop(*index)
    return tuple(left), given


def _insert(held: tuple[Any, ...], index: int, item: Any) -> tuple[Any, Any]:
    made = list(held)
    made.insert(clamped(index), item)
    return tuple(made), None


def _seq_remove(held: tuple[Any, ...], item: Any) -> tuple[Any, Any]:
    at = held.index(item)
    return (*held[:at], *held[at + 1 :]), None


Set = frozenset[Any]
Sequence = tuple[Any, ...]
Table = FrozenMap[Any, Any]
Result = tuple[Any, Any]


def _add(held: Set, item: Any) -> Result:
    return held | {item}, None


def _discard(held: Set, item: Any) -> Result:
    return held - {item}, None


def _update(held: Set, other: Set) -> Result:
    return held | other, None


def _append(held: Sequence, item: Any) -> Result:
    return (*held, item), None


def _extend(held: Sequence, other: Sequence) -> Result:
    return (*held, *other), None


def _merge(held: Table, other: Mapping[Any, Any]) -> Result:
    return FrozenMap[Any, Any]({**held, **other}), None


def _always(value: Any) -> Callable[..., Result]:
    def update(held: Any, *_args: Any) -> Result:
        return value, None

    return update


UPDATES: dict[tuple[str, str], Callable[..., Result]] = {
    ("Set", "add"): _add,
    ("Set", "discard"): _discard,
    ("Set", "remove"): _remove,
    ("Set", "update"): _update,
    ("Set", "clear"): _always(frozenset[Any]()),
    ("Seq", "append"): _append,
    ("Seq", "extend"): _extend,
    ("Seq", "insert"): _insert,
    ("Seq", "pop"): _pop,
    ("Seq", "remove"): _seq_remove,
    ("Seq", "clear"): _always(()),
    ("Map", "pop"): _map_pop,
    ("Map", "update"): _merge,
    ("Map", "delete"): _map_delete,
    ("Map", "clear"): _always(FrozenMap[Any, Any]()),
    ("Bag", "clear"): _always(FrozenBag[Any]()),
}
