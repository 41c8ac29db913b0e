"""Families of parts: the paths to their members, and whether a member exists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.spec import types as t

from ..algebra.term import Term
from .conversion import as_term
from .places import read
from .symbolic import PathStep, StatePath
from .trail import Trail
from .values import Encoding


def members(
    encoding: Encoding, path: StatePath, states: Sequence[Trail]
) -> list[tuple[StatePath, list[Term]]]:
    """The path to each member, with the conditions that it exists in each of the states.

    Keys of a small type are listed, so that terms about members that a step does not touch stay
    the same; a constant stands for all other keys.
    """
    found: list[tuple[StatePath, list[Term]]] = [((), [])]
    for at in path:
        if not isinstance(at.of, t.Map):
            found = [((*place, at), where) for place, where in found]
            continue
        listed = encoding.universe(at.of.key)
        if listed is None:
            listed = [encoding.logic.fresh("key", encoding.shape(at.of.key))]
        found = [
            ((*place, PathStep(at.of, key=key)), [*where, *_there(at.of, place, key, states)])
            for place, where in found
            for key in listed
        ]
    return found


def _there(family: t.Map, place: StatePath, key: Term, states: Sequence[Trail]) -> Iterator[Term]:
    """The conditions that there is a part at a key, one for each of the states."""
    for run in states:
        yield run.encoding.held(family, as_term(read(run, place)), key)[0]


def unlisted(place: StatePath) -> list[Term]:
    """The constants on a path that stand for an arbitrary key."""
    return [at.key for at in place if at.key is not None and at.key.op == "constant"]
