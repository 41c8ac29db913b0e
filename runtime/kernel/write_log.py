"""Writes into containers by functions that a step calls: in place where nobody else holds them.

    log = {'_queued_': old_queued, NOTES: []}      made by the method that users call
    push(self, key, log)                           a helper, which calls
    put(self, '_queued_', log, key).add(key)

The log has the container that each variable held when the event began, and a note of what was at
each place of it that the step has changed. `undo` puts that back. A container that has replaced the
original one belongs to the step, and needs no note.

Somebody else may hold a container: a view, an observer, a loop, an argument. CPython's reference
count says so (see `compile.in_place`), and the container is copied first. `_alone` has the counts
of containers that nobody else holds. They are measured once: versions of Python differ in them.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from .before_images import ABSENT
from .dispatch import UNSET

NOTES: Final = ""  # The key of the notes; the others are slots.
Log = dict[str, Any]


class _Alone:
    """The reference counts of containers that only a step holds."""

    def __init__(self) -> None:
        self.original = self.own = self.inner = sys.maxsize


_alone = _Alone()


def put(state: Any, slot: str, log: Log, at: Any) -> Any:
    """The container of a variable, of which this place is changed next: a key, or an item of a set;
    of a list it is the end.

    It looks the place up itself: so `undo`, which does so in a function too, needs no deeper stack.
    """
    held = getattr(state, slot)
    if held is log[slot]:
        if sys.getrefcount(held) <= _alone.original:
            kind = held.__class__
            was = at in held if kind is set else held.get(at, ABSENT) if kind is dict else len(held)
            log[NOTES].append((slot, UNSET, at, was))
            return held
    elif sys.getrefcount(held) <= _alone.own:
        return held
    held = held.copy()
    setattr(state, slot, held)
    return held


def put_inside(state: Any, slot: str, log: Log, key: Any, at: Any) -> Any:
    """The container at a key of a variable that is a map, of which this place is changed next."""
    outer = getattr(state, slot)
    mine = outer is log[slot]
    if sys.getrefcount(outer) > (_alone.original if mine else _alone.own):
        outer, mine = outer.copy(), False
        setattr(state, slot, outer)
    inner = outer[key]
    if sys.getrefcount(inner) > _alone.inner:
        if mine:
            log[NOTES].append((slot, UNSET, key, inner))
        inner = outer[key] = inner.copy()
    elif mine:
        kind = inner.__class__
        was = at in inner if kind is set else inner.get(at, ABSENT) if kind is dict else len(inner)
        log[NOTES].append((slot, key, at, was))
    return inner


def undo(log: Log) -> None:
    """Put back what was at the noted places of the original containers, the last one first.

    A note goes once it is undone. So after an interrupt this goes on where it was: an earlier note
    may be about what a later one leads to. A call of a method would need a deeper stack."""
    notes = log[NOTES]
    while notes:
        slot, key, at, was = notes[-1]
        held = log[slot] if key is UNSET else log[slot][key]
        if held.__class__ is list:
            del held[was:]
        elif held.__class__ is set:
            if was:
                held |= {at}
            else:
                held -= {at}
        elif was is not ABSENT:
            held[at] = was
        elif at in held:
            del held[at]
        del notes[-1]


class _Probe:
    """An instance with one variable."""

    __slots__ = ("held",)
    held: Any


def _keeps_original() -> bool:
    """Whether nothing is copied where a method and its log hold the container of a variable."""
    state = _Probe()
    state.held = set[int]()
    old = state.held
    put(state, "held", {"held": old, NOTES: []}, 0)
    return state.held is old


def _keeps_own() -> bool:
    """The same of a container that the step has made."""
    state = _Probe()
    state.held = set[int]()
    made = id(state.held)
    put(state, "held", {"held": None, NOTES: []}, 0)
    return id(state.held) == made


def _keeps_inner() -> bool:
    """The same of a container in a map."""
    state = _Probe()
    state.held = {0: set[int]()}
    made = id(state.held[0])
    put_inside(state, "held", {"held": None, NOTES: []}, 0, 0)
    return id(state.held[0]) == made


def _measure() -> None:
    """Find the least counts with which nothing is copied that nobody else holds."""
    for name, keeps in (
        ("own", _keeps_own),
        ("original", _keeps_original),
        ("inner", _keeps_inner),
    ):
        for least in range(1, 100):
            setattr(_alone, name, least)
            if keeps():
                break


_measure()
