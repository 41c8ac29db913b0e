"""The machines that `explore.py` and `spark_memory.py` measure.

`promela/` has those of `explore.py` in Promela.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Clock,
    Machine,
    OrderedSort,
    Scope,
    Sort,
    State,
    drop,
    predecessor,
    require,
    total,
    transition,
)
from lawful.machines.read_only_windows.transaction import Stage, Transaction
from lawful.machines.unicast.declaration import (
    ReceiverEntry,
    ReceiverEntryFixed,
    SenderEntry,
    SenderEntryFixed,
)
from lawful.machines.unicast.link import Link
from tests.checks.declarations.acknowledging import Acks, Resends
from tests.classics.two_phase import TwoPhase


class TwoPhaseAlone(TwoPhase):
    """Two-phase commit without its properties, because the Promela model has none."""

    gone = drop("consistent")
    gone_too = drop("decided_for_good")
    gone_three = drop("all_committed")
    gone_four = drop("aborted_though_all_prepared")

    deadlock_ok = True
    scope = Scope(RM=8)


class Node(OrderedSort):
    """A node on a ring; nodes are ordered by their numbers."""


class Role(State):
    """What a node knows about the election."""

    IDLE = "idle"
    CANDIDATE = "candidate"
    LOST = "lost"
    LEADER = "leader"


class Election(Machine):
    """Leader election round a ring of FIFO channels: the greatest number comes back to its node.

    Source: E. Chang and R. Roberts, CACM 22(5), 1979.
    """

    role: dict[Node, Role] = total(Role.IDLE)
    to: dict[Node, list[Node]] = total([])

    @transition(source=Role.IDLE, target=Role.CANDIDATE, of="role[n]")
    def begin(self, n: Node) -> None:
        self.to[predecessor(n)].append(n)

    @transition()
    def hear(self, n: Node) -> None:
        require(len(self.to[n]) > 0, "nothing to hear")
        m = self.to[n].pop(0)
        if m > n:
            self.to[predecessor(n)].append(m)
            if self.role[n] in (Role.IDLE, Role.CANDIDATE):
                self.role[n] = Role.LOST
        elif m == n:
            self.role[n] = Role.LEADER

    deadlock_ok = True
    scope = Scope(Node=10, to=10)


class Bare(Transaction):
    """A read-only transaction without its properties, because the Promela model has none."""

    gone = drop("one_answer")
    gone_too = drop("execution_is_limited")
    gone_three = drop("answered_for_good")


class Client(Sort):
    """A client that sends transactions, one at a time."""


class Server(Machine):
    """Read-only transactions of several clients, which two threads execute."""

    transactions: dict[Client, Bare] = {}

    @transition()
    def arrive(self, c: Client) -> None:
        require(c not in self.transactions, "its last one is not answered")
        self.transactions[c] = Bare()

    @transition()
    def take(self, c: Client) -> None:
        require(c in self.transactions, "there is none")
        running = sum(1 for t in self.transactions if self.runs(t))
        require(running < 2, "both threads are busy")
        self.transactions[c].take()

    def runs(self, c: Client) -> bool:
        return self.transactions[c].state == Stage.RUNNING

    @transition()
    def finish(self, c: Client) -> None:
        require(c in self.transactions, "there is none")
        self.transactions[c].finish()

    @transition()
    def exceed(self, c: Client) -> None:
        require(c in self.transactions, "there is none")
        self.transactions[c].exceed()

    @transition()
    def put_back(self, c: Client) -> None:
        require(c in self.transactions, "there is none")
        self.transactions[c].put_back()

    @transition()
    def leave(self, c: Client) -> None:
        require(c in self.transactions, "there is none")
        answered = self.transactions[c].state in (Stage.ANSWERED, Stage.INVALID)
        require(answered, "it waits for the answer")
        del self.transactions[c]

    deadlock_ok = True
    scope = Scope(Client=7, Nat=range(0, 2))


class AcksForLong(Acks):
    """Acknowledgements in time, for more ticks than a test needs."""

    scope = Scope(Nat=range(0, 60), clock=range(0, 60), ack_interval=(1, 3, 10))


class ResendsForLong(Resends):
    """Resending in time, for more ticks and messages than a test needs."""

    scope = Scope(
        Nat=range(0, 5),
        clock=range(0, 24),
        changed=range(0, 24),
        ran=range(0, 24),
        interval=(1, 2, 3),
    )


class ClockedLink(Link):
    """A link of unicast whose time-outs run out in ticks of a minute: those of idle connections
    after two, those of closing ones after one, a delayed ack within one."""

    sender: SenderEntry = SenderEntryFixed()
    receiver: ReceiverEntry = ReceiverEntryFixed()
    clock: Clock = Clock(tick=60.0)

    scope = Scope(
        Nat=range(0, 4), Payload=1, network=8, submitted=2, delivered=2, clock=range(0, 5)
    )


class SmallClockedLink(ClockedLink):
    """One message, no failure, three ticks: few enough states for the reference engine."""

    scope = Scope(
        Nat=range(0, 3),
        Payload=1,
        network=2,
        submitted=1,
        delivered=1,
        messages=(1,),
        failures=(0,),
        clock=range(0, 4),
    )


class Meter(Sort):
    """A dial that goes from 0 to 9."""


class Meters(Machine):
    """Dials that turn by themselves: ten states for each, one step at a time."""

    at: dict[Meter, Annotated[int, Interval(ge=0, le=9)]] = total(0)

    @transition()
    def turn(self, m: Meter) -> None:
        require(self.at[m] < 9, "at its end")
        self.at[m] += 1

    deadlock_ok = True
    scope = Scope(Meter=3)
