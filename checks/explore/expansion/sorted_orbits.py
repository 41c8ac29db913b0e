"""Canonical states where there are too many renamings of a state to try all of them.

Elements are put in the order of their signatures first, which no renaming changes. Only those with
equal signatures are left: where exchanging them changes nothing, they stay as they are; of the
others all orders are tried, and the least words count. A renaming is done as exchanges of two
elements, so that the tables have a row for each pair, not for each renaming.

Where too many orders are left, `canonical` gives 1, and the reference engine expands the state. So
it is with every state of the orbit, as no renaming changes what is left. The counts are exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ..codegen.body import Body
from ..codegen.text import plus
from ..layout.layouts import Layout, NotGenerated, elements
from ..space import Space
from ..symmetry import Symmetry
from . import orbits
from .element_signatures import Signatures
from .footprint import Span
from .orbits import MOST_CODES, OrbitSteps, Renaming, total

MOST_ORDERS = 720  # Of elements whose signatures are equal.
MOST_COUNTED = 1 << 62  # Renamings: their number stands in a cell.


class SortedSteps(OrbitSteps):
    """Writes the module. `who` has the elements that got the names in turn, those of the least
    words afterwards."""

    def _renamings(self) -> tuple[list[Renaming], list[tuple[int, int]]]:
        """Nothing changed, and the exchanges of two elements of a group, by their distance."""
        if self.total >= MOST_COUNTED:
            raise NotGenerated(f"{self.total:,} renamings of a state")
        count = sum(self.sizes)
        ends = [*itertools.accumulate(self.sizes)]
        self.begins = [end - size for end, size in zip(ends, self.sizes, strict=True)]
        rows = zip(self.begins, ends, strict=True)
        pairs = [pair for row in rows for pair in itertools.combinations(range(*row), 2)]
        self.pairs = sorted(pairs, key=lambda pair: (pair[1] - pair[0], pair))
        found: list[Renaming] = [tuple(range(count))]
        for one, other in self.pairs:
            swap = {one: other, other: one}
            found.append(tuple(swap.get(i, i) for i in range(count)))
        return found, []

    def found(self, cells: Sequence[int]) -> Mapping[Any, Any]:
        """The renaming that gave the least words."""
        who = cells[self.best_who : self.best_who + len(self.members)]
        return {self.members[e]: self.members[to] for to, e in enumerate(who)}

    def _table(self, layout: Layout) -> list[int]:
        count = elements(layout)
        if count * len(self.renamings) > MOST_CODES:
            raise NotGenerated(f"the renamings of {count:,} values")
        near = [pair for pair in self.pairs if pair[1] - pair[0] == 1]
        rows = dict(zip(near, (self.swapped(layout, s) for s in self.swaps()), strict=True))
        for one, other in self.pairs[len(near) :]:
            last, before = rows[other - 1, other], rows[one, other - 1]
            rows[one, other] = [last[before[last[code]]] for code in range(count)]
        made = [range(count), *(rows[pair] for pair in self.pairs)]
        return [*itertools.chain.from_iterable(made)]

    # The module.

    def _write(self) -> None:
        count = len(self.members)
        self.at_first = self.program.frame(self.size)
        self.now, self.own = self.program.frame(self.words), self.program.frame(self.words)
        self.who, self.best_who = self.program.frame(count), self.program.frame(count)
        self.first, self.done = self.program.frame(count), self.program.frame(count)
        self.signatures = Signatures(self, self.judging)
        self.pair = self._put([self._pair(i, j) for i in range(count) for j in range(count)])
        starts = [b for b, n in zip(self.begins, self.sizes, strict=True) for _ in range(n)]
        self.starts = self._put(starts)
        super()._write()

    def _put(self, row: Sequence[int]) -> int:
        at = self.program.frame(len(row))
        self.program.tables[at] = [*row]
        return at

    def _pair(self, one: int, other: int) -> int:
        pair = min(one, other), max(one, other)
        return 1 + self.pairs.index(pair) if pair in self.pairs else 0

    def _rename(self) -> None:
        f = self.judging.function("renamed", "w, p, a, b")
        self._moved(f, self.whole, "a", "b")
        self.judging.close(f)
        f = self.judging.function("packed", "w, a, to")
        for word, text in enumerate(self._words_at("a")):
            f.line(f"w[to + {word}] = {text}")
        self.judging.close(f)

    def _words_at(self, begin: str) -> list[str]:
        parts: list[list[str]] = [[] for _ in range(self.words)]
        for s in self.slots:
            if s.bits:
                low = f" - {s.low}" if s.low else ""
                parts[s.word].append(f"((w[{plus(begin, s.cell)}]{low}) << {s.shift})")
        return [" | ".join(row) or "0" for row in parts]

    def _rest(self, f: Body) -> None:
        super()._rest(f)
        f.line(f"if canonical(w) != 0: info[{self.notes['escaped']}] = 1")

    def _pack(self, f: Body, spans: tuple[Span, ...]) -> None:
        f.line("if n >= room: return -1")
        f.line(f"if canonical(w) != 0: info[{self.notes['escaped']}] = 1")
        for word in range(self.words):
            f.line(f"out[n * {self.words} + {word}] = w[{self.best + word}]")

    def _canonical(self) -> None:
        self.signatures.write()
        f = self.judging.function("canonical", "w")
        f.line("signatures(w)")
        f.line(f"copy(w, {self.at_first}, 0, {self.size})")
        f.line(f"a = {self.at_first}")
        f.line(f"b = {self.renamed}")
        with f.block(f"for e in range({len(self.members)}):"):
            f.line(f"w[{self.who} + e] = e")
        self._sort(f)
        f.line(f"packed(w, a, {self.own})")
        f.line(f"w[{self.same}] = 1")
        f.line("orders = 1")
        self._runs(f)
        f.line(f"if orders > {MOST_ORDERS}: return 1")
        self._orders(f)
        self.judging.close(f)

    def _exchange(self, f: Body, one: str, other: str) -> None:
        """Two elements of the state at `a` change their names."""
        f.line(f"renamed(w, w[{self.pair} + {one} * {len(self.members)} + {other}], a, b)")
        f.line("a, b = b, a")
        f.line(f"held = w[{self.who} + {one}]")
        f.line(f"w[{self.who} + {one}] = w[{self.who} + {other}]")
        f.line(f"w[{self.who} + {other}] = held")

    def _sort(self, f: Body) -> None:
        """Elements in the order of their signatures, group by group."""
        at = self.signatures.at
        for begin, size in zip(self.begins, self.sizes, strict=True):
            with f.block(f"for i in range({begin}, {begin + size - 1}):"):
                f.line("least = i")
                with f.block(f"for j in range(i + 1, {begin + size}):"):
                    f.line(f"if w[{at} + j] < w[{at} + least]: least = j")
                with f.block("if least != i:"):
                    self._exchange(f, "i", "least")
                    f.line(f"held = w[{at} + i]")
                    f.line(f"w[{at} + i] = w[{at} + least]")
                    f.line(f"w[{at} + least] = held")

    def _runs(self, f: Body) -> None:
        """Where the elements begin that have the signature of each; elements whose exchange changes
        nothing stand alone. `orders` is how many orders of the others there are."""
        count, at = len(self.members), self.signatures.at
        f.line("begin = 0")
        with f.block(f"while begin < {count}:"):
            f.line("end = begin + 1")
            f.line("orders_here = 1")
            f.line("alike = 1")
            with f.block(
                f"while end < {count} and w[{self.starts} + end] == w[{self.starts} + begin]"
                f" and w[{at} + end] == w[{at} + begin]:"
            ):
                with f.block("if alike != 0:"):
                    near = f"w[{self.pair} + (end - 1) * {count} + end]"
                    f.line(f"renamed(w, {near}, a, b)")
                    f.line(f"packed(w, b, {self.now})")
                    f.line(f"alike = same(w, {self.now}, {self.own}, {self.words})")
                f.line("end += 1")
                f.line("orders_here = orders_here * (end - begin)")
            with f.block("if alike != 0:"):
                f.line(f"w[{self.same}] = w[{self.same}] * orders_here")
            with f.block("else:"):
                f.line("orders = orders * orders_here")
                f.line(f"if orders > {MOST_ORDERS}: return 1")
            with f.block("for e in range(begin, end):"):
                f.line(f"w[{self.first} + e] = e if alike != 0 else begin")
            f.line("begin = end")

    def _orders(self, f: Body) -> None:
        """All orders of those that are not told apart (B. R. Heap, "Permutations by interchanges",
        1963): the least words and which elements have which names in them."""
        count = len(self.members)
        f.line(f"copy(w, {self.best}, {self.own}, {self.words})")
        f.line(f"copy(w, {self.best_who}, {self.who}, {count})")
        f.line(f"clear(w, {self.done}, {count})")
        f.line("equal = 1")
        f.line("i = 0")
        with f.block(f"while i < {count}:"):
            f.line(f"k = i - w[{self.first} + i]")
            with f.block(f"if w[{self.done} + i] < k:"):
                f.line(f"j = i - k + w[{self.done} + i] * (k & 1)")
                self._exchange(f, "j", "i")
                f.line(f"w[{self.done} + i] += 1")
                f.line("i = 0")
                f.line(f"packed(w, a, {self.now})")
                f.line(f"equal += same(w, {self.now}, {self.own}, {self.words})")
                with f.block(f"if ordered(w, {self.now}, {self.best}, {self.words}) < 0:"):
                    f.line(f"copy(w, {self.best}, {self.now}, {self.words})")
                    f.line(f"copy(w, {self.best_who}, {self.who}, {count})")
            with f.block("else:"):
                f.line(f"w[{self.done} + i] = 0")
                f.line("i += 1")
        f.line(f"w[{self.same}] = w[{self.same}] * equal")


def orbit_steps(space: Space, symmetry: Symmetry) -> OrbitSteps:
    """The steps that give canonical states: all renamings of a state are tried where they are few.

    Raises `NotGenerated` for what no code is generated for.
    """
    few = total(symmetry) <= orbits.MOST_RENAMINGS
    return (OrbitSteps if few else SortedSteps)(space.flat, space.world, space, symmetry)
