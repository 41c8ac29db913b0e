"""Reliable unicast: the two ends of one connection, after UNICAST3 (Bela Ban, JGroups).

Source: the design document `unicast3.txt`. `[seed:48]` is line 48 of it, `U10` the number of a
demand, `U-B1` of a defect that its text allows. A sender A keeps a `SenderEntry` for each peer to
which it sends; a receiver B keeps a `ReceiverEntry` for each peer from which it receives. Neither
does I/O: an event returns what its caller must send, or pass to the application. This file declares
the repaired design; `as_seed.py` restores the document's text where it goes wrong.

Abstractions. Removed and CLOSED are one state (U26): the object also keeps what outlives an entry,
namely the last connection id, the fixed receiver's tombstone (`conn`, `next`), and the flag
`sync_due`, which U28 puts "in the receiver entry" when there is none. The caller runs the periodic
tasks: A's `task`, and at B those of `request_missing` and `send_sync` that are possible. Timers
here are delays. "conn-expiry-timeout > 0" is the parameter `reaping`. A batch (U11, U27) is its
messages one by one, which the delayed ack acknowledges together. Activity is receiving at B, and at
A sending or an ack of something new: the seed leaves open whether acks count, and without them A
would give up a B that answers all along. Connection ids do not wrap; the service makes them survive
a restart (U-B5). Each transition names its demand; U1, U2 are background. The service meets U27,
the 500 ms of the tasks and the seconds of U17; `system.py` shows U3 and U5 as a whole.
"""

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    State,
    Timer,
    can,
    event,
    ignore,
    implies,
    invariant,
    reachable,
    require,
    step_property,
    transition,
)

from .messages import Ack, Close, Data, Dropped, Payload, SendFirst, XmitReq


class Conn(State):
    """States of a connection entry, on either side (U4, U18, [seed:84-85])."""

    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"


class Entry(Machine, abstract=True):
    """The common part of both sides: the states, and the removal of idle entries."""

    state: Conn = Conn.CLOSED
    conn: Nat = 0
    idle: Timer = Timer()

    conn_expiry_timeout: Param[float] = 120.0
    conn_close_timeout: Param[float] = 60.0
    reaping: Param[bool] = True

    def touch(self) -> None:
        if self.reaping:
            self.idle.start(self.conn_expiry_timeout)
        else:
            self.idle.stop()

    @transition(source=Conn.OPEN, target=Conn.CLOSING, timer="idle")
    def expire(self) -> None:
        """Reaping: update the timestamp, set the state to CLOSING [seed:131-134] (U20, U29)."""
        self.idle.start(self.conn_close_timeout)

    @invariant
    def idle_is_reaped(self) -> bool:
        """The idle timer runs in OPEN if reaping is enabled, and always in CLOSING (U20, U29)."""
        closing = self.state == Conn.CLOSING
        return self.idle.armed == (closing or (self.state == Conn.OPEN and self.reaping))


