"""Lease lock, 2PC coordinator, leader heartbeat, TCP-like handshake."""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Clock,
    Machine,
    Nat,
    OrderedSort,
    Param,
    Record,
    Scope,
    Serial,
    Sort,
    State,
    Timer,
    invariant,
    needed,
    refuse,
    require,
    step_property,
    terminal,
    transition,
)


class Client(Sort):
    pass


class Lease(Record):
    owner: Client
    token: Nat
    expires_at: Nat

    def is_expired(self, now: int) -> bool:
        return now >= self.expires_at


class LeaseLock(Machine):
    TTL = 2

    clock: Clock = Clock(tick=1.0)
    lease: Lease | None = None
    next_token: Nat = 1
    waiters: list[Client] = []

    def _held(self) -> bool:
        return self.lease is not None and not self.lease.is_expired(self.clock.now)

    @transition
    def acquire(self, client: Client) -> int | None:
        if self._held():
            if client not in self.waiters:
                self.waiters.append(client)
            return None
        token = self.next_token
        self.next_token += 1
        self.lease = Lease(owner=client, token=token, expires_at=self.clock.now + self.TTL)
        if client in self.waiters:
            self.waiters.remove(client)
        return token

    @transition
    def renew(self, client: Client, token: Nat) -> None:
        lease = needed(self.lease, "no lease")
        require(lease.owner == client and lease.token == token, "not the owner")
        require(not lease.is_expired(self.clock.now), "expired")
        self.lease = lease.replace(expires_at=self.clock.now + self.TTL)

    @transition
    def release(self, client: Client) -> Client | None:
        if not self.lease or self.lease.owner != client:
            refuse("not the owner")
        self.lease = None
        next_client = self.waiters[0] if self.waiters else None
        return next_client

    @invariant
    def token_order(self) -> bool:
        return self.lease is None or self.lease.token < self.next_token

    @invariant
    def no_duplicate_waiters(self) -> bool:
        return all(self.waiters.count(c) <= 1 for c in self.waiters)

    scope = Scope(Client=2, clock=range(0, 4), Nat=range(0, 6), waiters=2)
    deadlock_ok = True


class Phase(State):
    WORKING = "working"
    VOTING = "voting"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Rm(Sort):
    """Resource manager."""


class Vote(Record):
    rm: Rm
    yes: bool


class Decision(Record):
    commit: bool
    to: frozenset[Rm]


class Coordinator(Machine):
    state: Phase = Phase.WORKING
    participants: set[Rm] = set()
    votes: dict[Rm, bool] = {}
    acked: set[Rm] = set()

    @property
    def missing(self) -> frozenset[Rm]:
        return frozenset(self.participants - self.votes.keys())

    def _decide(self, commit: bool) -> Decision:
        self.state = Phase.COMMITTED if commit else Phase.ABORTED
        return Decision(commit=commit, to=frozenset(self.participants))

    @transition(source=Phase.WORKING)
    def enlist(self, rm: Rm) -> None:
        self.participants.add(rm)

    @transition(source=Phase.WORKING, target=Phase.VOTING)
    def prepare(self) -> frozenset[Rm]:
        require(len(self.participants) >= 1, "no participants")
        return frozenset(self.participants)

    @transition(source=Phase.VOTING, target=(Phase.VOTING, Phase.COMMITTED, Phase.ABORTED))
    def vote(self, vote: Vote) -> Decision | None:
        rm, yes = vote.rm, vote.yes
        require(rm in self.missing, "not expected")
        self.votes[rm] = yes
        if not yes:
            return self._decide(commit=False)
        if not self.missing and all(self.votes.values()):
            return self._decide(commit=True)
        return None

    @transition(source=Phase.VOTING, target=Phase.ABORTED)
    def timeout(self) -> Decision:
        return Decision(commit=False, to=frozenset(r for r in self.participants))

    @transition(source=[Phase.COMMITTED, Phase.ABORTED])
    def ack(self, rm: Rm) -> bool:
        require(rm in self.participants and rm not in self.acked)
        self.acked = self.acked | {rm}
        return self.acked == self.participants

    @terminal
    def finished(self) -> bool:
        return self.state in (Phase.COMMITTED, Phase.ABORTED)

    @invariant
    def commit_means_all_yes(self) -> bool:
        if self.state != Phase.COMMITTED:
            return True
        return all(self.votes.get(rm, False) for rm in self.participants)

    @invariant
    def acks_after_decision(self) -> bool:
        return not self.acked or self.state in (Phase.COMMITTED, Phase.ABORTED)

    scope = Scope(Rm=2)


class NodeId(OrderedSort):
    pass


class Role(State):
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


class Heartbeat(Record):
    term: Nat
    leader: NodeId


class VoteRequest(Record):
    term: Nat
    candidate: NodeId


Message = Heartbeat | VoteRequest


