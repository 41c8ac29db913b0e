"""Proves again what the pages of the five systems say is proved, and measures the time.

A row for each machine says how many obligations are proved, in how many seconds; below it are those
that are not proved, with the reason. The last row compares the total with the goal, on the cores of
this computer. With names of machines as arguments, only these are proved.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from lawful import Machine
from lawful.checks.prove.result import ProofResult
from lawful.commands.options import ProveOptions
from lawful.commands.prove import proved

GOAL = 120.0  # Seconds for all of them, on two cores.
# The machines, and the sorts of which they are proved for any number of elements.
PROVED: dict[str, Sequence[str]] = {
    "unicast.declaration:SenderEntryFixed": (),
    "unicast.declaration:ReceiverEntryFixed": (),
    "unicast.callers:SenderCalled": (),
    "unicast.callers:ReceiverCalled": (),
    "unicast.system:LinkFixed": (),
    "object_diffusion.declaration:InboundPeerFixed": (),
    "object_diffusion.attribution:Attribution": (),
    "object_diffusion.connection:ConnectionFixed": (),
    "object_diffusion.registry:AnyPeers": ("Peer",),
    "object_diffusion.system:DiffusionFixed": (),
    "read_only_windows.declaration:WindowFixed": (),
    "read_only_windows.transaction:Transaction": (),
    "read_only_windows.closing:PoolFixed": (),
    "read_only_windows.system:NodeFixed": (),
    "queue_cluster.declaration:QueueOwnerFixed": (),
    "queue_cluster.turns:Turns": ("Node",),
    "queue_cluster.dispatching:DispatchingFixed": (),
    "queue_cluster.replica:ReplicaFixed": (),
    "queue_cluster.system:ClusterFixed": (),
    "queue_cluster.in_turns:ClusterInTurns": (),
    "queue_cluster.replication_fixed:ReplicationFixed": (),
}


def main(names: list[str]) -> int:
    """Print a row for each machine; the exit code says whether everything is proved in time."""
    print(f"{'':34}{'proved':>10}{'seconds':>10}")
    done = asked = 0
    began = time.perf_counter()
    for name, sorts in PROVED.items():
        module, _, title = name.partition(":")
        if names and title not in names:
            continue
        cls = getattr(importlib.import_module(f"lawful.machines.{module}"), title)
        result = shown(cls, sorts)
        good = sum(o.verdict.proved for o in result.obligations)
        counts = f"{good}/{len(result.obligations)}"
        print(f"{title:34}{counts:>10}{result.seconds:10.1f}", flush=True)
        for line in left(result):
            print(f"  {line}")
        done, asked = done + good, asked + len(result.obligations)
    seconds = time.perf_counter() - began
    missed = "" if seconds <= GOAL else ": MISSED"
    print(f"{'all of them':34}{f'{done}/{asked}':>10}{seconds:10.1f}  at most {GOAL:.0f}{missed}")
    print(f"{'':34}{os.cpu_count()} cores")
    return 0 if done == asked and not missed else 1


def shown(cls: type[Machine], sorts: Sequence[str]) -> ProofResult:
    """What induction proves about a machine, with an empty cache.

    Lists are as long as in the scope `short`, which is for proofs, if the machine has one.
    """
    scope = ["short"] if hasattr(cls, "short") else []
    how = ProveOptions((cls.__module__,), scope, any_size=sorts, method="induction", no_cache=True)
    return proved(cls, how, lambda told: None)


def left(result: ProofResult) -> Iterator[str]:
    """The obligations that are not proved, by reason."""
    open_ = [o for o in result.obligations if not o.verdict.proved]
    for why, count in Counter(o.note for o in open_).most_common():
        names = [f"{o.obligation}: {o.property}" for o in open_ if o.note == why]
        some = ", ".join(names[:2]) + (", ..." if count > 2 else "")
        yield f"{count} {why or 'not proved'} ({some})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
