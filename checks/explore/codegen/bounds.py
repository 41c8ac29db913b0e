"""Generated tests of bounds: the bounds of the types, and those of the scope."""

from __future__ import annotations

from ..layout.layouts import (
    BagLayout,
    Layout,
    ListLayout,
    MapLayout,
    Number,
    Product,
    SparseMap,
    SparseSet,
    Sum,
    elements,
    offsets,
    stride,
    width,
)
from .text import plus


def broken(layout: Layout, at: str) -> list[str]:
    """Tests that are true where a value breaks the bounds of its type."""
    return _tests(layout, at, declared=True)


def outside(layout: Layout, at: str) -> list[str]:
    """Tests that are true where a value is not within the scope."""
    return _tests(layout, at, declared=False)


def _tests(layout: Layout, at: str, declared: bool) -> list[str]:
    match layout:
        case Number():
            low, high = (layout.least, layout.most) if declared else (layout.low, layout.high)
            tests = [] if low is None else [f"w[{at}] < {low}"]
            return tests if high is None else [*tests, f"w[{at}] > {high}"]
        case Product(items=items):
            places = offsets(items)
            rows = zip(items, places, strict=True)
            return [x for k, i in rows for x in _tests(k, plus(at, i), declared)]
        case Sum(options=options):
            return _in_option(options, at, declared)
        case MapLayout(key=key, value=value):
            return _in_table(layout, elements(key), value, at, declared)
        case ListLayout(item=item, room=room):
            most = layout.declared if declared else layout.most
            tests = [] if most is None else [f"w[{at}] > {most}"]
            return tests + _in_rows(room, item, at, declared)
        case SparseSet(item=item, room=room):
            return _in_rows(room, item, at, declared)
        case SparseMap(key=key, value=value, room=room):
            return _in_rows(room, Product(layout.type, (key, value)), at, declared)
        case BagLayout(room=room):
            counts = [f"w[{plus(at, 2 + 2 * i)}]" for i in range(room)]
            if declared:
                tests = [f"{c} < 0" for c in counts]
                most = layout.declared
                return tests if most is None else [*tests, f"{' + '.join(counts)} > {most}"]
            return [f"{' + '.join(counts)} > {layout.most}"]
        case _:
            return []


def _in_rows(room: int, item: Layout, at: str, declared: bool) -> list[str]:
    starts = [plus(at, 1 + i * width(item)) for i in range(room)]
    tests = [(i, _tests(item, place, declared)) for i, place in enumerate(starts)]
    return [f"(w[{at}] > {i} and ({' or '.join(x)}))" for i, x in tests if x]


def _in_option(options: tuple[Layout, ...], at: str, declared: bool) -> list[str]:
    tests: list[str] = []
    for which, (k, i) in enumerate(zip(options, offsets(options, 1), strict=True)):
        inside = _tests(k, plus(at, i), declared)
        if inside:
            tests.append(f"(w[{at}] == {which} and ({' or '.join(inside)}))")
    return tests


def _in_table(layout: MapLayout, count: int, value: Layout, at: str, declared: bool) -> list[str]:
    tests: list[str] = []
    for i in range(count):
        place = plus(at, i * stride(layout))
        inside = _tests(value, plus(place, int(not layout.total)), declared)
        if inside and layout.total:
            tests += inside
        elif inside:
            tests.append(f"(w[{place}] != 0 and ({' or '.join(inside)}))")
    return tests
