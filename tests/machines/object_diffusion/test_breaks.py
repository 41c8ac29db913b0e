"""The repaired machines broken on purpose: each demand, and the mistakes that are easy to make."""

from __future__ import annotations

import importlib

import pytest

from lawful import Machine, drop, transition
from lawful.machines.object_diffusion.as_seed import InboundPeerUnbounded
from lawful.machines.object_diffusion.attribution import Peer
from lawful.machines.object_diffusion.callbacks import Status
from lawful.machines.object_diffusion.connection import ConnectionFixed
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.object_diffusion.demands import DEMANDS
from lawful.machines.object_diffusion.in_time import DiffusionInTime, InboundPeerInTime
from lawful.machines.object_diffusion.messages import Decision, ObjectId
from lawful.machines.object_diffusion.system import DiffusionFixed
from tests.machines.breaking import failing, fails

from .demand_breaks import BREAKS
from .slips import SLIPS, Slip, slipped

MOST = 20_000  # States: a break leads to many.
# The comment on BREAKS says why.
UNBROKEN = {"O1", "O2", "O19", "O39", "O43"}
# A few that are tried with every change; `make nightly` tries all.
ALWAYS = {"O7", "O16", "O29"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "demand",
    [pytest.param(d, marks=() if d in ALWAYS else pytest.mark.nightly) for d in BREAKS],
)
def test_who_breaks_a_demand_is_noticed(demand: str) -> None:
    change = BREAKS[demand]
    module, _, name = change.machine.partition(".")
    package = "lawful.machines.object_diffusion"
    cls: type[Machine] = getattr(importlib.import_module(f"{package}.{module}"), name)
    assert change.fails in fails(cls, change.owner, change.row, change.change, MOST)


def test_every_demand_is_broken_or_it_is_said_why_not() -> None:
    assert set(BREAKS) | UNBROKEN == set(DEMANDS)
    assert not set(BREAKS) & UNBROKEN


def test_a_demand_names_who_notices_that_it_is_broken() -> None:
    """What no property says, but an `assert` or the absence of any step, is named by no demand."""
    named = {
        number: {place.rpartition(".")[2] for place in places} | {"asserts", "deadlock"}
        for number, (_, *places) in DEMANDS.items()
    }
    assert [number for number, each in BREAKS.items() if each.fails not in named[number]] == []


@pytest.mark.one_in(8)
@pytest.mark.parametrize("row", SLIPS, ids=lambda row: row.what)
def test_a_slip_is_noticed(row: Slip) -> None:
    assert row.fails in failing(slipped(row), most=MOST, scope=row.scope)


def test_a_pool_without_bound_is_noticed() -> None:
    assert "what_the_pool_lacks_is_limited" in failing(InboundPeerUnbounded, most=MOST)


class InboundPeerForgetting(InboundPeerFixed):
    """The decision changes what is available (O39)."""

    @transition(source=(Status.COMPLETED, Status.UNREAD), target=Status.UNREAD)
    def decide(self, in_pool: frozenset[ObjectId], objects: frozenset[ObjectId]) -> Decision:
        decision = super().decide(in_pool, objects)
        self.available_ids -= in_pool
        return decision


class DiffusionForgetting(DiffusionFixed):
    peers: dict[Peer, InboundPeerForgetting] = {}  # type: ignore[assignment]  # holds no other

    def admit(self, p: Peer) -> None:
        self.peers[p] = InboundPeerForgetting(
            max_num_objects_outstanding=self.max_num_objects_outstanding,
            max_num_objects_inflight=self.max_num_objects_inflight_per_peer,
            max_num_ids_req=self.max_num_ids_req,
            reply_timeout=self.reply_timeout,
        )


@pytest.mark.nightly
def test_a_round_that_changes_more_than_decisions_is_noticed() -> None:
    assert "deciding_changes_decisions_alone" in failing(DiffusionForgetting, most=MOST)


class DiffusionBusy(DiffusionInTime):
    """The time limit begins again with each decision that the peer reads."""

    not_now = drop("who_has_answered_is_not_awaited")
    peers: dict[Peer, InboundPeerRestarting] = {}  # type: ignore[assignment]  # holds no other

    def admit(self, p: Peer) -> None:
        self.peers[p] = InboundPeerRestarting(
            max_num_objects_outstanding=self.max_num_objects_outstanding,
            max_num_objects_inflight=self.max_num_objects_inflight_per_peer,
            max_num_ids_req=self.max_num_ids_req,
            reply_timeout=self.reply_timeout,
        )
        self.times[p] = []


class InboundPeerRestarting(InboundPeerInTime):
    @transition(source=Status.UNREAD, target=Status.ACTING)
    def read_decision(self) -> Decision:
        if self.reply.armed:
            self.reply.start(self.reply_timeout)
        return super().read_decision()


@pytest.mark.nightly
def test_a_timer_that_is_started_again_is_noticed() -> None:
    assert "nobody_is_awaited_for_longer" in failing(DiffusionBusy, most=MOST)


@pytest.mark.parametrize(
    ("cls", "owner", "row", "change", "property"),
    [
        pytest.param(
            ConnectionFixed,
            "InboundPeerFixed",
            "on_request_ids",
            "RequestIds(blocking=blocking, ack=decision.ids_to_req, count=decision.ids_to_ack) for"
            " RequestIds(blocking=blocking, ack=decision.ids_to_ack, count=decision.ids_to_req)",
            "requests_fit",
            id="an output with other numbers",
        ),
        pytest.param(
            DiffusionFixed,
            "DiffusionFixed",
            "publish",
            "frozenset(set()) for frozenset(p for p in self.peers if self.peers[p].state =="
            " Status.UNREAD)",
            "loops_are_told",
            id="an output that is dropped",
        ),
    ],
)
def test_a_mistake_is_noticed(
    cls: type[Machine], owner: str, row: str, change: str, property: str
) -> None:
    assert property in fails(cls, owner, row, change, MOST)
