"""Faults on the real thing, and their reports.

    python -m tests.machines.harmed.real_faults                       (in make campaign)
    python -m tests.machines.harmed.real_faults unicast --first 5 --seeds 2

Programs of the services run as processes, on loopback alone. Their clocks jump both ways, they
stand still, are killed and started again, and peers lie to them by scripts. Draws come from the
seed; the system decides what meets what. The report of each service, `faults.txt` in the folder of
its tests, has what was injected, and what clients and programs observed. The exit code is 1 if a
promise was broken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from . import dialling, listening, timers
from .processes import Outcome

SEEDS = 2
SERVICES: dict[str, tuple[Callable[[int, Path], Outcome], Callable[[Path], Outcome]]] = {
    "message_scheduler": (dialling.message_scheduler, timers.message_scheduler),
    "object_diffusion": (dialling.object_diffusion, timers.object_diffusion),
    "queue_cluster": (listening.queue_cluster, timers.queue_cluster),
    "read_only_windows": (listening.read_only_windows, timers.read_only_windows),
    "unicast": (dialling.unicast, timers.unicast),
}
# What the programs count of what liars said, each at least once.
COUNTED = {
    "message_scheduler": ("malformed", "mute", "oversized", "unexpected"),
    "object_diffusion": ("malformed", "mute", "oversized", "unexpected"),
    "queue_cluster": ("malformed", "oversized", "silent", "unexpected"),
    "read_only_windows": ("garbage", "gone"),
    "unicast": ("forged", "malformed", "misdirected", "unknown"),
}


def harmed(name: str, seed: int) -> Outcome:
    """All that is done to this service, once."""
    everything, of_timers = SERVICES[name]
    with tempfile.TemporaryDirectory() as folder:
        outcome = everything(seed, Path(folder))
    for what in COUNTED[name]:
        outcome.expect(outcome.observed[what], f"nothing is {what}, whatever liars said")
    with tempfile.TemporaryDirectory() as folder:
        more = of_timers(Path(folder))
    injected, observed = outcome.injected + more.injected, outcome.observed + more.observed
    return Outcome(injected, observed, [*outcome.problems, *more.problems])


def report(name: str, seeds: range, outcomes: Sequence[Outcome], seconds: float) -> str:
    """What was injected and observed, as text."""
    injected = sum((outcome.injected for outcome in outcomes), Counter[str]())
    observed = sum((outcome.observed for outcome in outcomes), Counter[str]())
    broken = [what for outcome in outcomes for what in outcome.problems]
    lines = [
        f"The programs of {name} as processes, with faults.",
        f"seeds {seeds[0]} to {seeds[-1]}, {seconds:.0f} s",
        f"promises broken: {len(broken)}",
        *(f"  {what}" for what in broken),
    ]
    for title, found in (("injected", injected), ("observed", observed)):
        lines += ["", title, *(f"  {what:<24}{n:>10,}" for what, n in sorted(found.items()))]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SERVICES)}; default: all")
    parser.add_argument("--first", type=int, default=0, help="the first seed; default 0")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"how many; default {SEEDS}")
    given = parser.parse_args()
    if given.seeds < 1:
        parser.error("--seeds: at least 1")
    names: list[str] = given.names or [*SERVICES]
    if unknown := [name for name in names if name not in SERVICES]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(SERVICES)}")
    good, seeds = True, range(given.first, given.first + given.seeds)
    for name in names:
        begun = time.monotonic()
        outcomes = [harmed(name, seed) for seed in seeds]
        text = report(name, seeds, outcomes, time.monotonic() - begun)
        print(text, flush=True)
        path = Path(__file__).parent.parent / name / "faults.txt"
        path.write_text(text, encoding="utf-8")
        good = good and not any(outcome.problems for outcome in outcomes)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
