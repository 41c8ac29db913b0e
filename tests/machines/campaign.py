"""A long simulation of the services, and its reports.

    python -m tests.machines.campaign                                  (make campaign)
    python -m tests.machines.campaign read_only_windows --first 5000

Each seed is a world of its own. The report of each service, `campaign.txt` in the folder of its
tests, has the counts of events, faults and transitions. The exit code is 1 if a promise was broken,
or if some fault or some transition has never happened; the seeds that failed are printed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.machines.message_scheduler import simulated as message_scheduler
from tests.machines.message_scheduler.history import missing
from tests.machines.object_diffusion import simulated as object_diffusion
from tests.machines.queue_cluster import simulated as queue_cluster
from tests.machines.read_only_windows import simulated as read_only_windows
from tests.machines.simulated_runs import Run
from tests.machines.unicast import simulated as unicast
from tests.machines.unicast.plan import FAULTS as UNICAST_FAULTS


@dataclass(frozen=True)
class Service:
    """The simulation of a service, what has to happen in it, and how many seeds a campaign runs:
    of all services together some ten million events."""

    simulate: Callable[[int], Run]
    faults: Iterable[str]
    transitions: Iterable[str]
    seeds: int


SERVICES = {
    "message_scheduler": Service(
        message_scheduler.simulate, message_scheduler.FAULTS, message_scheduler.TRANSITIONS, 1_300
    ),
    "queue_cluster": Service(
        queue_cluster.simulate, queue_cluster.FAULTS, queue_cluster.TRANSITIONS, 500
    ),
    "object_diffusion": Service(
        object_diffusion.simulate, object_diffusion.FAULTS, object_diffusion.TRANSITIONS, 500
    ),
    "read_only_windows": Service(
        read_only_windows.simulate, read_only_windows.FAULTS, read_only_windows.TRANSITIONS, 1_200
    ),
    "unicast": Service(unicast.simulate, UNICAST_FAULTS, unicast.TRANSITIONS, 1_100),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SERVICES)}; default: all")
    parser.add_argument("--first", type=int, default=0, help="the first seed; default 0")
    parser.add_argument("--seeds", type=int, help="how many of each; default: of each its own")
    given = parser.parse_args()
    names: list[str] = given.names or [*SERVICES]
    if unknown := [name for name in names if name not in SERVICES]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(SERVICES)}")
    if given.seeds is not None and given.seeds < 1:
        parser.error("--seeds: at least 1")
    good, events = True, 0
    with ProcessPoolExecutor(2) as pool:
        for name in names:
            service = SERVICES[name]
            seeds = range(given.first, given.first + (given.seeds or service.seeds))
            runs = list(pool.map(service.simulate, seeds, chunksize=10))
            text, failed = report(name, runs)
            print(text)
            path = Path(__file__).parent / name / "campaign.txt"
            path.write_text(text, encoding="utf-8")
            good = good and not failed
            events += sum(run.events for run in runs)
    print(f"events of all services: {events:,}")
    return 0 if good else 1


def report(name: str, runs: Sequence[Run]) -> tuple[str, bool]:
    """The report as text, and whether something failed."""
    service = SERVICES[name]
    transitions, faults, counts = Counter[str](), Counter[str](), Counter[str]()
    for run in runs:
        transitions += run.transitions
        faults += run.faults
        counts += run.counts
    broken = [run for run in runs if run.problems]
    never = [*missing(faults, service.faults), *missing(transitions, service.transitions)]
    lines = [
        f"The service of {name} in simulated worlds.",
        f"seeds {runs[0].seed} to {runs[-1].seed}",
        f"events of the machines: {sum(run.events for run in runs):,}",
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
