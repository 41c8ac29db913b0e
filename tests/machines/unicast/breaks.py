"""The entries that a service embeds, broken on purpose: a text replaced, and who has to notice it.

Each break names the demand of `demands.py` that it breaks, and the property that fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from lawful import Machine
from tests.machines.breaking import replaced

MODULES = (
    "messages",
    "declaration",
    "as_seed",
    "link",
    "system",
    "callers",
    "in_time",
    "reports",
)


@dataclass(frozen=True)
class Break:
    """In a module, `old` becomes `new`; then `noticed` fails of this machine within this scope.
    `also` is the module of the machine, if `MODULES` does not have it."""

    demand: str
    what: str
    old: str
    new: str
    machine: str
    noticed: str
    also: str = ""
    module: str = "declaration"
    scope: str = "scope"


def broken(row: Break) -> type[Machine]:
    modules = (*MODULES, row.also) if row.also else MODULES
    return replaced("unicast", modules, (row.module, row.old, row.new), row.machine)


BREAKS = (
    Break(
        "U3",
        "an entry is removed although messages wait",
        '        require(self.highest_acked == self.highest_sent, "unacknowledged messages would be'
        ' lost")\n',
        "",
        "SenderEntryFixed",
        "no_silent_loss",
    ),
    Break(
        "U4",
        "a first message opens no connection",
        '    @transition(target=Conn.OPEN, event="data")\n    def establish',
        '    @transition(event="data")\n    def establish',
        "ReceiverEntryFixed",
        "closed_counts_as_none",
    ),
    Break(
        "U5",
        "what is in doubt is not told",
        "return Dropped(self.conn, acked, in_doubt)",
        "return Dropped(self.conn, acked, frozenset(m for m in in_doubt if m.seqno > acked + 1))",
        "LinkReporting",
        "in_doubt_is_what_is_not_acknowledged",
    ),
    Break(
        "U6",
        "what is acknowledged is kept",
        "        self.window = {q: p for q, p in self.window.items() if q > m.seqno}\n",
        "",
        "SenderEntryFixed",
        "window_is_what_is_unacked",
    ),
    Break(
        "U7",
        "an ack for each message",
        "            self.ack_delay.start(self.ack_interval)",
        "            self.ack_delay.start(0)",
        "ReceiverInTime",
        "acks_are_apart",
    ),
    Break(
        "U8",
        "everything from the first requested one on is sent again",
        "return frozenset(self.kept(q) for q in m.missing if known and q in self.window)",
        "return frozenset(\n            self.kept(q) for q in self.window"
        " if known and any(r <= q for r in m.missing)\n        )",
        "SenderCalled",
        "asserts",
    ),
    Break(
        "U9",
        "the number of the next message is acknowledged",
        "return Ack(seqno=self.next - 1, conn=self.conn)",
        "return Ack(seqno=self.next, conn=self.conn)",
        "LinkFixed",
        "acks_are_true",
    ),
    Break(
        "U10",
        "any ack empties the window",
        "self.window = {q: p for q, p in self.window.items() if q > m.seqno}",
        "self.window = {}",
        "SenderEntryFixed",
        "only_acked_is_purged",
    ),
    Break(
        "U11",
        "the highest number that was seen is acknowledged",
        "return Ack(seqno=self.next - 1, conn=self.conn)",
        "return Ack(seqno=self.highest, conn=self.conn)",
        "LinkBurst",
        "acks_are_true",
    ),
    Break(
        "U12",
        "an ack is for one message",
        "self.window = {q: p for q, p in self.window.items() if q > m.seqno}",
        "self.window = {q: p for q, p in self.window.items() if q != m.seqno}",
        "SenderCalled",
        "keeps_what_is_not_acknowledged",
    ),
    Break(
        "U13",
        "the delay of an ack begins again with each message",
        "        if not self.ack_delay.armed:\n            self.ack_delay.start",
        "        if self.next > 0:\n            self.ack_delay.start",
        "ReceiverInTime",
        "acked_in_time",
    ),
    Break(
        "U14",
        "the last message is resent at each run",
        "again = self.unchanged() and self.highest_acked < self.highest_sent",
        "again = self.highest_acked < self.highest_sent",
        "LinkInTime",
        "resent_when_nothing_changed",
    ),
    Break(
        "U15",
        "messages that are ahead are dropped",
        "        else:\n            self.buffer[m.seqno] = m.payload\n",
        "        elif m.seqno == self.next:\n            self.buffer[m.seqno] = m.payload\n",
        "ReceiverCalled",
        "keeps_what_waits",
    ),
    Break(
        "U16",
        "only the first gap is requested",
        "range(self.next, self.highest) if q not in self.buffer)\n        require",
        "range(self.next, self.next + 1) if q not in self.buffer)\n        require",
        "ReceiverCalled",
        "asserts",
    ),
    Break(
        "U17",
        "the task forgets what it saw",
        "        self.seen_sent, self.seen_acked = self.highest_sent, self.highest_acked\n"
        "        return self.kept",
        "        return self.kept",
        "LinkInTime",
        "resent_in_time",
    ),
    Break(
        "U18",
        "an idle entry stays OPEN",
        '    @transition(source=Conn.OPEN, target=Conn.CLOSING, timer="idle")\n    def expire',
        '    @transition(source=Conn.OPEN, timer="idle")\n    def expire',
        "LinkFixed",
        "idle_is_removed",
    ),
    Break(
        "U19",
        "an entry that is closed is gone at once",
        "    @transition(source=Conn.OPEN, target=Conn.CLOSING)\n    def close(",
        "    @transition(source=Conn.OPEN, target=Conn.CLOSED)\n    def close(",
        "SenderEntryFixed",
        "closed_counts_as_none",
    ),
    Break(
        "U20",
        "the close time-out does not begin",
        '(U20, U29)."""\n        self.idle.start(self.conn_close_timeout)',
        '(U20, U29)."""',
        "SenderEntryFixed",
        "idle_is_reaped",
    ),
    Break(
        "U21",
        "nothing is sent on a CLOSING connection",
        "            self.reported = False\n        self.highest_sent += 1",
        "            self.reported = False\n"
        '        require(self.state != Conn.CLOSING, "closing")\n        self.highest_sent += 1',
        "SenderCalled",
        "accepts_what_comes",
    ),
    Break(
        "U22",
        "a CLOSING sender resends nothing",
        "    @transition()\n    def task(",
        "    @transition(source=(Conn.OPEN, Conn.CLOSED))\n    def task(",
        "LinkFixed",
        "sent_is_delivered",
    ),
    Break(
        "U23",
        "sending does not reset the timestamp",
        "        self.window[self.highest_sent] = payload\n        self.touch()\n",
        "        self.window[self.highest_sent] = payload\n"
        "        if self.highest_sent == 1:\n            self.touch()\n",
        "SenderInTime",
        "silence_ends_it",
    ),
    Break(
        "U24",
        "the next connection has the same id",
        "            self.conn += 1\n            self.reported = False",
        "            self.conn = max(self.conn, 1)\n            self.reported = False",
        "SenderEntryFixed",
        "connections_only_grow",
    ),
    Break(
        "U25",
        "a CLOSE of another connection closes this one",
        '        require(m.conn == self.conn, "closes another connection")\n',
        "",
        "LinkFixed",
        "closes_its_own_connection",
    ),
    Break(
        "U26",
        "an entry that was removed is still known to have sent",
        "        self.highest_sent, self.highest_acked = 0, 0\n        self.seen_sent",
        "        self.highest_sent, self.highest_acked = self.highest_acked, 0\n"
        "        self.seen_sent",
        "SenderEntryFixed",
        "closed_counts_as_none",
    ),
    Break(
        "U28",
        "the flag stays when SEND_FIRST_SEQNO is sent",
        "        conn = self.sync_due\n        self.sync_due = 0\n",
        "        conn = self.sync_due\n",
        "ReceiverCalled",
        "does_what_is_due",
    ),
    Break(
        "U29",
        "entries are reaped although that is disabled",
        "        if self.reaping:\n            self.idle.start",
        "        if self.reaping or self.conn > 0:\n            self.idle.start",
        "SenderEntryFixed",
        "idle_is_reaped",
    ),
    Break(
        "U30",
        "CLOSE names another connection",
        "        return Close(self.conn)\n",
        "        return Close(self.conn + 1)\n",
        "SenderCalled",
        "asserts",
    ),
)

