"""Writes into containers by functions that a step calls: in place where nobody else holds them.

    log = {'queued': old_queued, NOTES: []}        made by the method that users call
    push(self, key, log)                           a helper, which calls
    put(self, ('queued', '_queued_', False), log, key).add(key)

The log has the container that each variable held when the event began, and a note of what was at
each place of it that the step has changed. `undo` puts that back. A container that has replaced the
original one belongs to the step, and needs no note. A note is what records of events have of a
place (`before_images.Recorded`).

Somebody else may hold a container: a view, an observer, a loop, an argument. CPython's reference
count says so (see `compile.in_place`), and the container is copied first. `_alone` has the counts
of containers that nobody else holds. They are measured once: versions of Python differ in them.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from .before_images import ABSENT

NOTES: Final = ""  # The key of the notes; the others are variables.
Log = dict[str, Any]
Written = tuple[str, str, bool]  # A variable, its slot, and whether a list loses its first item.
HELD: Final = ("held", "held", False)  # Of a `_Probe`.


class _Alone:
    """The reference counts of containers that only a step holds."""

    def __init__(self) -> None:
        self.original = self.own = self.inner = sys.maxsize


_alone = _Alone()


def put(state: Any, of: Written, log: Log, at: Any) -> Any:
    """The container of a variable, of which this place is changed next: a key, or an item of a set;
    of a list it is the end, or the first item if that goes.

    It looks the place up itself: so `undo`, which does so in a function too, needs no deeper stack.
    """
    variable, slot, pops = of
    held = getattr(state, slot)
    if held is log[variable]:
        if sys.getrefcount(held) <= _alone.original:
            kind = held.__class__
            if kind is list:
                was = len(held)
                if pops:
                    at, was = held[:1], was - 1
            else:
                was = at in held if kind is set else held.get(at, ABSENT)
            log[NOTES].append((variable, pops, at, was))
            return held
    elif sys.getrefcount(held) <= _alone.own:
        return held
    held = held.copy()
    setattr(state, slot, held)
    return held


def put_inside(state: Any, of: Written, log: Log, key: Any, at: Any) -> Any:
    """The container at a key of a variable that is a map, of which this place is changed next."""
    variable, slot, pops = of
    outer = getattr(state, slot)
    mine = outer is log[variable]
    if sys.getrefcount(outer) > (_alone.original if mine else _alone.own):
        outer, mine = outer.copy(), False
        setattr(state, slot, outer)
    inner = outer[key]
    if sys.getrefcount(inner) > _alone.inner:
        if mine:
            log[NOTES].append((variable, False, key, inner))
        inner = outer[key] = inner.copy()
    elif mine:
        kind = inner.__class__
        if kind is list:
            was = len(inner)
            if pops:
                at, was = inner[:1], was - 1
        else:
            was = at in inner if kind is set else inner.get(at, ABSENT)
        log[NOTES].append((variable, pops, at, was, key))
    return inner


def undo(log: Log) -> None:
    """Put back what was at the noted places of the original containers, the last one first.

    A note goes once it is undone. So after an interrupt this goes on where it was: an earlier note
    may be about what a later one leads to. A call of a method would need a deeper stack."""
    notes = log[NOTES]
    while notes:
        variable, pops, at, was, *inner = notes[-1]
        held = log[variable][inner[0]] if inner else log[variable]
        if held.__class__ is list:
            if not pops:
                del held[was:]
            elif not held[was:]:  # It was shortened, and has its first item not back yet.
                held[:0] = at
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
    put(state, HELD, {"held": old, NOTES: []}, 0)
    return state.held is old


def _keeps_own() -> bool:
    """The same of a container that the step has made."""
    state = _Probe()
    state.held = set[int]()
    made = id(state.held)
    put(state, HELD, {"held": None, NOTES: []}, 0)
    return id(state.held) == made


def _keeps_inner() -> bool:
    """The same of a container in a map."""
    state = _Probe()
    state.held = {0: set[int]()}
    made = id(state.held[0])
    put_inside(state, HELD, {"held": None, NOTES: []}, 0, 0)
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
