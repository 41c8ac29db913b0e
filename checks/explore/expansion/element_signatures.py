"""Signatures of interchangeable elements: numbers that no renaming of a state changes.

An element's signature sums up where the state holds it and beside what, as far as that has no
names: of a value with elements in it the signature counts what it is up to renaming, and the
signatures that those elements had in the round before. There is another round as long as one tells
more elements apart (as B. D. Weisfeiler and A. A. Leman refine colours of graphs, 1968). Elements
that differ may have equal signatures; equal elements never have different ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..codegen.body import Body
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
from .orbits import MOST_CODES
from .properties import Judging

if TYPE_CHECKING:
    from .orbits import OrbitSteps

MASK = (1 << 30) - 1  # A product with FACTOR stays within a cell.
FACTOR = 0x5BD1E995


class Signatures:
    """Writes `signatures(w)`, which leaves those of the state in `w` at `at`."""

    def __init__(self, steps: OrbitSteps, judging: Judging) -> None:
        self.steps = steps
        self.judging = judging
        self.count = len(steps.members)
        self.at, self.before = (steps.program.frame(self.count) for _ in range(2))
        self.tables: dict[Layout, tuple[int, int]] = {}

    def write(self) -> None:
        """The functions."""
        f = self.judging.function("stirred", "h, x")
        f.line(f"h = (h * 31 + x & {MASK}) * {FACTOR}")
        f.line(f"return (h ^ (h >> 29)) & {MASK}")
        self.judging.close(f)
        f = self.judging.function("signed", "w")
        self._sign(f, self.steps.whole, "0", "1")
        self.judging.close(f)
        f = self.judging.function("signatures", "w")
        e = 0
        for group, size in enumerate(self.steps.sizes):
            for _ in range(size):
                f.line(f"w[{self.at + e}] = {group}")
                e += 1
        f.line("told = 0")
        f.line("more = 1")
        with f.block("while more != 0:"):
            f.line(f"copy(w, {self.before}, {self.at}, {self.count})")
            f.line("signed(w)")
            f.line("now = 0")
            with f.block(f"for e in range({self.count}):"):
                f.line("first = 1")
                with f.block("for d in range(e):"):
                    f.line(f"if w[{self.at} + d] == w[{self.at} + e]: first = 0")
                f.line("now += first")
            f.line(f"more = 1 if now > told and now < {self.count} else 0")
            f.line("told = now")
        self.judging.close(f)

    # Codes.

    def _rows(self, layout: Layout) -> tuple[int, int]:
        """Where two tables begin: for each element and value what the one is in the other, and for
        each value what it is, both up to renaming."""
        if layout not in self.tables:
            program = self.steps.program
            roles, kinds = self._up_to_renaming(layout)
            found = program.frame(len(roles)), program.frame(len(kinds))
            program.tables[found[0]], program.tables[found[1]] = roles, kinds
            self.tables[layout] = found
        return self.tables[layout]

    def _up_to_renaming(self, layout: Layout) -> tuple[list[int], list[int]]:
        count, steps = elements(layout), self.steps
        if count * self.count > MOST_CODES:
            raise NotGenerated(f"the signatures of {count:,} values")
        places = {e: i for i, e in enumerate(steps.members)}
        roles, kinds = [*range(self.count * count)], [*range(count)]
        swaps = [(swap, steps.swapped(layout, swap)) for swap in steps.swaps()]
        changed = True
        while changed:  # The least of what each becomes.
            changed = False
            for swap, codes in swaps:
                to = [places[swap.get(e, e)] for e in steps.members]
                rows = [to[i] * count + codes[c] for i in range(self.count) for c in range(count)]
                changed |= _lowered(roles, rows) | _lowered(kinds, codes)
        return roles, kinds

    def _seen(self, f: Body, layout: Layout, number: str, around: str) -> None:
        """The elements in a value with that code get a part of their signatures."""
        roles, _ = self._rows(layout)
        e = f.temporary()
        with f.block(f"for {e} in range({self.count}):"):
            role = f"w[{roles} + {e} * {elements(layout)} + {number}]"
            part = f"stirred({around}, {role})"
            f.line(f"w[{self.at} + {e}] = w[{self.at} + {e}] + {part} & {MASK}")

    def _kind(self, f: Body, layout: Layout, number: str) -> str:
        """What a value with that code is, up to renaming."""
        if not self.steps.touches(layout):
            return number
        roles, kinds = self._rows(layout)
        made, e = f.hold(f"w[{kinds} + {number}] + 0"), f.temporary()
        with f.block(f"for {e} in range({self.count}):"):
            role = f"w[{roles} + {e} * {elements(layout)} + {number}]"
            f.line(f"{made} = {made} + stirred(w[{self.before} + {e}], {role}) & {MASK}")
        return made

    # Values.

    def _mixed(self, f: Body, *parts: str) -> str:
        made = parts[0]
        for part in parts[1:]:
            made = f.hold(f"stirred({made}, {part})")
        return made

    def _blind(self, f: Body, layout: Layout, of: str) -> str:
        """What the value is whose cells begin there, up to renaming."""
        made = f.hold("0 + 0")
        if not self.steps.touches(layout):
            i = f.temporary()
            with f.block(f"for {i} in range({width(layout)}):"):
                f.line(f"{made} = stirred({made}, w[{plus(of, 0)} + {i}])")
            return made
        match layout:
            case Index():
                return self._kind(f, layout, f.hold(f"w[{of}]"))
            case Product() | MachineLayout():
                items = inner(layout)
                for item, begin in zip(items, offsets(items), strict=True):
                    part = self._blind(f, item, plus(of, begin))
                    f.line(f"{made} = stirred({made}, {part})")
            case Sum(options=options):
                f.line(f"{made} = w[{of}]")
                begins = offsets(options, 1)
                for number, (each, begin) in enumerate(zip(options, begins, strict=True)):
                    with f.block(f"if w[{of}] == {number}:"):
                        part = self._blind(f, each, plus(of, begin))
                        f.line(f"{made} = stirred({made}, {part})")
            case _:
                self._each(f, layout, of, (made, ""))
        return made

    def _sign(self, f: Body, layout: Layout, of: str, around: str) -> None:
        """The elements in the value whose cells begin there get a part of their signatures."""
        if not self.steps.touches(layout):
            return
        match layout:
            case Index():
                self._seen(f, layout, f.hold(f"w[{of}]"), around)
            case Product() | MachineLayout():
                items = inner(layout)
                for number, (item, i) in enumerate(zip(items, offsets(items), strict=True)):
                    if self.steps.touches(item):
                        here = self._mixed(f, around, str(number))
                        self._sign(f, item, plus(of, i), here)
            case Sum(options=options):
                for number, (each, i) in enumerate(zip(options, offsets(options, 1), strict=True)):
                    if self.steps.touches(each):
                        with f.block(f"if w[{of}] == {number}:"):
                            here = self._mixed(f, around, str(number))
                            self._sign(f, each, plus(of, i), here)
            case _:
                self._each(f, layout, of, ("", around))

    def _each(self, f: Body, layout: Layout, of: str, to: tuple[str, str]) -> None:
        """All that a container holds: added up at the one name, or signed within the other."""
        i = f.temporary()
        match layout:
            case SetLayout(item=item):
                with f.block(f"for {i} in range({elements(item)}):"):
                    one = f"w[{of}] >> {i} & 1"
                    if words(elements(item)) > 1:
                        one = f"w[{of} + {i} // {MOST_BITS}] >> {i} % {MOST_BITS} & 1"
                    with f.block(f"if {one} != 0:"):
                        self._held(f, to, "2", [(item, i, True)])
            case MapLayout(key=key, value=value):
                with f.block(f"for {i} in range({key_count(key)}):"):
                    here = f.hold(f"{of} + {i} * {stride(layout)}")
                    if layout.total:
                        self._held(f, to, "3", [(key, i, True), (value, here, False)])
                    else:
                        with f.block(f"if w[{here}] != 0:"):
                            pairs = [(key, i, True), (value, plus(here, 1), False)]
                            self._held(f, to, "3", pairs)
            case ListLayout(item=item):
                with f.block(f"for {i} in range(w[{of}]):"):
                    here = f.hold(f"{of} + 1 + {i} * {width(item)}")
                    self._held(f, to, i, [(item, here, False)])
            case BagLayout(item=item, room=room) if room:
                with f.block(f"for {i} in range(w[{of}]):"):
                    code = f.hold(f"w[{of} + 1 + 2 * {i}]")
                    self._held(f, to, f.hold(f"w[{of} + 2 + 2 * {i}]"), [(item, code, True)])
            case BagLayout():
                rows = spare(layout)
                assert rows is not None
                self._each_row(f, rows, plus(of, spare_at(layout)), to)
            case SparseSet() | SparseMap():
                self._each_row(f, layout, of, to)
            case _:
                raise AssertionError(layout)

    def _each_row(self, f: Body, layout: Sparse, of: str, to: tuple[str, str]) -> None:
        key = layout.key if isinstance(layout, SparseMap) else layout.item
        i = f.temporary()
        with f.block(f"for {i} in range(w[{of}]):"):
            here = f.hold(f"{of} + 1 + {i} * {row_size(layout)}")
            pairs = [(key, here, False)]
            if isinstance(layout, SparseMap):
                pairs.append((layout.value, f.hold(f"{here} + {width(key)}"), False))
            self._held(f, to, "4", pairs)

    def _held(
        self, f: Body, to: tuple[str, str], how: str, values: list[tuple[Layout, str, bool]]
    ) -> None:
        """What stands together in a container: each a layout, and its code or where it is."""
        total, around = to
        parts = [
            self._kind(f, layout, at) if coded else self._blind(f, layout, at)
            for layout, at, coded in values
        ]
        made = self._mixed(f, around or "1", how, *parts)
        if total:
            f.line(f"{total} = {total} + {made} & {MASK}")
            return
        for number, (layout, at, coded) in enumerate(values):
            if self.steps.touches(layout):
                here = self._mixed(f, made, str(number))
                if coded:
                    self._seen(f, layout, at, here)
                else:
                    self._sign(f, layout, at, here)


def _lowered(least: list[int], to: list[int]) -> bool:
    """Whether any became less as it is what it becomes, too."""
    changed = False
    for here, there in enumerate(to):
        if least[there] != least[here]:
            least[here] = least[there] = min(least[here], least[there])
            changed = True
    return changed
