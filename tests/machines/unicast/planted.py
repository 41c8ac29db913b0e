"""Bugs that are planted in the service: each in the place of a method, or of a machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from lawful import transition
from lawful.machines.unicast.declaration import Conn, ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.messages import Ack, Close, Data, Dropped, Payload
from lawful.machines.unicast.service import endpoint, peer, socket
from lawful.machines.unicast.service.doubts import Doubts
from lawful.machines.unicast.service.endpoint import Unicast
from lawful.machines.unicast.service.inbox import Inbox
from lawful.machines.unicast.service.large import LargePayloads
from lawful.machines.unicast.service.parts import Arrivals
from lawful.machines.unicast.service.peer import Peer, Requests
from lawful.machines.unicast.service.wire import MAGIC, decode


@dataclass(frozen=True)
class Bug:
    """Stands for what the module or class has under that name."""

    place: ModuleType | type[object]
    name: str
    planted: object


def _keeps_reports(_self: Doubts, _peer: str, _dropped: Dropped) -> None:
    """The application is not told what is in doubt."""


def _never_requests(_self: Requests, _receiver: ReceiverEntryFixed) -> bool:
    """What is missing is not requested."""
    return False


class LosesWhatWaits(Inbox):
    """What the inbox has no room for is delivered to nobody."""

    def deliver(self, peer: Peer) -> None:
        super().deliver(peer)
        while peer.receiver.lawful.may("deliver"):
            peer.receiver.deliver()


def _believes(datagram: bytes, key: bytes = b"") -> object:
    """A datagram that is not sealed is taken, too."""
    return decode(datagram, b"" if datagram[:4] == MAGIC else key)


def _never_settles(_self: LargePayloads, _most: int) -> None:
    """What is acknowledged is taken for delivered."""


class NoTombstone(ReceiverEntryFixed):
    """A removed entry remembers nothing (U-B3)."""

    def remember(self) -> None:
        self.conn, self.next, self.highest = 0, 1, 0


class AcksTheHighest(ReceiverEntryFixed):
    """An ack carries the highest number that was seen (U-B9)."""

    @transition(timer="ack_delay")
    def send_ack(self) -> Ack:
        return Ack(seqno=self.highest, conn=self.conn)


class NoResending(SenderEntryFixed):
    """The last message is never sent again."""

    @transition()
    def task(self) -> Data | None:
        self.seen_sent, self.seen_acked = self.highest_sent, self.highest_acked
        return None


class SilentLoss(SenderEntryFixed):
    """A connection that is given up is said to be done (U-B1)."""

    @transition(source=Conn.CLOSING, target=Conn.CLOSED, timer="idle")
    def remove(self) -> Close:
        self.forget()
        return Close(self.conn)

    @transition(source=Conn.CLOSING, target=Conn.CLOSED)
    def give_up(self) -> Dropped:
        return Dropped(self.conn, self.highest_acked, frozenset())


class OneLife(SenderEntryFixed):
    """Connections of one entry have one number (U24)."""

    @transition(target=Conn.OPEN)
    def send(self, payload: Payload) -> Data:
        self.conn = 1
        self.highest_sent += 1
        self.window[self.highest_sent] = payload
        self.touch()
        return self.kept(self.highest_sent)


def _all_at_once(self: Arrivals) -> int:
    """Each part is delivered when it comes, and is a payload then."""
    return int(self.receiver.next in self.receiver.buffer)


def _never_early(_self: Arrivals, _number: int) -> None:
    """Nobody remembers which payloads overtook others."""


def _keeps_early(self: Arrivals, count: int) -> list[bytes]:
    """The number of a payload that overtook others is kept when its turn has come."""
    parts = TAKE(self, count)
    if not parts:
        self.early.add(self.receiver.next - 1)
    return parts


def _keeps_told(self: Doubts, peer: str, dropped: Dropped) -> None:
    """Each report is kept, too."""
    vars(self).setdefault("told", []).append(dropped)
    TELL(self, peer, dropped)


def _begins_anew(self: Unicast, known: Peer) -> None:
    """A peer that is met again gets the ids of connections that it has seen."""
    epoch = vars(self)["_epoch"]
    FORGET(self, known)
    vars(self)["_epoch"] = epoch


def _keeps_inbox(_self: Inbox, _name: str) -> None:
    """An inbox without room remembers a peer that is forgotten."""


def _keeps_watching(_self: Peer) -> None:
    """The journal and the timers know a peer that is forgotten."""


TAKE, TELL = Arrivals.take, Doubts.tell
FORGET: Callable[[Unicast, Peer], None] = vars(Unicast)["_forget"]

LEAKS = {
    "keeps early numbers": Bug(Arrivals, "take", _keeps_early),
    "keeps old reports": Bug(Doubts, "tell", _keeps_told),
}
BUGS = {
    "parts alone": Bug(Arrivals, "ready", _all_at_once),
    "delivers twice": Bug(Arrivals, "overtake", _never_early),
    "keeps reports": Bug(Doubts, "tell", _keeps_reports),
    "believes acks": Bug(LargePayloads, "settled", _never_settles),
    "never requests": Bug(Requests, "due", _never_requests),
    "loses what waits": Bug(endpoint, "Inbox", LosesWhatWaits),
    "believes everybody": Bug(socket, "decode", _believes),
    "no tombstone": Bug(peer, "ReceiverEntryFixed", NoTombstone),
    "acks the highest": Bug(peer, "ReceiverEntryFixed", AcksTheHighest),
    "no resending": Bug(peer, "SenderEntryFixed", NoResending),
    "silent loss": Bug(peer, "SenderEntryFixed", SilentLoss),
    "begins anew": Bug(endpoint.Unicast, "_forget", _begins_anew),
    "keeps watching": Bug(Peer, "unwatch", _keeps_watching),
    "keeps who waits": Bug(Inbox, "forget", _keeps_inbox),
    "one life": Bug(peer, "SenderEntryFixed", OneLife),
}
