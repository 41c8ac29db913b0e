"""Object diffusion, a node in time: who is given up, and when.

Source as in `callbacks.py`. The node of `system.py`, with the registry and the entries that a
service embeds, under a clock of seconds. Their timers run out when they are due. What is due at the
same tick happens in any order, so that equality is not enough.

What is assumed of the node: a round is made every `decision_period` (O3), and a loop that was
woken does at once all that it was told, unless it waits for the reply to a blocking request. An
honest outbound peer is assumed to be quick: its reply arrives at most `latency` after the request,
and is read when the loop reads replies next. The document mentions no such times; `reply_timeout`
exceeds their sum.

Abstractions. Time ends with the scope; so liveness is shown by `DiffusionFixed`, and here how late
something may be.
"""

from lawful import (
    Clock,
    Ghost,
    Nat,
    Param,
    Scope,
    Timer,
    assume,
    can,
    drop,
    initial,
    invariant,
    reachable,
    require,
    step_property,
    transition,
)

from .attribution import Peer
from .callbacks import Step
from .declaration import InboundPeerFixed
from .messages import ObjectId, RequestIds, RequestObjects
from .system import Diffusion


class InboundPeerInTime(InboundPeerFixed):
    """The entry that a service embeds; no time passes while its reply is late."""

    clock: Clock = Clock()
    reply: Timer = Timer(urgent=True)


class DiffusionInTime(Diffusion):
    """A node whose peers answer in time, or not at all."""

    clock: Clock = Clock()
    peers: dict[Peer, InboundPeerInTime] = {}  # type: ignore[assignment]  # holds no other
    round: Timer = Timer(urgent=True)
    loops: Timer = Timer(urgent=True)
    times: dict[Peer, list[Nat]] = {}
    awaited: Ghost[dict[Peer, Nat]] = {}

    decision_period: Param[Nat] = 1
    latency: Param[Nat] = 1

    @assume
    def replies_are_read_in_time(self) -> bool:
        return self.reply_timeout > self.latency + self.decision_period

    @initial
    def start(self) -> None:
        self.round.start(self.decision_period)

    def admit(self, p: Peer) -> None:
        self.peers[p] = InboundPeerInTime(
            max_num_objects_outstanding=self.max_num_objects_outstanding,
            max_num_objects_inflight=self.max_num_objects_inflight_per_peer,
            max_num_ids_req=self.max_num_ids_req,
            reply_timeout=self.reply_timeout,
        )
        self.times[p] = []

    def leave(self, p: Peer) -> None:
        super().leave(p)
        del self.times[p]
        if p in self.awaited:
            del self.awaited[p]

    @transition(timer="round")
    def make_decisions(self, in_pool: frozenset[ObjectId]) -> frozenset[Peer]:
        woken = super().make_decisions(in_pool)
        self.round.start(self.decision_period)
        self.loops.start(0)
        return woken

    @transition(timer="loops")
    def rest(self) -> None:
        """Each loop has done what it was told, or waits."""
        require(len(self.woken) == 0, "a loop was woken")
        require(all(self.peers[p].waits() for p in self.told), "a loop is not done")

    @transition()
    def on_request_objects(self, p: Peer) -> RequestObjects:
        require(self.has_read(p), "a reply has arrived")
        self.expect(p)
        return super().on_request_objects(p)

    @transition()
    def on_request_ids(self, p: Peer) -> RequestIds:
        require(self.has_read(p), "a reply has arrived")
        request = super().on_request_ids(p)
        self.expect(p)
        if request.blocking:
            del self.awaited[p]
        return request

    @transition()
    def on_decision_completed(self, p: Peer) -> None:
        require(self.has_read(p), "a reply has arrived")
        super().on_decision_completed(p)

    def has_read(self, p: Peer) -> bool:
        """Whether the loop has read the replies that have certainly arrived."""
        late = [since for since in self.times.get(p, []) if self.clock.now - since >= self.latency]
        return p in self.silent or len(late) == 0

    def expect(self, p: Peer) -> None:
        if p in self.times:
            self.times[p].append(self.clock.now)
            if p not in self.awaited:
                self.awaited[p] = self.clock.now

    @transition()
    def on_receive_ids(self, p: Peer, ids: tuple[ObjectId, ...]) -> None:
        super().on_receive_ids(p, ids)
        self.answer(p)
        if not self.loops.armed:
            self.loops.start(0)

    @transition()
    def on_receive_objects(self, p: Peer, ids: frozenset[ObjectId]) -> None:
        super().on_receive_objects(p, ids)
        self.answer(p)

    def answer(self, p: Peer) -> None:
        """The next request is awaited from now on."""
        self.times[p].pop(0)
        if len(self.times[p]) > 0:
            self.awaited[p] = self.clock.now
        elif p in self.awaited:
            del self.awaited[p]

    # How long.

    @invariant
    def nobody_is_awaited_for_longer(self) -> bool:
        """A peer that owes the reply to a pipelined request is given up in time (O-B7)."""
        return all(self.clock.now - since <= self.reply_timeout for since in self.awaited.values())

    @invariant
    def honest_replies_are_taken(self, p: Peer, x: ObjectId) -> bool:
        """A loop that reads takes a new ID that answers its oldest request (O13, O16)."""
        if p in self.silent or (p, x) in self.announced or len(self.sent.get(p, [])) == 0:
            return True
        request = self.sent[p][0]
        if not isinstance(request, RequestIds):
            return True
        reads = self.peers[p].step == Step.READ or request.blocking
        return not reads or can(self.on_receive_ids, p, (x,))

    @step_property
    def nobody_is_given_up_early(self, after: "DiffusionInTime") -> bool:
        """A peer that is disconnected without another fault had all the time for its reply
        (O-B7)."""
        return after.faults > self.faults or all(
            p in after.peers
            or (p in self.awaited and self.clock.now - self.awaited[p] >= self.reply_timeout)
            for p in self.peers
        )

    @invariant
    def who_has_answered_is_not_awaited(self) -> bool:
        """The time limit begins when the reply is the next one, and ends with it (O-B7)."""
        return all(peer.reply.armed == (p in self.awaited) for p, peer in self.peers.items())

    @reachable
    def requests_are_sent_one_after_the_other(self, p: Peer) -> bool:
        """While the reply to the first is under way (O6)."""
        return p in self.times and any(t > self.times[p][0] for t in self.times[p])

    @reachable
    def waits_for_longer_than_the_limit(self, p: Peer) -> bool:
        """A blocking request may (O-B7)."""
        late = [t for t in self.times.get(p, []) if self.clock.now - t > self.reply_timeout]
        return len(late) > 0

    not_here = drop("offered_objects_arrive")
    nor_this = drop("announced_ids_are_acked")
    nor_the_end = drop("decisions_are_completed")
    nor_another = drop("lost_copies_are_asked_for_again")
    alone = drop("a_frozen_peer_counts_before_it_asks")
    nor_others = drop("a_rejected_object_comes_from_another")
    nor_their_objects = drop("an_id_is_acked_that_was_never_requested")
    scope = Scope(
        {"on_receive_ids.ids": 1},
        Peer=1,
        ObjectId=1,
        Nat=range(0, 8),
        clock=range(0, 8),
        outstanding_fifo=3,
        pending=4,
        sent=4,
        times=4,
        target_object_redundancy=(1,),
        max_num_objects_outstanding=(3,),
        max_num_objects_inflight_per_peer=(1,),
        max_num_objects_inflight_total=(2,),
        max_num_ids_req=(1,),
        reply_timeout=(3,),
        decision_period=(1,),
        latency=(1,),
    )
    large = Scope(Peer=2)
