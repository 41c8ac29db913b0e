"""The systems within their larger scopes, as many states as there are, and nothing goes wrong."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from lawful import Machine, Scope
from tests.machines.checked import checked, counts

FOLDER = Path(__file__).resolve().parents[2] / "machines"
Counts = tuple[int, int, int]
LARGE: dict[tuple[str, str], Counts] = {
    ("message_scheduler.system:MessagingFixed", "channels"): (16_566, 190_344, 25),
    ("message_scheduler.system:MessagingFixed", "senders"): (3_925, 49_306, 26),
    ("message_scheduler.ageing:MessagingAgeing", "channels"): (70_844, 814_874, 28),
    ("message_scheduler.ageing:MessagingAgeing", "senders"): (67_705, 843_859, 30),
    ("message_scheduler.system:MessagingInTime", "channels"): (104_117, 1_150_511, 27),
    ("message_scheduler.system:MessagingInTime", "peers"): (197_551, 3_007_385, 27),
    ("object_diffusion.declaration:InboundPeerFixed", "wide"): (1_551, 6_224, 36),
    ("object_diffusion.registry:Registry", "several"): (62_222, 560_076, 40),
    ("object_diffusion.registry:AnyPeers", "inserting"): (1_592, 10_182, 30),
    ("object_diffusion.system:DiffusionFixed", "redundant"): (6_404, 25_935, 37),
    ("object_diffusion.system:DiffusionFixed", "pipelined"): (11_149, 47_048, 44),
    ("object_diffusion.system:DiffusionFixed", "large"): (97_647, 379_174, 61),
    ("object_diffusion.in_time:DiffusionInTime", "large"): (581_932, 1_724_258, 67),
    ("queue_cluster.declaration:QueueOwnerFixed", "anywhere"): (1_590, 22_560, 16),
    ("queue_cluster.dispatching:DispatchingFixed", "large"): (487, 3_081, 12),
    ("queue_cluster.system:ClusterFixed", "large"): (8_822, 28_603, 44),
    ("queue_cluster.in_turns:ClusterInTurns", "large"): (7_924, 19_765, 34),
    ("queue_cluster.acceptance:ClientsFixed", "alone"): (3_805, 26_114, 27),
    ("queue_cluster.acceptance:ClientsFixed", "dead_letters"): (23_248, 358_724, 21),
    ("queue_cluster.acceptance:ClientsFixed", "ringing"): (15_176, 139_232, 22),
    ("queue_cluster.acceptance:ClientsFixed", "wiring"): (30_067, 359_881, 22),
    ("queue_cluster.updates:UpdatesFixed", "wiring"): (8_574, 41_742, 24),
    ("queue_cluster.acceptance:ClientsFixed", "rejecting"): (7_190, 62_822, 31),
    ("queue_cluster.acceptance:ClientsFixed", "destroying"): (63_580, 590_987, 33),
    ("queue_cluster.acceptance:ClientsFixed", "rewiring"): (919, 4_651, 7),
    ("queue_cluster.updates:UpdatesFixed", "crowded"): (12_860, 95_308, 24),
    ("queue_cluster.updates:UpdatesFixed", "growing"): (62_244, 362_130, 32),
    ("queue_cluster.updates:UpdatesFixed", "several"): (22_618, 139_722, 25),
    ("queue_cluster.updates:UpdatesFixed", "rejecting"): (1_054, 10_361, 19),
    ("queue_cluster.updates:UpdatesFixed", "dead_letters"): (86_942, 984_942, 37),
    ("queue_cluster.updates:UpdatesFixed", "dead_letters_behind"): (172_166, 1_819_038, 37),
    ("queue_cluster.updates:UpdatesFixed", "behind"): (98_286, 951_967, 26),
    ("queue_cluster.promises:BrokersFixed", "joining"): (11_715, 41_401, 40),
    ("queue_cluster.promises:BrokersFixed", "crashing"): (19_507, 63_011, 46),
    ("queue_cluster.promises:BrokersFixed", "declaring"): (139_993, 432_273, 42),
    ("queue_cluster.replica:ReplicaFixed", "large"): (4_104_710, 247_965_065, 33),
    ("queue_cluster.replication_fixed:ReplicationFixed", "dead_letters"): (16_546, 39_012, 35),
    ("queue_cluster.replication_fixed:ReplicationFixed", "several"): (19_346, 42_194, 41),
    ("queue_cluster.replication_fixed:ReplicationFixed", "large"): (96_426, 320_442, 46),
    ("read_only_windows.system:NodeFixed", "large"): (82_577, 572_847, 45),
    ("read_only_windows.in_time:NodeInTime", "large"): (167_165, 820_617, 56),
    ("unicast.exchange:Exchange", "lossy"): (43_469, 309_991, 27),
    ("unicast.restarts:LinkSetBack", "further"): (25_019, 91_289, 21),
    ("unicast.in_time:SenderInTime", "large"): (13_897, 957_634, 19),
    ("unicast.in_time:ReceiverInTime", "large"): (69_525, 1_408_797, 18),
    ("unicast.in_time:LinkInTime", "large"): (128_018, 344_610, 31),
    ("unicast.system:LinkFixed", "worse"): (35_181, 225_324, 27),
    ("unicast.system:LinkFixed", "three"): (146_635, 837_705, 36),
}
# Quick enough to be explored with everything else, in the tests of their system.
QUICK = {("BrokersFixed", "leaving"), ("DiffusionByAddress", "apart"), ("NodePosted", "least")}
# For proofs alone: an exploration would end at these lengths.
PROVED = {("ClusterFixed", "short"), ("LinkFixed", "short"), ("ReplicationFixed", "short")}


def named(row: str) -> type[Machine]:
    module, _, name = row.partition(":")
    cls: type[Machine] = getattr(importlib.import_module(f"lawful.machines.{module}"), name)
    return cls


@pytest.mark.nightly
@pytest.mark.parametrize(("row", "scope"), LARGE)
def test_everything_is_as_expected_in_larger_scopes(row: str, scope: str) -> None:
    result = checked(named(row), scope)
    assert counts(result) == LARGE[row, scope]
    others = {p.name for p in result.properties if not p.verdict.good}
    assert others == {p.name for p in result.properties if p.expect != "holds"}


def test_every_scope_with_a_name_is_explored() -> None:
    """By a machine that has it, or inherits it."""
    explored = {(each.__name__, scope) for row, scope in LARGE for each in named(row).__mro__}
    modules = [
        importlib.import_module(f"lawful.machines.{path.parent.name}.{path.stem}")
        for path in FOLDER.glob("*/*.py")
    ]
    declared = {
        (cls.__name__, name)
        for module in modules
        for cls in vars(module).values()
        if inspect.isclass(cls) and issubclass(cls, Machine) and cls.__module__ == module.__name__
        for name, value in vars(cls).items()
        if isinstance(value, Scope) and name != "scope"
    }
    assert len(declared) > 15
    assert declared - QUICK - PROVED <= explored
