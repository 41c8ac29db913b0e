"""Reliable unicast: one entry and its caller, who judges every answer by what happened before.

Source: `unicast3.txt`, cited as in `declaration.py`. A service that embeds an entry sees its events
and what they return, nothing else. The machines here take notes of that: what was submitted, what
arrived, what was delivered. After each event they compare what the entry returned, and what it
allows next, with the notes. So they notice a wrong answer that another answer would make up for in
a link.

Abstractions. Timers run out at any moment; `in_time.py` has the durations.
"""

from lawful import Machine, Nat, Scope, can, invariant, reachable, transition

from .declaration import Conn, ReceiverEntryFixed, SenderEntryFixed
from .messages import Ack, Close, Data, Dropped, Payload, SendFirst, XmitReq


class SenderCalled(Machine):
    """A's entry and its caller. `conn`, `last`, `acked`: connections begun, and of the last one how
    many messages were sent and acknowledged, none if it is removed; `sent`: these messages;
    `closing`: nothing was sent since it expired or was closed; `seen`: what the last run of the
    task saw."""

    entry: SenderEntryFixed = SenderEntryFixed()
    conn: Nat = 0
    last: Nat = 0
    acked: Nat = 0
    sent: dict[Nat, Payload] = {}
    closing: bool = False
    seen_sent: Nat = 0
    seen_acked: Nat = 0

    def message(self, seqno: Nat) -> Data:
        return Data(seqno, self.conn, seqno == 1, self.sent[seqno])

    def first(self) -> Data:
        """The first message without an ack, marked as first (U28)."""
        return self.message(self.acked + 1).replace(first=True)

    def waits(self) -> bool:
        return self.acked < self.last

    @transition()
    def send(self, payload: Payload) -> None:
        """The message has the next number of this connection, or is the first of another (U10)."""
        data = self.entry.send(payload)
        if self.last == 0:
            self.conn += 1
        self.last += 1
        self.sent[self.last] = payload
        self.closing = False
        assert data == self.message(self.last)

    @transition()
    def ack(self, m: Ack) -> None:
        self.entry.ack(m)
        if m.conn == self.conn and m.seqno <= self.last:
            self.acked = max(self.acked, m.seqno)

    @transition()
    def task(self) -> None:
        """Only the last message is resent, if nothing was sent or acknowledged since the last run
        (U14)."""
        data = self.entry.task()
        again = self.seen_sent == self.last and self.seen_acked == self.acked
        if again and self.waits():
            assert data == self.message(self.last)
        else:
            assert data is None
        self.seen_sent, self.seen_acked = self.last, self.acked

    @transition()
    def retransmit(self, m: XmitReq) -> None:
        """Just what was requested and is not acknowledged; to a receiver that crashed, where to go
        on (U8, U15, U-B11)."""
        again = self.entry.retransmit(m)
        mine = m.conn == self.conn
        expected = frozenset(
            self.message(q) for q in m.missing if mine and self.acked < q <= self.last
        )
        if mine and self.waits() and any(0 < q <= self.acked for q in m.missing):
            expected |= {self.first()}
        assert again == expected

    @transition()
    def send_first(self, m: SendFirst) -> None:
        data = self.entry.send_first(m)
        if m.conn == self.conn and self.waits():
            assert data == self.first()
        else:
            assert data is None

    @transition()
    def close(self) -> None:
        self.entry.close()
        self.closing = self.last > 0

    @transition()
    def expire(self) -> None:
        self.entry.expire()
        self.closing = True

    @transition()
    def remove(self) -> None:
        """B is told that its connection is over (U30)."""
        told = self.entry.remove()
        assert told == Close(self.conn)
        self.end()

    @transition()
    def give_up(self) -> None:
        """The application is told what is delivered, and what is in doubt (U5, U-B1)."""
        told = self.entry.give_up()
        assert told == Dropped(
            self.conn,
            self.acked,
            frozenset(self.message(q) for q in self.sent if q > self.acked),
        )
        self.end()

    def end(self) -> None:
        self.sent.clear()
        self.last = 0
        self.acked, self.seen_sent, self.seen_acked = 0, 0, 0
        self.closing = False

    @invariant
    def ends_as_it_should(self) -> bool:
        """A live entry expires, if that is enabled. A CLOSING one is removed if all is
        acknowledged, otherwise it gives up (U5, U19, U20, U29, U30)."""
        live = self.last > 0 and not self.closing
        return (
            can(self.entry.expire) == (live and self.entry.reaping)
            and can(self.entry.remove) == (self.closing and not self.waits())
            and can(self.entry.give_up) == (self.closing and self.waits())
        )

    @invariant
    def accepts_what_comes(self) -> bool:
        """The application may send and close, and messages may arrive, at any moment (U23, U24)."""
        conn = self.conn
        return (
            can(self.entry.close)
            and all(can(self.entry.send, p) for p in self.sent.values())
            and can(self.entry.task)
            and can(self.entry.ack, Ack(1, conn))
            and can(self.entry.send_first, SendFirst(conn))
            and can(self.entry.retransmit, XmitReq(conn, frozenset()))
        )

    @invariant
    def keeps_what_is_not_acknowledged(self) -> bool:
        """Nothing else needs memory (U6, U12)."""
        return self.entry.window == {q: p for q, p in self.sent.items() if q > self.acked}

    @invariant
    def notes_are_complete(self) -> bool:
        """The proofs lean on this."""
        every = all(q in self.sent for q in range(1, self.last + 1))
        return every and self.acked <= self.last and all(1 <= q <= self.last for q in self.sent)

    @invariant
    def knows_what_was_sent(self) -> bool:
        """However many messages were sent, the entry has all of them, and what acks cover (U6,
        U10, U12)."""
        return (
            self.entry.conn == self.conn
            and self.entry.highest_sent == self.last
            and self.entry.highest_acked == self.acked
            and self.entry.seen_sent == self.seen_sent
            and self.entry.seen_acked == self.seen_acked
            and (self.entry.state == Conn.CLOSED) == (self.last == 0)
            and (self.entry.state == Conn.CLOSING) == self.closing
        )

    @reachable
    def goes_on_after_it_was_closed(self) -> bool:
        return self.conn == 2 and self.last > 1

    # Each message may have another payload than the next.
    scope = Scope(Nat=range(0, 4), Payload=2)


