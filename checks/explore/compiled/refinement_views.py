"""What the states of a search are seen as by a `@refines`, computed once for all that look alike.

A view reads some variables. States that agree in these are seen as the same, whatever else they
have; the words that hold them are compared, and no state is decoded for it.
"""

from __future__ import annotations

from typing import Any

from lawful.spec.analysis.reads import variables_read

from ...reference.missing_values import NoValue
from ...reference.states import State
from ..layout.layouts import offsets, width
from ..layout.packing import masks
from ..refinement import Refining
from .state_store import States

UNSEEN = -1  # In place of a view's number: the view has no value there.


class Views:
    """The views of the states, as numbers: two are equal where the views are."""

    def __init__(self, refining: Refining, states: States) -> None:
        self.refining = refining
        self.states = states
        self.values: list[State] = []
        self._numbers: dict[State, int] = {}
        self._alike: dict[Any, int] = {}
        self._of: dict[int, int] = {}
        self._masks = (*_words(refining, states).items(),)

    def number(self, state: int) -> int:
        """The number of what a state is seen as; `UNSEEN` where that has no value."""
        found = self._of.get(state)
        if found is None:
            words = self.states.store.words_of(state)
            key = tuple([words[at] & mask for at, mask in self._masks])
            found = self._alike.get(key)
            if found is None:
                found = self._alike[key] = self._seen(state)
            self._of[state] = found
        return found

    def _seen(self, state: int) -> int:
        try:
            view = self.refining.view(self.states[state])
        except NoValue:
            return UNSEEN
        number = self._numbers.setdefault(view, len(self.values))
        if number == len(self.values):
            self.values.append(view)
        return number


def _words(refining: Refining, states: States) -> dict[int, int]:
    """The words that hold what a view reads, and the bits of them that do."""
    s, machine = states.store.stepping, refining.space.machine
    read = variables_read(refining.function, {f.name: f for f in machine.functions})
    fields = s.whole.fields
    spans = [
        (at, at + width(layout))
        for (name, layout), at in zip(fields, offsets(layout for _, layout in fields), strict=True)
        if read is None or name in read
    ]
    return masks([slot for slot in s.slots if any(a <= slot.cell < b for a, b in spans)])
