"""Reliable unicast, composed: what else the document allows, one defect at a time.

`LinkAsSeed` in `system.py` has what follows most directly from its text. Here are defects that take
more to happen, each alone, so that the shortest trace shows just that one.
"""

from lawful import Expect, Fairness, Nat, Scope, Strong, Weak, drop, require, transition

from .as_seed import ReceiverEntryAckingHighest, ReceiverEntryForgetful
from .declaration import Conn, ReceiverEntry, ReceiverEntryFixed, SenderEntry, SenderEntryFixed
from .link import Link
from .messages import Data, Payload
from .system import LinkBurst


class LinkTorn(Link):
    """A's thread finds an entry, and appends to it in a second step: it may have been removed in
    between. "This is not implemented, as it's an edge case" [seed:107-109] (U-B2, U24)."""

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
    """The receiver's entry leaves nothing behind. A copy of what was acknowledged makes a new one,
    which waits for what A has purged: B asks for ever, and A cannot answer (U-B4)."""

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


class LinkLateAck(LinkForgetful):
    """The same without copies, for nothing is resent: an ack that is late purges what the new entry
    has yet to get (U-B6)."""

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
    """An ack says what was received last, though something before it is missing: A purges what B
    does not have (U-B9)."""

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
    """No defect: the pair of HA and HS changes at each run of A's task, so that nothing is ever
    resent unasked. What is lost shows by what follows it, and only the last is lost for good, until
    A pauses (U-B10, U17)."""

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
    """B's task never runs: nobody asks for what is missing, and the last message alone is resent,
    for ever. What U8 and U16 are for (L3, L5)."""

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
