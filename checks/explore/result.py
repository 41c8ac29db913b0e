"""The result of checking a machine, as data: counts, verdicts, advice, the comparison with the
runtime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from lawful.spec.quick_dataclass import dataclass, field

from ..verdict import PropertyResult, Verdict, worst
from .coverage import Coverage
from .limits import Reason
from .playback import Played

# What no faster engine does: it makes many initial states, and compares starts and steps with those
# of abstract machines; it shortens the runs of walks.
ByReference = Literal["initial states", "refinements", "shrinking"]
OURS = "which is a fault of lawful: please report it with these lines"


@dataclass(frozen=True, slots=True)
class Bound:
    """The lower or upper bound that a key of the scope gives."""

    key: str
    low: bool

    @property
    def side(self) -> str:
        return "low" if self.low else "high"

    def moved(self, value: object, by: int) -> object:
        """The key's value with this end so much further out."""
        if isinstance(value, range):
            low, high = (by, 0) if self.low else (0, by)
            return range(value.start - low, value.stop + high)
        assert isinstance(value, int)
        return value + by


@dataclass(frozen=True, slots=True)
class Narrow:
    """A bound that leaves out arguments, by the names of their rules and parameters; `endless`
    are those that no bound has all of."""

    bound: Bound
    arguments: tuple[str, ...]
    endless: tuple[str, ...]

    @property
    def mendable(self) -> bool:
        """Whether some bound admits all values of at least one of the arguments."""
        return len(self.endless) < len(self.arguments)


@dataclass(frozen=True, slots=True)
class Widened:
    """The smallest scope that cuts nothing (arguments without end aside): the keys that differ, and
    its states. `why` says why there is none; then the keys are those of the last attempt."""

    changes: Mapping[str, object]
    distinct: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class OneMore:
    """What one more element of a sort changes; `why` says why that is not known. `open` are the
    properties whose verdict is unknown with one of the sizes, so that they are not compared."""

    sort: str
    size: int
    distinct: int
    fired: tuple[str, ...] = ()
    no_more: tuple[str, ...] = ()
    verdicts: Mapping[str, tuple[str, str]] | None = None
    open: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """The advice found within so many seconds; `why` says why there is none, `not_generated` for
    which construct the reference engine explored a scope."""

    seconds: float
    cuts: tuple[tuple[Bound, int], ...] = ()
    narrow: tuple[Narrow, ...] = ()
    serials: tuple[str, ...] = ()
    constraints: Mapping[str, int] = field(default_factory=dict[str, int])
    widened: Widened | None = None
    sizes: tuple[OneMore, ...] = ()
    why: str = ""
    not_generated: str = ""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One call on which the embedded step and exploration differ; before a start there is no
    state."""

    state: Mapping[str, str]
    event: str
    args: Mapping[str, str]
    explored: str
    embedded: str


@dataclass
class Comparison:
    """The comparison with the runtime; `outcomes` counts the calls by their outcome in exploration.

    `set_aside`: faults of machines with ghosts, which instances do not have. `narrowed`: events
    with too many arguments to try also those that are surely refused.
    """

    events: tuple[str, ...]
    narrowed: tuple[str, ...]
    states: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    set_aside: int = 0
    complete: bool = False
    differing: int = 0
    disagreements: list[Disagreement] = field(default_factory=list[Disagreement])

    @property
    def comparisons(self) -> int:
        """How many calls were compared."""
        return self.outcomes.total()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of exploring one machine within one scope.

    `steps` names the engine whose steps a simulation took. `compile_seconds` is the time for making
    machine code, 0 if none was made. `not_generated` names the construct for which no steps can be
    generated, if the reference engine explored the machine because of it; `handed_back` is how many
    states it expanded for a faster engine; `by_reference` names what it does for every engine.
    """

    machine: str
    scope: Mapping[str, str]
    engine: str
    complete: bool
    distinct: int
    generated: int
    depth: int
    cuts: int
    cut_by: Mapping[str, int]
    seconds: float
    transitions: Mapping[str, Mapping[str, int]]
    properties: tuple[PropertyResult, ...]
    steps: str = ""
    compile_seconds: float = 0.0
    not_generated: str = ""
    handed_back: int = 0
    by_reference: tuple[ByReference, ...] = ()
    stopped: Reason = ""
    unjudged: tuple[str, ...] = ()
    orbits: int | None = None
    coverage: Coverage | None = None
    embedded: Comparison | None = None
    advice: Advice | None = None
    played: Played | None = None
    left_out: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst property's, expectations aside."""
        return worst(p.verdict for p in self.properties)

    @property
    def as_expected(self) -> bool:
        """Whether every property's verdict is the expected one."""
        return all(p.as_expected for p in self.properties)

    def _repr_html_(self) -> str:
        """Counts, verdicts and counterexamples, which notebooks show."""
        from .. import html_tables  # Only notebooks ask.

        scope = ", ".join(f"{key}={bound}" for key, bound in self.scope.items()) or "none needed"
        whole = "" if self.complete else "; stopped before everything was explored"
        steps = "1 step" if self.cuts == 1 else f"{self.cuts:,} steps"
        cuts = f", {steps} cut by the scope" if self.cuts else ""
        counts = f"{self.distinct:,} states, {self.generated:,} generated, depth {self.depth}"
        parts = [
            html_tables.paragraph(self.machine, strong=True),
            html_tables.paragraph(f"scope {scope}: {counts}{cuts}{whole}"),
            *html_tables.properties(self.properties),
        ]
        if self.left_out:
            said = f"arguments beyond the scope are left out: {', '.join(self.left_out)}"
            parts.append(html_tables.paragraph(said))
        return "".join(parts)
