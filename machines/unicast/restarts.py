"""Reliable unicast, composed: requirements on connection ids if an endpoint restarts, or if ids
wrap.

Source: `unicast3.txt` says that an entry has a conn-id [seed:113], but not where it comes from.
JGroups counts ids in 15 bits and gives a restarted member a new address. A service with a host and
a port needs ids with an epoch (U-B5). Ids that wrap need messages with a limited lifetime (U-B8).

Abstractions, beside those of `system.py`. For restarts: A restarts once; its application knows that
messages which were not acknowledged by then may be lost; messages are identified by their payload.
For wrapping: ids wrap after three, and B compares them as serial numbers; each connection has one
message, and B keeps its entry until A sends CLOSE.
"""

from lawful import (
    Expect,
    Ghost,
    Nat,
    Scope,
    can,
    drop,
    invariant,
    reachable,
    require,
    transition,
)

from .declaration import Conn, ReceiverEntry, ReceiverEntryFixed, SenderEntry, SenderEntryFixed
from .link import Link
from .messages import Close, Data, Payload

PERIOD = 3


class SenderOfEpoch(SenderEntryFixed):
    """A restart erases its memory, but thanks to an epoch it still knows its last connection id."""

    @transition(target=Conn.CLOSED)
    def restart(self) -> None:
        if self.highest_acked < self.highest_sent:
            self.reported = True
        self.forget()
        self.idle.stop()


class SenderEntryRestarting(SenderOfEpoch):
    """A restart counts connections from the beginning (U-B5)."""

    @transition(target=Conn.CLOSED)
    def restart(self) -> None:
        super().restart()
        self.conn = 0


class LinkWithEpoch(Link):
    """B does not take a restarted endpoint for an older connection: everything holds."""

    sender: SenderOfEpoch = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        SenderOfEpoch()
    )
    receiver: ReceiverEntry = ReceiverEntryFixed()
    restarted: bool = False
    sent: list[Payload] = []
    arrived: Ghost[list[Payload]] = []
    gone: Ghost[set[Payload]] = set()

    @transition()
    def restart(self) -> None:
        require(not self.restarted, "it has started again")
        self.restarted = True
        for q in self.sender.window:
            self.gone.add(self.sender.window[q])
            if (self.sender.conn, q) not in self.delivered:
                self.reported.add((self.sender.conn, q))
        self.sender.restart()

    @transition()
    def submit(self, payload: Payload) -> None:
        require(payload not in self.sent, "each message is another")
        self.sent.append(payload)
        super().submit(payload)

    @transition()
    def receive_data(self, m: Data) -> None:
        self.take(m)
        self.receiver.data(m)
        for _ in range(self.messages):
            if can(self.receiver.deliver):
                self.delivered.append((self.receiver.conn, self.receiver.next))
                self.arrived.append(self.receiver.deliver())

    @invariant
    def purged_has_arrived(self) -> bool:
        """For each message that A no longer keeps: B's application has it, or A's knows that it is
        lost."""
        return all(
            p in self.arrived
            or p in self.gone
            or any(self.sender.window[q] == p for q in self.sender.window)
            for p in self.sent
        )

    @reachable
    def sent_before_and_after(self) -> bool:
        return self.restarted and len(self.arrived) == 2

    scope = Scope(
        Nat=range(0, 4),
        Payload=2,
        network=3,
        submitted=2,
        sent=2,
        delivered=2,
        arrived=2,
        failures=(0,),
    )


class LinkRestarting(LinkWithEpoch):
    """The first connection after the restart has the same id as the first before it: an ack for the
    old one counts for the new one (U-B5)."""

    sender: SenderOfEpoch = SenderEntryRestarting()

    expects = Expect(
        purged_has_arrived=("violated", 6),
        **{"sender.connections_only_grow": ("violated", 2)},
    )


