"""A receiver that crashes and forgets: how the pair goes on, and what notices if it does not."""

from __future__ import annotations

import pytest

from lawful import Machine, transition
from lawful.checks.explore import Limits, explore
from lawful.machines.unicast.crashes import LinkCrashing, LinkDeaf, ReceiverReset
from lawful.machines.unicast.declaration import (
    Conn,
    ReceiverEntryFixed,
    SenderEntry,
    SenderEntryFixed,
)
from lawful.machines.unicast.messages import Ack, Data, XmitReq
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences
from tests.machines.unicast.ends import data

LIVENESS = {
    "sent_is_delivered",
    "sent_is_purged",
    "gaps_are_filled",
    "idle_is_removed",
    "silence_follows",
}


def test_a_receiver_that_crashed_goes_on_with_what_is_marked() -> None:
    sender, before, after = SenderEntryFixed(), ReceiverEntryFixed(), ReceiverEntryFixed()
    first = sender.send(b"1")
    for m in (first, sender.send(b"2")):
        before.data(m)
        before.deliver()
    assert before.next == 3
    sender.ack(Ack(2, 1))
    # The crash, a late copy, and what comes next.
    after.data(first)
    assert after.deliver() == b"1"
    third = sender.send(b"3")
    after.data(third)
    request = after.request_missing()
    assert request == XmitReq(1, frozenset({2}))
    (answer,) = sender.retransmit(request)
    assert answer == third.replace(first=True)
    after.data(answer)
    assert (after.next, after.highest, after.buffer) == (3, 3, {3: b"3"})
    assert after.deliver() == b"3"
    assert not after.lawful.may("request_missing")
    # A sender that has nothing left answers nothing, and a request of another connection neither.
    assert sender.retransmit(XmitReq(2, frozenset({2}))) == frozenset()
    sender.ack(Ack(3, 1))
    assert sender.retransmit(request) == frozenset()


def test_only_what_is_marked_and_ahead_moves_the_window() -> None:
    receiver = ReceiverEntryFixed()
    for q in (1, 3, 5):
        receiver.data(data(q))
    receiver.deliver()
    receiver.data(data(4, first=True))
    assert (receiver.next, receiver.highest, sorted(receiver.buffer)) == (4, 5, [4, 5])
    receiver.data(data(2, first=True))
    assert (receiver.next, receiver.highest, sorted(receiver.buffer)) == (4, 5, [4, 5])


@pytest.mark.nightly
def test_everything_arrives_in_one_life_or_the_other() -> None:
    result = checked(LinkCrashing)
    assert counts(result) == (32_111, 129_537, 34)
    assert all(p.verdict.good for p in result.properties)


@pytest.mark.nightly
def test_a_sender_that_does_not_tell_leaves_it_deaf() -> None:
    result = checked(LinkDeaf)
    assert counts(result) == (31_809, 128_291, 34)
    assert set(same_sequences(result)) == {"purged_is_not_awaited", "settled"} | LIVENESS


class ReceiverStays(ReceiverReset):
    """It does not go on with what is marked."""

    def insert(self, m: Data) -> None:
        super().insert(m.replace(first=False))


class LinkStaying(LinkCrashing):
    receiver: ReceiverReset = ReceiverStays()


class ReceiverJumps(ReceiverReset):
    """It goes on with anything that is ahead."""

    def insert(self, m: Data) -> None:
        super().insert(m.replace(first=True))


class LinkJumping(LinkCrashing):
    receiver: ReceiverReset = ReceiverJumps()


class SenderMarksTheLast(SenderEntryFixed):
    """It marks the last message, which is not its first unacknowledged one."""

    @transition()
    def retransmit(self, m: XmitReq) -> frozenset[Data]:
        again = super().retransmit(m)
        if self.state != Conn.CLOSED and self.highest_acked < self.highest_sent:
            again |= {self.kept(self.highest_sent).replace(first=True)}
        return again


class LinkMarkingTheLast(LinkCrashing):
    sender: SenderEntry = SenderMarksTheLast()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "noticed"),
    [
        pytest.param(LinkStaying, "gaps_are_filled", marks=pytest.mark.nightly),
        (LinkJumping, "acks_are_true"),
        (LinkMarkingTheLast, "acks_are_true"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_a_wrong_way_to_go_on_is_noticed(cls: type[Machine], noticed: str) -> None:
    found = resolve(cls)
    limits = Limits(40_000, first=noticed == "acks_are_true")
    result = explore(lower(found.machine, found.scopes["scope"]), found.world, {}, limits=limits)
    assert noticed in {p.name for p in result.properties if p.verdict.value == "violated"}
