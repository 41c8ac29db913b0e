"""The entries of unicast in time: what is established, and what notices each break of a timer."""

from __future__ import annotations

import pytest

from lawful import Machine, require, transition
from lawful.checks.prove import prove
from lawful.checks.verdict import Verdict
from lawful.machines.unicast.declaration import Conn
from lawful.machines.unicast.in_time import LinkInTime, ReceiverInTime, SenderInTime
from lawful.machines.unicast.messages import Ack, Close, Data, Payload
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts

ALL_TIMES = ("who_waits_is_owed_an_ack", "acked_in_time", "acks_are_apart")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "scope", "expected"),
    [
        (SenderInTime, "scope", (2_384, 67_844, 15)),
        (ReceiverInTime, "scope", (13_619, 160_854, 16)),
        pytest.param(LinkInTime, "scope", (27_467, 70_715, 26), marks=pytest.mark.nightly),
    ],
)
def test_everything_is_in_time(
    cls: type[Machine], scope: str, expected: tuple[int, int, int]
) -> None:
    assert counts(checked(cls, scope)) == expected


@pytest.mark.nightly
def test_acks_are_in_time_for_all_intervals() -> None:
    found = {p.name: p.verdict for p in prove(resolve(ReceiverInTime).machine, sizes={}).properties}
    assert {name: found[name] for name in ALL_TIMES} == dict.fromkeys(ALL_TIMES, Verdict.PROVED)


class AckPutOff(ReceiverInTime):
    """Each message starts the delay again."""

    def owe_ack(self) -> None:
        self.ack_delay.start(self.ack_interval)


class AckAtOnce(ReceiverInTime):
    """The delay is over at once."""

    def owe_ack(self) -> None:
        self.ack_delay.start(0)


class AckForgotten(ReceiverInTime):
    """What comes once more is not acknowledged again, and neither is anything else."""

    def owe_ack(self) -> None:
        self.ack_delay.stop()


class ReceiverNeverIdle(ReceiverInTime):
    """It takes the time-out of an open entry for that of a closing one."""

    @transition(source=Conn.OPEN, target=Conn.CLOSING, timer="idle")
    def expire(self) -> None:
        self.idle.start(self.conn_expiry_timeout)


class ReceiverKeepsItsTime(ReceiverInTime):
    """A message does not count as activity."""

    def touch(self) -> None:
        if not self.idle.armed and self.reaping:
            self.idle.start(self.conn_expiry_timeout)


class SenderKeepsItsTime(SenderInTime):
    """Neither what is sent nor an ack counts as activity."""

    def touch(self) -> None:
        if not self.idle.armed and self.reaping:
            self.idle.start(self.conn_expiry_timeout)


class SenderDeaf(SenderInTime):
    """An ack of a closing entry is no activity: the time-out goes on."""

    @transition(source=(Conn.OPEN, Conn.CLOSING))
    def ack(self, m: Ack) -> None:
        require(m.conn == self.conn, "acknowledges another connection")
        require(self.highest_acked < m.seqno <= self.highest_sent, "nothing new, or never sent")
        self.active = self.clock.now
        self.changed = self.clock.now
        self.highest_acked = m.seqno
        self.window = {q: p for q, p in self.window.items() if q > m.seqno}


class SenderHasty(SenderInTime):
    """It closes without any time-out."""

    @transition(source=Conn.OPEN, target=Conn.CLOSING)
    def close(self) -> None:
        self.active = self.clock.now
        self.idle.start(0)


class SenderLate(SenderInTime):
    """A sender that is sent with again keeps the time-out of closing."""

    @transition(source=(Conn.CLOSED, Conn.OPEN, Conn.CLOSING), target=Conn.OPEN)
    def send(self, payload: Payload) -> Data:
        closing = self.state == Conn.CLOSING
        data = super().send(payload)
        if closing:
            self.idle.start(self.conn_close_timeout + self.conn_expiry_timeout)
        return data


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("cls", "noticed"),
    [
        (AckPutOff, "acked_in_time"),
        pytest.param(AckAtOnce, "acks_are_apart", marks=pytest.mark.nightly),
        (AckForgotten, "acked_in_time"),
        (ReceiverNeverIdle, "removed_in_time"),
        pytest.param(ReceiverKeepsItsTime, "silence_ends_it", marks=pytest.mark.nightly),
        (SenderKeepsItsTime, "silence_ends_it"),
        pytest.param(SenderDeaf, "closed_in_time", marks=pytest.mark.nightly),
        (SenderHasty, "closed_in_time"),
        pytest.param(SenderLate, "silence_ends_it", marks=pytest.mark.nightly),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_a_wrong_timer_is_noticed(cls: type[Machine], noticed: str) -> None:
    verdicts = {p.name: p.verdict for p in checked(cls).properties}
    assert verdicts[noticed] is Verdict.VIOLATED


class LinkResendingAtOnce(LinkInTime):
    """A sends the last message again at each run, whatever has changed."""

    @transition(timer="run")
    def resend(self) -> None:
        self.run.start(self.xmit_interval)
        self.sender.task()
        if self.sender.highest_acked < self.sender.highest_sent:
            self.put(self.sender.kept(self.sender.highest_sent))
            self.resent = True
            self.waited = self.clock.now - self.sender.changed


class LinkResendingNever(LinkInTime):
    """What the task returns is not sent."""

    @transition(timer="run")
    def resend(self) -> None:
        self.run.start(self.xmit_interval)
        self.sender.task()


@pytest.mark.parametrize(
    ("cls", "noticed"),
    [
        pytest.param(LinkResendingAtOnce, "resent_when_nothing_changed", marks=pytest.mark.nightly),
        (LinkResendingNever, "resent_in_time"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_a_wrong_task_is_noticed(cls: type[Machine], noticed: str) -> None:
    verdicts = {p.name: p.verdict for p in checked(cls).properties}
    assert verdicts[noticed] is Verdict.VIOLATED


def test_a_sender_whose_peer_acknowledges_all_along_gives_up_nothing() -> None:
    """Acks are activity: time-outs count from the last of them."""
    from lawful.runtime.timers import SimulatedClock

    clock = SimulatedClock()
    sender = SenderInTime(clock=clock, conn_expiry_timeout=4, conn_close_timeout=2)
    for _ in range(3):
        sender.send(b"")
    sender.close()
    for seqno in (1, 2, 3):
        assert sender.lawful.fire_due(clock.advance(1)) == []
        sender.ack(Ack(seqno, 1))
    assert sender.lawful.fire_due(clock.advance(2)) == []
    assert sender.remove() == Close(1)
