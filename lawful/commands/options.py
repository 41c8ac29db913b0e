"""The options of each command, as typed values.

`lawful.cli` reads them from the command line: a field has the name of its option, or of a group of
options that several commands share.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lawful.checks.smt.solver.budget import PER_SECOND, SECONDS, UNITS, Effort
from lawful.spec.quick_dataclass import dataclass

if TYPE_CHECKING:
    # The engines take long to import, and the command line reads the options of every command.
    from lawful.checks import replay
    from lawful.checks.explore import Engine
    from lawful.checks.explore.simulate import WalkEngine
    from lawful.checks.prove import Method
    from lawful.diagrams.render import Format


@dataclass(frozen=True, slots=True)
class Reports:
    """Files for other tools, None where one is not wanted; `itf` is a folder. `github`: whether
    annotations are printed."""

    junit: Path | None = None
    sarif: Path | None = None
    itf: Path | None = None
    github: bool = False


@dataclass(frozen=True, slots=True)
class SolverBudget:
    """What Z3 may spend on each obligation: units of its own work, and seconds."""

    budget: int | None = None
    timeout: float | None = None

    @property
    def effort(self) -> Effort:
        """The same for the solver, with the defaults filled in.

        A timeout without a budget may raise the number of units, to what Z3 does in that time.
        """
        seconds = SECONDS if self.timeout is None else self.timeout
        if self.budget is not None:
            return Effort(self.budget, seconds)
        within = 0 if self.timeout is None else self.timeout * PER_SECOND
        return Effort(max(UNITS, within), seconds)


@dataclass(frozen=True, slots=True)
class ExplorationOptions:
    """What `check` and `simulate` share. `pytest` is a folder for tests of counterexamples."""

    targets: Sequence[str] = ()
    scope: Sequence[str] = ()
    only: Sequence[str] = ()
    max_seconds: float | None = None
    progress: bool = False
    pytest: Path | None = None


@dataclass(frozen=True, slots=True)
class CheckOptions:
    exploration: ExplorationOptions = ExplorationOptions()
    reports: Reports = Reports()
    engine: Engine | Literal["spark"] = "auto"
    master: str | None = None
    vary: Sequence[str] = ()
    symmetry: bool = False
    coverage: bool = False
    advice: bool = False
    runtime: bool = False
    first: bool = False
    changed: bool = False
    workers: int | None = None
    max_states: int | None = None
    max_memory: int | None = None
    resume: Path | None = None
    spill: Path | str | None = None


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    exploration: ExplorationOptions
    reports: Reports
    runs: int
    steps: int
    seed: int
    engine: WalkEngine


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """`html` is the file for the page; without it a server answers on `port` (0: any)."""

    target: str
    scope: Sequence[str]
    html: Path | None
    port: int
    max_seconds: float


@dataclass(frozen=True, slots=True)
class ShellOptions:
    target: str
    scope: Sequence[str]


@dataclass(frozen=True, slots=True)
class CompletionOptions:
    shell: str


LINTED_STATES = 20_000  # That `lint` looks at, unless `--max-states` says otherwise.


@dataclass(frozen=True, slots=True)
class LintOptions:
    targets: Sequence[str]
    scope: Sequence[str]
    max_states: int
    mutants: int | Literal["all"] | None
    prove: bool
    workers: int
    engine: Literal["local", "spark"]
    master: str | None
    max_seconds: float | None
    answers: Path | None
    reports: Reports = Reports()


@dataclass(frozen=True, slots=True)
class ProveOptions:
    targets: Sequence[str] = ()
    scope: Sequence[str] = ()
    any_size: Sequence[str] = ()
    method: Method = "auto"
    depth: int | None = None
    strengthen: bool = False
    no_cache: bool = False
    smtlib: Path | None = None
    solver: SolverBudget = SolverBudget()
    reports: Reports = Reports()


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """`out` is the folder for pictures; None: the one picture goes to standard output."""

    targets: Sequence[str]
    scope: Sequence[str]
    what: Literal["states", "graph", "trace"]
    only: Sequence[str]
    format: Format | None
    max_states: int | None
    out: Path | None
    itf: Path | None


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    target: str
    also: Sequence[str]
    traces: Sequence[str]
    mapping: Path | None
    store: Path | None
    older: Sequence[str]
    after: replay.Policy
    all: bool
    allow_empty: bool
    unknown_events: float | None
    until: float | None
    engine: replay.EngineChoice
    master: str | None
    report: Path | None
    metrics: Path | None
    resume: Path | None
    keep: Path | None
    remember: int | None
    pytest: Path | None
    against: Sequence[str]
    reports: Reports


@dataclass(frozen=True, slots=True)
class InferMappingOptions:
    target: str
    traces: Sequence[str]
    out: Path | None


@dataclass(frozen=True, slots=True)
class LearnScopeOptions:
    target: str
    traces: Sequence[str]
    mapping: Path | None
    max_states: int


@dataclass(frozen=True, slots=True)
class ShowOptions:
    target: str
    scope: Sequence[str]
    what: Literal["declaration", "ir", "flat"]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """`check`: whether TLC explores the module; `tlc` is its jar, where one is named.
    `max_seconds` limits lawful's exploration and each run of TLC."""

    target: str
    scope: Sequence[str]
    out: Path
    check: bool
    tlc: Path | None
    max_seconds: float | None


@dataclass(frozen=True, slots=True)
class LockOptions:
    targets: Sequence[str]
    scope: Sequence[str]
    file: Path
    stale: bool
    max_seconds: float | None
    solver: SolverBudget
    itf: Path | None


@dataclass(frozen=True, slots=True)
class CertifyOptions:
    """`parts`: which of `states` and `proofs`; `second_seconds` limits each answer."""

    target: str
    scope: Sequence[str]
    any_size: Sequence[str]
    out: Path
    verify: bool
    parts: Sequence[str]
    second_solver: str | None
    no_second_solver: bool
    second_seconds: float
    max_seconds: float | None
    solver: SolverBudget


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """`out`: as of DrawOptions."""

    old: str
    target: str
    renamed: Sequence[str]
    dropped: Sequence[str]
    scope: Sequence[str]
    solver: SolverBudget
    no_loss: bool
    approve: Sequence[str]
    format: str
    out: Path | None


@dataclass(frozen=True, slots=True)
class FreezeOptions:
    target: str


@dataclass(frozen=True, slots=True)
class LspOptions:
    """`delay`: seconds without a change before a file is read; `max_seconds` limits each check."""

    delay: float
    max_seconds: float


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`words`: the arguments of the system's own program."""

    system: str
    words: Sequence[str]
