"""The generated steps of one packed state after another: for walks, which choose where to go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ...reference.states import State
from ..expansion.successors import Stepping
from ..layout.forms import FORM, Form
from ..layout.layouts import MOST_ROOM, Crowded
from ..layout.packing import pack, unpack
from ..space import Space
from .plain import Expanding

Words = tuple[int, ...]
T = TypeVar("T")


class Expansion(NamedTuple):
    """What the steps noted of a state (`Notes` says where), and of each step within the scope its
    label and the state that it leads to."""

    info: Sequence[int]
    labels: Sequence[int]
    after: Sequence[Words]


class SingleSteps:
    """Packed states of a space, and their steps as plain Python: neither is ever kept.

    Raises `NotGenerated`, naming it, for what generated steps do not do.
    """

    def __init__(self, space: Space, form: Form, *, labelled: bool) -> None:
        self.stepping = Stepping(space.flat, space.world, space, labelled, form)
        self._expanding = Expanding(self.stepping)
        self._expanding.cells[self.stepping.following] = 0  # Steps that are cut only count.

    def packed(self, state: State) -> Words:
        """The words of a state within the scope."""
        s = self.stepping
        return pack(s.slots, s.codec.encode(s.whole, state))

    def state(self, words: Words) -> State:
        """The state of these words."""
        s = self.stepping
        found: State = s.codec.decode(s.whole, unpack(s.slots, words))
        return found

    def expanded(self, words: Words) -> Expansion | None:
        """The steps of a state; None where they give it up to the reference engine."""
        e, size = self._expanding, self.stepping.words
        info, n = e.expanded(words, 0)
        if info[self.stepping.notes["escaped"]]:
            return None
        labels, end = e.out[e.room * size : e.room * size + n], n * size
        after = list(zip(*(e.out[i:end:size] for i in range(size)), strict=True))
        return Expansion(info, labels, after)


def with_room(run: Callable[[Form], T]) -> T:
    """What this gives, with more room for each sparse set and map where a state is too crowded.

    Raises `Crowded` where the most room is too little.
    """
    form = FORM
    while True:
        try:
            return run(form)
        except Crowded:
            form = form.roomier()
            if form.room > MOST_ROOM:
                raise
