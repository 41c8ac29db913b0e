"""The interface of a store of states, for a search; `plain` and `memory` are the two stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from lawful.spec.quick_dataclass import dataclass

from ...reference import Done
from ...reference.states import State
from ..expansion.successors import Stepping
from ..layout.packing import reads, unpacked
from ..search_result import Parent
from ..space import Space

MOST = 1 << 31  # No search has more states.
KNOWN = 1 << 16  # So many states are kept unpacked.


@dataclass(frozen=True, slots=True)
class Span:
    """The states of a level that are to be expanded, how many there are in all, and may be.

    With `first` it stops after a state in which something fails.
    """

    next: int
    last: int
    count: int
    most: int
    first: bool


@dataclass(frozen=True, slots=True)
class Stopped:
    """The next state to be expanded, how many there are now, whether the one before is left to
    the reference engine, and how many bytes are wanted to go on."""

    next: int
    count: int
    escaped: bool = False
    wanted: int = 0


class Followed(NamedTuple):
    """What is known of an expanded state: the states that its steps lead to, -1 for one that is not
    there; where the steps are labelled, their labels; and the notes of `Notes.marking`.

    With labels a step that is cut is among them, too, with no state.
    """

    targets: Sequence[int]
    labels: Sequence[int]
    marks: Sequence[int]


class Store(Protocol):
    """States by number, found again by their words; what the steps noted of all of them."""

    stepping: Stepping

    @property
    def totals(self) -> Sequence[int]:
        """The sums of what the steps noted."""
        ...

    @property
    def firsts(self) -> Sequence[int]:
        """For each note the first state that has it, or -1."""
        ...

    @property
    def compile_seconds(self) -> float:
        """The seconds that making its machine code took here; 0 where none was made."""
        ...

    def insert(self, words: tuple[int, ...], number: int, parent: tuple[int, int]) -> bool:
        """Whether a state is new; if so it has this number now."""
        ...

    def find(self, words: tuple[int, ...]) -> int:
        """The number of a state; negative if it is none of them."""
        ...

    def words_of(self, number: int) -> Sequence[int]:
        """The words of a state."""
        ...

    def parent(self, number: int) -> tuple[int, int]:
        """The state that a state was first reached from, or -1, and the rule between."""
        ...

    def distinct(
        self, words: Sequence[int], masks: Sequence[int], count: int
    ) -> Iterable[Sequence[int]]:
        """What so many states have in these words, as far as the masks go: each once."""
        ...

    def by_rule(self, count: int) -> list[int]:
        """How many states each rule was the first to reach."""
        ...

    def advance(self, span: Span) -> Stopped:
        """Expand states until the end of the span, or until it is time to look at the clock."""
        ...

    def grow_on(self, count: int) -> None:
        """Take the bytes that were wanted."""
        ...

    def kept(self, count: int) -> Iterator[tuple[str, Any]]:
        """The data of so many states, for a snapshot."""
        ...

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        """Have what was kept, by whichever of the two."""
        ...

    def follow(self, count: int) -> Iterator[Followed]:
        """The steps of so many states, all states being known now."""
        ...


class States(Sequence[State]):
    """Packed states as values, unpacked on demand."""

    def __init__(self, store: Store, count: int) -> None:
        self.store = store
        self.size = count
        self._known: dict[int, State] = {}
        self._reads = reads(store.stepping.slots)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, number: Any) -> Any:
        if not -self.size <= number < self.size:
            raise IndexError(number)
        number %= self.size
        if number not in self._known:
            if len(self._known) == KNOWN:
                self._known.clear()
            s = self.store.stepping
            held = unpacked(self._reads, self.store.words_of(number))
            self._known[number] = s.codec.decode(s.whole, held)
        return self._known[number]


class Parents(Sequence[Parent]):
    """The state from which each state was first reached; the arguments are computed again on
    demand."""

    def __init__(self, space: Space, states: States) -> None:
        self.space = space
        self.states = states

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, number: Any) -> Any:
        before, rule = self.states.store.parent(number)
        if before < 0:
            return -1, -1, ()
        if not self.space.rules[rule][0].plans:  # There is only one step of it.
            return before, rule, ()
        state = self.states[number]
        for edge in self.space.edges(self.states[before], only=rule):
            done = edge.outcome if edge.cut is None else None
            if isinstance(done, Done) and done.state == state:
                return before, rule, edge.args
        raise AssertionError(f"no step leads from state {before} to state {number}")
