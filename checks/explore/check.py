"""Exhaustive breadth-first exploration: counts, verdicts, shortest counterexamples.

`distinct`, `generated` and `depth` are those of the language page, "Scope, cuts, counts".
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lawful.spec.errors import Unsupported
from lawful.spec.flat import Flat
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.values.world import World
from lawful.spec.words import Expected

from ..reference.properties import unjudged
from ..verdict import PropertyResult, Verdict
from .checkpoints import Items, Snapshots, Unfit
from .compiled.engine import NotGenerated, PackedSearch
from .compiled.engine import search as packed
from .coverage import Coverage
from .coverage import coverage as by_reference
from .limits import Limits, OutOfBudget, Progress
from .result import ByReference, CheckResult
from .search import search, unbegun
from .search_result import Explored
from .space import Space
from .symmetry import Symmetry
from .verdicts import judge

if TYPE_CHECKING:
    from .compiled.llvm import Native
    from .expansion.successors import Stepping
    from .spark.level_jobs import LevelJobs
    from .spill.spilled_search import Made

MANY_STARTS = 1_000  # To make so many takes longer than to start the search.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # Of a URI, as a path has it: one slash is left.
Engine = Literal["auto", "reference", "generated", "compiled"]
__all__ = ["CheckResult", "Engine", "Limits", "NoEngine", "Progress", "explore", "explore_on_spark"]


class NoEngine(Unsupported):
    """The requested engine does not support a construct of the machine, or is not installed."""


Tell = Callable[[Progress], None] | None


def explore(
    flat: Flat,
    world: World,
    expects: Mapping[str, Expected],
    *,
    limits: Limits | None = None,
    progress: Tell = None,
    engine: Engine = "auto",
    symmetry: bool = False,
    coverage: bool = False,
) -> CheckResult:
    """Explore the machine within its scope.

    `generated` is with steps generated for this machine, in plain Python; `compiled` the same as
    machine code; `auto` begins with the former and goes over to the latter where the machine is
    large, or is `reference` where steps cannot be generated. Raises `ValueError` where no initial
    state is within the scope: nothing would be checked; and `NoEngine` where an engine is asked
    for and cannot do it.

    With `symmetry` states that differ in the names of interchangeable elements are explored once.
    With `coverage` guards are counted and values collected in a second pass over the states, which
    takes as long as the reference engine would; no longer than the limit of seconds. `ValueError`
    for both: the states that are left out with symmetry have values, too.
    """
    started = time.perf_counter()
    space, limits = Space(flat, world), limits or Limits()
    if symmetry and coverage:
        raise ValueError("coverage is of every state: it cannot be had with symmetry")
    if limits.spill is not None:
        _fits_spill(engine, limits, {"symmetry": symmetry, "coverage": coverage})
        return _spilled(space, limits, limits.spill, (progress, expects))
    if symmetry:
        return _orbits(space, limits, progress, (engine, expects))
    used, found = searched(space, limits, progress, engine)
    rows = judge(found, expects, limits.over(started))
    result = _result(used, found, rows, time.perf_counter() - started)
    if not coverage:
        return result
    return dataclasses.replace(result, coverage=_covered(found, limits))


def _covered(found: Explored, limits: Limits) -> Coverage:
    """By the fast engine, where that found the states and can count."""
    if not isinstance(found, PackedSearch):
        slow = by_reference(found.space, found.states, limits)
        return dataclasses.replace(slow, not_generated=found.not_generated)
    from .compiled import counting  # Most checks count no guards.

    try:
        return counting.coverage(found, limits)
    except NotGenerated as reason:
        slow = by_reference(found.space, found.states, limits)
        return dataclasses.replace(slow, not_generated=str(reason))


def _fits_spill(engine: Engine, limits: Limits, asked: Mapping[str, bool]) -> None:
    """Raises `ValueError` for what states in files do not give, `NoEngine` for another engine."""
    if engine not in ("auto", "compiled"):
        raise NoEngine(f"--spill is for machine code, not for the {engine} engine")
    for name, wanted in asked.items():
        if wanted:
            raise ValueError(f"--{name} cannot be had with --spill: it needs the states in memory")


def _spilled(
    space: Space,
    limits: Limits,
    folder: Path,
    asked: tuple[Tell, Mapping[str, Expected]],
    by: tuple[str, Made] | None = None,
) -> CheckResult:
    """Explore with the states in files; properties that need the steps between them are unknown."""
    started, option = time.perf_counter(), "--spill" if by is None else f"--engine {by[0]}"
    engine = "compiled" if by is None else by[0]
    if SCHEME.match(str(folder)):
        raise ValueError(f"--spill {folder}: expected a folder that is mounted, not a URI")
    try:
        from .spill import spilled, spilled_search  # Most checks need none.

        made = spilled.Spilled if by is None else by[1]
        kept = _kept(space, limits, False)
        name = "spark" if by else "spilled"
        if kept.items is not None and kept.engine != name:
            why = f"is of a search without {option}, or with other files"
            raise Unfit(f"the snapshot in {limits.resume} {why}; give another folder")
        snapshots = kept.by(name)
        with spilled_search.search(space, limits, asked[0], folder, snapshots, made=made) as found:
            rows = [spilled_search.judged(p, option) for p in judge(found, asked[1])]
            return _result(engine, found, rows, time.perf_counter() - started)
    except OutOfBudget as end:
        none = unbegun(space, limits, end)
        return _result(engine, none, judge(none, asked[1]), time.perf_counter() - started)
    except NotGenerated as reason:
        raise NoEngine(f"machine code, which {option} needs, does not know {reason}") from reason
    except ImportError as error:
        raise lacking(option, error) from error
    except OSError as error:
        raise ValueError(f"--spill {folder}: {error.strerror or error}") from error


def explore_on_spark(
    flat: Flat,
    world: World,
    expects: Mapping[str, Expected],
    jobs: LevelJobs,
    *,
    limits: Limits | None = None,
    progress: Tell = None,
) -> CheckResult:
    """Explore the machine within its scope with large levels as jobs of a Spark session.

    The counts and verdicts are those of `explore`, and counterexamples are as short; which of two
    steps reached a state first may differ. Liveness, `recoverable` and refinement are unknown. The
    states are in files in the folder `limits.spill`, which all workers see; without one, in a
    temporary folder of this computer. With `TableJobs` those of large levels are on a file system
    of the session. Limits are looked at after each level. Raises what `explore` raises, and the
    errors of Spark.
    """
    limits = limits or Limits()
    _fits_spill("compiled", limits, {})
    import tempfile  # Most checks need neither.

    from .spark.clustered import Clustered

    def made(steps: Stepping, code: Native, folder: Path) -> Clustered:
        return Clustered(steps, code, folder, jobs)

    space, asked = Space(flat, world), (progress, expects)
    folder = limits.spill or limits.resume
    jobs.begin()
    try:
        if folder is not None:
            return _spilled(space, limits, folder, asked, ("spark", made))
        with tempfile.TemporaryDirectory(prefix="lawful-explore-") as temporary:
            return _spilled(space, limits, Path(temporary), asked, ("spark", made))
    finally:
        if limits.resume is None:
            jobs.end()


def _orbits(
    space: Space, limits: Limits, progress: Tell, asked: tuple[Engine, Mapping[str, Expected]]
) -> CheckResult:
    """Explore one state of each orbit; properties that this cannot decide are unknown."""
    started = time.perf_counter()
    known = Symmetry(space)
    used, found = searched(space, limits, progress, asked[0], known)
    rows = [known.judged(p) for p in judge(found, asked[1])]
    result = _result(used, found, rows, time.perf_counter() - started)
    return dataclasses.replace(result, orbits=len(found.states))


def _result(
    used: str, found: Explored, properties: Sequence[PropertyResult], seconds: float
) -> CheckResult:
    flat = found.space.flat
    return CheckResult(
        machine=flat.machine.name,
        scope=dict(flat.scope),
        engine=used,
        not_generated=found.not_generated,
        handed_back=found.handed_back,
        by_reference=tuple(_of_reference(found, properties)),
        compile_seconds=found.compile_seconds,
        complete=found.complete,
        stopped=found.stopped,
        unjudged=unjudged(flat.machine),
        distinct=found.distinct,
        generated=found.generated,
        depth=found.depth,
        cuts=sum(found.cut_by.values()),
        cut_by=found.cut_by,
        left_out=tuple(map(str, found.space.left_out)),
        seconds=found.earlier + seconds,
        transitions={
            row.name: {"enabled": found.enabled[row.name], "new": found.new[row.name]}
            for row in flat.machine.transitions
            if not flat.machine.is_of_ignores(row)
        },
        properties=tuple(properties),
    )


def _of_reference(found: Explored, judged: Sequence[PropertyResult]) -> Iterator[ByReference]:
    if found.space.begun >= MANY_STARTS:
        yield "initial states"
    if any(p.kind == "refines" and p.verdict is not Verdict.UNKNOWN for p in judged):
        yield "refinements"


@dataclass(frozen=True, slots=True)
class _Kept:
    """The snapshots of a search, if they are kept, and the content of the last one, from the engine
    `engine`."""

    into: Snapshots | None
    items: Items | None
    engine: str

    def by(self, engine: str) -> tuple[Snapshots, Items | None] | None:
        """The same for the engine that works now; a search resumes only from the same engine's
        snapshot."""
        if self.into is None:
            return None
        self.into.engine = engine
        return self.into, self.items if self.engine == engine else None


def _kept(space: Space, limits: Limits, symmetry: bool) -> _Kept:
    if limits.resume is None:
        return _Kept(None, None, "")
    into = Snapshots(space, limits.resume, symmetry)
    items = into.read()
    return _Kept(into, items, "" if items is None else items["engine"])


def searched(
    space: Space,
    limits: Limits,
    progress: Tell,
    engine: Engine,
    symmetry: Symmetry | None = None,
    *,
    labelled: bool = False,
) -> tuple[Engine, Explored]:
    """The states and what was met, and the engine that found them; see `explore`. `labelled`:
    somebody will ask the fast engine for its steps."""
    kept = _kept(space, limits, symmetry is not None)
    if engine == "auto" and kept.engine == "reference":
        engine = "reference"
    fits = kept.engine in ("", "reference" if engine == "reference" else "generated")
    if engine != "auto" and not fits:
        where = kept.into.path if kept.into is not None else ""
        raise Unfit(f"{where} is of the {kept.engine} engine, with which alone it goes on")
    if engine == "reference":
        return "reference", search(space, limits, progress, symmetry, kept.by("reference"))
    tier = None if engine == "auto" else engine
    try:
        if symmetry is None:
            found = packed(space, limits, progress, tier, kept.by("generated"), labelled=labelled)
        else:
            from .compiled.orbit_search import search as orbits  # Most checks need none.

            found = orbits((space, symmetry), limits, progress, tier, kept.by("generated"))
    except OutOfBudget as end:
        return tier or "generated", unbegun(space, limits, end)
    except NotGenerated as reason:
        if engine == "auto":
            slow = search(space, limits, progress, symmetry, kept.by("reference"))
            slow.not_generated = str(reason)
            return "reference", slow
        raise NoEngine(f"the {engine} engine does not know {reason}") from reason
    except ImportError as error:
        raise lacking("the compiled engine", error) from error
    return found.tier, found


def lacking(what: str, error: ImportError) -> NoEngine:
    """The error that names the library which is not installed, and the extra that installs it."""
    library = (error.name or "llvmlite").partition(".")[0]
    extra = "check" if library in ("llvmlite", "numpy") else "spark"
    return NoEngine(f"{what} needs {library}: pip install 'lawful[{extra}]'")