class SenderEntry(Entry, abstract=True):
    """A's side: it numbers messages, and keeps and resends them until they are acknowledged."""

    highest_sent: Nat = 0
    highest_acked: Nat = 0
    seen_sent: Nat = 0
    seen_acked: Nat = 0
    window: dict[Nat, Payload] = {}
    reported: Ghost[bool] = False
    covered: Ghost[Nat] = 0

    @transition(target=Conn.OPEN)
    def send(self, payload: Payload) -> Data:
        """Send a message: number it, keep it [seed:48,105-109] (U10). A CLOSING entry becomes OPEN
        again, and its timestamp is reset (U21, U23). A CLOSED one begins a new connection with a
        larger id (U24). Look-up and append are one step, which closes the race of U-B2."""
        if self.state == Conn.CLOSED:
            self.conn += 1
            self.reported = False
        self.highest_sent += 1
        self.window[self.highest_sent] = payload
        self.touch()
        return self.kept(self.highest_sent)

    def kept(self, seqno: Nat) -> Data:
        return Data(seqno, self.conn, seqno == 1, self.window[seqno])

    @transition()
    def ack(self, m: Ack) -> None:
        """Acks are cumulative: remove all messages that this ack covers [seed:53] (U6, U12)."""
        require(m.conn == self.conn, "acknowledges another connection")
        require(self.highest_acked < m.seqno, "was acknowledged before")
        require(m.seqno <= self.highest_sent, "acknowledges what was never sent")
        self.highest_acked = m.seqno
        self.covered = m.seqno
        self.window = {q: p for q, p in self.window.items() if q > m.seqno}
        if self.state == Conn.CLOSING:
            self.idle.start(self.conn_close_timeout)
        else:
            self.touch()

    stale = ignore("ack", otherwise=True, because="late, repeated, or of another connection")

    def unchanged(self) -> bool:
        """Whether HA (`highest_acked`) and HS (`highest_sent`) are as the last run saw (U14)."""
        return self.seen_acked == self.highest_acked and self.seen_sent == self.highest_sent

    @transition()
    def task(self) -> Data | None:
        """Retransmit task: if HA < HS and both are unchanged since its last run, resend only the
        highest message [seed:60-62] (U14); otherwise remember both. It also runs in CLOSING, to
        flush pending messages [seed:87-88,101-103] (U5, U19, U22)."""
        again = self.unchanged() and self.highest_acked < self.highest_sent
        self.seen_sent, self.seen_acked = self.highest_sent, self.highest_acked
        return self.kept(self.highest_sent) if again else None

    @transition()
    def retransmit(self, m: XmitReq) -> frozenset[Data]:
        """Resend what is requested and still kept, 46 and 48 of [seed:67-69] (U8, U15)."""
        known = m.conn == self.conn
        return frozenset(self.kept(q) for q in m.missing if known and q in self.window)

    @transition()
    def send_first(self, m: SendFirst) -> Data | None:
        """Send the first unacknowledged message, marked as first [seed:125-126] (U28)."""
        require(m.conn == self.conn, "asks for another connection")
        require(self.highest_acked < self.highest_sent, "everything is acknowledged")
        return self.kept(self.highest_acked + 1).replace(first=True)

    pointless = ignore("send_first", otherwise=True, because="nothing is left to begin with")

    @transition(source=Conn.OPEN, target=Conn.CLOSING)
    def close(self) -> None:
        """The application or a view closes the entry: it is not removed at once [seed:87] (U19)."""
        self.idle.start(self.conn_close_timeout)

    twice = ignore("close", source=(Conn.CLOSING, Conn.CLOSED), because="closed or closing")

    @transition(source=Conn.CLOSING, target=Conn.CLOSED, timer="idle")
    def remove(self) -> Close:
        """Reaping: conn-close-timeout has expired; remove the entry, send CLOSE [seed:135-137]
        (U20, U30), but only after all pending messages are flushed [seed:34-35] (U3, U5)."""
        require(self.highest_acked == self.highest_sent, "unacknowledged messages would be lost")
        self.forget()
        return Close(self.conn)

    @transition(source=Conn.CLOSING, target=Conn.CLOSED, timer="idle")
    def give_up(self) -> Dropped:
        """B did not answer within conn-close-timeout: tell the application, and send CLOSE; nobody
        knows whether B has what is not acknowledged. In the seed nobody is told (U-B1)."""
        require(self.highest_acked < self.highest_sent, "everything is acknowledged")
        acked, in_doubt = self.highest_acked, frozenset(self.kept(q) for q in self.window)
        self.forget()
        self.reported = True
        return Dropped(self.conn, acked, in_doubt)

    def forget(self) -> None:
        """Reset all except the connection id, so that the next connection has a larger one."""
        self.highest_sent, self.highest_acked = 0, 0
        self.seen_sent, self.seen_acked = 0, 0
        self.covered = 0
        self.window.clear()

    @invariant
    def window_is_what_is_unacked(self) -> bool:
        """The window contains exactly the messages q with HA < q <= HS."""
        low, high = self.highest_acked, self.highest_sent
        return all(low < q <= high for q in self.window) and all(
            q in self.window for q in range(low + 1, high + 1)
        )

    @invariant
    def only_acks_acknowledge(self) -> bool:
        """However many messages wait, none goes before an ack covers it, but with all (U6, U12)."""
        return self.highest_acked == self.covered

    @invariant
    def numbers_are_ordered(self) -> bool:
        return self.seen_acked <= self.highest_acked <= self.highest_sent >= self.seen_sent

    @invariant
    def closed_counts_as_none(self) -> bool:
        """An entry that is not CLOSED has sent a message, and belongs to a connection (U26)."""
        live = self.state != Conn.CLOSED
        return live == (self.highest_sent > 0) and implies(live, self.conn > 0)

    @step_property
    def connections_only_grow(self, after: "SenderEntry") -> bool:
        """A closed connection never reopens: the next one has a larger id (U24)."""
        again = self.state == Conn.CLOSED and after.state != Conn.CLOSED
        return after.conn > self.conn if again else after.conn == self.conn

    @step_property
    def only_acked_is_purged(self, after: "SenderEntry") -> bool:
        """While the entry lives, numbers only grow, and only acked messages go (U6, U10, U12)."""
        return implies(
            after.state != Conn.CLOSED,
            after.highest_sent >= self.highest_sent
            and after.highest_acked >= self.highest_acked
            and all(q in after.window or q <= after.highest_acked for q in self.window),
        )

    @invariant
    def reports_are_of_the_closed(self) -> bool:
        return implies(self.reported, self.state == Conn.CLOSED)

    @step_property
    def no_silent_loss(self, after: "SenderEntry") -> bool:
        """If the entry is removed with unacked messages, the application is told (U3, U5, U19)."""
        lost = after.state == Conn.CLOSED and self.highest_acked < self.highest_sent
        return implies(lost, after.reported)

    @step_property
    def no_false_alarm(self, after: "SenderEntry") -> bool:
        """The application is told of unacked messages only: others have arrived (U6, U12)."""
        told = after.reported and not self.reported
        return implies(told, self.highest_acked < self.highest_sent)

    @reachable
    def flushing(self) -> bool:
        return self.state == Conn.CLOSING and self.highest_acked < self.highest_sent

    @reachable
    def everything_is_acknowledged(self) -> bool:
        """HA=50 and HS=50, so that nothing is resent [seed:69-70], in small numbers (U15)."""
        return 0 < self.highest_acked == self.highest_sent

    @reachable
    def resends_the_last_of_many(self) -> bool:
        """HA=45, HS=50, unchanged since the last run, in small numbers (U15)."""
        return 0 < self.highest_acked < self.highest_sent - 1 and self.unchanged()

    scope = Scope(Nat=range(0, 4), Payload=1, reaping=(True, False))


