"""The result of a finished search, whichever engine made it; the verdicts are judged from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from lawful.spec.quick_dataclass import dataclass

from ..reference.properties import PropertyOf
from ..reference.states import State
from ..verdict import Verdict
from .limits import Reason
from .liveness.graph import Graph
from .space import Args, Edge, Event, Space

Parent = tuple[int, int, Args]
Path = tuple[list[State], list[Event]]  # The states of a run, and the events between them.


@dataclass(slots=True)
class FirstFailure:
    """A property's first failure: the state it is reached by, and the step beyond it, if any."""

    at: int
    edge: Edge | None
    why: str
    verdict: Verdict


class Explored(Protocol):
    """A finished search, whichever engine made it."""

    @property
    def space(self) -> Space: ...
    @property
    def states(self) -> Sequence[State]:
        """The states in the order in which they were found."""
        ...

    @property
    def parents(self) -> Sequence[Parent]:
        """For each state: the one before it, -1 for none, and the rule and arguments between."""
        ...

    def before(self, number: int) -> int:
        """The state that a state was first reached from; -1 for an initial one."""
        ...

    def path(self, at: int) -> Path:
        """The shortest run to a state."""
        ...

    def find(self, state: State) -> int:
        """The number of a state; negative where the search did not meet it."""
        ...

    @property
    def distinct(self) -> int:
        """How many states were found, those that others stand for counted, too."""
        ...

    @property
    def predecessors(self) -> Sequence[Sequence[int]] | None:
        """For each state those with a step to it; None where nobody needs them."""
        ...

    @property
    def graph(self) -> Graph | None:
        """The steps between states; None if no liveness property needs them."""
        ...

    @property
    def cut_from(self) -> Collection[int]:
        """The states with a step that leaves the scope."""
        ...

    @property
    def generated(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    @property
    def not_generated(self) -> str:
        """The construct for which steps cannot be generated, if the reference engine took over
        because of it."""
        ...

    @property
    def handed_back(self) -> int:
        """How many states a faster engine left to the reference engine, which expanded them."""
        ...

    @property
    def compile_seconds(self) -> float:
        """The seconds that making machine code took; 0 where none was made."""
        ...

    @property
    def stopped(self) -> Reason:
        """The limit that ended it early."""
        ...

    @property
    def earlier(self) -> float:
        """The seconds of the runs that it went on from."""
        ...

    @property
    def cut_by(self) -> Mapping[str, int]: ...
    @property
    def enabled(self) -> Mapping[str, int]: ...
    @property
    def new(self) -> Mapping[str, int]: ...
    @property
    def failures(self) -> Mapping[str, FirstFailure]: ...
    @property
    def witnesses(self) -> Mapping[str, int]: ...
    @property
    def unseen(self) -> Mapping[str, Sequence[Args]]: ...

    def live(self, j: PropertyOf, args: Args) -> Sequence[int]:
        """What a liveness property is in the first states, as far as that was noted: 1 where it is
        true, and 2 more where what it leads to is; of all but `leads_to` both are the same. More
        than 3 where the reference engine has to say."""
        ...

    def true_in(self, j: PropertyOf, args: Args) -> Sequence[int]:
        """The numbers of the states in which a property is true for these arguments."""
        ...


def chain(search: Explored, at: int) -> list[int]:
    """The numbers of the states by which a state was first reached, the initial one first."""
    found: list[int] = []
    while at >= 0:
        found.append(at)
        at = search.before(at)
    return found[::-1]


def path_of(search: Explored, at: int) -> Path:
    """The shortest run to a state, where each state stands for itself."""
    numbers = chain(search, at)
    events = [(rule, args) for _, rule, args in (search.parents[n] for n in numbers[1:])]
    return [search.states[number] for number in numbers], events
