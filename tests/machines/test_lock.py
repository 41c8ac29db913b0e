"""What `machines/lawful.lock` says was established of the machines as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import targets
from lawful.commands.lock import read, stale

FOLDER = Path(__file__).resolve().parents[2] / "machines"
KEPT = read(FOLDER / "lawful.lock")
# What their proofs leave open takes them many minutes.
SLOW = {
    "machines.message_scheduler.ageing",
    "machines.message_scheduler.declaration",
    "machines.message_scheduler.system",
    "machines.message_scheduler.system_as_seed",
    "machines.message_scheduler.threads",
    "machines.object_diffusion.conditions",
    "machines.object_diffusion.connection_as_seed",
    "machines.object_diffusion.in_time",
    "machines.object_diffusion.in_turns",
    "machines.queue_cluster.acceptance",
    "machines.queue_cluster.brokers",
    "machines.queue_cluster.in_turns",
    "machines.queue_cluster.joining",
    "machines.queue_cluster.ledger",
    "machines.queue_cluster.ownership",  # Its machine is abstract.
    "machines.queue_cluster.promises",
    "machines.queue_cluster.replica",
    "machines.queue_cluster.replica_as_seed",
    "machines.queue_cluster.replication",
    "machines.queue_cluster.replication_fixed",
    "machines.queue_cluster.subscribers",
    "machines.queue_cluster.system",
    "machines.queue_cluster.system_as_seed",
    "machines.queue_cluster.updates",
    "machines.read_only_windows.in_time",
    "machines.read_only_windows.system_as_seed",
    "machines.unicast.callers",
    "machines.unicast.crashes",
    "machines.unicast.exchange",
    "machines.unicast.in_time",
    "machines.unicast.interruptions",
    "machines.unicast.reports",
    "machines.unicast.restarts",
    "machines.unicast.system",
    "machines.unicast.system_as_seed",
}
# Of what is repaired: how many properties are proved, and how many explored only.
PROVED = {
    "object_diffusion.attribution:RoundsFixed": (3, 0),
    "object_diffusion.connection:ConnectionFixed": (42, 0),
    "object_diffusion.declaration:InboundPeerFixed": (30, 0),
    "object_diffusion.system:DiffusionFixed": (55, 0),
    "queue_cluster.declaration:QueueOwnerFixed": (22, 0),
    "queue_cluster.dispatching:DispatchingFixed": (7, 0),
    "read_only_windows.closing:PoolFixed": (28, 0),
    "read_only_windows.declaration:WindowFixed": (22, 0),
    "read_only_windows.system:NodeFixed": (45, 0),
    "unicast.declaration:ReceiverEntryFixed": (11, 0),
    "unicast.declaration:SenderEntryFixed": (13, 0),
}
MODULES = sorted({name.partition(":")[0] for name in KEPT})


@pytest.mark.one_in(6)
@pytest.mark.parametrize("module", MODULES)
def test_nothing_that_is_kept_is_stale(module: str) -> None:
    """After a change of a machine: `lawful lock MODULE --file machines/lawful.lock`."""
    classes = targets.machines(module)
    rows = {f"{module}:{cls.__name__}": cls for cls in classes}
    assert {name for name in KEPT if name.startswith(f"{module}:")} == set(rows)
    assert {name: stale(KEPT[name], cls) for name, cls in rows.items()} == dict.fromkeys(rows, "")


def test_every_system_is_in_it() -> None:
    """A module that declares a machine with a scope is one of those that are kept."""
    declaring = {
        f"machines.{path.parent.name}.{path.stem}"
        for path in FOLDER.glob("*/*.py")
        if "scope = Scope(" in path.read_text(encoding="utf-8")
    }
    assert declaring - SLOW <= set(MODULES)


def test_what_is_repaired_holds_and_what_is_proved_covers_something() -> None:
    repaired = {name: row for name, row in KEPT.items() if name.endswith("Fixed")}
    assert len(repaired) > 5
    for name, row in repaired.items():
        verdicts = {p["verdict"] for p in row["check"]["properties"].values()}
        assert verdicts <= {"holds", "holds-within-scope"}, name
        assert all(p["covers"] for p in row["prove"]["properties"].values()), name


def test_what_is_repaired_is_proved_as_far_as_it_was() -> None:
    """Where more is proved now, the number goes up; that it goes down is seen here."""
    found = {
        name.removeprefix("machines."): [p["verdict"] for p in row["prove"]["properties"].values()]
        for name, row in KEPT.items()
        if name.endswith("Fixed")
    }
    proved = {"proved", "proved-within"}
    counted = {
        name: (sum(v in proved for v in verdicts), sum(v not in proved for v in verdicts))
        for name, verdicts in found.items()
    }
    assert counted == PROVED