class SenderEntrySetBack(SenderOfEpoch):
    """The epoch is taken from a clock that is set back by one between its two lives."""

    conn: Nat = 1

    @transition(target=Conn.CLOSED)
    def restart(self) -> None:
        super().restart()
        self.conn = 0


class LinkSetBack(LinkWithEpoch):
    """B takes the connections of the second life for old ones and ignores them, so that all their
    messages are reported as in doubt. That is so until an id of the first life comes again: then an
    ack for the old one counts for the new one, as in U-B5. So the epoch must not go back."""

    sender: SenderOfEpoch = SenderEntrySetBack()

    @transition()
    def give_up(self) -> None:
        dropped = self.sender.give_up()
        self.put(Close(dropped.conn))
        self.reported |= {(m.conn, m.seqno) for m in dropped.in_doubt}
        self.gone |= {m.payload for m in dropped.in_doubt}

    @reachable
    def second_life_is_not_heard(self) -> bool:
        return self.restarted and self.sender.conn == 1 and len(self.gone) == 1

    scope = Scope(
        Nat=range(0, 4),
        Payload=3,
        network=2,
        submitted=3,
        sent=3,
        delivered=3,
        arrived=3,
        messages=(3,),
        failures=(0,),
    )
    # With fewer connections than it was set back, no id comes again.
    further = Scope(messages=(2,), expects=Expect(purged_has_arrived="holds", settled="holds"))
    expects = Expect(
        in_order=("violated", 5),
        purged_has_arrived=("violated", 11),
        settled="unknown",
        **{"sender.connections_only_grow": ("violated", 1)},
    )


class SenderEntryWrapping(SenderEntryFixed):
    """Connection ids go from 1 to the period, and start again; `conn` begins at 1, so the first
    connection has id 2."""

    conn: Nat = 1

    another_order = drop("connections_only_grow")

    @transition(target=Conn.OPEN)
    def send(self, payload: Payload) -> Data:
        if self.state == Conn.CLOSED and self.conn == PERIOD:
            self.conn = 0
        return super().send(payload)


class ReceiverEntryWrapping(ReceiverEntryFixed):
    """A connection is newer if its id is the next one, modulo the period."""

    another_order = drop("never_goes_back")
    newer_is_not_larger = drop("asks_no_older_one_where_to_begin")

    def unknown(self, m: Data) -> bool:
        return self.conn == 0 or (m.conn - self.conn) % PERIOD == 1


class ReceiverEntryComparing(ReceiverEntryWrapping):
    """A connection is newer if its id is larger, as in UNICAST4, although ids wrap."""

    def unknown(self, m: Data) -> bool:
        return m.conn > self.conn


class LinkWrapping(Link):
    """Three connections, after which ids start again. Messages may live that long: a copy from the
    first connection is taken for a message of the one after the last (U-B8)."""

    sender: SenderEntry = SenderEntryWrapping()
    receiver: ReceiverEntry = ReceiverEntryWrapping()

    no_timer = drop("expire_receiver")

    @transition()
    def submit(self, payload: Payload) -> None:
        require(self.sender.state == Conn.CLOSED, "each connection has one message")
        super().submit(payload)

    scope = Scope(
        Nat=range(0, 4),
        Payload=1,
        network=2,
        submitted=3,
        delivered=4,
        messages=(3,),
        failures=(0,),
    )
    deadlock_ok = True
    expects = Expect(no_duplicate=("violated", 18), in_order=("violated", 18))


class LinkWrappingInTime(LinkWrapping):
    """When a connection begins, no message of an earlier connection is under way: messages do not
    live that long."""

    @transition()
    def submit(self, payload: Payload) -> None:
        require(all(m.conn == self.sender.conn for m in self.network), "something is older")
        super().submit(payload)

    expects = Expect(no_duplicate="holds", in_order="holds")


class LinkComparing(LinkWrappingInTime):
    """The connection after the wrap is taken for an old one, and its messages never arrive
    (U-B7)."""

    receiver: ReceiverEntry = ReceiverEntryComparing()

    expects = Expect(settled=("violated", 14))