class LeaderNode(Machine):
    """One node of an election, with heartbeats."""

    state: Role = Role.FOLLOWER
    term: Nat = 0
    me: Param[NodeId]
    leader: NodeId | None = None
    voted_for: NodeId | None = None
    votes: set[NodeId] = set()
    election: Timer = Timer()
    cluster_size: Param[Nat] = 3
    HEARTBEAT_SECONDS = 0.5

    @property
    def quorum(self) -> int:
        return self.cluster_size // 2 + 1

    def _step_down(self, term: int, leader: NodeId | None = None) -> None:
        self.term = term
        self.state = Role.FOLLOWER
        self.leader = leader
        self.voted_for = None
        self.votes = set()

    @transition
    def start(self) -> None:
        require(not self.election.armed)
        self.election.start(self.HEARTBEAT_SECONDS * 4)

    @transition(source=[Role.FOLLOWER, Role.CANDIDATE], timer="election")
    def elect(self) -> VoteRequest:
        self.term += 1
        self.state = Role.CANDIDATE
        self.leader = None
        self.voted_for = self.me
        self.votes = {self.me}
        self.election.start(self.HEARTBEAT_SECONDS * 4)
        return VoteRequest(self.term, self.me)

    @transition(source=Role.CANDIDATE)
    def receive_vote(self, term: Nat, voter: NodeId) -> Heartbeat | None:
        if term != self.term:
            return None
        self.votes.add(voter)
        if len(self.votes) >= self.quorum:
            self.state = Role.LEADER
            self.leader = self.me
            self.election.stop()
            return Heartbeat(term=self.term, leader=self.me)
        return None

    @transition
    def on_message(self, message: Message) -> bool:
        if message.term > self.term:
            self._step_down(message.term)
        if message.term < self.term:
            return False
        match message:
            case Heartbeat(leader=who):
                require(self.state is not Role.LEADER, "two leaders")
                self.state = Role.FOLLOWER
                self.leader = who
                self.election.start(self.HEARTBEAT_SECONDS * 4)
                return True
            case VoteRequest(candidate=candidate):
                if self.voted_for in (None, candidate):
                    self.voted_for = candidate
                    return True
                return False

    @invariant
    def leader_knows_itself(self) -> bool:
        return self.state != Role.LEADER or self.leader == self.me

    @step_property
    def terms_grow(self, after: "LeaderNode") -> bool:
        return self.term <= after.term

    scope = Scope(NodeId=2, Nat=range(0, 3), me=(NodeId("a"),), cluster_size=(3,))
    deadlock_ok = True


class Tcp(State):
    CLOSED = "CLOSED"
    LISTEN = "LISTEN"
    SYN_SENT = "SYN-SENT"
    SYN_RECEIVED = "SYN-RECEIVED"
    ESTABLISHED = "ESTABLISHED"
    FIN_WAIT = "FIN-WAIT"
    CLOSE_WAIT = "CLOSE-WAIT"

    @property
    def synchronized(self) -> bool:
        return self not in (Tcp.CLOSED, Tcp.LISTEN, Tcp.SYN_SENT, Tcp.SYN_RECEIVED)


Seq = Annotated[int, Serial(bits=16)]


class Segment(Record):
    seq: Seq
    ack: Seq | None = None
    syn: bool = False
    fin: bool = False
    rst: bool = False


class Endpoint(Machine):
    state: Tcp = Tcp.CLOSED
    snd_nxt: Seq = 0
    snd_una: Seq = 0
    rcv_nxt: Seq = 0
    retries: Annotated[int, Interval(ge=0, le=2)] = 0
    rto: Timer = Timer()

    @transition(source=Tcp.CLOSED, target=Tcp.LISTEN)
    def listen(self) -> None:
        self.retries = 0

    @transition(source=Tcp.CLOSED, target=Tcp.SYN_SENT)
    def connect(self) -> Segment:
        segment = Segment(seq=self.snd_nxt, syn=True)
        self.snd_nxt += 1
        self.rto.start(1.0)
        return segment

    @transition
    def receive(self, segment: Segment) -> Segment | None:
        if segment.rst:
            self._reset()
            return None
        match self.state:
            case Tcp.LISTEN if segment.syn:
                self.rcv_nxt = segment.seq + 1
                reply = Segment(seq=self.snd_nxt, ack=self.rcv_nxt, syn=True)
                self.snd_nxt += 1
                self.state = Tcp.SYN_RECEIVED
                self.rto.start(1.0)
                return reply
            case Tcp.SYN_SENT if segment.syn and segment.ack == self.snd_nxt:
                self.rcv_nxt = segment.seq + 1
                self.snd_una = self.snd_nxt
                self.state = Tcp.ESTABLISHED
                self.rto.stop()
                return Segment(seq=self.snd_nxt, ack=self.rcv_nxt)
            case Tcp.SYN_RECEIVED if segment.ack == self.snd_nxt:
                self.snd_una = self.snd_nxt
                self.state = Tcp.ESTABLISHED
                self.rto.stop()
                return None
            case Tcp.ESTABLISHED if segment.fin and segment.seq == self.rcv_nxt:
                self.rcv_nxt += 1
                self.state = Tcp.CLOSE_WAIT
                return Segment(seq=self.snd_nxt, ack=self.rcv_nxt)
            case Tcp.CLOSED | Tcp.FIN_WAIT:
                refuse("nothing to do")
            case _:
                return None

    @transition(source=(Tcp.SYN_SENT, Tcp.SYN_RECEIVED), timer="rto")
    def retransmit(self) -> Segment | None:
        if self.retries == 2:
            self._reset()
            return None
        self.retries += 1
        self.rto.start(2.0)
        return Segment(seq=self.snd_una, syn=True)

    @transition(source={Tcp.ESTABLISHED, Tcp.CLOSE_WAIT})
    def close(self) -> Segment:
        out = Segment(seq=self.snd_nxt, fin=True)
        self.snd_nxt += 1
        self.state = Tcp.FIN_WAIT if self.state is Tcp.ESTABLISHED else Tcp.CLOSED
        return out

    def _reset(self) -> None:
        self.state = Tcp.CLOSED
        self.retries = 0
        if self.rto.armed:
            self.rto.stop()

    @invariant
    def timer_only_while_opening(self) -> bool:
        return not self.rto.armed or not self.state.synchronized

    scope = Scope(Serial=2)
    deadlock_ok = True
