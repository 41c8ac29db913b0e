"""Generated tests of bounds: the bounds of the types, and those of the scope."""

from __future__ import annotations

from dataclasses import replace

from lawful.spec.quick_dataclass import dataclass

from ..layout.layouts import (
    INTEGER,
    BagLayout,
    Layout,
    ListLayout,
    MapLayout,
    Number,
    Product,
    SetLayout,
    Sparse,
    SparseMap,
    SparseSet,
    Sum,
    key_count,
    offsets,
    row_size,
    stride,
    width,
)
from .contents import behind
from .text import Program, plus


def broken(program: Program, layout: Layout, at: str) -> list[str]:
    """Tests that are true where a value breaks the bounds of its type."""
    return _Tests(program, declared=True).of(layout, at)


def outside(program: Program, layout: Layout, at: str) -> list[str]:
    """Tests that are true where a value, which breaks no bounds of its type, is not within the
    scope."""
    return _Tests(program, declared=False).of(layout, at)


def entry_broken(program: Program, layout: MapLayout, at: str) -> list[str]:
    """As `broken`, of one entry of a map, whose cells begin there."""
    return _Tests(program, declared=True).in_table(layout, at, 1)


def entry_outside(program: Program, layout: MapLayout, at: str) -> list[str]:
    """As `outside`, of one entry of a map."""
    return _Tests(program, declared=False).in_table(layout, at, 1)


def behind_broken(program: Program, layout: MapLayout, at: str) -> list[str]:
    """As `broken`, of what stands behind a map that begins there."""
    return _Tests(program, declared=True).behind(behind(layout, at))


def behind_outside(program: Program, layout: MapLayout, at: str) -> list[str]:
    """As `outside`, of what stands behind a map."""
    return _Tests(program, declared=False).behind(behind(layout, at))


@dataclass(frozen=True, slots=True)
class _Tests:
    program: Program
    declared: bool

    def of(self, layout: Layout, at: str) -> list[str]:
        match layout:
            case Number(low=low, high=high):
                if self.declared:
                    low, high = layout.least, layout.most
                tests = [] if low is None else [f"w[{at}] < {low}"]
                return tests if high is None else [*tests, f"w[{at}] > {high}"]
            case Product(items=items):
                rows = zip(items, offsets(items), strict=True)
                return [x for k, i in rows for x in self.of(k, plus(at, i))]
            case Sum(options=options):
                return self._in_option(options, at)
            case SetLayout():
                return self.behind(behind(layout, at))
            case MapLayout():
                return self.in_table(layout, at, key_count(layout.key)) + self.behind(
                    behind(layout, at)
                )
            case ListLayout(item=item, most=most):
                last = layout.declared if self.declared else most
                tests = [] if last is None else [f"w[{at}] > {last}"]
                return tests + self._in_rows(item, at, most, more=self.declared)
            case SparseSet(item=item, room=room):
                return self._in_rows(item, at, room)
            case SparseMap(key=key, value=value, room=room):
                return self._in_rows(Product(layout.type, (key, value)), at, room)
            case BagLayout():
                return self._in_bag(layout, at)
            case _:
                return []

    def _in_bag(self, layout: BagLayout, at: str) -> list[str]:
        """Tests of a bag: no count is below 0 where no bounds of its type are broken, so that there
        are at most as many elements as they count together."""
        often = Number(0, None, 0)
        coded, most = Product(layout.type, (INTEGER, often)), min(layout.most, layout.room)
        tests = self._in_rows(coded, at, most, more=self.declared) if layout.room else []
        counts = [f"w[{plus(at, 2 + 2 * i)}]" for i in range(layout.room)]
        more = behind(layout, at)
        if more is not None:
            sparse, begin = replace(more[0], value=often), more[1]
            if layout.room:
                tests += self.behind((sparse, begin))
            else:
                tests += self.of(sparse, begin)
            size = row_size(sparse)
            if self.declared or not layout.room:
                counts += [f"w[{plus(begin, (i + 1) * size)}]" for i in range(sparse.room)]
        last = layout.declared if self.declared else layout.most
        return tests if last is None else [*tests, f"{' + '.join(counts)} > {last}"]

    def behind(self, more: tuple[Sparse, str] | None) -> list[str]:
        """Tests of what stands behind a dense set or map: all of it is outside the scope."""
        if more is None:
            return []
        if not self.declared:
            return [f"w[{more[1]}] != 0"]
        layout, at = more
        row = (
            Product(layout.type, (layout.key, layout.value))
            if isinstance(layout, SparseMap)
            else layout.item
        )
        return self._in_rows(row, at, 0, more=True)

    def _in_rows(self, item: Layout, at: str, most: int, *, more: bool = False) -> list[str]:
        """Tests of the first rows, and if there may be `more` of the others."""
        others = self.of(item, "row")
        if not others:  # Wherever the item is.
            return []
        starts = [plus(at, 1 + i * width(item)) for i in range(most)]
        tests = [(i, self.of(item, place)) for i, place in enumerate(starts)]
        made = [f"(w[{at}] > {i} and ({' or '.join(x)}))" for i, x in tests]
        if not more:
            return made
        lines = [
            f"for i in range({most}, w[at]):",
            f"    row = at + 1 + i * {width(item)}",
            f"    if {' or '.join(others)}: return 1",
            "return 0",
        ]
        name = self.program.seldom(("bounds", item, self.declared, most), "w, at", lines)
        return [*made, f"(w[{at}] > {most} and {name}(w, {at}) != 0)"]

    def _in_option(self, options: tuple[Layout, ...], at: str) -> list[str]:
        tests: list[str] = []
        for which, (k, i) in enumerate(zip(options, offsets(options, 1), strict=True)):
            inside = self.of(k, plus(at, i))
            if inside:
                tests.append(f"(w[{at}] == {which} and ({' or '.join(inside)}))")
        return tests

    def in_table(self, layout: MapLayout, at: str, count: int) -> list[str]:
        """Tests of so many entries, the first of which begins there."""
        tests: list[str] = []
        for i in range(count):
            place = plus(at, i * stride(layout))
            inside = self.of(layout.value, plus(place, int(not layout.total)))
            if not inside:  # Wherever the value is.
                break
            if layout.total:
                tests += inside
            else:
                tests.append(f"(w[{place}] != 0 and ({' or '.join(inside)}))")
        return tests
