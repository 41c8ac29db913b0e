"""The initial states of a search; every engine starts from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from ..reference import Fault
from ..reference.states import State
from ..verdict import Verdict
from .limits import OutOfBudget
from .search_result import FirstFailure
from .space import Args, Space

Start = tuple[str | None, Args]  # The start that makes an initial state, and its arguments.


class Beginning(Protocol):
    """A search that has found nothing yet, whichever engine it uses."""

    generated: int
    depth: int
    complete: bool
    cut_by: Counter[str]
    failures: dict[str, FirstFailure]

    @property
    def space(self) -> Space: ...
    @property
    def states(self) -> Sequence[State]: ...
    def over(self) -> bool:
        """Whether a limit is met; `stopped` says which."""
        ...

    def interrupted(self, end: OutOfBudget) -> None:
        """Note that a limit was met in the middle of a state."""
        ...

    def start(self, state: State, start: Start) -> None:
        """Take an initial state, and how it comes about."""
        ...


def begin(search: Beginning) -> None:
    """The initial states, level 1; of too many those within the limits.

    Raises `ValueError` where no initial state is within the scope: nothing would be checked.
    """
    try:
        _begin(search)
    except OutOfBudget as end:
        search.interrupted(end)
    search.depth = 1 if search.states else 0
    search.space.begun = search.generated


def _begin(search: Beginning) -> None:
    space = search.space
    for name, args, made in space.initial():
        if search.over():
            search.complete = False
            break
        search.generated += 1
        outcome, outside = space.placed(made)
        if isinstance(outcome, Fault):
            failure = FirstFailure(-1, None, f"initial: {outcome.what}", fault_verdict(outcome))
            search.failures.setdefault(outcome.name, failure)
        elif outside is not None:
            search.cut_by[outside] += 1
        else:
            search.start(outcome.state, (name, args))
    else:
        if not search.states and not search.failures:
            what = "no initial state is within the scope; nothing would be checked"
            raise ValueError(f"{space.machine.name}: {what}")


def fault_verdict(outcome: Fault) -> Verdict:
    """The verdict on the built-in property that a fault breaks."""
    return Verdict.UNDEFINED if outcome.name == "undefined" else Verdict.VIOLATED
