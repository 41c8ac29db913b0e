"""Reliable unicast to the letter: what the seed document says where `declaration.py` deviates.

Each class puts back what `unicast3.txt` says (`[seed:135]` is its line 135), and the checker shows
what follows. U-B1: a sender entry is removed at the close timeout although messages in it are
unacknowledged. U-B3: a receiver entry that is removed remembers nothing, so that a late copy of a
message is delivered again. U-B7: any other connection id, an older one too, replaces the window.
"""

from lawful import Expect, drop, transition

from .declaration import Close, Conn, Data, ReceiverEntry, SenderEntry


class SenderEntryAsSeed(SenderEntry):
    """Closes at conn-close-timeout, whatever is pending (U-B1)."""

    nobody_is_told = drop("give_up")

    @transition(source=Conn.CLOSING, target=Conn.CLOSED, timer="idle")
    def remove(self) -> Close:
        """The document says nothing of unacknowledged messages here [seed:135-137] (U30)."""
        self.forget()
        return Close(self.conn)

    expects = Expect(no_silent_loss=("violated", 3))


class ReceiverEntryAsSeed(ReceiverEntry):
    """Remembers nothing (U-B3), and lets any other connection replace its own (U-B7)."""

    forgotten = drop("resume")

    def unknown(self, m: Data) -> bool:
        """No entry, a CLOSED one, or one of another connection [seed:117-118] (U26)."""
        return self.state == Conn.CLOSED or m.conn != self.conn

    def remember(self) -> None:
        """Set the state to CLOSED, remove the entry, and that is all [seed:113-115,135-136]."""
        self.conn = 0
        self.next = 1
        self.highest = 0

    expects = Expect(never_goes_back=("violated", 2))
