"""Compares exploration with SPIN (if `spin` and `gcc` are there) and with the reference engine.

A line has a name, the time of lawful, the time of the peer, and how many times faster lawful is.
Times are seconds of processor time on one core, which other load on the machine disturbs least. The
exception is a search on all processors compared with one on a single processor: these are seconds
on the clock. SPIN does the same work: it visits every state once, without partial order reduction,
and checks only for deadlocks. Its models are in `promela/`, and its counts must equal ours.
Compilation has a line of its own, and is not part of any search time. Where `spin` or `gcc` is not
there, it says so. Machines with a clock are compared with the reference engine alone. Whole
commands, start-up included, are compared with themselves once the machine code is kept; Python's
bytecode is there, as it is where lawful is installed.

What several processors are worth is the median of alternating runs by one and by all of them. A
line below has the same for a loop that only reads memory at random: no search gains more.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lawful import Machine, Scope
from lawful.checks.explore import Limits
from lawful.checks.explore.compiled import engine, llvm
from lawful.checks.explore.compiled.memory import Memory
from lawful.checks.explore.compiled.threads import processors
from lawful.checks.explore.expansion.successors import stepping
from lawful.checks.explore.initial_states import begin
from lawful.checks.explore.limits import resident
from lawful.checks.explore.search import search
from lawful.checks.explore.space import Space
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
SPIN = ("-O2", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8000")
RUNS = 3  # The best of so many is taken.
ALTERNATING = 7  # Of so many runs the median is taken, where processors are compared.
READ = 1 << 23  # Numbers that the loop over memory reads at random.
REFERENCE = 3_000  # States that the reference engine finds for its rate.


@dataclass(frozen=True)
class Taken:
    """The counts of a search, its seconds, and those of the compilation before it."""

    distinct: int
    generated: int
    seconds: float
    compiling: float
    bytes: float = 0.0
    resident: float = 0.0

    @property
    def rate(self) -> float:
        """Distinct states per second."""
        return self.distinct / self.seconds


def main() -> int:
    """Print all lines; the exit code is 1 if counts differ."""
    from benchmarks import _models as models

    rows: tuple[tuple[str, type[Machine], str, int], ...] = (  # With the depth for SPIN.
        ("two-phase commit, 8 managers", models.TwoPhaseAlone, "two_phase", 1_000),
        ("election, FIFO channels, 10 nodes", models.Election, "election", 1_000),
        ("server of transactions, 7 clients", models.Server, "server", 4_000_000),
    )
    print(f"{'':42}{'ours':>10}{'peer':>10}{'ratio':>8}")
    ratios: list[float] = []
    missing = [program for program in ("spin", "gcc") if not shutil.which(program)]
    if missing:
        print(f"without SPIN: {' and '.join(missing)} cannot be found")
    for name, cls, promela, depth in rows:
        mine = ours(cls)
        if not missing:
            theirs = spin(HERE / "promela" / f"{promela}.pml", depth)
            if (mine.distinct, mine.generated) != (theirs.distinct, theirs.generated):
                print(f"{name}: {mine} but SPIN: {theirs}")
                return 1
            line(f"{name}: search, SPIN", mine.seconds, theirs.seconds)
            line(f"{name}: compiling, SPIN", mine.compiling, theirs.compiling)
            ratios.append(theirs.seconds / mine.seconds)
        line(f"{name}: rate, reference", 1e6 / mine.rate, 1e6 / reference(cls), "us a state")
        pairs = alternating(lambda workers, cls=cls: on_the_clock(cls, workers))
        several, one = sorted(pairs, key=lambda pair: pair[1] / pair[0])[ALTERNATING // 2]
        line(f"{name}: {processors()} processors, 1", several, one)
        print(
            f"{name}: {mine.distinct:,} distinct, {mine.generated:,} generated, "
            f"{mine.bytes:.0f} bytes a state, {mine.resident:.0f} of resident memory"
        )
    for name, cls in (
        ("acks in time", models.AcksForLong),
        ("resends in time", models.ResendsForLong),
        ("clocked link of two entries", models.ClockedLink),
    ):
        mine = ours(cls)
        line(f"{name}: rate, reference", 1e6 / mine.rate, 1e6 / reference(cls), "us a state")
        print(f"{name}: {mine.distinct:,} distinct, {mine.generated:,} generated")
    if ratios:
        product = 1.0
        for ratio in ratios:
            product *= ratio
        print(f"{'geometric mean, SPIN':62}{product ** (1 / len(ratios)):8.1f}")
    several, one = sorted(alternating(reading), key=lambda pair: pair[1] / pair[0])[
        ALTERNATING // 2
    ]
    line(f"reading memory at random: {processors()} processors, 1", several, one)
    commands()
    return 0


def line(name: str, mine: float, theirs: float, unit: str = "s") -> None:
    """One comparison."""
    print(f"{name:42}{mine:10.2f}{theirs:10.2f}{theirs / mine:8.1f}  {unit}")


def _space(cls: type[Machine], scope: Scope | None = None) -> Space:
    resolved = resolve(cls)
    return Space(lower(resolved.machine, scope or resolved.scopes["scope"]), resolved.world)


def alternating(seconds: Callable[[int], float]) -> list[tuple[float, float]]:
    """Seconds on the clock by all processors and by one, run after run."""
    seconds(1)
    return [(seconds(processors()), seconds(1)) for _ in range(ALTERNATING)]


def on_the_clock(cls: type[Machine], workers: int) -> float:
    """Seconds of one search by so many threads."""
    space = _space(cls)
    steps = stepping(space)
    memory = Memory(steps, llvm.compiled(steps.text), workers)
    found = engine.PackedSearch(space, steps, Limits(), memory)
    begin(found)
    began = time.perf_counter()
    found.run()
    return time.perf_counter() - began


def reading(workers: int) -> float:
    """Seconds in which so many threads read all of a large array in a random order."""
    numbers: Any = np.arange(READ)
    order: Any = np.random.default_rng(0).permutation(READ)
    parts = np.array_split(order, workers)
    into = [np.empty_like(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(len, parts))
        began = time.perf_counter()
        for _ in range(3):
            read = [
                pool.submit(np.take, numbers, part, None, out, "clip")
                for part, out in zip(parts, into, strict=True)
            ]
            for each in read:
                each.result()
        return time.perf_counter() - began


def ours(cls: type[Machine]) -> Taken:
    """The compiled engine by one thread, with an empty cache."""
    space = _space(cls)
    steps = stepping(space)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        began = time.process_time()
        code = llvm.compiled(steps.text)
        compiling = time.process_time() - began
    taken: list[Taken] = []
    for _ in range(RUNS):
        before = resident()
        memory = Memory(steps, code)
        found = engine.PackedSearch(space, steps, Limits(), memory)
        begin(found)
        began = time.process_time()
        found.run()
        seconds = time.process_time() - began
        sizes = memory.size(found.count), resident() - before
        each = (size / found.count for size in sizes)
        taken.append(Taken(found.count, found.generated, seconds, compiling, *each))
    return min(taken, key=lambda each: each.seconds)


def spin(model: Path, depth: int) -> Taken:
    """SPIN's verifier; `-o2` keeps variables that are only written, so that no states are
    merged."""
    with tempfile.TemporaryDirectory() as folder:
        began = _children()
        _run(("spin", "-o2", "-a", str(model)), folder)
        _run(("gcc", *SPIN, "-o", "pan", "pan.c"), folder)
        compiling = _children() - began
        taken: list[Taken] = []
        for _ in range(RUNS):
            began = _children()
            said = _run(("./pan", f"-m{depth}", "-w24"), folder)
            seconds = _children() - began
            counts = [
                int(found.group(1))
                for found in (
                    re.search(rf"(\d+) {word}", said) for word in ("states, stored", "transitions")
                )
                if found is not None
            ]
            taken.append(Taken(counts[0], counts[1], seconds, compiling))
    return min(taken, key=lambda each: each.seconds)


def _run(command: Sequence[str], folder: str) -> str:
    made = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return made.stdout


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def reference(cls: type[Machine]) -> float:
    """Distinct states per second of the reference engine."""
    began = time.process_time()
    found = search(_space(cls), Limits(states=REFERENCE))
    return len(found.states) / (time.process_time() - began)


WHOLE = (
    ("16 states", "tests.classics.jugs:Jugs", ()),
    ("two-phase commit, 8 managers", "tests.classics.two_phase:TwoPhase", ("--scope", "RM=8")),
    ("1,690 states with liveness", "tests.classics.allocator:SchedulingAllocator", ()),
    ("largest system", "lawful.machines.unicast.system:LinkFixed", ()),
    (
        "largest system, all optimised",
        "lawful.machines.unicast.system:LinkFixed",
        ("--engine", "compiled"),
    ),
)


def commands() -> None:
    """Whole commands from the start of the process, all its processes together: with a cold and
    with a warm cache of machine code."""
    for name, target, more in WHOLE:
        cold, warm = list[float](), list[float]()
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(_command(target, more, folder))
                warm.append(_command(target, more, folder))
        line(f"{name}: command, cold", min(warm), min(cold))


def _command(target: str, more: Sequence[str], cache: str) -> float:
    env = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(HERE.parent)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    command = (sys.executable, "-m", "lawful", "check", target, *more, "--quiet")
    began = _children()
    subprocess.run(command, env=env, check=False, stdout=subprocess.DEVNULL)
    return _children() - began


if __name__ == "__main__":
    sys.exit(main())
