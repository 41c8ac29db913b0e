"""Entries of maps in a state, one bit each: a step notes which of them it writes.

A transition often changes few entries of a large map. What follows a step then packs and puts back
those alone. The cell `written` of the program has a bit for each entry; a place whose entry is not
known before the step sets the bits of all entries of its map.
"""

from __future__ import annotations

from collections.abc import Sequence

from lawful.spec import ir
from lawful.spec.analysis.walk import everything
from lawful.spec.quick_dataclass import dataclass

from .layouts import MOST_BITS, MachineLayout, MapLayout, key_count, offsets, spare_at, stride
from .packing import Slot, is_large

COSTLY = (ir.Call, ir.Comp, ir.Can, ir.Enabled, ir.If)  # In a key that is not evaluated twice.


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one map: where the first begins, how many cells each has, how many they are,
    and the bit of the first.

    Packed, so many entries stand in a word, each so many bits after the one before; an entry of
    several words begins so many words after the one before. `slots` are those of the first.
    """

    begin: int
    stride: int
    count: int
    bit: int
    in_word: int
    bits: int
    words: int
    slots: tuple[Slot, ...]

    @property
    def end(self) -> int:
        """The cell after the last."""
        return self.begin + self.stride * self.count

    @property
    def mask(self) -> int:
        """The bits of all entries."""
        return (1 << self.count) - 1 << self.bit


def entries(whole: MachineLayout, places: Sequence[Slot]) -> dict[str, Entries]:
    """The large maps of a machine whose entries stand at equal distances, as far as one cell has
    bits for them."""
    found: dict[str, Entries] = {}
    bit = 0
    begins = offsets(layout for _, layout in whole.fields)
    for (name, layout), begin in zip(whole.fields, begins, strict=True):
        if isinstance(layout, MapLayout) and is_large(layout):
            count = key_count(layout.key)
            mine = places[begin : begin + spare_at(layout)]
            row = _regular(begin, stride(layout), count, bit, mine)
            if row is not None and bit + count <= MOST_BITS:
                found[name] = row
                bit += count
    return found


def _regular(begin: int, step: int, count: int, bit: int, mine: Sequence[Slot]) -> Entries | None:
    """The entries of a map with these slots, None if they do not stand at equal distances."""
    first, second = mine[:step], mine[step : 2 * step]
    bits, words = _between(first, second)
    in_word = 1
    if not words:
        in_word = sum(s.word == first[0].word for s in mine[::step])
        words = 1
    made = Entries(begin, step, count, bit, in_word, bits, words, tuple(first))
    for k in range(count):
        up, right = k // in_word * words, k % in_word * bits
        wanted = [(s.word + up, s.shift + right) if s.bits else None for s in first]
        there = mine[k * step : (k + 1) * step]
        if [(s.word, s.shift) if s.bits else None for s in there] != wanted:
            return None
    return made


def _between(first: Sequence[Slot], second: Sequence[Slot]) -> tuple[int, int]:
    """How many bits or words one entry stands after the other."""
    for a, b in zip(first, second, strict=True):
        if a.bits:
            return (b.shift - a.shift, 0) if a.word == b.word else (0, b.word - a.word)
    return 0, 0


def place_of(e: ir.Expr) -> tuple[ir.Expr, str, ir.Expr | None]:
    """What a place is in: the machine itself, a local or something else; of the machine itself
    also the variable, and the key of a map in it."""
    name = ""
    key: ir.Expr | None = None
    while isinstance(e, ir.Field | ir.Item | ir.Narrow):
        if isinstance(e, ir.Item):
            key = e.key
        elif isinstance(e, ir.Field):
            name = e.name
            key = key if isinstance(e.of, ir.Self) else None
        e = e.of
    return e, name, key


def cheap(key: ir.Expr) -> bool:
    """Whether a key may be evaluated twice."""
    return not any(isinstance(node, COSTLY) for node in everything((key,)))