# What the demands do not name, and is easily done wrong.
SLIPS = (
    Break(
        "U28",
        "data beyond any window is kept",
        "        return super().belongs(m) and not self.is_beyond(m)\n",
        "        return super().belongs(m)\n",
        "ReceiverCalled",
        "ambiguous",
    ),
    Break(
        "U28",
        "the largest window has one message more",
        "        far = m.seqno >= self.next + self.largest_window\n",
        "        far = m.seqno > self.next + self.largest_window\n",
        "ReceiverCalled",
        "goes_on_where_it_was_told",
    ),
    Break(
        "U10",
        "the highest message is delivered in place of the next",
        "        payload = self.buffer[self.next]\n",
        "        payload = self.buffer[self.highest]\n",
        "ReceiverCalled",
        "asserts",
    ),
    Break(
        "U28",
        "a message that is ahead is taken for one to begin with",
        "        if m.first:\n            self.next = max(",
        "        if m.first or m.seqno > self.next:\n            self.next = max(",
        "ReceiverCalled",
        "goes_on_where_it_was_told",
    ),
    Break(
        "U8",
        "what is resent has the payload of the last message",
        "        return Data(seqno, self.conn, seqno == 1, self.window[seqno])\n",
        "        return Data(seqno, self.conn, seqno == 1, self.window[self.highest_sent])\n",
        "SenderCalled",
        "asserts",
    ),
    Break(
        "U19",
        "the close time-out begins again when the application closes once more",
        '    twice = ignore("close", source=(Conn.CLOSING, Conn.CLOSED),',
        '    @transition(source=Conn.CLOSING, event="close")\n'
        "    def again(self) -> None:\n"
        "        self.idle.start(self.conn_close_timeout)\n\n"
        '    twice = ignore("close", source=Conn.CLOSED,',
        "SenderInTime",
        "closed_in_time",
    ),
)

