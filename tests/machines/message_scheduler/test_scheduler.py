"""The scheduler that a service embeds: the document's story, on the runtime."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Refused
from lawful.machines.message_scheduler.declaration import (
    Call,
    ChannelId,
    Discard,
    Failure,
    Frame,
    Life,
    Offer,
    Peer,
    Reason,
    Scheduler,
    Success,
    Token,
    Type,
)
from lawful.runtime.timers import SimulatedClock

A, B = Peer("a"), Peer("b")
A0, A1, B0 = ChannelId(A, 0), ChannelId(A, 1), ChannelId(B, 0)
LEDGER, OBJECT = Type("ledger"), Type("object")
ONE, TWO, THREE = Token("1"), Token("2"), Token("3")


def scheduler(clock: SimulatedClock | None = None, greatest: int = 99) -> Scheduler:
    return Scheduler(clock=clock or SimulatedClock(), least=7, greatest=greatest)


def called(s: Scheduler) -> Call | None:
    """The next callback, which returns at once."""
    callback = s.call()
    if callback is not None:
        s.returned()
    return callback


def sent(s: Scheduler, channel: ChannelId = A0, timeout: int = 30) -> Frame:
    """A request that the only sender sends, for a response of LEDGER."""
    s.schedule(ONE)
    assert isinstance(s.call(), Offer)
    frame = s.send_request(channel, LEDGER, timeout)
    s.returned()
    return frame


def test_a_request_is_scheduled_offered_sent_and_answered() -> None:
    s = scheduler()
    s.connect(A, 2)
    s.connect(B, 1)
    assert called(s) is None
    assert s.schedule(ONE)
    assert s.call() == Offer(ONE, frozenset({A0, A1, B0}), 3)
    assert s.send_request(A0, LEDGER, 30) == Frame(A0, 7)
    with pytest.raises(Refused, match="is not offered"):
        s.send_request(A0, LEDGER, 30)
    assert s.send_notification(B0, 5) == Frame(B0, None)
    s.returned()
    s.receive(B, 7, LEDGER, b"of another peer")
    s.receive(A, 8, LEDGER, b"of another request")
    s.receive(A, 7, OBJECT, b"of another type")
    assert called(s) is None
    s.receive(A, 7, LEDGER, b"yes")
    s.receive(A, 7, LEDGER, b"again")
    assert called(s) == Success(7, b"yes")
    assert called(s) is None
    assert s.open() == {A0, A1}


def test_first_come_first_served_one_each_while_several_wait() -> None:
    s = scheduler()
    for token in (TWO, ONE):
        assert s.schedule(token)
    s.connect(A, 2)
    assert s.call() == Offer(TWO, frozenset({A0, A1}), 1)
    s.send_notification(A0, 5)
    with pytest.raises(Refused, match="the offer is exhausted"):
        s.send_notification(A1, 5)
    assert s.schedule(THREE)  # It continues: behind those that wait.
    with pytest.raises(Refused, match="a callback runs"):
        s.call()
    s.returned()
    assert called(s) == Offer(ONE, frozenset({A1}), 1)
    assert called(s) == Offer(THREE, frozenset({A1}), 1)
    assert called(s) is None


def test_who_refuses_keeps_its_place_and_sees_another_offer() -> None:
    s = scheduler()
    s.connect(A, 1)
    s.schedule(ONE)
    assert called(s) == Offer(ONE, frozenset({A0}), 1)
    assert called(s) is None
    s.connect(B, 1)
    assert called(s) == Offer(ONE, frozenset({A0, B0}), 2)
    assert called(s) is None


def test_a_missing_response_is_a_failure_and_a_notification_is_digested() -> None:
    clock = SimulatedClock()
    s = scheduler(clock)
    s.connect(A, 1)
    assert sent(s) == Frame(A0, 7)
    assert s.lawful.fire_due(clock.advance(29)) == []
    s.lawful.fire_due(clock.advance(1))
    s.receive(A, 7, LEDGER, b"late")
    assert called(s) == Failure(7, Reason.TIMEOUT)
    s.schedule(TWO)
    assert s.call() == Offer(TWO, frozenset({A0}), 1)
    s.send_notification(A0, 5)
    s.returned()
    assert s.open() == frozenset()
    s.lawful.fire_due(clock.advance(5))
    assert called(s) is None
    assert s.open() == {A0}


def test_nothing_goes_to_a_peer_that_left() -> None:
    s = scheduler()
    s.connect(A, 1)
    s.connect(B, 1)
    sent(s, A0)
    s.schedule(TWO)
    assert s.call() == Offer(TWO, frozenset({B0}), 1)
    s.disconnect(B)
    s.disconnect(A)
    with pytest.raises(Refused, match="is not offered"):
        s.send_notification(B0, 5)
    s.returned()
    assert called(s) == Failure(7, Reason.DISCONNECT)
    assert called(s) is None


def test_what_is_found_dead_leaves_the_offer_and_the_pool() -> None:
    s = scheduler()
    s.connect(A, 1)
    s.schedule(ONE)
    assert s.call() == Offer(ONE, frozenset({A0}), 1)
    s.skip(A0)
    with pytest.raises(Refused, match="is not offered"):
        s.send_notification(A0, 5)
    s.returned()
    assert s.open() == frozenset()


def test_withdrawn_is_returned_and_nobody_is_called() -> None:
    s = scheduler()
    s.connect(A, 1)
    s.schedule(ONE)
    s.schedule(TWO)
    assert s.withdraw_sender(TWO)
    assert not s.withdraw_sender(TWO)
    assert s.call() == Offer(ONE, frozenset({A0}), 1)
    s.send_request(A0, LEDGER, 30)
    assert not s.withdraw_sender(ONE)
    s.receive(A, 7, LEDGER, b"yes")
    assert s.withdraw_receiver(7)  # Its callback was about to be called.
    assert not s.withdraw_receiver(7)
    s.returned()
    assert called(s) is None
    sent(s)
    assert s.withdraw_receiver(8)
    s.receive(A, 8, LEDGER, b"yes")
    assert called(s) is None
    assert s.open() == frozenset()  # The peer still has the request.


@given(st.integers(1, 40), st.lists(st.integers(0, 39), max_size=20))
def test_who_withdraws_leaves_the_others_in_their_order(count: int, withdrawn: list[int]) -> None:
    """However many wait: exploration has few."""
    s, waiting = scheduler(), [Token(f"{n}") for n in range(count)]
    for token in waiting:
        s.schedule(token)
    for token in (Token(f"{n}") for n in withdrawn):
        assert s.withdraw_sender(token) == (token in waiting)
        waiting = [each for each in waiting if each != token]
        assert (list(s.queue), set(s.seen)) == (waiting, set(waiting))


def test_stop_tells_everybody_and_accepts_nobody() -> None:
    s = scheduler()
    s.connect(A, 2)
    sent(s)
    s.schedule(TWO)
    s.schedule(THREE)
    assert s.call() == Offer(TWO, frozenset({A1}), 1)
    s.stop()
    assert s.state == Life.STOPPED
    with pytest.raises(Refused, match="no offer is considered"):
        s.send_notification(A1, 5)
    with pytest.raises(Refused, match="state is STOPPED"):
        s.connect(B, 1)
    assert not s.schedule(Token("4"))
    s.returned()
    assert called(s) == Failure(7, Reason.SHUTDOWN)
    assert called(s) == Discard(TWO)
    assert not s.over()
    assert called(s) == Discard(THREE)
    assert s.over()
    assert called(s) is None


def test_numbers_go_round_and_skip_what_is_outstanding() -> None:
    s = scheduler(greatest=9)
    s.connect(A, 4)
    s.schedule(ONE)
    s.call()
    assert [s.send_request(ChannelId(A, i), LEDGER, 30).request for i in range(3)] == [7, 8, 9]
    with pytest.raises(Refused, match="all numbers are outstanding"):
        s.send_request(ChannelId(A, 3), LEDGER, 30)
    s.receive(A, 8, LEDGER, b"")
    with pytest.raises(Refused, match="all numbers are outstanding"):
        s.send_request(ChannelId(A, 3), LEDGER, 30)  # Its receiver is not called yet.
    s.returned()
    assert called(s) == Success(8, b"")
    s.schedule(TWO)
    s.call()
    assert s.send_request(ChannelId(A, 3), LEDGER, 30).request == 8


class Embedded:
    """The loop of `declaration.py`, with one lock: what a service has around the scheduler."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.scheduler = scheduler()
        self.overlapping = 0
        self.calls: list[Call] = []

    def event(self, event: Callable[[Scheduler], object]) -> None:
        with self.lock:
            event(self.scheduler)
            while not self.scheduler.calling:
                callback = self.scheduler.call()
                if callback is None:
                    return
                self.lock.release()
                try:
                    self.run(callback)
                finally:
                    self.lock.acquire()
                self.scheduler.returned()

    def run(self, callback: Call) -> None:
        """A sender sends one notification on one of the channels."""
        self.overlapping += 1
        assert self.overlapping == 1
        self.calls.append(callback)
        if isinstance(callback, Offer):
            channel = min(callback.channels, key=lambda c: c.number)
            with self.lock:
                self.scheduler.send_notification(channel, 1000)
        self.overlapping -= 1


def test_threads_that_follow_the_rule_call_one_at_a_time_in_order() -> None:
    service = Embedded()
    service.event(lambda s: s.connect(A, 40))

    def schedules(name: str) -> None:
        for i in range(10):
            token = Token(f"{name}-{i}")
            service.event(partial(Scheduler.schedule, token=token))

    threads = [threading.Thread(target=schedules, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    offers = [callback for callback in service.calls if isinstance(callback, Offer)]
    assert len(offers) == 40 == len({offer.token for offer in offers})
    assert service.scheduler.open() == frozenset()