class SenderEntryFixed(SenderEntry):
    """Closes once all is acknowledged, or reports the rest; helps a receiver that crashed."""

    @transition()
    def retransmit(self, m: XmitReq) -> frozenset[Data]:
        """A receiver that asks for acknowledged messages has crashed since: it also gets the first
        one that is not acknowledged, marked as first (U-B11)."""
        again = super().retransmit(m)
        waits = m.conn == self.conn and self.highest_acked < self.highest_sent
        if waits and any(0 < q <= self.highest_acked for q in m.missing):
            again |= {self.kept(self.highest_acked + 1).replace(first=True)}
        return again


class ReceiverEntry(Entry, abstract=True):
    """B's side: it orders messages, delivers each once, acknowledges, and requests missing ones."""

    next: Nat = 1
    highest: Nat = 0
    buffer: dict[Nat, Payload] = {}
    ack_delay: Timer = Timer()
    sync_due: Nat = 0

    ack_interval: Param[float] = 0.5

    @event
    def data(self, m: Data) -> None: ...

    @transition(source=(Conn.OPEN, Conn.CLOSING), target=Conn.OPEN, event="data")
    def accept(self, m: Data) -> None:
        """Data of this connection: keep it until it is next in order [seed:50] (U9)."""
        require(self.belongs(m), "is not for this window")
        self.insert(m)

    @transition(source=Conn.CLOSED, target=Conn.OPEN, event="data")
    def resume(self, m: Data) -> None:
        """Data of the connection that was removed last: continue where it ended. Otherwise a late
        copy would be delivered twice (U-B3) and a later message never (U-B4)."""
        require(self.conn > 0, "no connection is remembered")
        require(self.belongs(m), "is not for this window")
        self.insert(m)

    @transition(target=Conn.OPEN, event="data")
    def establish(self, m: Data) -> None:
        """A first message makes the entry; absent and CLOSED are the same [seed:117-118] (U26)."""
        require(m.first and m.seqno > 0, "no message to begin with")
        require(self.unknown(m), "of no newer connection")
        self.begin(m)

    @transition(event="data")
    def ask_first(self, m: Data) -> None:
        """Unknown where to begin: set a flag, send nothing at once [seed:122-124] (U28)."""
        require(not m.first, "a message to begin with")
        require(self.unknown(m), "of no newer connection")
        self.sync_due = m.conn

    older = ignore("data", otherwise=True, because="of an older connection: stale (U-B7)")

    def belongs(self, m: Data) -> bool:
        return m.conn == self.conn

    def unknown(self, m: Data) -> bool:
        return m.conn > self.conn

    def begin(self, m: Data) -> None:
        self.conn = m.conn
        self.next = m.seqno
        self.highest = m.seqno
        self.buffer = {m.seqno: m.payload}
        self.ack_delay.stop()
        self.sync_due = 0
        self.touch()

    def insert(self, m: Data) -> None:
        if m.seqno < self.next:
            self.owe_ack()
        else:
            self.buffer[m.seqno] = m.payload
            self.highest = max(self.highest, m.seqno)
        self.touch()

    def owe_ack(self) -> None:
        """Acks are delayed, with a least time between two of them [seed:55-58] (U7, U13, U17)."""
        if not self.ack_delay.armed:
            self.ack_delay.start(self.ack_interval)

    @transition()
    def deliver(self) -> Payload:
        """Pass the next message to the application; after that an ack is due (U11)."""
        require(self.next in self.buffer, "the next message is missing")
        payload = self.buffer[self.next]
        del self.buffer[self.next]
        self.next += 1
        self.owe_ack()
        return payload

    @transition(timer="ack_delay")
    def send_ack(self) -> Ack:
        """The contiguous part is delivered, all below `next`, not the highest seen (U11)."""
        return Ack(seqno=self.next - 1, conn=self.conn)

    @transition()
    def request_missing(self) -> XmitReq:
        """Scan the receive window and request the missing messages [seed:66-68] (U16)."""
        missing = frozenset(q for q in range(self.next, self.highest) if q not in self.buffer)
        require(any(q not in self.buffer for q in range(self.next, self.highest)), "no gaps")
        return XmitReq(conn=self.conn, missing=missing)

    @transition()
    def send_sync(self) -> SendFirst:
        """The task clears the flag and sends SEND_FIRST_SEQNO [seed:124] (U28)."""
        require(self.sync_due > 0, "no first message is asked for")
        conn = self.sync_due
        self.sync_due = 0
        return SendFirst(conn)

    @transition(source=(Conn.OPEN, Conn.CLOSING), target=Conn.CLOSED)
    def close_received(self, m: Close) -> None:
        """CLOSE: the conn-id must be the same; set to CLOSED, remove [seed:113-115] (U25)."""
        require(m.conn == self.conn, "closes another connection")
        self.leave()

    gone = ignore("close_received", otherwise=True, because="closed, or another connection")

    @transition(source=Conn.CLOSING, target=Conn.CLOSED, timer="idle")
    def remove(self) -> None:
        """Reaping, as at the sender, but no CLOSE is sent [seed:135-137] (U20, U30)."""
        self.leave()

    def leave(self) -> None:
        self.buffer.clear()
        self.ack_delay.stop()
        self.idle.stop()
        self.sync_due = 0
        self.remember()

    def remember(self) -> None:
        """Keep a tombstone, `conn` and `next`."""
        self.highest = self.next - 1

    @invariant
    def next_is_at_most_one_ahead(self) -> bool:
        return 1 <= self.next <= self.highest + 1

    @invariant
    def buffer_is_ahead(self) -> bool:
        """Buffered numbers are from `next` to `highest`, which stays until it is delivered."""
        inside = all(self.next <= q <= self.highest for q in self.buffer)
        return inside and implies(self.next <= self.highest, self.highest in self.buffer)

    @invariant
    def closed_counts_as_none(self) -> bool:
        """A CLOSED entry keeps no message and owes no ack (U26)."""
        nothing = self.highest < self.next and not self.ack_delay.armed
        return nothing or self.state != Conn.CLOSED

    @step_property
    def never_goes_back(self, after: "ReceiverEntry") -> bool:
        """No delivered message is delivered again: (conn, next) only grows (U-B3, U-B7)."""
        return after.conn > self.conn or (after.conn == self.conn and after.next >= self.next)

    @reachable
    def begins_with_the_first(self) -> bool:
        """It began with the first message, without asking for it (U26, U28)."""
        return self.state == Conn.OPEN and self.next == 1

    @reachable
    def misses_some(self) -> bool:
        """B is missing 46 and 48, and receives 50, in small numbers (U15)."""
        return self.next not in self.buffer and self.next < self.highest

    @reachable
    def asks_where_to_begin(self) -> bool:
        return self.sync_due > 0 and self.state == Conn.CLOSED

    scope = Scope(Nat=range(0, 4), Payload=1, reaping=(True, False))


