"""Object diffusion, the inbound side: one peer, its decision and its callbacks.

Source: the design document `object-diffusion.md` (ObjectDiffusion V2). `[seed:48]` is its line 48,
`O11` the number of a demand, `O-B2` of a defect that its text allows. An `InboundPeer` contains the
entry of one outbound peer in the global state, the decision in its channel, and the position of its
loop. It does no I/O: the callbacks `on_request_...` return the message that their caller sends, and
`on_receive_...` take the reply. These are the steps of the repaired design; `declaration.py` says
what holds of them, and `as_seed.py` restores what the document leaves open and its implementation
got wrong.

Abstractions. An object is its ID; the pool decides whether it is valid. `decide` gets the pool's
content as an argument, which may differ each time. The pool promises to keep an object until all
peers acked it, or the ID stays in the FIFO (O-B5). The attribution among all peers chooses which
interesting objects to request: here any choice within this peer's limits. A protocol error (O16) is
a refusal, and so is a step out of turn. Nothing changes; after a protocol error the caller
disconnects. Replies arrive in the order of the requests; the caller chooses how many it reads in a
round. The blocking wait for a decision (O9) is a refusal of `read_decision`. Line 55 calls
`psaOnDecisionCompleted` `psaOnDecisionExecuted`; the first name is used (O10).

The document limits neither the time that a reply takes (O-B7) nor the objects that wait for the
pool (O-B10). Here each pipelined request has a time limit, in seconds, from the moment at which its
reply is the next one; and an object counts as in flight until the pool has it.
"""

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    State,
    Timer,
    assume,
    implies,
    needed,
    refuse,
    require,
    transition,
)

from .messages import Decision, ObjectId, Request, RequestIds, RequestObjects


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


class Callbacks(Machine, abstract=True):
    """An instance of the inbound protocol connected to one outbound peer [seed:16-18] (O2)."""

    state: Status = Status.COMPLETED
    decision: Decision | None = None
    step: Step = Step.SIGNALLED

    num_ids_in_flight: Nat = 0
    outstanding_fifo: list[ObjectId] = []
    available_ids: set[ObjectId] = set()
    inflight_ids: set[ObjectId] = set()
    owt_pool: set[ObjectId] = set()
    pending: list[Request] = []
    reply: Timer = Timer()
    had: Ghost[frozenset[ObjectId]] = frozenset()
    received: Ghost[set[ObjectId]] = set()

    max_num_objects_outstanding: Param[Nat] = 100
    max_num_objects_inflight: Param[Nat] = 50
    max_num_ids_req: Param[Nat] = 10
    reply_timeout: Param[Nat] = 10

    @assume
    def something_can_be_requested(self) -> bool:
        """The document names these limits without values; the defaults are its implementation's."""
        return (
            self.max_num_objects_outstanding > 0
            and self.max_num_objects_inflight > 0
            and self.max_num_ids_req > 0
            and self.reply_timeout > 0
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
            self.load() + len(objects) <= self.max_num_objects_inflight,
            "more objects in flight than one peer may have",
        )
        decision = Decision(
            ids_to_ack=ack,
            ids_to_req=self.ids_to_request(remaining),
            can_pipeline_ids_req=remaining > 0,
            objects_to_req=objects,
        )
        self.decision = decision
        self.had = in_pool
        return decision

    def load(self) -> Nat:
        """The objects that were requested and that the pool does not have yet (O-B10)."""
        return len(self.inflight_ids) + len(self.owt_pool)

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
        """This peer has received the object. The pool got it from here, even if it dropped it since
        (O-B5): an announced ID that is neither available nor in flight was received."""
        return x not in self.available_ids and x not in self.inflight_ids

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
        self.had = frozenset()
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
        self.replied()
        self.num_ids_in_flight -= request.count
        self.outstanding_fifo.extend(ids)
        self.available_ids |= set(ids)

    def replied(self) -> None:
        """The next reply is due, if there is another request."""
        self.pending.pop(0)
        self.reply.stop()
        if len(self.pending) > 0:
            self.reply.start(self.reply_timeout)

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
        self.replied()
        self.inflight_ids -= ids
        self.owt_pool |= ids
        self.received |= {x for x in ids if x in self.outstanding_fifo}

    @transition(of="step", source=Step.READ, target=Step.REQUESTED_OBJECTS)
    def on_request_objects(self) -> RequestObjects:
        """Step 3, if objects are to be requested: they become unavailable [seed:42,53] (O14)."""
        decision = needed(self.decision, "no decision was made")
        require(len(decision.objects_to_req) > 0, "no objects are to be requested")
        request = RequestObjects(decision.objects_to_req)
        self.available_ids -= request.ids
        self.inflight_ids |= request.ids
        self.requested(request)
        return request

    def requested(self, request: Request) -> None:
        """Its reply is due in time if it is the next one."""
        if len(self.pending) == 0:
            self.reply.start(self.reply_timeout)
        self.pending.append(request)

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
        self.received -= set(acked)
        self.num_ids_in_flight += decision.ids_to_req
        request = RequestIds(blocking, decision.ids_to_ack, decision.ids_to_req)
        self.requested(request)
        if blocking:
            self.reply.stop()
        return request

    @transition()
    def on_added_to_pool(self, x: ObjectId) -> None:
        """`submitObjectsToPool` has inserted it under the lock [seed:43,118] (O15, O26)."""
        require(x in self.owt_pool, "not on its way to the pool")
        self.owt_pool.remove(x)
