"""Reliable unicast, composed: further defects that the document allows, one at a time.

`LinkAsSeed` in `system.py` contains the defects that follow most directly from the text. The
machines here each contain one defect that takes more events, so that the shortest trace shows this
defect alone.
"""

from lawful import Expect, Fairness, Nat, Scope, Strong, Weak, drop, require, transition

from .as_seed import ReceiverEntryAckingHighest, ReceiverEntryForgetful
from .declaration import Conn, ReceiverEntry, ReceiverEntryFixed, SenderEntry, SenderEntryFixed
from .link import Link
from .messages import Data, Payload
from .system import LinkBurst


class LinkTorn(Link):
    """A's thread finds an entry, and appends to it in a second step, when the entry may have been
    removed. "This is not implemented, as it's an edge case" [seed:107-109] (U-B2, U24)."""

    sender: SenderEntry = SenderEntryFixed()
    receiver: ReceiverEntry = ReceiverEntryFixed()
    found: Nat = 0
    number: Nat = 0

    @transition()
    def find(self) -> None:
        require(self.submissions < self.messages, "everything is submitted")
        require(self.found == 0, "an entry is found")
        require(self.sender.state != Conn.CLOSED, "there is none")
        self.found = self.sender.conn
        self.number = self.sender.highest_sent + 1

    @transition()
    def submit(self, payload: Payload) -> None:
        """An entry that was found gets the message, though nobody may look at it any more."""
        require(self.submissions < self.messages, "everything is submitted")
        require(self.found > 0 or self.sender.state == Conn.CLOSED, "none is found yet")
        data = Data(self.number, self.found, False, payload)
        if self.found == 0 or (self.found == self.sender.conn and self.sender.state != Conn.CLOSED):
            data = self.sender.send(payload)
        self.submissions += 1
        self.put(data)
        self.submitted.append((data.conn, data.seqno))
        self.settle_watermark()
        self.found, self.number = 0, 0

    scope = Scope(Nat=range(0, 4), Payload=1, network=3, submitted=2, delivered=2)
    expects = Expect(no_loss=("violated", 9), settled=("violated", 9))


class LinkForgetful(Link):
    """A removed receiver's entry leaves nothing behind. A copy of an acknowledged message makes a
    new entry, which waits for messages that A has purged: B requests them for ever, and A cannot
    answer (U-B4)."""

    sender: SenderEntry = SenderEntryFixed()
    receiver: ReceiverEntry = ReceiverEntryForgetful()

    scope = Scope(Nat=range(0, 4), Payload=1, network=2, submitted=2, delivered=3, failures=(0,))
    expects = Expect(
        no_duplicate=("violated", 6),
        in_order=("violated", 8),
        acks_are_true=("violated", 9),
        purged_is_not_awaited=("violated", 10),
        settled="unknown",
        **{"receiver.never_goes_back": ("violated", 4)},
    )


class LinkWedged(LinkForgetful):
    """What A resends, it resends more often than B's timer runs out. So once B waits for what A has
    purged, it waits for ever, and what A sends next is never delivered (U-B4)."""

    @transition()
    def expire_receiver(self) -> None:
        all_acked = self.sender.highest_acked == self.sender.highest_sent
        require(all_acked, "what is resent starts the timer again")
        super().expire_receiver()

    scope = Scope(
        Nat=range(0, 5), messages=(3,), failures=(0,), submitted=3, delivered=4, network=3
    )
    expects = Expect(
        no_duplicate=("violated", 8),
        in_order=("violated", 10),
        acks_are_true=("violated", 13),
        purged_is_not_awaited=("violated", 10),
        settled=("violated", 13),
        **{"receiver.never_goes_back": ("violated", 6)},
    )


class LinkLateAck(LinkForgetful):
    """The same without copies, because nothing is resent: a late ack purges messages that the new
    entry has not received yet (U-B6)."""

    nothing_is_repeated = drop("resend")

    scope = Scope(
        Nat=range(0, 5),
        Payload=1,
        network=2,
        submitted=3,
        delivered=4,
        messages=(3,),
        failures=(0,),
    )
    deadlock_ok = True
    expects = Expect(
        no_duplicate=("violated", 9),
        in_order=("violated", 11),
        acks_are_true=("violated", 12),
        purged_is_not_awaited=("violated", 13),
        settled=("violated", 5),
    )


class LinkAckingHighest(Link):
    """An ack carries the number received last, although an earlier message is missing: A purges
    messages that B does not have (U-B9)."""

    sender: SenderEntry = SenderEntryFixed()
    receiver: ReceiverEntry = ReceiverEntryAckingHighest()

    scope = Scope(
        Nat=range(0, 5),
        Payload=1,
        network=3,
        submitted=3,
        delivered=3,
        messages=(3,),
        failures=(0,),
    )
    expects = Expect(
        acks_are_true=("violated", 6),
        acked_is_delivered=("violated", 7),
        no_loss=("violated", 7),
        purged_is_not_awaited=("violated", 7),
        settled=("violated", 8),
    )


class LinkBusy(LinkBurst):
    """No defect: HA or HS changes before each run of A's task, so that nothing is resent without a
    request. A lost message is noticed when a later one arrives; only the last message can be
    missing until A pauses (U-B10, U17)."""

    busy = drop("resend")

    fairness = Fairness(
        Strong("receive_data"),
        Strong("receive_ack"),
        Strong("receive_request"),
        Strong("receive_sync"),
        Strong("receive_close"),
        Strong("send_ack"),
        Strong("send_sync"),
        Strong("request_missing"),
        Weak("expire_sender"),
        Weak("remove_sender"),
        Weak("expire_receiver"),
        Weak("remove_receiver"),
    )
    expects = Expect(
        gaps_are_filled="holds",
        sent_is_delivered=("violated", 5),
        sent_is_purged=("violated", 5),
        idle_is_removed=("violated", 5),
    )


class LinkUnasked(LinkBurst):
    """B's task never runs: nobody requests missing messages, and A resends only the last one, for
    ever. This shows the purpose of U8 and U16 (L3, L5)."""

    nobody_asks = drop("request_missing")

    fairness = Fairness(
        Strong("receive_data"),
        Strong("receive_ack"),
        Strong("receive_sync"),
        Strong("receive_close"),
        Weak("resend"),
        Strong("send_ack"),
        Strong("send_sync"),
        Weak("expire_sender"),
        Weak("remove_sender"),
        Weak("expire_receiver"),
        Weak("remove_receiver"),
    )
    scope = Scope(
        Nat=range(0, 5),
        Payload=1,
        network=3,
        submitted=3,
        delivered=3,
        messages=(3,),
        failures=(0,),
    )
    expects = Expect(
        two_copies_are_under_way="unknown",
        sent_is_delivered=("violated", 10),
        sent_is_purged=("violated", 10),
        gaps_are_filled=("violated", 10),
        idle_is_removed=("violated", 10),
        silence_follows=("violated", 10),
    )
