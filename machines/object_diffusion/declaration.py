"""Object diffusion, the inbound side: one peer and the decisions that are made for it.

Source: the design document `object-diffusion.md` (ObjectDiffusion V2). `[seed:48]` is its line 48,
`O11` the number of a demand, `O-B2` of a defect that its text allows. An `InboundPeer` contains the
entry of one outbound peer in the global state, the decision in its channel, and the position of its
loop. It does no I/O: the callbacks `on_request_...` return the message that their caller sends, and
`on_receive_...` take the reply. This file declares the repaired design; `as_seed.py` restores what
the document leaves open and its implementation got wrong.

Abstractions. An object is its ID; the pool decides whether it is valid. `decide` gets the pool's
content as an argument, which may differ each time. The pool promises to keep an object until all
peers acked it, or the ID stays in the FIFO (O-B5). The attribution among all peers chooses which
interesting objects to request: here any choice within this peer's limits. A protocol error (O16) is
a refusal, and so is a step out of turn. Nothing changes; after a protocol error the caller
disconnects. Replies arrive in the order of the requests; the caller chooses how many it reads in a
round. The blocking wait for a decision (O9) is a refusal of `read_decision`. Line 55 calls
`psaOnDecisionCompleted` `psaOnDecisionExecuted`; the first name is used (O10).
"""

from lawful import (
    Machine,
    Nat,
    Param,
    Scope,
    State,
    assume,
    implies,
    invariant,
    needed,
    reachable,
    recoverable,
    refuse,
    require,
    step_property,
    transition,
)

from .messages import Decision, ObjectId, RequestIds, RequestObjects


class Status(State):
    """`pdStatus`: how far the peer is with its decision [seed:34,138-139] (O11)."""

    COMPLETED = "completed"
    UNREAD = "unread"
    ACTING = "being acted upon"


class Step(State):
    """The last step of the inbound peer's loop [seed:51-55] (O18)."""

    SIGNALLED = "signalled"
    READ = "read"
    REQUESTED_OBJECTS = "requested objects"
    REQUESTED_IDS = "requested IDs"


