"""Object diffusion, composed: a node that downloads from several outbound peers.

Source: `object-diffusion.md` as in `callbacks.py`. `Diffusion` is the registry that a node embeds,
with what is around it: the peers' loops, which know of decisions only what the registry returns;
outbound peers, which know of requests only what was sent, and which break connections, fall silent
or send invalid objects; a pool that may drop objects. It decides nothing that the registry decides.
A budget limits the number of faults.

Abstractions. `connection.py` shows what the outbound side may do. Here a reply is made when it is
read, and announces only IDs that its peer did not announce before. Two peers and one object suffice
for a choice of providers; `attribution.py` explores the attribution of more objects in every
possible state, and so does the scope `large` here. One ID is requested at a time, by default with
no other one unacked; the scope `pipelined` has two. An object is found to be invalid when it is
inserted. Time limits run out for silent peers only: they are longer than an honest peer takes, as
`in_time.py` shows.
"""

from lawful import (
    Fairness,
    Ghost,
    Nat,
    Param,
    Scope,
    Strong,
    Weak,
    drop,
    implies,
    invariant,
    leads_to,
    needed,
    reachable,
    refuse,
    require,
    step_property,
    transition,
)

from .attribution import Peer
from .callbacks import Status, Step
from .messages import Decision, ObjectId, Request, RequestIds, RequestObjects
from .registry import Insertion, Registry


