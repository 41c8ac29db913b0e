"""`lawful simulate`: random walks through a machine that is too large to explore."""

from __future__ import annotations

import threading

from lawful.checks.explore import CheckResult
from lawful.checks.explore.simulate import Walks
from lawful.checks.explore.simulate import simulate as walk
from lawful.progress import Tell, interruption
from lawful.project import Settings
from lawful.targets import ScopedMachine

from . import exploration
from .options import SimulateOptions
from .output import Output


def simulate(options: SimulateOptions, output: Output) -> int:
    """Walk at random through the target's machines."""
    asked = threading.Event()  # A signal ends the walks of all machines, not of one alone.

    def run(machine: ScopedMachine, settings: Settings, tell: Tell) -> CheckResult:
        with interruption(asked) as stop:
            seconds = options.exploration.max_seconds or settings.max_seconds
            walks = Walks(options.runs, options.steps, options.seed, seconds, stop, options.engine)
            return _walked(machine, walks, tell)

    return exploration.report(options.exploration, options.reports, output, run)


def _walked(machine: ScopedMachine, walks: Walks, tell: Tell) -> CheckResult:
    return walk(
        machine.flat,
        machine.world,
        machine.expects,
        walks,
        lambda p: tell(f"{p.frontier:,} walks, {p.distinct:,} states"),
    )