class InboundPeer(Machine, abstract=True):
    """An instance of the inbound protocol connected to one outbound peer [seed:16-18] (O2)."""

    state: Status = Status.COMPLETED
    decision: Decision | None = None
    step: Step = Step.SIGNALLED

    num_ids_in_flight: Nat = 0
    outstanding_fifo: list[ObjectId] = []
    available_ids: set[ObjectId] = set()
    inflight_ids: set[ObjectId] = set()
    owt_pool: set[ObjectId] = set()
    pending: list[RequestIds | RequestObjects] = []

    max_num_objects_outstanding: Param[Nat] = 100
    max_num_objects_inflight: Param[Nat] = 50
    max_num_ids_req: Param[Nat] = 10

    @assume
    def something_can_be_requested(self) -> bool:
        """The document names these limits without values; the defaults are its implementation's."""
        return (
            self.max_num_objects_outstanding > 0
            and self.max_num_objects_inflight > 0
            and self.max_num_ids_req > 0
        )

    # What the decision thread does.

    @transition(source=(Status.COMPLETED, Status.UNREAD), target=Status.UNREAD)
    def decide(self, in_pool: frozenset[ObjectId], objects: frozenset[ObjectId]) -> Decision:
        """Publish this peer's decision of a `makeDecisions` round [seed:136-162] (O37).

        An active peer's unread decision is replaced by a more up-to-date one (O30). A peer that
        acts upon a decision is frozen (O11). Nothing but the decision changes (O39).
        """
        ack = self.compute_ack(in_pool)
        remaining = len(self.outstanding_fifo) - ack
        require(objects <= self.interesting(in_pool), "not available, in the pool, or to be acked")
        require(
            len(self.inflight_ids) + len(objects) <= self.max_num_objects_inflight,
            "more objects in flight than one peer may have",
        )
        decision = Decision(
            ids_to_ack=ack,
            ids_to_req=self.ids_to_request(remaining),
            can_pipeline_ids_req=remaining > 0,
            objects_to_req=objects,
        )
        self.decision = decision
        return decision

    def compute_ack(self, in_pool: frozenset[ObjectId]) -> Nat:
        """The longest prefix of the FIFO that is no longer needed [seed:122-125,132] (O29): its
        objects are in the pool, or on the way from this very peer (O27)."""
        prefix = 0
        for x in self.outstanding_fifo:
            if x not in in_pool and not self.handled(x):
                break
            prefix += 1
        return prefix

    def handled(self, x: ObjectId) -> bool:
        """Whether this peer will not request the object again."""
        return x in self.owt_pool

    def ids_to_request(self, remaining: Nat) -> Nat:
        """As many as the outbound peer may keep available for us [seed:112] (O22).

        If nothing is left unacked, the request must block, which is an error while a reply with IDs
        is under way. Then the request waits for that reply, and so does the ack (O-B2, O5).
        """
        if remaining == 0 and self.num_ids_in_flight > 0:
            return 0
        return self.room(remaining)

    def room(self, remaining: Nat) -> Nat:
        spoken_for = remaining + self.num_ids_in_flight
        return min(self.max_num_objects_outstanding - spoken_for, self.max_num_ids_req)

    def interesting(self, in_pool: frozenset[ObjectId]) -> frozenset[ObjectId]:
        """Available, not in the pool, not acked in this round [seed:59,145-148] (O20, O33).

        The document calls the last condition redundant, and it is: an acked object is in the pool,
        or was requested and is not available.
        """
        kept = self.outstanding_fifo[self.compute_ack(in_pool) :]
        return frozenset(x for x in kept if x in self.available_ids and x not in in_pool)

    # The callbacks for decisions.

    @transition(source=Status.UNREAD, target=Status.ACTING)
    def read_decision(self) -> Decision:
        """`psaReadDecision`: step 1 of the loop [seed:31,51] (O9, O18)."""
        self.step = Step.READ
        return needed(self.decision, "no decision was made")

    @transition(source=Status.ACTING, target=Status.COMPLETED)
    def on_decision_completed(self) -> None:
        """`psaOnDecisionCompleted`: step 5, once all is done [seed:32,49,55] (O10, O17).

        No ack is owed if no IDs are requested (O5). A blocking request is done only when its reply
        has arrived; otherwise the next decision would be made without it (O-B1).
        """
        decision = needed(self.decision, "no decision was made")
        require(self.objects_requested(decision), "objects are still to be requested")
        require(self.ids_requested(decision), "IDs are still to be requested")
        require(not self.waits(), "the reply to a blocking request is not there")
        self.decision = None
        self.step = Step.SIGNALLED

    def objects_requested(self, decision: Decision) -> bool:
        return self.step != Step.READ or len(decision.objects_to_req) == 0

    def ids_requested(self, decision: Decision) -> bool:
        return self.step == Step.REQUESTED_IDS or decision.ids_to_req == 0

    def waits(self) -> bool:
        """Whether a blocking request is under way."""
        return any(isinstance(r, RequestIds) and r.blocking for r in self.pending)

    # The callbacks that change the state.

    @transition(source=Status.ACTING)
    def on_receive_ids(self, ids: tuple[ObjectId, ...]) -> None:
        """Step 2: the reply to the oldest request [seed:41,52]."""
        self.take_ids(ids)

    def take_ids(self, ids: tuple[ObjectId, ...]) -> None:
        """The count decreases by the *requested* number, even if fewer IDs arrived [seed:112]
        (O13)."""
        require(self.collects(), "replies are read before anything is requested")
        require(len(self.pending) > 0, "nothing was requested")
        request = self.pending[0]
        if not isinstance(request, RequestIds):
            refuse("objects were requested")
        require(len(ids) <= request.count, "more IDs than were requested")
        require(implies(request.blocking, len(ids) > 0), "a blocking reply is not empty")
        require(len(set(ids)) == len(ids), "the same ID twice")
        require(not any(self.known(x) for x in ids), "an ID that was announced before")
        self.pending.pop(0)
        self.num_ids_in_flight -= request.count
        self.outstanding_fifo.extend(ids)
        self.available_ids |= set(ids)

    def collects(self) -> bool:
        return self.step == Step.READ or self.waits()

    def known(self, x: ObjectId) -> bool:
        """Whether this peer announced it; the pool may have it from another peer (O-B4)."""
        return x in self.outstanding_fifo or x in self.inflight_ids or x in self.owt_pool

    @transition(source=Status.ACTING)
    def on_receive_objects(self, ids: frozenset[ObjectId]) -> None:
        """Step 2: exactly the objects of the oldest request, whatever the present decision says,
        are now on the way to the pool [seed:43,117] (O15, O-B3)."""
        require(self.collects(), "replies are read before anything is requested")
        require(len(self.pending) > 0, "nothing was requested")
        request = self.pending[0]
        if not isinstance(request, RequestObjects):
            refuse("IDs were requested")
        require(ids == request.ids, "not the objects that were requested")
        self.pending.pop(0)
        self.inflight_ids -= ids
        self.owt_pool |= ids

    @transition(of="step", source=Step.READ, target=Step.REQUESTED_OBJECTS)
    def on_request_objects(self) -> RequestObjects:
        """Step 3, if objects are to be requested: they become unavailable [seed:42,53] (O14)."""
        decision = needed(self.decision, "no decision was made")
        require(len(decision.objects_to_req) > 0, "no objects are to be requested")
        request = RequestObjects(decision.objects_to_req)
        self.available_ids -= request.ids
        self.inflight_ids |= request.ids
        self.pending.append(request)
        return request

    @transition(of="step", source=(Step.READ, Step.REQUESTED_OBJECTS), target=Step.REQUESTED_IDS)
    def on_request_ids(self) -> RequestIds:
        """Step 4, if IDs are to be requested: ack a prefix of the FIFO, whether its objects were
        downloaded or never requested [seed:40,54,114-116] (O12, O24)."""
        decision = needed(self.decision, "no decision was made")
        require(decision.ids_to_req > 0, "no IDs are to be requested")
        require(self.objects_requested(decision), "objects are still to be requested")
        blocking = not decision.can_pipeline_ids_req
        require(implies(blocking, len(self.pending) == 0), "a blocking request waits for replies")
        acked = self.outstanding_fifo[: decision.ids_to_ack]
        self.outstanding_fifo = self.outstanding_fifo[decision.ids_to_ack :]
        self.available_ids -= set(acked)
        self.num_ids_in_flight += decision.ids_to_req
        request = RequestIds(blocking, decision.ids_to_ack, decision.ids_to_req)
        self.pending.append(request)
        return request

    @transition()
    def on_added_to_pool(self, x: ObjectId) -> None:
        """`submitObjectsToPool` has inserted it under the lock [seed:43,118] (O15, O26)."""
        require(x in self.owt_pool, "not on its way to the pool")
        self.owt_pool.remove(x)

    # What holds of the entry.

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
    def inflight_is_limited(self) -> bool:
        return len(self.inflight_ids) <= self.max_num_objects_inflight

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
        return (self.decision is None) == (self.state == Status.COMPLETED) and implies(
            idle, self.step == Step.SIGNALLED
        )

    @invariant
    def decision_can_be_followed(self) -> bool:
        """The rest of the decision is possible and within the limits (O8, O17, O22)."""
        decision = self.decision
        if decision is None:
            return True
        return self.objects_can_be_requested(decision) and self.ids_can_be_requested(decision)

    def objects_can_be_requested(self, decision: Decision) -> bool:
        wanted = decision.objects_to_req
        return self.step in (Step.REQUESTED_OBJECTS, Step.REQUESTED_IDS) or (
            wanted <= self.available_ids
            and len(self.inflight_ids) + len(wanted) <= self.max_num_objects_inflight
        )

    def ids_can_be_requested(self, decision: Decision) -> bool:
        remaining = len(self.outstanding_fifo) - decision.ids_to_ack
        return self.step == Step.REQUESTED_IDS or (
            remaining >= 0 and 0 <= decision.ids_to_req <= self.room(remaining)
        )

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

    def handled(self, x: ObjectId) -> bool:
        """The pool got it from this peer, even if it dropped it since (O-B5): an announced ID that
        is neither available nor in flight was received."""
        return x not in self.available_ids and x not in self.inflight_ids

    @invariant
    def requested_once(self) -> bool:
        """No object is in two requests without a reply (O14, O21)."""
        requested = sum(len(r.ids) for r in self.pending if isinstance(r, RequestObjects))
        return requested == len(self.inflight_ids)

    @invariant
    def blocks_where_nothing_can_come(self) -> bool:
        """A blocking request acks every ID, with no IDs under way; others leave some (O6, O-B2)."""
        decision = self.decision
        if decision is None or decision.ids_to_req == 0 or self.step == Step.REQUESTED_IDS:
            return True
        remaining = len(self.outstanding_fifo) - decision.ids_to_ack
        blocks = remaining == 0 and self.num_ids_in_flight == 0
        return remaining > 0 if decision.can_pipeline_ids_req else blocks

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
        return asked and not left and not self.waits()

    @step_property
    def what_arrives_goes_to_the_pool(self, after: "InboundPeerFixed") -> bool:
        """An object that leaves `inflight_ids` is on its way to the pool [seed:117] (O15, O25)."""
        return self.inflight_ids - after.inflight_ids <= after.owt_pool

    @reachable
    def asks_for_as_many_as_it_may(self) -> bool:
        return len(self.inflight_ids) == self.max_num_objects_inflight
