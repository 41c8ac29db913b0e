"""Object diffusion where its document is silent: the behaviour of its implementation.

The document gives no formula for `pdIdsToReq`, and does not say whether a decision is executed when
a blocking request was sent, or when its reply arrives. `declaration.py` settles both. These classes
do what the document's implementation did, and the checker shows the consequences.
`InboundPeerComparing` contains a mistake of that implementation alone. `InboundPeerOverwritten`
shows the consequence of rounds that are not atomic.
"""

from lawful import Expect, Nat, Scope, drop, needed, require, transition

from .callbacks import Status, Step
from .declaration import InboundPeer, InboundPeerFixed
from .messages import Decision, ObjectId


class InboundPeerWaiting(InboundPeer):
    """Asks for as many IDs as there is room for, even while a reply is under way (O-B2), and does
    not remember what it received and the pool dropped since (O-B5).

    After its object was received, an ID can be acked before the reply to a pipelined request for
    more IDs. Then nothing is left, and the next request blocks although that reply may bring more
    IDs.
    """

    def ids_to_request(self, remaining: Nat) -> Nat:
        return self.room(remaining)

    def handled(self, x: ObjectId) -> bool:
        return x in self.owt_pool

    # With room for an ack there is room for a request: then no ack ever waits.
    expects = Expect(blocks_on_nothing=("violated", 13), an_ack_waits="violated")


class InboundPeerAsSeed(InboundPeerWaiting):
    """Also signals completion at once [seed:55], so that the next decision is made without the
    reply for which it waits (O-B1)."""

    @transition(source=Status.ACTING, target=Status.COMPLETED)
    def on_decision_completed(self) -> None:
        decision = needed(self.decision, "no decision was made")
        require(self.objects_requested(decision), "objects are still to be requested")
        require(self.ids_requested(decision), "IDs are still to be requested")
        self.decision = None
        self.step = Step.SIGNALLED

    @transition()
    def on_receive_ids(self, ids: tuple[ObjectId, ...]) -> None:
        self.take_ids(ids)

    expects = Expect(blocks_on_nothing=("violated", 8))


class InboundPeerComparing(InboundPeerFixed):
    """Compares received objects with those of the present decision (O-B3)."""

    @transition(source=Status.ACTING)
    def on_receive_objects(self, ids: frozenset[ObjectId]) -> None:
        decision = needed(self.decision, "no decision was made")
        require(ids == decision.objects_to_req, "not the objects that are to be requested")
        super().on_receive_objects(ids)

    not_here = drop("waits_for_the_pool")
    # Objects that were requested in an earlier round never arrive.
    expects = Expect(nothing_left=("violated", 7), deadlock=("violated", 11))


class InboundPeerUnbounded(InboundPeerFixed):
    """Counts an object as in flight until it is received, as the document does (O-B10).

    While the pool is slow, as many objects wait for it as peers announce: an object on its way to
    the pool can be acked, so that others come after it.
    """

    def load(self) -> Nat:
        return len(self.inflight_ids)

    expects = Expect(
        what_the_pool_lacks_is_limited=("violated", 16),
        decision_can_be_followed=("violated", 14),
        what_the_pool_lacks_may_be_requested=("violated", 13),
    )


class InboundPeerOverwritten(InboundPeerFixed):
    """A round reads the state while its last decision is unread, and publishes later without
    looking: it replaces a decision that the peer acts upon by then, and the peer does the same
    again (O-B6)."""

    made: Decision | None = None

    @transition(source=Status.UNREAD, target=Status.ACTING)
    def read_decision(self) -> Decision:
        self.made = self.decision
        return super().read_decision()

    @transition(source=Status.ACTING, target=Status.UNREAD)
    def publish(self) -> None:
        self.decision = needed(self.made, "no round was made")
        self.made = None

    scope = Scope(
        {"on_receive_ids.ids": 1},
        ObjectId=1,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        max_num_objects_outstanding=(1,),
        max_num_objects_inflight=(1,),
        max_num_ids_req=(1,),
    )
    expects = Expect(
        a_frozen_decision_stays=("violated", 3),
        decision_until_completed=("violated", 3),
        decision_can_be_followed=("violated", 5),
        blocks_where_nothing_can_come=("violated", 5),
        waits_with_nothing_left=("violated", 5),
        outbound_keeps_no_more_than_agreed=("violated", 7),
        blocks_on_nothing=("violated", 7),
        nothing_left=("violated", 7),
        bounds=("violated", 9),
        requested_once=("violated", 11),
        an_object_is_in_one_place=("violated", 12),
        received_is_what_the_peer_sent=("violated", 12),
        the_longest_prefix_is_acked=("violated", 8),
        what_the_pool_lacks_may_be_requested=("violated", 13),
        in_flight_is_what_is_pending=("violated", 14),
        pipelines="unknown",
    )
