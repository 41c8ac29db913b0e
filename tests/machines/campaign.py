"""A long simulation of the services, and its report.

    python -m tests.machines.campaign --seeds 2000        (make campaign)

Each seed is a world of its own. The report, `campaign.txt` beside this file, has the counts of
events, faults and transitions. The exit code is 1 if a promise was broken, or if some fault or some
transition has never happened; the seeds that failed are printed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.machines.message_scheduler.history import missing
from tests.machines.message_scheduler.simulated import FAULTS, TRANSITIONS, Run, simulate

REPORT = Path(__file__).with_name("campaign.txt")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed; default 0")
    parser.add_argument("--seeds", type=int, default=2_000, help="how many; default 2000")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    with ProcessPoolExecutor(2) as pool:
        runs = list(pool.map(simulate, seeds, chunksize=10))
    text, failed = report(runs)
    print(text)
    REPORT.write_text(text, encoding="utf-8")
    return 1 if failed or not runs else 0


def report(runs: list[Run]) -> tuple[str, bool]:
    """The report as text, and whether something failed."""
    transitions, faults, counts = Counter[str](), Counter[str](), Counter[str]()
    for run in runs:
        transitions += run.transitions
        faults += run.faults
        counts += run.counts
    broken = [run for run in runs if run.problems]
    never = [*missing(faults, FAULTS), *missing(transitions, TRANSITIONS)]
    lines = [
        "The service of the message scheduler in simulated worlds.",
        f"seeds {runs[0].seed} to {runs[-1].seed}" if runs else "no seeds",
        f"events of the machine: {sum(run.events for run in runs):,}",
        f"of them while faults were made: {sum(run.active for run in runs):,}",
        f"pieces that the network delivered: {sum(run.pieces for run in runs):,}",
        f"simulated seconds: {sum(run.seconds for run in runs):,.0f}",
        f"seeds in which a promise was broken: {len(broken)}",
        *(f"  seed {run.seed}: {'; '.join(run.problems[:3])}" for run in broken[:20]),
        f"faults and transitions that never happened: {', '.join(never) or 'none'}",
        *_table("faults", faults),
        *_table("transitions", transitions),
        *_table("counts of the service", counts),
    ]
    return "\n".join(lines) + "\n", bool(broken or never)


def _table(name: str, counts: Counter[str]) -> list[str]:
    return ["", name, *(f"  {what:<20}{n:>12,}" for what, n in sorted(counts.items()))]


if __name__ == "__main__":
    sys.exit(main())