class ReceiverEntryFixed(ReceiverEntry):
    """Remembers what it delivered, tells older connections, and goes on where the sender says."""

    largest_window: Param[Nat] = 4_096

    def insert(self, m: Data) -> None:
        """Messages before one marked as first were delivered before a crash, and purged (U-B11)."""
        if m.first:
            self.next = max(self.next, m.seqno)
            self.buffer = {q: p for q, p in self.buffer.items() if q >= self.next}
        super().insert(m)

    def belongs(self, m: Data) -> bool:
        return super().belongs(m) and not self.is_beyond(m)

    def is_beyond(self, m: Data) -> bool:
        """No sender sends this after what B knows: B would request all those before it (U28)."""
        far = m.seqno >= self.next + self.largest_window
        return m.conn == self.conn and far and not m.first

    @transition(event="data")
    def ask_again(self, m: Data) -> None:
        """Data beyond any window is not kept: ask where to go on (U28, U-B11)."""
        require(self.is_beyond(m), "could be sent")
        self.sync_due = max(self.sync_due, m.conn)

    @invariant
    def belongs_to_a_connection(self) -> bool:
        """The sender counts its connections from 1 (U24, U26)."""
        return implies(self.state != Conn.CLOSED, self.conn > 0)

    @invariant
    def asks_no_older_one_where_to_begin(self) -> bool:
        """The flag names no older connection; without it nothing is sent [seed:122-124] (U28)."""
        asks = self.sync_due > 0
        return can(self.send_sync) == asks and implies(asks, self.sync_due >= self.conn)

    scope = Scope(Nat=range(0, 4), Payload=1, reaping=(True, False), largest_window=(2,))
