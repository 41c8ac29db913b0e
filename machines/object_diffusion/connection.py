"""Object diffusion, composed: one inbound peer, the outbound peer at the other end, a pool.

Source: `object-diffusion.md` as in `callbacks.py`, which states what the inbound side must
respect: how many IDs the outbound side keeps available, and that an ack is the length of a prefix
of its FIFO. `Outbound` is that side as the protocol defines it, with every error that it can find.
It is honest: it announces each object once, in its order, and sends exactly the requested objects.
So it must never find an error, and must never be disconnected.

What travels is what the entry returns: the loop knows its decision from `read_decision`, and the
outbound peer a request from `on_request_ids` or `on_request_objects`.

Abstractions. Requests arrive in order and are answered one after the other. A request in error gets
no proper reply. Replies arrive within their time limit; `in_time.py` has the clock. The attribution
may pick anything here. The pool may contain objects from other peers, and may drop one.
Broken connections are left out: `system.py` has disconnections.
"""

from enum import Enum

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    can,
    invariant,
    leads_to,
    needed,
    reachable,
    refuse,
    require,
    terminal,
    transition,
)

from .callbacks import Status
from .declaration import InboundPeer, InboundPeerFixed
from .messages import Decision, ObjectId, Request, RequestIds, RequestObjects


class ReplyIds(Record):
    """New IDs, in the outbound peer's order; empty only if the request was not blocking."""

    ids: tuple[ObjectId, ...]


class ReplyObjects(Record):
    """Exactly the requested objects."""

    ids: frozenset[ObjectId]


Reply = ReplyIds | ReplyObjects


class Complaint(Enum):
    """An error that the outbound peer finds in a request."""

    NONE = "none"
    NOTHING = "nothing is requested"
    ACKED = "more is acked than is unacked"
    TOO_MANY = "more IDs than it may keep available"
    BLOCKS = "blocks with IDs unacked"
    PIPELINES = "does not block with none unacked"
    UNAVAILABLE = "an object that it did not announce, or that was acked"


class Outbound(Machine):
    """The outbound peer: the IDs that it announced, and those that are not acked."""

    complaint: Complaint = Complaint.NONE
    fifo: list[ObjectId] = []
    announced: set[ObjectId] = set()

    max_num_objects_outstanding: Param[Nat] = 2

    @transition()
    def announce(self, request: RequestIds, ids: tuple[ObjectId, ...]) -> ReplyIds:
        """Answer a request for IDs with new ones (O6, O22, O23)."""
        self.complaint = self.about(request)
        if self.complaint != Complaint.NONE:
            require(len(ids) == 0, "it has given up")
            return ReplyIds(ids)
        require(len(ids) <= request.count, "more than requested")
        require(len(ids) > 0 or not request.blocking, "waits for something new")
        require(len(set(ids)) == len(ids), "the same twice")
        require(not any(x in self.announced for x in ids), "announced before")
        self.fifo = self.fifo[request.ack :]
        self.fifo.extend(ids)
        self.announced |= set(ids)
        return ReplyIds(ids)

    def about(self, request: RequestIds) -> Complaint:
        unacked = len(self.fifo) - request.ack
        if request.count == 0:
            return Complaint.NOTHING
        if unacked < 0:
            return Complaint.ACKED
        if unacked + request.count > self.max_num_objects_outstanding:
            return Complaint.TOO_MANY
        if request.blocking and unacked > 0:
            return Complaint.BLOCKS
        return Complaint.PIPELINES if unacked == 0 and not request.blocking else Complaint.NONE

    @transition()
    def send(self, request: RequestObjects) -> ReplyObjects:
        """Answer a request for objects with exactly these (O25)."""
        if len(request.ids) == 0:
            self.complaint = Complaint.NOTHING
        elif not all(x in self.fifo for x in request.ids):
            self.complaint = Complaint.UNAVAILABLE
        return ReplyObjects(request.ids)


