"""Reliable unicast, composed: a network that is cut for a while, and an application that closes.

Source: `unicast3.txt`, as in `declaration.py`. It says how an idle connection is closed, and that
pending messages are flushed first [seed:34-35,87-88] (U5, U19); it does not mention a network that
is cut. While it is, what is sent is lost, and what was under way stays under way. If the cut is
short, both entries go on afterwards; if it is long, each side may have removed its entry.

Abstractions: those of `system.py`. The network is cut once.
"""

from lawful import (
    Expect,
    Fairness,
    Scope,
    Strong,
    Weak,
    drop,
    invariant,
    leads_to,
    reachable,
    require,
    transition,
)

from .declaration import Conn, SenderEntry, SenderEntryFixed
from .messages import Message, Payload
from .reports import LinkReporting
from .system import LinkFixed


class LinkPartitioned(LinkReporting):
    """What is submitted before, during and after the cut arrives or is reported."""

    cut: bool = False
    mended: bool = False

    @transition()
    def sever(self) -> None:
        require(not self.cut and not self.mended, "it is cut once")
        self.cut = True

    @transition()
    def mend(self) -> None:
        require(self.cut, "it is whole")
        self.cut = False
        self.mended = True

    def put(self, m: Message) -> None:
        if not self.cut:
            super().put(m)

    def take(self, m: Message) -> None:
        require(not self.cut, "the network is cut")
        super().take(m)

    @reachable
    def both_forgot_and_begin_again(self) -> bool:
        """Both entries were removed during the cut, and a second connection delivered (U24)."""
        return self.mended and self.reported != set() and self.second_arrived()

    def second_arrived(self) -> bool:
        return any(p[0] == 2 for p in self.delivered)

    @reachable
    def goes_on_as_if_nothing_was(self) -> bool:
        """What was submitted during the cut arrives after it, on the same connection."""
        return self.mended and len(self.delivered) == 2 and not self.second_arrived()

    fairness = Fairness(
        Weak("mend"),
        Strong("receive_data"),
        Strong("receive_ack"),
        Strong("receive_request"),
        Strong("receive_sync"),
        Strong("receive_close"),
        Weak("resend"),
        Strong("send_ack"),
        Strong("send_sync"),
        Strong("request_missing"),
        Weak("expire_sender"),
        Weak("remove_sender"),
        Weak("expire_receiver"),
        Weak("remove_receiver"),
    )
    scope = Scope(Nat=range(0, 4), Payload=1, network=8, submitted=2, delivered=2, failures=(0,))
    # The cut is what goes wrong.
    expects = Expect(two_copies_are_under_way="violated")


class LinkClosed(LinkFixed):
    """A's application closes when it likes, and nothing else does: reaping is off at A. Between two
    calls messages may be sent, and open the connection again (U19, U21, U23)."""

    sender: SenderEntry = SenderEntryFixed(reaping=False)
    closed: bool = False

    @transition()
    def close(self) -> None:
        """It is done with all that it submitted so far. What is closed already stays so."""
        self.sender.close()
        self.closed = True

    @transition()
    def submit(self, payload: Payload) -> None:
        super().submit(payload)
        self.closed = False

    @invariant
    def closes_when_it_is_told(self) -> bool:
        """Without reaping, only the application closes; and then the connection is open no more
        (U19, U29)."""
        return self.closed == (self.sender.state != Conn.OPEN) or self.submissions == 0

    @leads_to
    def what_is_closed_ends(self) -> tuple[bool, bool]:
        """A closed connection is removed, unless something is sent on it (U20, U30)."""
        return self.closed, self.sender.state == Conn.CLOSED or not self.closed

    @reachable
    def closes_before_anything_arrived(self) -> bool:
        return self.sender.state == Conn.CLOSING and self.delivered == []

    @reachable
    def opens_again(self) -> bool:
        """A message is sent on a CLOSING connection, and everything arrives on it (U21)."""
        return len(self.delivered) == 2 and self.sender.conn == 1

    # Without reaping, what nobody closes stays.
    stays_open = drop("idle_is_removed")

    scope = Scope(Nat=range(0, 4), Payload=1, network=8, submitted=2, delivered=2)
