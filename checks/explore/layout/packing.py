"""Cells <-> packed words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.spec.quick_dataclass import dataclass

from .layouts import (
    MOST_BITS,
    Cell,
    Layout,
    MachineLayout,
    MapLayout,
    NotGenerated,
    cells,
    inner,
    key_count,
    spare_at,
    stride,
)

LEAST = 6  # Cells of a map: a smaller one is packed as a whole.
FOLDED = 2  # States of more words are folded; see `compiled.folding`.


@dataclass(frozen=True, slots=True)
class Slot:
    """The position of a cell in the packed words; with `bits` 0 it never changes."""

    cell: int
    word: int
    shift: int
    bits: int
    low: int


def slots(layout: Layout) -> tuple[Slot, ...]:
    """A place in the words for each cell, none across two words.

    The entries of a large map stand at equal distances, so that one of them can be packed by its
    number. This must not lengthen states of a word or two.
    """
    tight, regular = _slots(layout, False), _slots(layout, True)
    return regular if _words(tight) > FOLDED or _words(regular) <= _words(tight) else tight


def _words(places: Sequence[Slot]) -> int:
    return places[-1].word + 1 if places else 1


def _slots(layout: Layout, regular: bool) -> tuple[Slot, ...]:
    found: list[Slot] = []
    word = shift = 0
    number = 0
    for bits, group in _groups(layout, regular):
        if shift and shift + bits > MOST_BITS + 1:
            word, shift = word + 1, 0
        for cell in group:
            if shift + cell.bits > MOST_BITS + 1:
                word, shift = word + 1, 0
            found.append(Slot(number, word, shift, cell.bits, cell.low))
            shift += cell.bits
            number += 1
    return tuple(found)


def _groups(layout: Layout, regular: bool) -> Iterator[tuple[int, Sequence[Cell]]]:
    """Cells that follow one another, and how many bits must be left in a word for them."""
    for part in inner(layout) if isinstance(layout, MachineLayout) else (layout,):
        all_cells = cells(part)
        if not (regular and isinstance(part, MapLayout) and is_large(part)):
            yield 0, all_cells
            continue
        step, count = stride(part), key_count(part.key)
        bits = sum(cell.bits for cell in all_cells[:step])
        whole = bits * count
        yield (whole if whole <= MOST_BITS + 1 else MOST_BITS + 2), ()
        for at in range(0, count * step, step):
            yield bits, all_cells[at : at + step]
        yield 0, all_cells[count * step :]


def is_large(layout: MapLayout) -> bool:
    """Whether the entries of a map are packed one by one."""
    return spare_at(layout) >= LEAST and key_count(layout.key) > 1


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
    return unpacked(reads(places), [int(word) for word in packed])


Reads = tuple[tuple[int, int, int, int], ...]  # Of each cell: its word, shift, mask and least.


def reads(places: Sequence[Slot]) -> Reads:
    """How cells are read, for who does so state after state."""
    return tuple(
        (s.word, s.shift, (1 << s.bits) - 1, s.low) if s.bits else (0, 0, 0, s.low) for s in places
    )


def unpacked(cells_read: Reads, packed: Sequence[int]) -> list[int]:
    """The cells of a state's words, which are read so."""
    return [(packed[word] >> shift & mask) + low for word, shift, mask, low in cells_read]


def masks(places: Sequence[Slot]) -> dict[int, int]:
    """The bits that hold these cells, by word."""
    found: dict[int, int] = {}
    for slot in places:
        found[slot.word] = found.get(slot.word, 0) | (1 << slot.bits) - 1 << slot.shift
    return dict(sorted(found.items()))


def within(layout: Layout, held: Sequence[int]) -> bool:
    """Whether every cell is one of a state within the scope."""
    return all(c.low <= v <= c.high for c, v in zip(cells(layout), held, strict=True))
