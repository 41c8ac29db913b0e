"""Object diffusion, the inbound side: what holds of one peer's entry and of its decisions.

Source: `object-diffusion.md` as in `callbacks.py`, which has the steps. A decision is judged by
what it was made of, the pool's content and what this peer announced and sent, and not by the
functions that made it: the ghost `had` is that content while the decision is unread, the ghost
`received` what the peer sent of the objects that are not acked.
"""

from lawful import Scope, can, implies, invariant, reachable, recoverable, step_property

from .callbacks import Callbacks, Status, Step
from .messages import Decision, ObjectId, RequestIds, RequestObjects


class InboundPeer(Callbacks, abstract=True):
    """The entry with what holds of it."""

    @invariant
    def outbound_keeps_no_more_than_agreed(self) -> bool:
        """Unacked IDs and those that may still be announced keep the limit (O22)."""
        announced = len(self.outstanding_fifo) + self.num_ids_in_flight
        return announced <= self.max_num_objects_outstanding

    @invariant
    def in_flight_is_what_is_pending(self) -> bool:
        """Both counts are those of the requests without a reply (O13, O14, O25)."""
        ids = sum(r.count for r in self.pending if isinstance(r, RequestIds))
        objects = {x for r in self.pending if isinstance(r, RequestObjects) for x in r.ids}
        return self.num_ids_in_flight == ids and self.inflight_ids == objects

    @invariant
    def what_the_pool_lacks_is_limited(self) -> bool:
        """Objects that were requested, or received and wait for the pool (O36, O-B10)."""
        return len(self.inflight_ids | self.owt_pool) <= self.max_num_objects_inflight

    @invariant
    def each_request_asks_for_something(self) -> bool:
        """So that `pending` is as limited as what is in flight (O12, O14)."""
        return all(
            r.count > 0 if isinstance(r, RequestIds) else len(r.ids) > 0 for r in self.pending
        )

    @invariant
    def only_a_blocking_request_may_wait(self) -> bool:
        """The next reply has a time limit, unless it is to a blocking request (O-B7)."""
        return self.reply.armed == (len(self.pending) > 0 and not self.waits())

    @invariant
    def available_are_outstanding(self) -> bool:
        """Available IDs are in the FIFO (O24), which contains no ID twice (O23)."""
        fifo = set(self.outstanding_fifo)
        return self.available_ids <= fifo and len(fifo) == len(self.outstanding_fifo)

    @invariant
    def an_object_is_in_one_place(self) -> bool:
        """Either available, or in flight, or on its way to the pool (O21)."""
        received = self.inflight_ids | self.owt_pool
        return self.available_ids.isdisjoint(received) and self.inflight_ids.isdisjoint(
            self.owt_pool
        )

    @invariant
    def decision_until_completed(self) -> bool:
        """Unread and BeingActedUpon carry a decision; the loop acts only on such a one (O11)."""
        idle = self.state != Status.ACTING
        unread = self.state == Status.UNREAD
        return (
            (self.decision is None) == (self.state == Status.COMPLETED)
            and implies(idle, self.step == Step.SIGNALLED)
            and (unread or self.had == frozenset())
        )

    @invariant
    def decision_can_be_followed(self) -> bool:
        """The rest of the decision is possible and within the limits (O8, O17, O22)."""
        decision = self.decision
        if decision is None:
            return True
        return self.objects_can_be_requested(decision) and self.ids_keep_the_limits(decision)

    def objects_can_be_requested(self, decision: Decision) -> bool:
        wanted = decision.objects_to_req
        return self.step in (Step.REQUESTED_OBJECTS, Step.REQUESTED_IDS) or (
            wanted <= self.available_ids
            and len(self.inflight_ids | self.owt_pool | wanted) <= self.max_num_objects_inflight
        )

    def ids_keep_the_limits(self, decision: Decision) -> bool:
        """The outbound peer has so many to ack, and may announce so many (O4, O22)."""
        remaining = len(self.outstanding_fifo) - decision.ids_to_ack
        all_told = remaining + self.num_ids_in_flight + decision.ids_to_req
        return self.step == Step.REQUESTED_IDS or (
            remaining >= 0
            and decision.ids_to_req <= self.max_num_ids_req
            and all_told <= self.max_num_objects_outstanding
        )

    @invariant
    def nothing_is_requested_that_the_pool_has(self) -> bool:
        """When the decision was made (O7, O33)."""
        decision = self.decision
        if decision is None or self.state != Status.UNREAD:
            return True
        return decision.objects_to_req.isdisjoint(self.had)

    @invariant
    def acked_are_not_requested(self) -> bool:
        """No object is requested whose ID is acked in the same round [seed:59] (O20)."""
        decision = self.decision
        if decision is None or self.step == Step.REQUESTED_IDS:
            return True
        return not any(
            x in decision.objects_to_req for x in self.outstanding_fifo[: decision.ids_to_ack]
        )

    @step_property
    def a_frozen_decision_stays(self, after: "InboundPeer") -> bool:
        """While the peer acts upon a decision, none replaces it [seed:34] (O11, O30, O31)."""
        stays = after.state == Status.ACTING and after.decision == self.decision
        done = after.state == Status.COMPLETED and after.decision is None
        return implies(self.state == Status.ACTING, stays or done)

    @step_property
    def blocks_on_nothing(self, after: "InboundPeer") -> bool:
        """A blocking request leaves nothing unacked and nothing else under way. Otherwise the
        outbound peer treats it as an error (O6, O-B1, O-B2)."""
        new = len(after.pending) > len(self.pending) and after.waits() and not self.waits()
        return implies(new, len(after.outstanding_fifo) == 0 and len(after.pending) == 1)

    @step_property
    def a_blocking_reply_brings_something(self, after: "InboundPeer") -> bool:
        """There was nothing to announce before (O16)."""
        return implies(self.waits() and not after.waits(), len(after.outstanding_fifo) > 0)

    @step_property
    def acks_are_a_prefix(self, after: "InboundPeer") -> bool:
        """The FIFO loses its oldest IDs only in a request, or gains new ones (O12, O13, O23)."""
        acked = len(self.outstanding_fifo) > len(after.outstanding_fifo)
        if not acked:
            kept = len(self.outstanding_fifo)
            return after.outstanding_fifo[:kept] == self.outstanding_fifo
        dropped = len(self.outstanding_fifo) - len(after.outstanding_fifo)
        return (
            after.outstanding_fifo == self.outstanding_fifo[dropped:]
            and self.num_ids_in_flight < after.num_ids_in_flight
        )

    @step_property
    def no_more_comes_than_was_requested(self, after: "InboundPeer") -> bool:
        """A reply brings at most as many IDs as its request asked for (O13, O16)."""
        more = len(after.outstanding_fifo) - len(self.outstanding_fifo)
        return more <= 0 or more <= self.num_ids_in_flight - after.num_ids_in_flight

    @step_property
    def one_object_at_a_time_is_inserted(self, after: "InboundPeer") -> bool:
        """The others stay on their way to the pool, also when more objects arrive (O15, O26)."""
        inserted = self.owt_pool - after.owt_pool
        return len(inserted) == 0 or (len(inserted) == 1 and after.owt_pool < self.owt_pool)

    @recoverable
    def nothing_left(self) -> bool:
        """Every ID can still be acked, and every object can still arrive (O25, O27)."""
        return len(self.outstanding_fifo) + len(self.inflight_ids) + len(self.owt_pool) == 0

    @reachable
    def fewer_ids_than_requested(self) -> bool:
        """10 requested and 7 received, in small numbers [seed:112] (O13)."""
        room_again = self.num_ids_in_flight == 0 and len(self.pending) == 0
        return room_again and len(self.outstanding_fifo) == 1

    @reachable
    def acks_what_was_never_requested(self) -> bool:
        decision = self.decision
        if decision is None or decision.ids_to_ack == 0 or len(self.outstanding_fifo) == 0:
            return False
        return self.outstanding_fifo[0] in self.available_ids

    @reachable
    def pipelines(self) -> bool:
        """IDs and objects are under way at once (O6)."""
        return self.num_ids_in_flight > 0 and len(self.inflight_ids) > 0

    @reachable
    def an_ack_waits(self) -> bool:
        """There is something to ack but no ID to request, so no request is sent (O5)."""
        decision = self.decision
        return decision is not None and decision.ids_to_ack > 0 and decision.ids_to_req == 0

    scope = Scope(
        {"on_receive_ids.ids": 2},
        ObjectId=2,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        max_num_objects_outstanding=(2,),
        max_num_objects_inflight=(1, 2),
        max_num_ids_req=(1, 2),
    )


