"""What the service embeds conforms to what was declared: every event, every state after it.

The entries are driven twice: as the runtime executes them, and as an endpoint has them, in a
`Peer`, with each message on its way through the wire format. A third sender is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Param
from lawful.checks.conform.lockstep import Subject, replay
from lawful.checks.conform.oracle import Call
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from lawful.machines.unicast.declaration import Conn, ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.messages import Ack, Close, Data, Dropped, SendFirst, XmitReq
from lawful.machines.unicast.service.peer import FormerLife, Peer, from_wire, to_wire
from lawful.machines.unicast.service.settings import Config
from lawful.machines.unicast.service.wire import Batch, decode, encode
from lawful.machines.unicast.system import LinkFixed
from lawful.runtime.kernel.event_record import Stepped
from lawful.spec.resolve import resolve
from lawful.testing import Mismatch, SimulatedClock, conformance

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=8, stateful_step_count=30
)
EPOCH = 1_000_000
PAYLOADS = {"Payload": st.binary(max_size=3).map(lambda raw: b"\x03" + raw)}  # Each is one part.

# As the runtime executes them.

TestSender = conformance(
    SenderEntryFixed, lambda clock: SenderEntryFixed(clock=clock), settings=QUICK
)
TestReceiver = conformance(
    ReceiverEntryFixed, lambda clock: ReceiverEntryFixed(clock=clock), settings=QUICK
)
TestWithoutReaping = conformance(
    SenderEntryFixed, lambda clock: SenderEntryFixed(clock=clock, reaping=False), settings=QUICK
)
TestSenderAsSeed = conformance(
    SenderEntryAsSeed, lambda clock: SenderEntryAsSeed(clock=clock), settings=QUICK
)
TestReceiverAsSeed = conformance(
    ReceiverEntryAsSeed, lambda clock: ReceiverEntryAsSeed(clock=clock), settings=QUICK
)
TestLink = conformance(LinkFixed, lambda clock: LinkFixed(clock=clock), settings=QUICK)


def observed(entry: Any) -> Any:
    """With an observer, as in an endpoint with a journal: events then run another way."""
    rows: list[Stepped] = []
    entry.lawful.observe(rows.append)
    return entry


TestObservedSender = conformance(
    SenderEntryFixed, lambda clock: observed(SenderEntryFixed(clock=clock)), settings=QUICK
)
TestObservedReceiver = conformance(
    ReceiverEntryFixed, lambda clock: observed(ReceiverEntryFixed(clock=clock)), settings=QUICK
)

# As an endpoint has them.


def peer(clock: SimulatedClock) -> Peer:
    return Peer.at(("127.0.0.1", 1), "B", 0, Config(), clock)


def travelled(message: Any, leave: int, arrive: int) -> Any:
    """The message as it comes out of a datagram, at an end of this epoch."""
    batch = Batch("A", "B", (to_wire(message, leave),), 1)
    (found,) = decode(encode(batch)).in_order_of_handling()
    return from_wire(found, arrive)


def through_the_wire(entry: Callable[[Peer], Any]) -> Callable[..., Any]:
    """Messages arrive in datagrams, and what the entry says leaves in one."""

    def perform(peer: Peer, event: str, args: tuple[Any, ...]) -> Any:
        try:
            given = [arrived(arg) if isinstance(arg, MESSAGES) else arg for arg in args]
        except FormerLife:
            return frozenset[Data]() if event == "retransmit" else None
        output = getattr(entry(peer), event)(*given)
        return frozenset(map(left, output)) if event == "retransmit" else left(output)

    return perform


MESSAGES = (Data, Ack, SendFirst, XmitReq, Close)


def arrived(message: Any) -> Any:
    """A message from the peer: of a connection of ours it has the id that the wire gave it."""
    ours = isinstance(message, Ack | SendFirst | XmitReq)
    sent = message.replace(conn=message.conn + EPOCH) if ours else message
    return travelled(sent, 0, EPOCH)


def left(output: Any) -> Any:
    """What an entry said, as the peer hears it and would answer."""
    match output:
        case Data() | Close():
            heard = travelled(output, EPOCH, 0)
            return heard.replace(conn=heard.conn - EPOCH)
        case Ack() | SendFirst() | XmitReq():
            heard = travelled(output, 0, 0) if output.conn else output
            return heard
        case _:
            return output


TestSenderOfAPeer = conformance(
    SenderEntryFixed,
    peer,
    perform=through_the_wire(lambda peer: peer.sender),
    view=lambda peer: peer.sender,
    given=PAYLOADS,
    settings=QUICK,
)
TestReceiverOfAPeer = conformance(
    ReceiverEntryFixed,
    peer,
    perform=through_the_wire(lambda peer: peer.receiver),
    view=lambda peer: peer.receiver,
    given=PAYLOADS,
    settings=QUICK,
)


# Written by hand, without any machine.


class Sender:
    """A sender as one might write it: a list of what is unacknowledged, and no names of ours."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.clock = clock
        self.connection = 0
        self.sent = 0
        self.unacked: list[bytes] = []
        self.seen = (0, 0)
        self.closing = False
        self.alarm: float | None = None

    @property
    def acked(self) -> int:
        return self.sent - len(self.unacked)

    def _data(self, seqno: int, first: bool = False) -> Data:
        payload = self.unacked[seqno - self.acked - 1]
        return Data(seqno, self.connection, first or seqno == 1, payload)

    def _live(self, connection: int | None = None) -> bool:
        return self.sent > 0 and connection in (None, self.connection)

    def send(self, payload: bytes) -> Data:
        if not self._live():
            self.connection += 1
        self.closing = False
        self.sent += 1
        self.unacked.append(payload)
        self.alarm = self.clock.now() + 120
        return self._data(self.sent)

    def ack(self, m: Ack) -> None:
        if self._live(m.conn) and self.acked < m.seqno <= self.sent:
            del self.unacked[: m.seqno - self.acked]
            self.alarm = self.clock.now() + (60 if self.closing else 120)

    def task(self) -> Data | None:
        last, self.seen = self.seen, (self.acked, self.sent)
        return self._data(self.sent) if self.unacked and last == self.seen else None

    def retransmit(self, m: XmitReq) -> set[Data]:
        if m.conn != self.connection:
            return set()
        again = {self._data(q) for q in m.missing if self.acked < q <= self.sent}
        if self.unacked and any(0 < q <= self.acked for q in m.missing):
            again.add(self._data(self.acked + 1, first=True))
        return again

    def send_first(self, m: SendFirst) -> Data | None:
        if self._live(m.conn) and self.unacked:
            return self._data(self.acked + 1, first=True)
        return None

    def close(self) -> None:
        if self._live() and not self.closing:
            self.closing, self.alarm = True, self.clock.now() + 60

    def tick(self) -> Close | Dropped | None:
        """What happens in time; nothing unless the alarm is due."""
        if self.alarm is None or self.clock.now() < self.alarm:
            raise LookupError("not yet")
        if not self.closing:
            self.close()
            return None
        kept = frozenset(self._data(self.acked + 1 + i) for i in range(len(self.unacked)))
        acked = self.acked
        self.sent, self.unacked, self.seen = 0, [], (0, 0)
        self.closing, self.alarm = False, None
        return Dropped(self.connection, acked, kept) if kept else Close(self.connection)


