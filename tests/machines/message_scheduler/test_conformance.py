"""Hypothesis drives the running scheduler from its declaration."""

from __future__ import annotations

import pytest
from hypothesis import settings

from lawful import transition
from lawful.machines.message_scheduler.declaration import Peer, Reason, Scheduler
from lawful.testing import Mismatch, conformance

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=20, stateful_step_count=30
)
SMALL = Scheduler(least=1, greatest=2)


class KeepsChannels(Scheduler):
    """The channels of a peer that has left stay open."""

    @transition()
    def disconnect(self, peer: Peer) -> None:
        for n in sorted(self.requests):
            if self.requests[n].channel.peer == peer:
                self.fail(n, Reason.DISCONNECT)


TestScheduler = conformance(
    SMALL, lambda clock: Scheduler(least=1, greatest=2, clock=clock), settings=QUICK
)


def test_one_that_keeps_the_channels_of_a_peer_does_not_conform() -> None:
    keeps = conformance(
        SMALL,
        lambda clock: KeepsChannels(least=1, greatest=2, clock=clock),
        settings=QUICK,
    )
    with pytest.raises(Mismatch):
        keeps().runTest()
