"""`lawful check`: exhaustive exploration within the scope."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence

from lawful.checks.explore import CheckResult, Limits, Progress, explore, explore_on_spark
from lawful.checks.explore.limits import resident
from lawful.checks.explore.space import Space
from lawful.progress import Tell, interruption
from lawful.project import Settings
from lawful.spark_session import spark_session
from lawful.targets import ScopedMachine

from . import exploration
from .errors import CommandError
from .options import CheckOptions
from .output import Output


def check(options: CheckOptions, output: Output) -> int:
    """Explore every reachable state of the target's machines."""
    asked = threading.Event()  # A signal ends the searches of all machines, not of one alone.

    def run(machine: ScopedMachine, settings: Settings, tell: Tell) -> CheckResult:
        with interruption(asked) as stop:
            return explored(machine, options, limits_of(options, settings, stop), tell)

    if options.vary:
        from lawful.scope_checks import check_scopes

        return check_scopes(options, output, lambda s: limits_of(options, s, None), run)
    changed = _on_what_answers_depend(options) if options.changed else None
    return exploration.report(options.exploration, options.reports, output, run, changed)


def _on_what_answers_depend(options: CheckOptions) -> Sequence[str]:
    """The options on which a kept answer depends.

    Raises CommandError for one that asks for more than a kept answer has.
    """
    asked = {
        "--coverage": options.coverage,
        "--advice": options.advice,
        "--runtime": options.runtime,
        "--resume": options.resume,
        "--spill": options.spill,
        "--only": options.exploration.only,
        "--pytest": options.exploration.pytest,
        "--itf": options.reports.itf,
    }
    for name, value in asked.items():
        if value:
            raise CommandError(f"--changed and {name}: a kept answer does not have what it gives")
    return ["symmetry"] if options.symmetry else []


def explored(
    machine: ScopedMachine, options: CheckOptions, limits: Limits, tell: Tell
) -> CheckResult:
    """The exploration, and what else was asked of the same machine within the same limits."""
    if options.master is not None and options.engine != "spark":
        raise CommandError("--master is for --engine spark")
    if options.engine != "spark" and isinstance(options.spill, str):
        raise CommandError(
            f"--spill {options.spill}: expected a path, or file:///path; a URI of another file "
            "system is for --engine spark"
        )
    if options.engine == "spark":
        result = _on_spark(machine, options, limits, tell)
    else:
        result = explore(
            machine.flat,
            machine.world,
            machine.expects,
            engine=options.engine,
            symmetry=options.symmetry,
            coverage=options.coverage,
            limits=limits,
            progress=lambda p: tell(_progress_text(p)),
        )
    if options.advice:
        from lawful.checks.explore.advice import advise

        advice = advise(machine.resolved, machine.scope, machine.expects, limits)
        result = dataclasses.replace(result, advice=advice)
    if options.runtime:
        from lawful.checks.conform import runtime_check

        comparison = runtime_check.compare(
            Space(machine.flat, machine.world),
            machine.cls,
            limits,
            lambda found: tell(f"{found.comparisons:,} calls in {found.states:,} states compared"),
        )
        result = dataclasses.replace(result, embedded=comparison)
    return result


def _on_spark(
    machine: ScopedMachine, options: CheckOptions, limits: Limits, tell: Tell
) -> CheckResult:
    """Explore in the active Spark session, or in a new one."""
    for name, asked in {"--symmetry": options.symmetry, "--coverage": options.coverage}.items():
        if asked:
            raise CommandError(f"{name} cannot be had with --engine spark")
    master = options.master or "local"
    if options.spill is None and not master.startswith("local"):
        raise CommandError("--engine spark on a cluster needs --spill, a URI or a shared folder")
    from lawful.checks.explore.spark.level_jobs import LevelJobs
    from lawful.checks.explore.spark.session_memory import bounded
    from lawful.checks.explore.spark.table_jobs import TableJobs

    with spark_session(options.master, bounded(options.master or "local[*]")) as session:
        if isinstance(options.spill, str):
            jobs: LevelJobs = TableJobs(session, options.spill)
        else:
            jobs = LevelJobs(session)
        return explore_on_spark(
            machine.flat,
            machine.world,
            machine.expects,
            jobs,
            limits=limits,
            progress=lambda p: tell(_progress_text(p)),
        )


def limits_of(options: CheckOptions, settings: Settings, stop: Callable[[], bool] | None) -> Limits:
    """The budgets of the command line, and for those that it does not give the project's."""
    seconds, states = options.exploration.max_seconds, options.max_states
    if options.max_memory is not None and not resident():
        raise CommandError("this system does not tell how much memory a process holds")
    return Limits(
        states=settings.max_states if states is None else states,
        seconds=settings.max_seconds if seconds is None else seconds,
        first=options.first,
        memory=options.max_memory,
        stop=stop,
        resume=options.resume,
        workers=options.workers,
        spill=None if isinstance(options.spill, str) else options.spill,
    )


def _progress_text(p: Progress) -> str:
    return (
        f"{p.distinct:,} states, {p.distinct / p.seconds:,.0f} a second, depth {p.depth}, "
        f"{p.frontier:,} waiting, {resident() / 2**20:,.0f} MB"
    )
