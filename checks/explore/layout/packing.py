"""Cells <-> packed words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .layouts import MOST_BITS, Layout, NotGenerated, cells


@dataclass(frozen=True, slots=True)
class Slot:
    """The position of a cell in the packed words; with `bits` 0 it never changes."""

    cell: int
    word: int
    shift: int
    bits: int
    low: int


def slots(layout: Layout) -> tuple[Slot, ...]:
    """A place in the words for each cell, none across two words."""
    found: list[Slot] = []
    word = shift = 0
    for number, cell in enumerate(cells(layout)):
        if shift + cell.bits > MOST_BITS + 1:
            word, shift = word + 1, 0
        found.append(Slot(number, word, shift, cell.bits, cell.low))
        shift += cell.bits
    return tuple(found)


def pack(places: Sequence[Slot], held: Sequence[int]) -> tuple[int, ...]:
    """The words of a state's cells; NotGenerated where a cell has no room for its number."""
    made = [0] * (places[-1].word + 1 if places else 1)
    for slot in places:
        if not 0 <= held[slot.cell] - slot.low < 1 << slot.bits:
            raise NotGenerated(f"{held[slot.cell]}, which is beyond what a state has room for")
        made[slot.word] |= (held[slot.cell] - slot.low) << slot.shift
    return tuple(made)


def unpack(places: Sequence[Slot], packed: Sequence[int]) -> list[int]:
    """The cells of a state's words."""
    return [
        (int(packed[s.word]) >> s.shift & (1 << s.bits) - 1) + s.low if s.bits else s.low
        for s in places
    ]


def within(layout: Layout, held: Sequence[int]) -> bool:
    """Whether every cell is one of a state within the scope."""
    return all(c.low <= v <= c.high for c, v in zip(cells(layout), held, strict=True))