class SenderUnreaped(SenderCalled):
    """Without reaping it is CLOSING only when the application closes it (U29)."""

    entry: SenderEntryFixed = SenderEntryFixed(reaping=False)


class ReceiverCalled(Machine):
    """B's entry and its caller. `conn`, `next`: the connection whose messages are delivered, and
    the next number; `kept`: messages that wait for an earlier one; `highest`: the last one that is
    known; `asked`: the connection whose first message is to be asked for; `live`, `closing`: an
    entry exists, and expired since the last message; `owed`: an ack is due."""

    entry: ReceiverEntryFixed = ReceiverEntryFixed(largest_window=3)
    conn: Nat = 0
    next: Nat = 1
    kept: dict[Nat, Payload] = {}
    highest: Nat = 0
    asked: Nat = 0
    live: bool = False
    closing: bool = False
    owed: bool = False

    @transition()
    def data(self, m: Data) -> None:
        """Data of this connection, of a newer one, or too old (U26, U28, U-B3, U-B7)."""
        self.entry.data(m)
        newer = m.conn > self.conn
        if newer and m.first and m.seqno > 0:
            self.conn, self.next, self.highest = m.conn, m.seqno, m.seqno
            self.kept = {m.seqno: m.payload}
            self.owed, self.asked = False, 0
            self.live, self.closing = True, False
        elif newer and not m.first:
            self.asked = m.conn
        elif m.conn == self.conn and m.conn > 0:
            self.heard(m)

    def heard(self, m: Data) -> None:
        """What is beyond any window is not kept. Asked is where the connection goes on, unless a
        newer one was heard of (U28, U-B11)."""
        if m.first or m.seqno - self.next < self.entry.largest_window:
            self.live, self.closing = True, False
            self.keep(m)
        elif self.asked == 0:
            self.asked = m.conn

    def keep(self, m: Data) -> None:
        """A message that is marked as first is the next, unless it was delivered (U-B11)."""
        if m.seqno < self.next:
            self.owed = True
        else:
            if m.first:
                self.next = m.seqno
            self.kept[m.seqno] = m.payload
            self.kept = {q: p for q, p in self.kept.items() if q >= self.next}
            self.highest = max(self.highest, m.seqno)

    @transition()
    def deliver(self) -> None:
        payload = self.entry.deliver()
        assert payload == self.kept[self.next]
        del self.kept[self.next]
        self.next += 1
        self.owed = True

    @transition()
    def send_ack(self) -> None:
        """An ack covers what is delivered, and nothing else (U11, U12)."""
        ack = self.entry.send_ack()
        assert ack == Ack(self.next - 1, self.conn)
        self.owed = False

    @transition()
    def request_missing(self) -> None:
        """Just what is missing is requested (U8, U16)."""
        request = self.entry.request_missing()
        assert request == XmitReq(self.conn, self.missing())

    def missing(self) -> frozenset[Nat]:
        return frozenset(q for q in range(self.next, self.highest) if q not in self.kept)

    @transition()
    def send_sync(self) -> None:
        """The newer connection is asked where it begins, once for each message (U28)."""
        question = self.entry.send_sync()
        assert question == SendFirst(self.asked)
        self.asked = 0

    @transition()
    def close_received(self, m: Close) -> None:
        """A CLOSE of another connection, or of one that is removed, changes nothing (U25)."""
        self.entry.close_received(m)
        if self.live and m.conn == self.conn:
            self.end()

    @transition()
    def expire(self) -> None:
        self.entry.expire()
        self.closing = True

    @transition()
    def remove(self) -> None:
        self.entry.remove()
        self.end()

    def end(self) -> None:
        self.live, self.closing, self.owed = False, False, False
        self.kept.clear()
        self.highest, self.asked = self.next - 1, 0

    @invariant
    def does_what_is_due(self) -> bool:
        """What is next is delivered, what is missing is requested, what is owed is sent; and
        nothing else (U7, U9, U11, U16, U28)."""
        return (
            can(self.entry.deliver) == (self.next in self.kept)
            and can(self.entry.send_ack) == self.owed
            and can(self.entry.request_missing) == (self.missing() != frozenset())
            and can(self.entry.send_sync) == (self.asked > 0)
        )

    @invariant
    def ends_as_it_should(self) -> bool:
        """A live entry expires, if reaping is on, and a CLOSING one is removed (U20, U29, U30)."""
        live = self.live and not self.closing
        return can(self.entry.expire) == (live and self.entry.reaping) and (
            can(self.entry.remove) == self.closing
        )

    @invariant
    def accepts_what_comes(self) -> bool:
        closed = self.entry.state == Conn.CLOSED
        return can(self.entry.close_received, Close(self.conn)) and closed == (not self.live)

    @invariant
    def keeps_what_waits(self) -> bool:
        """Nothing else needs memory, and what waits is what arrived (U6)."""
        return self.entry.buffer == self.kept and self.entry.highest == self.highest

    @invariant
    def goes_on_where_it_was_told(self) -> bool:
        """However far ahead a message is, the entry skips nothing for it unless it is marked as
        first; and it asks for the connection that is new (U9, U26, U28, U-B11)."""
        where = self.entry.conn == self.conn and self.entry.next == self.next
        return where and self.entry.sync_due == self.asked

    @reachable
    def misses_one_of_two(self) -> bool:
        return self.missing() != frozenset() and len(self.kept) == 2

    # Each message may have another payload than the next, and some are beyond any window.
    scope = Scope(
        {"Data.conn": range(0, 3), "Close.conn": range(0, 3), "conn": range(0, 3)},
        Nat=range(0, 5),
        Payload=2,
    )


class ReceiverUnreaped(ReceiverCalled):
    """Without reaping it ends with a CLOSE only (U29)."""

    entry: ReceiverEntryFixed = ReceiverEntryFixed(reaping=False, largest_window=3)
