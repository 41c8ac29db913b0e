"""Two versions of a machine as one chart: what was lost and what was won is marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .chart import Chart, Control, Edge, Region, Stay
from .transition_labels import Label, Mark


def difference(old: Chart, new: Chart) -> Chart:
    """The chart that has what either has; a changed label is lost as it was, and won as it is."""
    before, after = ({part.title: part for part in each.parts} for each in (old, new))
    parts = (
        difference(*(each.get(title, Chart(title, (), (), (), ())) for each in (before, after)))
        for title in _names(before, after)
    )
    return Chart(
        old.title if old.title == new.title else f"{old.title} -> {new.title}",
        tuple(_regions(old, new)),
        _labels(old.always, new.always),
        tuple(_texts(old.ignored, new.ignored)),
        tuple(parts),
    )


def _names(old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    """Each name once, as the newer version orders them, the lost ones last."""
    return iter(dict.fromkeys((*new, *old)))


def _regions(old: Chart, new: Chart) -> Iterator[Region]:
    before, after = ({region.name: region for region in each.regions} for each in (old, new))
    for name in _names(before, after):
        empty = Region(name, (), (), (), ())
        yield _region(before.get(name, empty), after.get(name, empty))


def _region(old: Region, new: Region) -> Region:
    stays = {
        state: (_all(_stay(old, state)), _all(_stay(new, state)))
        for state in _names(*([stay.state for stay in each.stays] for each in (old, new)))
    }
    return Region(
        new.name,
        tuple(_states(old, new)),
        tuple(_edges(old.edges, new.edges)),
        tuple(Stay(state, _labels(*both), ()) for state, both in stays.items()),
        _labels(old.anywhere, new.anywhere),
    )


def _states(old: Region, new: Region) -> Iterator[Control]:
    before, after = ({state.name: state for state in each.states} for each in (old, new))
    for name in _names(before, after):
        state = after.get(name) or before[name]
        yield replace(state, mark=_mark(name in before, name in after))


def _edges(old: tuple[Edge, ...], new: tuple[Edge, ...]) -> Iterator[Edge]:
    for edge in dict.fromkeys((*new, *old)):
        mark = _mark(edge in old, edge in new)
        yield replace(edge, label=replace(edge.label, mark=mark))


def _stay(region: Region, state: str) -> Stay:
    return next((each for each in region.stays if each.state == state), Stay(state, (), ()))


def _all(stay: Stay) -> tuple[Label, ...]:
    return (*stay.labels, *(label for _, labels in stay.repeated for label in labels))


def _labels(old: tuple[Label, ...], new: tuple[Label, ...]) -> tuple[Label, ...]:
    return tuple(
        replace(label, mark=_mark(label in old, label in new))
        for label in dict.fromkeys((*new, *old))
    )


def _texts(old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[str]:
    for text in dict.fromkeys((*new, *old)):
        mark = _mark(text in old, text in new)
        yield f"{text} ({mark})" if mark else text


def _mark(before: bool, after: bool) -> Mark:
    return "" if before and after else "won" if after else "lost"