# What the network, the application or another life of an end does.
CONDITIONS = (
    Break(
        "U28",
        "nobody asks where to go on when data is beyond the window",
        "        self.sync_due = max(self.sync_due, m.conn)\n",
        "        pass\n",
        "LinkNarrow",
        "sent_is_delivered",
    ),
    Break(
        "U12",
        "an ack is no sign of life",
        "        if self.state == Conn.CLOSING:\n"
        "            self.idle.start(self.conn_close_timeout)\n"
        "        else:\n"
        "            self.touch()\n\n    stale",
        "        self.reported = False\n\n    stale",
        "SenderInTime",
        "silence_ends_it",
    ),
    Break(
        "U5",
        "a report takes what was sent last for delivered",
        "return Dropped(self.conn, acked, in_doubt)",
        "return Dropped(self.conn, acked + 1, in_doubt)",
        "LinkReporting",
        "delivered_as_reported",
    ),
    Break(
        "U3",
        "what was sent during a cut is not reported",
        "acked, in_doubt = self.highest_acked, frozenset(self.kept(q) for q in self.window)",
        "acked, in_doubt = self.highest_acked, frozenset(\n"
        "            self.kept(q) for q in self.window if q > 1\n        )",
        "LinkPartitioned",
        "kept_until_delivered",
        "interruptions",
    ),
    Break(
        "U26",
        "an entry that was removed during a cut forgets what it delivered",
        "        self.highest = self.next - 1\n",
        "        self.conn, self.next, self.highest = 0, 1, 0\n",
        "LinkPartitioned",
        "no_duplicate",
        "interruptions",
    ),
    Break(
        "U19",
        "the application closes and nothing happens",
        "    @transition(source=Conn.OPEN, target=Conn.CLOSING)\n    def close(",
        "    @transition(source=Conn.OPEN)\n    def close(",
        "LinkClosed",
        "closes_when_it_is_told",
        "interruptions",
    ),
    Break(
        "U20",
        "what the application closed stays CLOSING",
        '(U19)."""\n        self.idle.start(self.conn_close_timeout)',
        '(U19)."""\n        self.idle.stop()',
        "LinkClosed",
        "what_is_closed_ends",
        "interruptions",
    ),
    Break(
        "U25",
        "an end that hears CLOSE forgets what it sends itself",
        "                self.receiver.close_received(m)\n",
        "                self.receiver.close_received(m)\n"
        "                if can(self.sender.give_up):\n"
        "                    self.sender.give_up()\n",
        "Exchange",
        "kept_until_delivered",
        "exchange",
        "exchange",
    ),
    Break(
        "U11",
        "what an end delivers counts as acknowledged by the other one",
        "                    self.receiver.deliver()\n            case Ack():",
        "                    self.receiver.deliver()\n"
        "                    self.sender.ack(Ack(self.receiver.next - 1, self.receiver.conn))\n"
        "            case Ack():",
        "Exchange",
        "acknowledged_is_delivered",
        "exchange",
        "exchange",
    ),
    Break(
        "U24",
        "a connection of an earlier life is taken for a newer one",
        "        return m.conn > self.conn\n",
        "        return m.conn != self.conn\n",
        "LinkWithEpoch",
        "in_order",
        "restarts",
    ),
    Break(
        "U5",
        "nobody hears of what a life with an older clock sent",
        "acked, in_doubt = self.highest_acked, frozenset(self.kept(q) for q in self.window)",
        "acked, in_doubt = self.highest_acked, frozenset(\n"
        "            self.kept(q) for q in self.window if self.conn > 1\n        )",
        "LinkSetBack",
        "purged_has_arrived",
        "restarts",
        scope="further",
    ),
)