class Connection(Machine, abstract=True):
    """Both ends, requests and replies under way, and the pool."""

    peer: InboundPeer
    outbound: Outbound = Outbound()
    told: Decision | None = None
    requests: list[Request] = []
    replies: list[Reply] = []
    pool: set[ObjectId] = set()
    disconnected: bool = False
    evictions: Nat = 0

    most_evictions: Param[Nat] = 1

    @transition(fair="weak")
    def decide(self, objects: frozenset[ObjectId]) -> None:
        """If an object can be requested, at least one is."""
        require(not self.has_ended(), "the connection has ended")
        offered = self.peer.interesting(frozenset(self.pool))
        require(len(objects) > 0 or len(offered) == 0, "something could be requested")
        decision = self.peer.decide(frozenset(self.pool), objects)
        assert decision == self.peer.decision

    @transition(fair="weak")
    def read(self) -> None:
        self.told = self.peer.read_decision()

    @transition(fair="strong")
    def collect(self) -> None:
        """Read the oldest reply; if it is an error, the connection ends (O16, O41)."""
        require(len(self.replies) > 0, "there is no reply")
        require(self.peer.collects() and not self.has_ended(), "not now")
        reply = self.replies.pop(0)
        if isinstance(reply, ReplyIds):
            if can(self.peer.on_receive_ids, reply.ids) and self.accepts(reply):
                self.peer.on_receive_ids(reply.ids)
            else:
                self.disconnected = True
        elif can(self.peer.on_receive_objects, reply.ids):
            self.peer.on_receive_objects(reply.ids)
        else:
            self.disconnected = True

    def accepts(self, reply: ReplyIds) -> bool:
        """An ID may be announced although the pool has its object (O-B4)."""
        return True

    @transition(fair="weak")
    def request_objects(self) -> None:
        decision = needed(self.told, "has no decision")
        require(len(decision.objects_to_req) > 0, "was told to request none")
        self.requests.append(self.peer.on_request_objects())

    @transition(fair="weak")
    def request_ids(self) -> None:
        decision = needed(self.told, "has no decision")
        require(decision.ids_to_req > 0, "was told to request none")
        self.requests.append(self.peer.on_request_ids())

    @transition(fair="weak")
    def complete(self) -> None:
        self.peer.on_decision_completed()
        self.told = None

    @transition(fair="weak")
    def answer_ids(self, ids: tuple[ObjectId, ...]) -> None:
        """The outbound peer handles the next request."""
        require(len(self.requests) > 0, "nothing is requested")
        require(not self.has_ended(), "the connection has ended")
        request = self.requests[0]
        if not isinstance(request, RequestIds):
            refuse("objects are requested")
        self.replies.append(self.outbound.announce(request, ids))
        self.requests.pop(0)

    @transition(fair="weak")
    def answer_objects(self) -> None:
        require(len(self.requests) > 0, "nothing is requested")
        require(not self.has_ended(), "the connection has ended")
        request = self.requests[0]
        if not isinstance(request, RequestObjects):
            refuse("IDs are requested")
        self.replies.append(self.outbound.send(request))
        self.requests.pop(0)

    @transition(fair="weak")
    def insert(self, x: ObjectId) -> None:
        """A received object enters the pool (O15)."""
        self.pool.add(x)
        self.peer.on_added_to_pool(x)

    @transition()
    def insert_from_another(self, x: ObjectId) -> None:
        require(x not in self.pool, "is in the pool")
        self.pool.add(x)

    @transition()
    def evict(self, x: ObjectId) -> None:
        """The pool drops an object, because its size is limited (O-B5)."""
        require(x in self.pool, "is not in the pool")
        require(self.evictions < self.most_evictions, "enough was dropped")
        self.pool.remove(x)
        self.evictions += 1

    def has_ended(self) -> bool:
        """Whether one side found an error of the other."""
        return self.disconnected or self.outbound.complaint != Complaint.NONE

    def acks_under_way(self) -> Nat:
        """The acks in requests that the outbound peer has not handled yet."""
        return sum(r.ack for r in self.requests if isinstance(r, RequestIds))

    @invariant
    def loop_is_told(self) -> bool:
        """It knows the decision that it carries out (O4, O9)."""
        acts = self.peer.state == Status.ACTING
        return self.told == (self.peer.decision if acts else None)

    @invariant
    def what_is_sent_is_pending(self) -> bool:
        """The entry knows which requests have no reply yet (O12, O14)."""
        unanswered = self.peer.pending[len(self.replies) :]
        return self.has_ended() or self.requests == unanswered

    @invariant
    def fifos_agree(self) -> bool:
        """Without the messages under way, both FIFOs are equal [seed:132] (O29): acks are still on
        their way to the outbound peer, and IDs to the inbound peer."""
        coming = [x for r in self.replies if isinstance(r, ReplyIds) for x in r.ids]
        here = self.peer.outstanding_fifo + coming
        return self.has_ended() or self.outbound.fifo[self.acks_under_way() :] == here

    @invariant
    def replies_are_to_the_oldest_requests(self) -> bool:
        """Replies answer the requests in order, and fit them."""
        return self.has_ended() or (
            len(self.replies) <= len(self.peer.pending)
            and all(self.answered(i) for i in range(len(self.replies)))
        )

    def answered(self, i: int) -> bool:
        request, reply = self.peer.pending[i], self.replies[i]
        if isinstance(reply, ReplyObjects):
            return isinstance(request, RequestObjects) and reply.ids == request.ids
        return (
            isinstance(request, RequestIds)
            and len(reply.ids) <= request.count
            and (len(reply.ids) > 0 or not request.blocking)
        )

    @invariant
    def each_id_is_announced_once(self) -> bool:
        """The outbound FIFO contains no ID twice. The inbound peer knows only announced IDs, and
        none of those that are still under way."""
        fifo = self.outbound.fifo
        coming = [x for r in self.replies if isinstance(r, ReplyIds) for x in r.ids]
        return (
            len(set(fifo)) == len(fifo)
            and all(x in self.outbound.announced for x in fifo)
            and all(x in self.outbound.announced for x in ObjectId if self.peer.known(x))
            and not any(self.peer.known(x) for x in coming)
        )

    @invariant
    def both_know_the_limit(self) -> bool:
        """The inbound peer uses no higher limit than the outbound peer keeps available (O22)."""
        return self.peer.max_num_objects_outstanding <= self.outbound.max_num_objects_outstanding

    @invariant
    def outbound_keeps_few(self) -> bool:
        """(O22)"""
        return len(self.outbound.fifo) <= self.outbound.max_num_objects_outstanding

    @invariant
    def nothing_to_complain_of(self) -> bool:
        """The outbound peer never finds an error of ours (O6, O20, O22, O24)."""
        return self.outbound.complaint == Complaint.NONE

    @invariant
    def honest_peers_stay(self) -> bool:
        """The inbound peer never finds an error of its honest peer (O16, O-B3, O-B4)."""
        return not self.disconnected

    @invariant
    def something_becomes_of_each_id(self) -> bool:
        """Each ID can be requested, is on its way, or can be acked (O24, O27, O-B5)."""
        return all(
            x in self.peer.available_ids
            or x in self.peer.inflight_ids
            or x in self.pool
            or self.peer.handled(x)
            for x in self.peer.outstanding_fifo
        )

    @leads_to
    def announced_ids_are_acked(self, x: ObjectId) -> tuple[bool, bool]:
        here = x in self.peer.outstanding_fifo
        return here, not here or self.has_ended()

    @leads_to
    def decisions_are_completed(self) -> tuple[bool, bool]:
        """Unless a blocking request waits for an ID that does not exist."""
        acting = self.peer.state == Status.ACTING
        return acting, not acting or self.peer.waits() or self.has_ended()

    @reachable
    def fewer_ids_come_than_were_requested(self) -> bool:
        """10 requested and 7 received, in small numbers [seed:112] (O13)."""
        return any(
            isinstance(request, RequestIds) and len(reply.ids) < request.count
            for i, reply in enumerate(self.replies)
            if isinstance(reply, ReplyIds)
            for request in self.peer.pending[i : i + 1]
        )

    @reachable
    def ids_and_objects_are_under_way(self) -> bool:
        """Requests are pipelined (O6)."""
        return self.peer.num_ids_in_flight > 0 and len(self.peer.inflight_ids) > 0

    @terminal
    def ended(self) -> bool:
        return self.has_ended()

    @terminal
    def everything_is_acked(self) -> bool:
        """Every object was announced and handled, and a blocking request waits for more."""
        return (
            all(x in self.outbound.announced for x in ObjectId)
            and len(self.peer.outstanding_fifo) == 0
            and self.peer.waits()
        )

    @reachable
    def an_object_is_dropped_before_its_id_is_acked(self) -> bool:
        return any(
            x not in self.pool and self.peer.handled(x) and x not in self.peer.owt_pool
            for x in self.peer.outstanding_fifo
        )

    @reachable
    def an_id_is_acked_that_was_never_requested(self) -> bool:
        decision = self.peer.decision
        return decision is not None and any(
            x in self.peer.available_ids for x in self.peer.outstanding_fifo[: decision.ids_to_ack]
        )

    scope = Scope(
        {"answer_ids.ids": 2, "ReplyIds.ids": 2},
        ObjectId=2,
        Nat=range(0, 3),
        outstanding_fifo=2,
        fifo=2,
        pending=3,
        requests=3,
        replies=3,
    )


class ConnectionFixed(Connection):
    """Blocks only if nothing is under way, and completes only after the reply."""

    peer: InboundPeer = InboundPeerFixed(
        max_num_objects_outstanding=2, max_num_objects_inflight=2, max_num_ids_req=2
    )

    @invariant
    def requests_fit(self) -> bool:
        """Each request asks for something. A request for IDs leaves one unacked, or blocks, and
        both limits have room for its IDs (O4, O6, O22)."""
        return self.has_ended() or all(self.fits(i) for i in range(len(self.requests)))

    def fits(self, i: int) -> bool:
        request = self.requests[i]
        ids = [r for r in self.requests[: i + 1] if isinstance(r, RequestIds)]
        acked = sum(r.ack for r in ids)
        if isinstance(request, RequestObjects):
            left = self.outbound.fifo[acked:]
            return len(request.ids) > 0 and all(x in left for x in request.ids)
        unacked = len(self.outbound.fifo) - acked
        may_come = sum(r.count for r in ids)
        return (
            0 < request.count <= self.peer.max_num_ids_req
            and unacked >= (0 if request.blocking else 1)
            and unacked + may_come <= self.outbound.max_num_objects_outstanding
        )
