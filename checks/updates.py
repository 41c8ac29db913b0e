"""What an update of a container or timer makes of an immutable value, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lawful.spec.values import FrozenBag, FrozenMap

from .meaning import NoValue


def put(held: Any, key: Any, value: Any) -> Any:
    """The map, bag or list with the value at the key; NoValue where a list has no such index."""
    if isinstance(held, FrozenBag):
        others = {k: n for k, n in held.items() if k != key}
        return FrozenBag({**others, key: value} if value else others)
    if isinstance(held, FrozenMap):
        return FrozenMap({**held, key: value})
    if not -len(held) <= key < len(held):
        raise NoValue(f"there is no item {key}")
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
    left = list(held)
    given = left.pop(*index)
    return tuple(left), given


def _insert(held: tuple[Any, ...], index: int, item: Any) -> tuple[Any, Any]:
    made = list(held)
    made.insert(index, item)
    return tuple(made), None


def _seq_remove(held: tuple[Any, ...], item: Any) -> tuple[Any, Any]:
    at = held.index(item)
    return (*held[:at], *held[at + 1 :]), None


UPDATE: dict[tuple[str, str], Callable[..., tuple[Any, Any]]] = {
    ("Set", "add"): lambda held, x: (held | {x}, None),
    ("Set", "discard"): lambda held, x: (held - {x}, None),
    ("Set", "remove"): _remove,
    ("Set", "update"): lambda held, other: (held | other, None),
    ("Set", "clear"): lambda held: (frozenset(), None),
    ("Seq", "append"): lambda held, x: ((*held, x), None),
    ("Seq", "extend"): lambda held, other: ((*held, *other), None),
    ("Seq", "insert"): _insert,
    ("Seq", "pop"): _pop,
    ("Seq", "remove"): _seq_remove,
    ("Seq", "clear"): lambda held: ((), None),
    ("Map", "pop"): _map_pop,
    ("Map", "update"): lambda held, other: (FrozenMap({**held, **other}), None),
    ("Map", "delete"): _map_delete,
    ("Map", "clear"): lambda held: (FrozenMap(), None),
    ("Bag", "clear"): lambda held: (FrozenBag(), None),
    ("Timer", "start"): lambda held, seconds: (True, None),
    ("Timer", "stop"): lambda held: (False, None),
}
