"""What a check answers: verdicts from `proved` down to `violated`, and the evidence for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.verdicts import Verdict, worst

__all__ = ["PropertyResult", "Trace", "TraceStep", "Verdict", "after", "exit_code", "worst"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One event of a counterexample: arguments and only what it changed, in JSON form."""

    event: str
    transition: str
    args: Mapping[str, Json]
    changed: Mapping[str, Json]
    output: Json = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A run: its states, and the events between them; the last event may lead to no state.

    `loop` is the index of the state to which a lasso returns.
    """

    states: tuple[Mapping[str, Json], ...]
    steps: tuple[TraceStep, ...]
    loop: int | None = None

    @property
    def initial(self) -> Mapping[str, Json]:
        """The state in which it starts; nothing where the start itself went wrong."""
        return self.states[0] if self.states else {}

    def __len__(self) -> int:
        return len(self.steps)


def after(trace: Trace) -> str:
    """How long a run is that violates something, in words."""
    return f"after {len(trace)} event{'s' * (len(trace) != 1)}"


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """One property's verdict; `why` names the false clause with its values."""

    name: str
    kind: str
    verdict: Verdict
    expect: str
    expect_events: int | None = None
    why: str = ""
    trace: Trace | None = None
    notes: tuple[str, ...] = ()

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one the declaration expects."""
        if self.expect == "holds":
            return self.verdict.good
        if self.verdict.value != self.expect:
            return False
        events = None if self.trace is None else len(self.trace)
        return self.expect_events is None or self.expect_events == events


def exit_code(properties: Iterable[PropertyResult]) -> int:
    """1 where a verdict is a surprise, 3 where one could not be established, else 0."""
    missed = [p.verdict for p in properties if not p.as_expected]
    if not all(verdict.open for verdict in missed):
        return 1
    return 3 if missed else 0
