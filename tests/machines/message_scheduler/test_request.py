"""One request of the message scheduler: the document's story, and what is established of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from lawful import Machine, Refused
from lawful.checks.prove import prove
from lawful.machines.message_scheduler.as_seed import ChannelAsSeed, RequestAsSeed
from lawful.machines.message_scheduler.channel import (
    Channel,
    ChannelFixed,
    ChannelId,
    Gate,
    Peer,
)
from lawful.machines.message_scheduler.declaration import (
    Discard,
    Failure,
    Frame,
    Notification,
    Reason,
    RequestFixed,
    Success,
)
from lawful.runtime.timers import SimulatedClock
from lawful.spec.resolve import resolve
from lawful.testing import conformance
from tests.machines.established import established, verdicts

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=20, stateful_step_count=30
)
A, B = Peer("a"), Peer("b")
A0, A1, B0 = ChannelId(A, 0), ChannelId(A, 1), ChannelId(B, 0)


def now(machine: Machine) -> dict[str, Any]:
    """The whole state; of a timer, the time that is left."""
    variables: dict[str, Any] = machine.lawful.snapshot()["variables"]
    return variables


def channel(of: ChannelId) -> dict[str, Any]:
    return {"$": "ChannelId", "peer": str(of.peer), "number": of.number}


def whole(**given: Any) -> dict[str, Any]:
    """The state of a request in which all that is not given is as at the start."""
    start: dict[str, Any] = {
        "state": "IDLE",
        "place": 0,
        "offered": {"$set": []},
        "refused": {"$set": []},
        "channel": None,
        "timer": None,
        "stopped": False,
        "request": 0,
    }
    for name in ("offered", "refused"):
        if name in given:
            given[name] = {"$set": [channel(c) for c in given[name]]}
    if "channel" in given:
        given["channel"] = channel(given["channel"])
    assert given.keys() <= start.keys()
    return {**start, **given}


def waiting(clock: SimulatedClock) -> RequestFixed:
    request = RequestFixed(clock=clock, timeout=30)
    assert request.schedule(1, False)
    return request


def sent(clock: SimulatedClock) -> RequestFixed:
    """A request that was sent as number 7 through a channel of A."""
    request = waiting(clock)
    request.offer(frozenset({A0, B0}))
    assert request.send(A0, 7) == Frame(A0, 7)
    return request


# The story, on the runtime.


def test_a_request_is_scheduled_offered_sent_and_answered() -> None:
    clock = SimulatedClock()
    request = RequestFixed(clock=clock, timeout=30)
    assert now(request) == whole()
    assert request.schedule(1, False)
    assert now(request) == whole(state="WAITING", place=1)
    with pytest.raises(Refused, match="offer: it has seen all of these"):
        request.offer(frozenset())
    request.offer(frozenset({A0, B0}))
    assert now(request) == whole(state="OFFERED", place=1, offered=[A0, B0])
    with pytest.raises(Refused, match="send: is not offered"):
        request.send(A1, 7)
    request.skip(B0)
    assert request.send(A0, 7) == Frame(A0, 7)
    flying = whole(state="SENT", place=1, channel=A0, timer=30.0, request=7)
    assert now(request) == flying
    assert request.receive(A, 6, b"other") is None
    assert request.receive(B, 7, b"forged") is None
    assert request.disconnect(B) is None
    assert now(request) == flying
    assert request.receive(A, 7, b"yes") == Success(7, b"yes", A0)
    answered = whole(state="SUCCEEDED", place=1, channel=A0, request=7)
    assert now(request) == answered
    assert request.receive(A, 7, b"again") is None
    assert request.lawful.fire_due(clock.advance(30)) == []
    assert now(request) == answered


def test_who_refuses_keeps_his_place_and_sees_another_offer() -> None:
    request = waiting(SimulatedClock())
    request.offer(frozenset({A0}))
    request.refuse_all()
    assert now(request) == whole(state="WAITING", place=1, refused=[A0])
    with pytest.raises(Refused, match="offer: it has seen all of these"):
        request.offer(frozenset({A0}))
    request.offer(frozenset({A0, B0}))
    request.refuse_all()
    request.taken(A0)
    assert now(request) == whole(state="WAITING", place=1, refused=[B0])
    request.offer(frozenset({A0, B0}))
    assert request.send(B0, 8) == Frame(B0, 8)


def test_a_missing_response_is_a_failure_and_the_sender_tries_again() -> None:
    clock = SimulatedClock()
    request = sent(clock)
    assert request.lawful.fire_due(clock.advance(29)) == []
    (fired,) = request.lawful.fire_due(clock.advance(1))
    assert fired.output == Failure(7, Reason.TIMEOUT, A0)
    assert request.schedule(2, True)
    deferred = whole(state="DEFERRED", place=2, request=7)
    assert now(request) == deferred
    with pytest.raises(Refused, match="offer: state is DEFERRED, not WAITING"):
        request.offer(frozenset({B0}))
    request.negotiate()
    assert now(request) == {**deferred, "state": "WAITING"}
    request.offer(frozenset({A0, B0}))
    assert request.send(B0, 8) == Frame(B0, 8)
    assert request.receive(A, 7, b"late") is None
    assert request.receive(B, 8, b"yes") == Success(8, b"yes", B0)


def test_places_are_given_out_in_order() -> None:
    clock = SimulatedClock()
    request = sent(clock)
    assert request.disconnect(A) == Failure(7, Reason.DISCONNECT, None)
    with pytest.raises(Refused, match="schedule: enqueue: places are given out in order"):
        request.schedule(1, False)
    assert request.schedule(2, False)


def test_stop_finds_everybody() -> None:
    clock = SimulatedClock()
    flying, queued, asleep = sent(clock), waiting(clock), RequestFixed(clock=clock, timeout=30)
    called_back = sent(clock)
    called_back.disconnect(A)
    assert called_back.schedule(2, True)
    assert flying.stop() == Failure(7, Reason.SHUTDOWN, None)
    assert queued.stop() == Discard()
    assert called_back.stop() == Discard()
    assert asleep.stop() is None
    assert now(flying) == whole(state="FAILED", place=1, channel=A0, request=7, stopped=True)
    assert now(queued) == whole(state="DISCARDED", place=1, stopped=True)
    assert now(called_back) == whole(state="DISCARDED", place=2, request=7, stopped=True)
    assert now(asleep) == whole(stopped=True)
    assert not asleep.schedule(3, False)
    assert not flying.schedule(3, True)
    assert now(flying) == whole(state="FAILED", place=1, channel=A0, request=7, stopped=True)


def test_withdrawn_is_returned_and_nobody_is_called() -> None:
    clock = SimulatedClock()
    queued, flying = waiting(clock), sent(clock)
    queued.withdraw_sender()
    assert now(queued) == whole(state="WITHDRAWN", place=1)
    flying.withdraw_receiver()
    gone = whole(state="WITHDRAWN", place=1, channel=A0, request=7, timer=30.0)
    assert now(flying) == gone
    assert flying.receive(A, 7, b"yes") is None
    assert now(flying) == gone
    (fired,) = flying.lawful.fire_due(clock.advance(30))
    assert fired.output == A0
    assert now(flying) == {**gone, "timer": None}


def test_a_notification_closes_its_channel_for_a_while() -> None:
    clock = SimulatedClock()
    note = Notification(clock=clock, timeout=5)
    note.schedule(1, False)
    note.offer(frozenset({A0}))
    assert note.send(A0) == Frame(A0, None)
    (fired,) = note.lawful.fire_due(clock.advance(5))
    assert fired.output == A0
    expected = whole(state="SUCCEEDED", place=1, channel=A0)
    del expected["request"]
    assert now(note) == expected


def test_a_channel_carries_one_message_at_a_time_and_goes_with_its_peer() -> None:
    gate: Channel = ChannelFixed()
    gate.send()
    with pytest.raises(Refused, match="send: state is CLOSED, not OPEN"):
        gate.send()
    gate.reopen()
    gate.die()
    with pytest.raises(Refused, match="send: the peer has been destroyed"):
        gate.send()
    assert now(gate) == {"state": "OPEN", "alive": False}
    gate.discover()
    gate.reopen()
    gate.disconnect()
    assert gate.lawful.at(Gate.GONE)
    assert now(gate) == {"state": "GONE", "alive": False}


# What is established.


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (RequestFixed, (1_494, 12_603, 10)),
        (Notification, (562, 3_050, 6)),
        (ChannelFixed, (6, 11, 3)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    assert established(cls) == (expected, {})


def test_the_document_as_written() -> None:
    assert established(RequestAsSeed) == (
        (2_881, 26_402, 11),
        {
            "nobody_waits_once_stopped": ["defer", "stop_asleep"],
            "offers_differ": ["enqueue", "offer", "refuse_all", "offer"],
        },
    )
    assert established(ChannelAsSeed) == (
        (6, 12, 3),
        {"gone_for_good": ["send", "disconnect", "reopen"]},
    )


@pytest.mark.parametrize(
    "cls", [RequestFixed, Notification, ChannelFixed], ids=lambda cls: cls.__name__
)
def test_it_is_proved_for_any_number_of_peers_and_channels(cls: type[Machine]) -> None:
    assert verdicts(prove(resolve(cls).machine, sizes={})) == {"proved"}


BODIES = {"Body": st.binary(max_size=3)}
TestRequest = conformance(
    RequestFixed,
    lambda clock: RequestFixed(clock=clock, timeout=30),
    settings=QUICK,
    given=BODIES,
)
TestNotification = conformance(
    Notification, lambda clock: Notification(clock=clock, timeout=5), settings=QUICK
)
TestChannel = conformance(ChannelFixed, lambda clock: ChannelFixed(clock=clock), settings=QUICK)