class InboundPeerFixed(InboundPeer):
    """Blocks only if nothing is under way, and completes only after the reply."""

    @invariant
    def received_is_what_the_peer_sent(self) -> bool:
        """An ID that is not acked was received just if it is neither available nor in flight
        (O24, O27)."""
        waiting = self.available_ids | self.inflight_ids
        return all((x in self.received) == (x not in waiting) for x in self.outstanding_fifo) and (
            self.received <= set(self.outstanding_fifo)
        )

    def needless(self, x: ObjectId) -> bool:
        """Whether the pool had it when the decision was made, or this peer sent it (O27)."""
        return x in self.had or x in self.received

    @invariant
    def the_longest_prefix_is_acked(self) -> bool:
        """All IDs are acked that are not needed, up to the first one that is needed (O27, O29)."""
        decision = self.decision
        if decision is None or self.state != Status.UNREAD:
            return True
        acked = self.outstanding_fifo[: decision.ids_to_ack]
        kept = self.outstanding_fifo[decision.ids_to_ack :]
        return all(self.needless(x) for x in acked) and not any(self.needless(x) for x in kept[:1])

    @invariant
    def as_many_ids_as_allowed_are_requested(self) -> bool:
        """Up to one of the limits, unless the request would block and IDs are under way (O4, O22,
        O-B2)."""
        decision = self.decision
        if decision is None or self.state != Status.UNREAD:
            return True
        remaining = len(self.outstanding_fifo) - decision.ids_to_ack
        all_told = remaining + self.num_ids_in_flight + decision.ids_to_req
        return (
            decision.ids_to_req == self.max_num_ids_req
            or all_told == self.max_num_objects_outstanding
            or (remaining == 0 and self.num_ids_in_flight > 0 and decision.ids_to_req == 0)
        )

    @invariant
    def requested_once(self) -> bool:
        """No object is in two requests without a reply (O14, O21)."""
        requested = sum(len(r.ids) for r in self.pending if isinstance(r, RequestObjects))
        return requested == len(self.inflight_ids)

    @invariant
    def waits_with_nothing_left(self) -> bool:
        """While a blocking request is under way, nothing else is, and all IDs are acked (O6,
        O-B1)."""
        return not self.waits() or (
            len(self.pending) == 1
            and len(self.outstanding_fifo) == 0
            and self.step == Step.REQUESTED_IDS
        )

    @invariant
    def blocks_where_nothing_can_come(self) -> bool:
        """A blocking request acks every ID, with no IDs under way; others leave some (O6, O-B2)."""
        decision = self.decision
        if decision is None or decision.ids_to_req == 0 or self.step == Step.REQUESTED_IDS:
            return True
        remaining = len(self.outstanding_fifo) - decision.ids_to_ack
        blocks = remaining == 0 and self.num_ids_in_flight == 0
        return remaining > 0 if decision.can_pipeline_ids_req else blocks

    @invariant
    def what_the_pool_lacks_may_be_requested(
        self, in_pool: frozenset[ObjectId], objects: frozenset[ObjectId]
    ) -> bool:
        """Any available objects that the pool lacks, together, up to the limit, and nothing else;
        but not while the peer acts upon a decision (O11, O24, O33, O36)."""
        lacking = objects <= self.available_ids and objects.isdisjoint(in_pool)
        under_way = self.inflight_ids | self.owt_pool | objects
        room = len(under_way) <= self.max_num_objects_inflight
        return can(self.decide, in_pool, objects) == (
            self.state != Status.ACTING and lacking and room
        )

    @step_property
    def steps_are_in_order(self, after: "InboundPeerFixed") -> bool:
        """Replies are read first, then objects requested, then IDs [seed:51-55] (O9, O10, O17)."""
        reads = len(after.pending) < len(self.pending)
        asks = self.step == Step.READ and after.step == Step.REQUESTED_IDS
        decision = self.decision
        left = decision is not None and len(decision.objects_to_req) > 0
        return implies(reads, self.step == Step.READ or self.waits()) and not (asks and left)

    @step_property
    def all_of_a_decision_is_done(self, after: "InboundPeerFixed") -> bool:
        """A decision is done completely before the peer completes it [seed:49] (O10, O17, O-B1)."""
        decision = self.decision
        if decision is None or after.decision is not None:
            return True
        asked = self.step == Step.REQUESTED_IDS or decision.ids_to_req == 0
        left = self.step == Step.READ and len(decision.objects_to_req) > 0
        return self.state == Status.ACTING and asked and not left and not self.waits()

    @step_property
    def what_arrives_goes_to_the_pool(self, after: "InboundPeerFixed") -> bool:
        """An object that leaves `inflight_ids` is on its way to the pool [seed:117] (O15, O25)."""
        return self.inflight_ids - after.inflight_ids <= after.owt_pool

    # Several requests for IDs are under way at once.
    wide = Scope(
        outstanding_fifo=3,
        pending=4,
        max_num_objects_outstanding=(3,),
        max_num_objects_inflight=(1,),
        max_num_ids_req=(1,),
    )

    @reachable
    def asks_for_as_many_as_it_may(self) -> bool:
        return len(self.inflight_ids) == self.max_num_objects_inflight

    @reachable
    def waits_for_the_pool(self) -> bool:
        """A received object keeps its place until the pool has it (O26, O-B10)."""
        return len(self.owt_pool) == self.max_num_objects_inflight
