"""The outcomes of a step other than a new state; every engine that executes a machine uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .quick_dataclass import dataclass

if TYPE_CHECKING:
    from .ir import Json


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one candidate transition refuses: its false clause as text, and the values in it."""

    transition: str
    clause: str
    why: str
    values: Mapping[str, Json]

    def __str__(self) -> str:
        return f"{self.why} ({self.clause})" if self.why and self.clause else self.why + self.clause


def joined(reasons: Sequence[Reason]) -> str:
    """The reasons as one text: of several, each with the transitions that it is the reason of."""
    if len(reasons) == 1:
        return str(reasons[0])
    by_text: dict[str, list[str]] = {}
    for reason in reasons:
        by_text.setdefault(str(reason), []).append(reason.transition)
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in by_text.items())


# A function that gives what `Refused` is made of, and what it takes.
Wording = tuple[Callable[..., tuple[str, str, str, Sequence[Reason]]], Any, Any, Any, Any]
WORDED = ("machine", "event", "state", "reasons")


class Refused(Exception):
    """The caller's event is not possible now; nothing has changed.

    `reasons` has one row for every transition that serves the event. A refusal that the runtime
    raises words them when something of it is read for the first time: callers often read nothing.
    """

    __slots__ = ("_later",)  # A dictionary of attributes takes longer than the rest of a refusal.

    machine: str
    event: str
    state: str
    reasons: tuple[Reason, ...]
    _later: Wording | None

    def __init__(self, machine: str, event: str, state: str, reasons: Sequence[Reason]) -> None:
        self.machine = machine
        self.event = event
        self.state = state
        self.reasons = tuple(reasons)
        shown = joined(self.reasons) or "no transition serves it here"
        super().__init__(f"{event}: {shown}")
        self._later = None  # Last: what a signal interrupts is worded anew.

    @classmethod
    def later(cls, wording: Wording) -> Refused:
        """A refusal that is worded when it is read."""
        made = cls.__new__(cls)
        made._later = wording
        return made

    def untraced(self) -> Refused:
        """The same without a traceback, which would keep alive what was read in the step."""
        if self._later is not None:
            return Refused.later(self._later)
        return Refused(self.machine, self.event, self.state, self.reasons)

    def _word(self) -> None:
        """Word the reasons, once."""
        later = self._later  # Another thread may word them meanwhile.
        if later is not None:
            make, *given = later
            Refused.__init__(self, *make(*given))

    if not TYPE_CHECKING:  # Type checkers know the four attributes.

        def __getattr__(self, name: str) -> Any:
            """An attribute that `__init__` gives, of a refusal that is not worded yet."""
            if name not in WORDED:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            self._word()
            return object.__getattribute__(self, name)

    def __str__(self) -> str:
        self._word()
        return super().__str__()

    def __repr__(self) -> str:
        self._word()
        return super().__repr__()

    def __reduce__(self) -> tuple[type[Refused], tuple[object, ...]]:
        return type(self), (self.machine, self.event, self.state, self.reasons)

    @property
    def clause(self) -> str:
        """The false clause of the first candidate."""
        return self.reasons[0].clause if self.reasons else ""

    @property
    def values(self) -> Mapping[str, Json]:
        """The values in the false clause of the first candidate."""
        return self.reasons[0].values if self.reasons else {}


class MachineFault(Exception):
    """The machine itself is wrong in this step; nothing has changed."""

    def __init__(self, machine: str, event: str, what: str) -> None:
        self.machine = machine
        self.event = event
        self.what = what
        super().__init__(f"{machine}.{event}: {what}")

    def __reduce__(self) -> tuple[type[MachineFault], tuple[object, ...]]:
        return type(self), (self.machine, self.event, self.what)


class Undefined(MachineFault):
    """An operation without a value: missing key, empty list, index out of range, division by 0."""


class PropertyViolated(MachineFault):
    """The step breaks `name`: the built-in `bounds` or `asserts`, or a declared property."""

    def __init__(self, machine: str, event: str, name: str, what: str) -> None:
        self.name = name
        super().__init__(machine, event, f"{name}: {what}")

    def __reduce__(self) -> tuple[type[PropertyViolated], tuple[object, ...]]:
        what = self.what.removeprefix(f"{self.name}: ")
        return type(self), (self.machine, self.event, self.name, what)


class Ambiguous(MachineFault):
    """Two transitions of one event are enabled for the same arguments."""
