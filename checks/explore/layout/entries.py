"""Entries of maps in a state, one bit each: a step notes which of them it writes.

A transition often changes few entries of a large map. What follows a step then packs and puts back
those alone. The cell `written` of the program has a bit for each entry; a place whose entry is not
known before the step sets the bits of all entries of its map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec.analysis.walk import everything

from .layouts import MOST_BITS, MachineLayout, MapLayout, elements, offsets, stride, width
from .packing import Slot

LEAST = 6  # Cells of a map: a smaller one is packed as a whole.
COSTLY = (ir.Call, ir.Comp, ir.Can, ir.Enabled, ir.If)  # In a key that is not evaluated twice.


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one map: where the first begins, how many cells each has, how many they are,
    and the bit of the first."""

    begin: int
    stride: int
    count: int
    bit: int

    @property
    def end(self) -> int:
        """The cell after the last."""
        return self.begin + self.stride * self.count

    @property
    def mask(self) -> int:
        """The bits of all entries."""
        return (1 << self.count) - 1 << self.bit


def entries(whole: MachineLayout) -> dict[str, Entries]:
    """The maps of a machine whose entries have bits, as far as one cell has bits for them."""
    found: dict[str, Entries] = {}
    bit = 0
    places = offsets(layout for _, layout in whole.fields)
    for (name, layout), place in zip(whole.fields, places, strict=True):
        if not isinstance(layout, MapLayout) or width(layout) < LEAST:
            continue
        count = elements(layout.key)
        if 1 < count <= MOST_BITS - bit:
            found[name] = Entries(place, stride(layout), count, bit)
            bit += count
    return found


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


@dataclass(frozen=True, slots=True)
class Run:
    """Entries from the first to the last that stand in one word of the packed state, each so many
    bits after the one before; `slots` are those of the first."""

    first: int
    last: int
    bits: int
    slots: tuple[Slot, ...]


def runs(of: Entries, slots: Sequence[Slot]) -> list[Run]:
    """The entries of a map in order, as few runs as there may be."""
    made: list[Run] = []
    for k in range(of.count):
        at = of.begin + k * of.stride
        mine = tuple(slots[at : at + of.stride])
        run = made[-1] if made else None
        bits = None if run is None else _bits_between(run, k, mine)
        if run is None or bits is None:
            made.append(Run(k, k, 0, mine))
        else:
            made[-1] = Run(run.first, k, bits, run.slots)
    return made


def _bits_between(run: Run, k: int, mine: tuple[Slot, ...]) -> int | None:
    """By how many bits entries follow one another, if this one continues the run."""
    between = {
        (b.word - a.word, b.shift - a.shift)
        for a, b in zip(run.slots, mine, strict=True)
        if a.bits or b.bits
    }
    alike = all((a.bits, a.low) == (b.bits, b.low) for a, b in zip(run.slots, mine, strict=True))
    one_word = len({s.word for s in run.slots if s.bits}) == 1
    if not (alike and one_word and len(between) == 1):
        return None
    words, bits = between.pop()
    each, rest = divmod(bits, k - run.first)
    if words or rest or (run.bits and each != run.bits):
        return None
    return each
