"""How states of several words are folded: see `state_table`."""

from __future__ import annotations

from typing import NamedTuple

from ..layout.packing import FOLDED

PIECE = 2  # Words of a piece. A number of one takes half a word, a quarter of its place.


class Shape(NamedTuple):
    """The shape of a state of so many words: whether it is folded, the words of a piece, how many
    pieces it has, and how many words it has in the store."""

    folded: int
    piece: int
    pieces: int
    root: int


def shape(words: int) -> Shape:
    """States of up to one piece stand in the store as they are."""
    if words <= FOLDED:
        return Shape(0, PIECE, 1, words)
    pieces = -(-words // PIECE)
    return Shape(1, PIECE, pieces, -(-pieces // 2))
