"""Reliable unicast to the letter: the seed document's text where `declaration.py` deviates.

Each class restores what `unicast3.txt` says (`[seed:135]` is its line 135), and the checker shows
the consequence. U-B1: a sender's entry is removed at the close timeout although it contains
unacknowledged messages. U-B3: a removed receiver's entry remembers nothing, so that a late copy of
a message is delivered again, or begins a window that waits for messages that the sender has purged
(U-B4, U-B6). U-B7: any other connection id, even an older one, replaces the window. U-B9: an ack
carries the highest number that was received.
"""

from lawful import Expect, drop, transition

from .declaration import Conn, ReceiverEntry, SenderEntry
from .messages import Ack, Close, Data


class SenderEntryAsSeed(SenderEntry):
    """Closes at conn-close-timeout, whatever is pending (U-B1)."""

    nobody_is_told = drop("give_up")

    @transition(source=Conn.CLOSING, target=Conn.CLOSED, timer="idle")
    def remove(self) -> Close:
        """The document does not mention unacknowledged messages here [seed:135-137] (U30)."""
        self.forget()
        return Close(self.conn)

    expects = Expect(no_silent_loss=("violated", 3))


class ReceiverEntryForgetful(ReceiverEntry):
    """Remembers nothing about delivered messages (U-B3, U-B4, U-B6)."""

    forgotten = drop("resume")

    def remember(self) -> None:
        """Set the state to CLOSED, remove the entry, nothing else [seed:113-115,135-136]."""
        self.conn = 0
        self.next = 1
        self.highest = 0

    expects = Expect(never_goes_back=("violated", 2))


class ReceiverEntryAsSeed(ReceiverEntryForgetful):
    """Lets any other connection replace its own (U-B7)."""

    def unknown(self, m: Data) -> bool:
        """No entry, a CLOSED one, or one of another connection [seed:117-118] (U26)."""
        return self.state == Conn.CLOSED or m.conn != self.conn

    expects = Expect(never_goes_back=("violated", 2))


class ReceiverEntryAckingHighest(ReceiverEntry):
    """An ack for a batch carries the batch's highest number, read to the letter (U-B9)."""

    @transition(timer="ack_delay")
    def send_ack(self) -> Ack:
        """ "If we get a message batch A[20-50], only one ack(50) will be sent" [seed:50-51]."""
        return Ack(seqno=self.highest, conn=self.conn)
