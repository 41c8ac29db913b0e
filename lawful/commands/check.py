"""`lawful check`: exhaustive exploration within the scope."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from lawful.checks.explore import CheckResult, Limits, Progress, explore
from lawful.checks.explore.limits import resident
from lawful.checks.explore.space import Space
from lawful.progress import Tell, interruption
from lawful.targets import ScopedMachine

from . import exploration
from .errors import CommandError
from .options import CheckOptions
from .output import Output


def check(options: CheckOptions, output: Output) -> int:
    """Explore every reachable state of the target's machines."""

    def run(machine: ScopedMachine, tell: Tell) -> CheckResult:
        with interruption() as stop:
            return _explored(machine, options, stop, tell)

    return exploration.report(options.exploration, options.reports, output, run)


def _explored(
    machine: ScopedMachine, options: CheckOptions, stop: Callable[[], bool], tell: Tell
) -> CheckResult:
    """The exploration, and what else was asked of the same machine within the same limits."""
    limits = _limits(options, stop)
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


def _limits(options: CheckOptions, stop: Callable[[], bool]) -> Limits:
    if options.max_memory is not None and not resident():
        raise CommandError("this system does not tell how much memory a process holds")
    return Limits(
        states=options.max_states,
        seconds=options.exploration.max_seconds,
        first=options.first,
        memory=options.max_memory,
        stop=stop,
        resume=options.resume,
        workers=options.workers,
    )


def _progress_text(p: Progress) -> str:
    return (
        f"{p.distinct:,} states, {p.distinct / p.seconds:,.0f} a second, depth {p.depth}, "
        f"{p.frontier:,} waiting, {resident() / 2**20:,.0f} MB"
    )