def by_hand(sender: Sender, event: str, args: tuple[Any, ...]) -> Any:
    """The machine's three timed events are one method, of which only one is possible at a time."""
    possible = {
        "expire": sender.sent > 0 and not sender.closing,
        "remove": sender.closing and not sender.unacked,
        "give_up": sender.closing and bool(sender.unacked),
    }
    if event not in possible:
        return getattr(sender, event)(*args)
    if not possible[event]:
        raise LookupError("another event")
    return sender.tick()


def seen(sender: Sender) -> dict[str, Any]:
    """The variables of a sender entry."""
    live = Conn.CLOSING if sender.closing else Conn.OPEN
    return {
        "state": live if sender.sent else Conn.CLOSED,
        "conn": sender.connection,
        "idle": sender.alarm,
        "highest_sent": sender.sent,
        "highest_acked": sender.acked,
        "seen_acked": sender.seen[0],
        "seen_sent": sender.seen[1],
        "window": {sender.acked + 1 + i: p for i, p in enumerate(sender.unacked)},
    }


TestSenderByHand = conformance(
    SenderEntryFixed, Sender, perform=by_hand, view=seen, refused=(LookupError,), settings=QUICK
)


class Literal(Sender):
    """Acknowledges whatever it is told: a number that was never sent, too."""

    def ack(self, m: Ack) -> None:
        if self._live(m.conn) and m.seqno > self.acked:
            del self.unacked[: m.seqno - self.acked]
            self.sent = max(self.sent, m.seqno)
            self.alarm = self.clock.now() + (60 if self.closing else 120)


