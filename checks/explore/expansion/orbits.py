"""The generated module of a machine whose interchangeable elements are explored up to renaming.

`expand` does what that of `successors` does, and gives of each state that a step leads to the
*canonical* one of its orbit: that whose packed words are the least among all renamings. How many
states the orbit of the expanded state has is noted, too.

Which code an element, or a value with elements in it, has after each renaming stands in tables,
which are made here once; so renaming a state moves cells and looks codes up.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from math import factorial, prod
from typing import Any

from lawful.spec.flat import Flat
from lawful.spec.values.world import World

from ..codegen.body import Body
from ..codegen.contents import set_bit
from ..codegen.text import plus
from ..layout.layouts import (
    MOST_BITS,
    BagLayout,
    Index,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    Sparse,
    SparseMap,
    SparseSet,
    Sum,
    elements,
    inner,
    key_count,
    offsets,
    row_size,
    spare,
    spare_at,
    stride,
    width,
    words,
)
from ..layout.numbering import uncode
from ..space import Space
from ..symmetry import Symmetry
from .footprint import Span
from .notes import Notes
from .successors import Stepping

MOST_RENAMINGS = 720  # That are all tried of a state: beyond them, see `sorted_orbits`.
MOST_CODES = 100_000  # In the tables.

Renaming = tuple[int, ...]  # The place that each element of all groups goes to.


class OrbitSteps(Stepping):
    """Writes the module. `canonical` is the function that finds the least words; afterwards they
    are at `best`, the number of the renaming is in `which`, and of those that leave the state as it
    is in `same`."""

    def __init__(self, flat: Flat, world: World, space: Space, symmetry: Symmetry) -> None:
        self.symmetry = symmetry
        self.members = [e for group in symmetry.groups.values() for e in group]
        self.sizes = [len(group) for group in symmetry.groups.values()]
        self.total = total(symmetry)
        self.renamings, self.ways = self._renamings()
        self.tables: dict[Layout, int] = {}
        super().__init__(flat, world, space)

    def renaming(self, number: int) -> Mapping[Any, Any]:
        """The elements that others become."""
        pairs = enumerate(self.renamings[number])
        return {self.members[i]: self.members[to] for i, to in pairs}

    def found(self, cells: Sequence[int]) -> Mapping[Any, Any]:
        """The renaming that gave the least words."""
        return self.renaming(cells[self.which])

    def _renamings(self) -> tuple[list[Renaming], list[tuple[int, int]]]:
        return renamings(self.sizes)

    # The module.

    def _notes(self) -> Notes:
        made = super()._notes()
        return Notes(
            made.rules, made.cuts, made.properties, made.witnesses, made.marks, made.lives, orbits=1
        )

    def _write(self) -> None:
        self.renamed = self.program.frame(self.size)
        self.best = self.program.frame(self.words)
        self.which, self.same = self.program.frame(1), self.program.frame(1)
        self._rename()
        self._canonical()
        super()._write()
        f = self.judging.function("canonicalised", "w, store, at")
        self.state.unpack(f)
        f.line(f"w[{self.size}] = 0")
        f.line("return canonical(w)")
        self.judging.close(f)

    def _rest(self, f: Body) -> None:
        super()._rest(f)
        f.line("canonical(w)")
        f.line(f"info[{self.notes['orbit']}] = {self.total} // w[{self.same}]")

    def _pack(self, f: Body, spans: tuple[Span, ...]) -> None:
        f.line("if n >= room: return -1")
        f.line("canonical(w)")
        for word in range(self.words):
            f.line(f"out[n * {self.words} + {word}] = w[{self.best + word}]")

    def _canonical(self) -> None:
        f = self.judging.function("canonical", "w")
        for word, text in enumerate(self._words(0)):
            f.line(f"own{word} = {text}")
            f.line(f"w[{self.best + word}] = own{word}")
        f.line(f"w[{self.which}] = 0")
        f.line(f"w[{self.same}] = 1")
        with f.block(f"for p in range(1, {len(self.renamings)}):"):
            f.line("renamed(w, p)")
            for word, text in enumerate(self._words(self.renamed)):
                f.line(f"now{word} = {text}")
            equal = " and ".join(f"now{word} == own{word}" for word in range(self.words))
            f.line(f"if {equal}: w[{self.same}] += 1")
            f.line("order = 0")
            for word in range(self.words):
                f.line(f"if order == 0 and now{word} < w[{self.best + word}]: order = -1")
                f.line(f"if order == 0 and now{word} > w[{self.best + word}]: order = 1")
            with f.block("if order < 0:"):
                f.line(f"w[{self.which}] = p")
                for word in range(self.words):
                    f.line(f"w[{self.best + word}] = now{word}")
        self.judging.close(f)

    def _words(self, begin: int) -> list[str]:
        """The words of the state whose cells begin there."""
        parts: list[list[str]] = [[] for _ in range(self.words)]
        for s in self.slots:
            if s.bits:
                low = f" - {s.low}" if s.low else ""
                parts[s.word].append(f"((w[{begin + s.cell}]{low}) << {s.shift})")
        return [" | ".join(row) or "0" for row in parts]

    # Renaming.

    def _rename(self) -> None:
        f = self.judging.function("renamed", "w, p")
        self._moved(f, self.whole, "0", str(self.renamed))
        self.judging.close(f)

    def touches(self, layout: Layout) -> bool:
        """Whether values of this layout may hold an interchangeable element."""
        match layout:
            case Number():
                return False
            case MachineLayout():
                return any(map(self.touches, inner(layout)))
            case _:
                return self.symmetry.touches(layout.type)

    def _moved(self, f: Body, layout: Layout, of: str, to: str) -> None:
        """The value whose cells begin at `of`, with its elements renamed, put at `to`."""
        if not self.touches(layout):
            f.move(to, of, width(layout))
            return
        match layout:
            case Index():
                f.line(f"w[{to}] = {self._code(layout, f'w[{of}]')}")
            case Product() | MachineLayout():
                items = inner(layout)
                for item, i in zip(items, offsets(items), strict=True):
                    self._moved(f, item, plus(of, i), plus(to, i))
            case Sum(options=options):
                f.line(f"w[{to}] = w[{of}]")
                for number, (option, i) in enumerate(
                    zip(options, offsets(options, 1), strict=True)
                ):
                    if not self.touches(option):
                        f.move(plus(to, i), plus(of, i), width(option))
                        continue
                    f.blank(plus(to, i), width(option))
                    with f.block(f"if w[{of}] == {number}:"):
                        self._moved(f, option, plus(of, i), plus(to, i))
            case _:
                f.blank(to, width(layout))
                self._held(f, layout, of, to)

    def _held(self, f: Body, layout: Layout, of: str, to: str) -> None:
        i = f.temporary()
        match layout:
            case SetLayout(item=item):
                with f.block(f"for {i} in range({elements(item)}):"):
                    one = f"w[{of}] >> {i} & 1"
                    if words(elements(item)) > 1:
                        one = f"w[{of} + {i} // {MOST_BITS}] >> {i} % {MOST_BITS} & 1"
                    with f.block(f"if {one} != 0:"):
                        set_bit(f, to, layout, f.hold(self._code(item, i)))
            case MapLayout(key=key, value=value):
                with f.block(f"for {i} in range({key_count(key)}):"):
                    here = f.hold(f"{of} + {i} * {stride(layout)}")
                    number = self._code(key, i) if self.touches(key) else i
                    there = f.hold(f"{to} + {number} * {stride(layout)}")
                    if layout.total:
                        self._moved(f, value, here, there)
                    else:
                        with f.block(f"if w[{here}] != 0:"):
                            f.line(f"w[{there}] = 1")
                            self._moved(f, value, plus(here, 1), plus(there, 1))
            case ListLayout(item=item):
                f.line(f"w[{to}] = w[{of}]")
                with f.block(f"for {i} in range(w[{of}]):"):
                    here = f.hold(f"{of} + 1 + {i} * {width(item)}")
                    there = f.hold(f"{to} + 1 + {i} * {width(item)}")
                    self._moved(f, item, here, there)
            case BagLayout(item=item, room=room) if room:
                with f.block(f"for {i} in range(w[{of}]):"):
                    code = f.hold(self._code(item, f"w[{of} + 1 + 2 * {i}]"))
                    f.line(f"put_count(w, {to}, {room}, {code}, w[{of} + 2 + 2 * {i}])")
            case BagLayout():
                rows, at = spare(layout), spare_at(layout)
                assert rows is not None
                self._rows(f, rows, rows.key, plus(of, at), plus(to, at))
            case SparseSet(item=key) | SparseMap(key=key):
                self._rows(f, layout, key, of, to)
            case _:
                raise AssertionError(layout)

    def _rows(self, f: Body, layout: Sparse, key: Layout, of: str, to: str) -> None:
        """The rows of a sparse set or map, each at its place among the others."""
        size, keys, i = row_size(layout), width(key), f.temporary()
        renamed = f.region(key)
        with f.block(f"for {i} in range(w[{of}]):"):
            here = f.hold(f"{of} + 1 + {i} * {size}")
            self._moved(f, key, here, renamed)
            row = f.hold(f"new_row(w, {to}, {size}, {keys}, {renamed})")
            there = f.hold(f"{to} + 1 + {row} * {size} + {keys}")
            here = f.hold(f"{here} + {keys}")
            if isinstance(layout, SparseMap):
                self._moved(f, layout.value, here, there)

    # Tables.

    def _code(self, layout: Layout, number: str) -> str:
        """The code that a value has after renaming `p`."""
        if layout not in self.tables:
            row = self._table(layout)
            self.tables[layout] = at = self.program.frame(len(row))
            self.program.tables[at] = row
        return f"w[{self.tables[layout]} + p * {elements(layout)} + {number}]"

    def _table(self, layout: Layout) -> list[int]:
        """For each renaming, the code that each value of a layout has after it."""
        count = elements(layout)
        if count * len(self.renamings) > MOST_CODES:
            raise NotGenerated(f"the renamings of {count:,} values")
        swaps = [self.swapped(layout, swap) for swap in self.swaps()]
        rows = [[*range(count)]]
        for before, swap in self.ways[1:]:
            rows.append([swaps[swap][code] for code in rows[before]])
        return [*itertools.chain.from_iterable(rows)]

    def swaps(self) -> list[dict[Any, Any]]:
        """The exchanges of two neighbours in a group, as `renamings` counts them."""
        groups = self.symmetry.groups.values()
        pairs = (pair for group in groups for pair in itertools.pairwise(group))
        return [{one: other, other: one} for one, other in pairs]

    def swapped(self, layout: Layout, swap: Mapping[Any, Any]) -> list[int]:
        """The codes of all values after two elements are exchanged."""
        assert not isinstance(layout, Number)
        change = functools.partial(_exchanged, swap)
        values = (self.codec.decode(layout, uncode(layout, i)) for i in range(elements(layout)))
        leaves = self.symmetry.leaves
        return [self.codec.code_of(layout, leaves.value(v, layout.type, change)) for v in values]


def _exchanged(swap: Mapping[Any, Any], value: Any, _kind: object) -> Any:
    return swap.get(value, value)


def total(symmetry: Symmetry) -> int:
    """How many renamings there are."""
    return prod(factorial(len(group)) for group in symmetry.groups.values())


def renamings(sizes: Sequence[int]) -> tuple[list[Renaming], list[tuple[int, int]]]:
    """All renamings inside of groups of these sizes, nothing changed first; and of each the one
    that it is made of, with the exchange of neighbours that comes after that."""
    begins = [sum(sizes[:i]) for i in range(len(sizes))]
    places = [b + i for b, size in zip(begins, sizes, strict=True) for i in range(size - 1)]
    found: list[Renaming] = [tuple(range(sum(sizes)))]
    known, ways = {found[0]}, [(0, 0)]
    for number, renaming in enumerate(found):  # It grows.
        for swap, place in enumerate(places):
            exchange = {place: place + 1, place + 1: place}
            made = tuple(exchange.get(to, to) for to in renaming)
            if made not in known:
                known.add(made)
                found.append(made)
                ways.append((number, swap))
    return found, ways


__all__ = ["OrbitSteps", "total"]