class Diffusion(Registry, abstract=True):
    """The registry that a node embeds, with its environment: loops, connections, and the pool.

    `woken` are the peers whose loops were told of a new decision, `told` is the decision that a
    loop carries out, `sent` are the requests that an outbound peer has not answered.
    """

    woken: set[Peer] = set()
    told: dict[Peer, Decision] = {}
    sent: dict[Peer, list[Request]] = {}
    pool: set[ObjectId] = set()
    announced: set[tuple[Peer, ObjectId]] = set()
    silent: set[Peer] = set()
    gone: set[Peer] = set()
    faults: Nat = 0
    rejected: Ghost[set[ObjectId]] = set()
    seen: Ghost[frozenset[ObjectId]] = frozenset()
    left_out: Ghost[bool] = False

    most_faults: Param[Nat] = 1

    # Where one copy is wanted there are not two; `registry.py` has them.
    not_where_one_is_wanted = drop("two_copies_are_in_flight")

    # The connections.

    @transition()
    def register(self, p: Peer) -> None:
        require(p not in self.gone, "who connects again is another peer")
        super().register(p)
        self.sent[p] = []

    @transition()
    def unregister(self, p: Peer) -> None:
        """A connection breaks, with any messages under way."""
        self.fail()
        super().unregister(p)
        assert p not in self.peers

    @transition()
    def fall_silent(self, p: Peer) -> None:
        """An outbound peer stops answering, and keeps the connection (O-B7)."""
        require(p in self.peers, "is not connected")
        require(p not in self.silent, "is silent already")
        self.fail()
        self.silent.add(p)

    def fail(self) -> None:
        require(self.faults < self.most_faults, "enough went wrong")
        self.faults += 1

    def leave(self, p: Peer) -> None:
        """The bracket ends, and the loop with it (O40)."""
        super().leave(p)
        self.gone.add(p)
        self.silent.discard(p)
        self.woken.discard(p)
        if p in self.told:
            del self.told[p]
        del self.sent[p]

    # The thread that decides, and the loops, which do what they are told.

    @transition()
    def make_decisions(self, in_pool: frozenset[ObjectId]) -> frozenset[Peer]:
        require(in_pool == frozenset(self.pool), "the thread asks the pool")
        woken = super().make_decisions(in_pool)
        self.woken = set(woken)
        self.seen = in_pool
        self.left_out = any(self.leaves_out(p, in_pool) for p in self.peers)
        return woken

    @transition()
    def read_decision(self, p: Peer) -> Decision:
        require(p in self.woken, "waits for a decision")
        decision = super().read_decision(p)
        self.woken.discard(p)
        self.told[p] = decision
        return decision

    @transition()
    def on_request_objects(self, p: Peer) -> RequestObjects:
        decision = needed(self.told.get(p), "has no decision")
        require(len(decision.objects_to_req) > 0, "was told to request none")
        request = super().on_request_objects(p)
        self.sent[p].append(request)
        return request

    @transition()
    def on_request_ids(self, p: Peer) -> RequestIds:
        decision = needed(self.told.get(p), "has no decision")
        require(decision.ids_to_req > 0, "was told to request none")
        request = super().on_request_ids(p)
        self.sent[p].append(request)
        return request

    @transition()
    def on_decision_completed(self, p: Peer) -> None:
        super().on_decision_completed(p)
        del self.told[p]

    # Replies to what was sent.

    @transition()
    def on_receive_ids(self, p: Peer, ids: tuple[ObjectId, ...]) -> None:
        """An outbound peer announces each object once."""
        require(self.is_asked(p), "nothing was sent, or it is silent")
        request = self.sent[p][0]
        if not isinstance(request, RequestIds):
            refuse("objects were requested")
        require(len(ids) <= request.count, "it announces no more than requested")
        require(implies(request.blocking, len(ids) > 0), "it waits for something new")
        require(all((p, x) not in self.announced for x in ids), "announced before")
        super().on_receive_ids(p, ids)
        self.sent[p].pop(0)
        self.announced |= {(p, x) for x in ids}

    @transition()
    def on_receive_objects(self, p: Peer, ids: frozenset[ObjectId]) -> None:
        require(self.is_asked(p), "nothing was sent, or it is silent")
        request = self.sent[p][0]
        if not isinstance(request, RequestObjects):
            refuse("IDs were requested")
        require(ids == request.ids, "it sends what was requested")
        super().on_receive_objects(p, ids)
        self.sent[p].pop(0)

    def is_asked(self, p: Peer) -> bool:
        """Whether the outbound peer answers a request next."""
        return p not in self.silent and p in self.sent and len(self.sent[p]) > 0

    # The pool.

    @transition()
    def take_lock(self, p: Peer, x: ObjectId) -> None:
        """Who took it inserts its object."""
        super().take_lock(p, x)
        assert self.lock == Insertion(p, x)

    @transition()
    def insert(self, p: Peer, x: ObjectId) -> None:
        require(self.lock == Insertion(p, x), "does not have the lock")
        require(x not in self.pool, "is in the pool")
        self.pool.add(x)

    @transition()
    def on_rejected(self, p: Peer, x: ObjectId) -> None:
        require(x not in self.pool, "is in the pool")
        self.fail()
        super().on_rejected(p, x)
        self.rejected.add(x)
        assert p not in self.peers

    @transition()
    def on_added_to_pool(self, p: Peer, x: ObjectId) -> None:
        require(x in self.pool, "not inserted yet")
        super().on_added_to_pool(p, x)

    @transition()
    def evict(self, x: ObjectId) -> None:
        """The pool drops an object, because its size is limited (O-B5)."""
        require(x in self.pool, "not in the pool")
        self.fail()
        self.pool.remove(x)

    def answers(self, p: Peer) -> bool:
        return p in self.peers and p not in self.silent

    @invariant
    def decisions_are_up_to_date(self) -> bool:
        """An unread decision is made in the last round, of what the pool had then (O30, O33)."""
        return all(
            peer.had == self.seen for peer in self.peers.values() if peer.state == Status.UNREAD
        )

    @invariant
    def a_round_leaves_nothing_to_ask_for(self) -> bool:
        """Eager: of each object that the last round left out, one of the three limits forbade a
        further copy (O34, O36, O38)."""
        return not self.left_out

    @invariant
    def loops_are_told(self) -> bool:
        """Who has an unread decision is woken, and who acts knows the decision (O9, O11, O37)."""
        return self.woken == {p for p in self.peers if self.peers[p].state == Status.UNREAD} and (
            all(self.told.get(p) == self.acting(p) for p in Peer)
        )

    def acting(self, p: Peer) -> Decision | None:
        frozen = p in self.peers and self.peers[p].state == Status.ACTING
        return self.peers[p].decision if frozen else None

    @invariant
    def what_is_sent_is_pending(self) -> bool:
        """The entry knows what was sent, in order (O12, O14)."""
        return all(
            p in self.sent and self.sent[p] == peer.pending for p, peer in self.peers.items()
        ) and all(p in self.peers for p in self.sent)

    @invariant
    def who_is_gone_is_not_registered(self) -> bool:
        return all(p not in self.peers for p in self.gone)

    @invariant
    def silent_peers_are_connected(self) -> bool:
        return all(p in self.peers for p in self.silent)

    @invariant
    def outstanding_was_announced(self) -> bool:
        return all(
            (p, x) in self.announced
            for p, peer in self.peers.items()
            for x in peer.outstanding_fifo
        )

    @step_property
    def announced_ids_are_outstanding(self, after: "Diffusion") -> bool:
        """What a reply announces comes to the FIFO, all of it (O13, O23)."""
        return all(
            p in after.peers and x in after.peers[p].outstanding_fifo
            for p, x in after.announced - self.announced
        )

    @step_property
    def deciding_changes_decisions_alone(self, after: "Diffusion") -> bool:
        """(O39)"""
        return all(
            implies(
                p in after.peers
                and after.peers[p].state == Status.UNREAD
                and after.peers[p].decision != peer.decision,
                after.peers[p].outstanding_fifo == peer.outstanding_fifo
                and after.peers[p].available_ids == peer.available_ids
                and after.peers[p].inflight_ids == peer.inflight_ids
                and after.peers[p].owt_pool == peer.owt_pool
                and after.peers[p].pending == peer.pending,
            )
            for p, peer in self.peers.items()
        )

    def acked(self, p: Peer) -> frozenset[ObjectId]:
        """The IDs that a peer's decision acks."""
        decision = self.peers[p].decision
        acked = 0 if decision is None else decision.ids_to_ack
        return frozenset(self.peers[p].outstanding_fifo[:acked])

    @step_property
    def one_at_a_time_leaves(self, after: "Diffusion") -> bool:
        """A peer leaves with its state and its decision, and with those of no other (O40)."""
        left = {p for p in self.peers if p not in after.peers}
        return len(left) <= 1 and all(
            implies(
                len(left) > 0,
                after.peers[p].decision == self.peers[p].decision
                and after.peers[p].outstanding_fifo == self.peers[p].outstanding_fifo
                and after.peers[p].pending == self.peers[p].pending,
            )
            for p in after.peers
        )

    @step_property
    def received_is_not_lost(self, after: "Diffusion") -> bool:
        """An object that leaves the way to the pool is in the pool, or its peer has left (O15)."""
        return all(
            x in after.peers[p].owt_pool or x in after.pool
            for p, peer in self.peers.items()
            if p in after.peers
            for x in peer.owt_pool
        )

    @step_property
    def the_pool_changes_under_its_lock(self, after: "Diffusion") -> bool:
        """Only the lock holder's object is inserted or rejected (O15, O26, O28)."""
        lock = self.lock
        new = (after.pool - self.pool) | (after.rejected - self.rejected)
        return len(new) == 0 or (lock is not None and new == {lock.object})

    @step_property
    def the_lock_is_given_back(self, after: "Diffusion") -> bool:
        """The holder releases it after its object is inserted, or when it leaves (O15, O26)."""
        lock = self.lock
        return (
            lock is None
            or after.lock == lock
            or (after.lock is None and lock.peer not in after.peers)
            or (after.lock is None and lock.object not in after.peers[lock.peer].owt_pool)
        )

    @step_property
    def only_who_owes_an_answer_is_given_up(self, after: "Diffusion") -> bool:
        """Unless another fault happens, honest peers stay connected (O41, O-B7)."""
        return after.faults > self.faults or all(
            p in after.peers or (p in self.silent and len(peer.pending) > 0 and not peer.waits())
            for p, peer in self.peers.items()
        )

    @step_property
    def peers_wake_for_something(self, after: "Diffusion") -> bool:
        """A decision without requests is published only if there may be a reply to read."""
        return all(
            p not in self.peers
            or self.peers[p].state != Status.COMPLETED
            or peer.state != Status.UNREAD
            or after.says_something(p)
            for p, peer in after.peers.items()
        )

    def says_something(self, p: Peer) -> bool:
        peer = self.peers[p]
        decision = peer.decision
        return decision is not None and (
            len(decision.objects_to_req) > 0 or decision.ids_to_req > 0 or len(peer.pending) > 0
        )

    @leads_to
    def offered_objects_arrive(self, p: Peer, x: ObjectId) -> tuple[bool, bool]:
        """An object offered by a peer that answers is finally in the pool, or was when its ID was
        acked."""
        offered = self.answers(p) and x in self.peers[p].available_ids
        acked = self.answers(p) and x not in self.peers[p].outstanding_fifo
        return offered, x in self.pool or acked or not self.answers(p)

    @leads_to
    def announced_ids_are_acked(self, p: Peer, x: ObjectId) -> tuple[bool, bool]:
        """(O27, O29)"""
        outstanding = self.answers(p) and x in self.peers[p].outstanding_fifo
        acked = self.answers(p) and x not in self.peers[p].outstanding_fifo
        return outstanding, acked or not self.answers(p)

    @leads_to
    def decisions_are_completed(self, p: Peer) -> tuple[bool, bool]:
        """Unless a blocking request waits for an ID that does not exist (O17)."""
        acting = p in self.peers and self.peers[p].state == Status.ACTING
        done = p not in self.peers or self.peers[p].state != Status.ACTING
        return acting, done or self.peers[p].waits() or not self.answers(p)

    @leads_to
    def lost_copies_are_asked_for_again(self, x: ObjectId) -> tuple[bool, bool]:
        """The next rounds request it from another provider, if there is one [seed:176] (O42)."""
        offered = any(self.answers(p) and x in peer.available_ids for p, peer in self.peers.items())
        lost = x not in self.pool and self.copies(x) == 0
        return lost and offered, not offered or self.copies(x) > 0 or x in self.pool

    @reachable
    def a_rejected_object_comes_from_another(self) -> bool:
        return any(x in self.pool for x in self.rejected)

    @reachable
    def an_id_is_acked_that_was_never_requested(self) -> bool:
        return any(x in peer.available_ids for p, peer in self.peers.items() for x in self.acked(p))

    @reachable
    def waits_and_wakes(self) -> bool:
        """The reply to a blocking request has arrived, and the decision is not yet completed."""
        return any(
            peer.step == Step.REQUESTED_IDS and not peer.waits() and len(peer.pending) == 0
            for peer in self.peers.values()
        )

    @reachable
    def everything_is_idle(self) -> bool:
        """Everything is in the pool, and every peer waits for new IDs."""
        return len(self.pool) > 0 and all(p in self.peers and self.peers[p].waits() for p in Peer)

    fairness = Fairness(
        Weak("make_decisions", each=()),
        Weak("read_decision"),
        Weak("on_request_objects"),
        Weak("on_request_ids"),
        Weak("on_decision_completed"),
        # A peer reads replies now and then; between that there is none to be read.
        Strong("on_receive_ids", each=("p",)),
        Strong("on_receive_objects", each=("p",)),
        Strong("take_lock"),
        Weak("insert"),
        Weak("on_added_to_pool"),
    )

    scope = Scope(
        {"on_receive_ids.ids": 1},
        Peer=2,
        ObjectId=1,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        sent=3,
        target_object_redundancy=(1,),
        max_num_objects_outstanding=(1,),
        max_num_objects_inflight_per_peer=(1,),
        max_num_objects_inflight_total=(2,),
        max_num_ids_req=(1,),
    )
    redundant = Scope(target_object_redundancy=(2,))


class DiffusionFixed(Diffusion):
    """A peer that does not answer in time is disconnected."""

    @transition(timer="peers[p].reply", fair="weak")
    def time_out(self, p: Peer) -> None:
        """The reply of a silent peer is late (O-B7)."""
        require(p in self.silent, "its answer comes in time")
        self.leave(p)

    pipelined = Scope(max_num_objects_outstanding=(2,))
    large = Scope(ObjectId=2)