class Shared(Sender):
    """Acknowledgements of one connection count for the next (U-B6)."""

    def ack(self, m: Ack) -> None:
        super().ack(m.replace(conn=self.connection))


class Impatient(Sender):
    """Closes as soon as it would expire."""

    def close(self) -> None:
        super().close()
        self.alarm = self.alarm and self.clock.now() + 10


WRONG: dict[type[Sender], list[str]] = {
    Literal: [
        "SenderEntryFixed, in the last of these events:",
        "    send(Payload(0))  # Data(seqno=1, conn=1, first=True, payload=Payload(0))",
        "    ack(Ack(seqno=2, conn=1))",
        "the machine ignores it: late, repeated, or of another connection; nothing may change",
        "highest_sent: expected 1, found 2",
        "highest_acked: expected 0, found 2",
        "window[1]: expected Payload(0), found nothing",
    ],
    Shared: [
        "SenderEntryFixed, in the last of these events:",
        "    send(Payload(0))  # Data(seqno=1, conn=1, first=True, payload=Payload(0))",
        "    ack(Ack(seqno=1, conn=0))",
        "the machine ignores it: late, repeated, or of another connection; nothing may change",
        "highest_acked: expected 0, found 1",
        "window[1]: expected Payload(0), found nothing",
    ],
}


WRONG[Impatient] = [
    "SenderEntryFixed, in the last of these events:",
    "    send(Payload(0))  # Data(seqno=1, conn=1, first=True, payload=Payload(0))",
    "    close()",
    "idle: expected due at 60, found due at 10",
]


@pytest.mark.parametrize("sender", WRONG)
def test_a_wrong_sender_is_told(sender: type[Sender]) -> None:
    test = conformance(
        SenderEntryFixed,
        sender,
        perform=by_hand,
        view=seen,
        refused=(LookupError,),
        settings=settings(QUICK, max_examples=400),
    )
    with pytest.raises(Mismatch) as caught:
        test("runTest").debug()
    assert [line for line in str(caught.value).splitlines() if line] == WRONG[sender]


class ReceiverAsSeed(ReceiverEntryAsSeed):
    """The document knows no largest window."""

    largest_window: Param[Nat] = 4_096


@pytest.mark.parametrize(
    "repair, seed, count",
    [(SenderEntryFixed, SenderEntryAsSeed, 3), (ReceiverEntryFixed, ReceiverAsSeed, 1)],
)
def test_the_document_as_written_is_told_from_the_repair(
    repair: type[Machine], seed: type[Machine], count: int
) -> None:
    """U-B1: it closes with messages unacknowledged. U-B7: another connection is a new one."""
    test = conformance(
        repair,
        lambda clock: seed(clock=clock),
        settings=QUICK,
        refused=(AttributeError,),
        perform=lambda entry, event, args: getattr(entry, event)(*args),
    )
    with pytest.raises(Mismatch) as caught:
        test("runTest").debug()
    assert len(re.findall(r"^    \w+\(.*\)", str(caught.value), re.MULTILINE)) == count


def test_a_removal_in_silence_is_told_whole() -> None:
    subject = Subject(
        resolve(SenderEntryFixed),
        lambda clock: SenderEntryAsSeed(clock=clock),
        lambda entry, event, args: entry.lawful.take(event, *args),
    )
    way = {way.name: way for way in subject.entry_points}
    acts = [Call(way["send"], (b"m1",)), Call(way["close"], ()), Call(way["remove"], ())]
    with pytest.raises(Mismatch) as caught:
        replay(subject, acts)
    assert str(caught.value).splitlines() == [
        "SenderEntryFixed, in the last of these events:",
        "",
        "    send(b'm1')  # Data(seqno=1, conn=1, first=True, payload=b'm1')",
        "    close()",
        "    remove()",
        "",
        "the machine refuses it: unacknowledged messages would be lost (0 == 1 is false)",
        "the implementation accepts it and returns Close(conn=1)",
        "state: expected Conn.CLOSING, found Conn.CLOSED",
        "idle: expected armed, found stopped",
        "highest_sent: expected 1, found 0",
        "window[1]: expected b'm1', found nothing",
    ]
