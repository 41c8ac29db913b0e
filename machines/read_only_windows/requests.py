"""Parallel read-only transactions: the path of a request through the threads of a node.

Source as in `declaration.py`. An HTTP or net thread handles a request itself or posts it to the
main thread, directly or through the producer thread [seed:15-99] (L3, L5, L6). Only the main thread
ever modifies the state, and only in a read-write window. So no other thread has to be held in a
read-only one (L7, L22): the producer thread only posts.

Abstractions. A thread's work on a request is one step. Plug-ins are not threads, and are left out.
The window is open for writes or not. The threads of the chain work for `apply_block` and the like,
within such a step of the main thread. A request that is posted again while it is held stays in its
place here.
"""

from enum import Enum

from lawful import (
    Fairness,
    Machine,
    Scope,
    Strong,
    Weak,
    can,
    eventually,
    implies,
    initial,
    invariant,
    reachable,
    require,
    step_property,
    terminal,
    transition,
)


class Thread(Enum):
    """The threads of a node that handle requests."""

    HTTP = "http"
    NET = "net"
    PRODUCER = "producer"
    MAIN = "main"


class Kind(Enum):
    """The kind of request, by RPC [seed:9-29] (L2) or by another node [seed:31-33] (L4)."""

    GET = "an RPC get_..."
    OTHER = "any other RPC"
    HANDSHAKE = "handshake_message"
    GO_AWAY = "go_away_message"
    TIME = "time_message"
    NOTICE = "notice_message"
    REQUEST = "request_message"
    SYNC_REQUEST = "sync_request_message"
    SIGNED_BLOCK = "signed_block"
    PACKED_TRANSACTION = "packed_transaction"


MODIFYING = (Kind.OTHER, Kind.SIGNED_BLOCK, Kind.PACKED_TRANSACTION)


def only_reads(kind: Kind) -> bool:
    """Whether the document lists it among those that do not modify the state [seed:10-11,31-33]
    (L2, L4). Properties ask this, and transitions ask `MODIFYING`."""
    match kind:
        case Kind.GET | Kind.HANDSHAKE | Kind.GO_AWAY | Kind.NOTICE | Kind.TIME:
            return True
        case Kind.REQUEST | Kind.SYNC_REQUEST:
            return True
        case _:
            return False


def way_of(kind: Kind) -> tuple[Thread, ...]:
    """The threads that handle it, in their order (L3, L5, L6)."""
    match kind:
        case Kind.GET:
            return Thread.HTTP, Thread.MAIN, Thread.HTTP
        case Kind.OTHER:
            return Thread.HTTP, Thread.MAIN, Thread.PRODUCER, Thread.MAIN, Thread.HTTP
        case Kind.REQUEST | Kind.SYNC_REQUEST:
            return Thread.NET, Thread.MAIN, Thread.NET
        case Kind.HANDSHAKE | Kind.SIGNED_BLOCK:
            return Thread.NET, Thread.MAIN
        case Kind.PACKED_TRANSACTION:
            return Thread.NET, Thread.PRODUCER, Thread.MAIN
        case Kind.GO_AWAY | Kind.TIME | Kind.NOTICE:
            return (Thread.NET,)


class Request(Machine):
    """One request, from the thread that received it to the last one that handles it."""

    kind: Kind
    way: tuple[Thread, ...]
    executed: bool = False
    read_write: bool = True

    @initial
    def arrive(self, kind: Kind) -> None:
        self.kind = kind
        self.way = way_of(kind)

    def last_of_main(self) -> bool:
        """Whether the main thread has it for the last time."""
        return self.way[0] == Thread.MAIN and Thread.MAIN not in self.way[1:]

    @transition()
    def switch(self) -> None:
        """To the other window (L7)."""
        self.read_write = not self.read_write

    @transition()
    def execute(self) -> None:
        """A request that modifies the state is held in a read-only window [seed:102,109-113] (L7,
        L11)."""
        require(self.last_of_main(), "is not there to be executed")
        require(not self.executed, "is executed")
        require(self.kind not in MODIFYING or self.read_write, "held until the read-write window")
        self.executed = True

    @transition()
    def hand_on(self) -> None:
        """It is posted to the next thread, or its response is."""
        require(len(self.way) > 1, "was the last")
        require(self.executed or not self.last_of_main(), "is not executed")
        self.way = self.way[1:]

    @terminal
    def handled(self) -> bool:
        return len(self.way) == 1 and (self.executed or self.way[0] != Thread.MAIN)

    @invariant
    def is_somewhere(self) -> bool:
        return len(self.way) > 0

    @step_property
    def modifies_in_read_write_windows(self, after: "Request") -> bool:
        """Only the main thread modifies the state, in a read-write window (L7, L22)."""
        modifies = after.executed and not self.executed and not only_reads(self.kind)
        return implies(modifies, self.read_write and self.way[0] == Thread.MAIN)

    @invariant
    def reads_are_never_held(self) -> bool:
        """They are handled as they come in, whatever the window [seed:102] (L2, L4, L7)."""
        waits = self.last_of_main() and not self.executed
        return implies(waits and only_reads(self.kind), can(self.execute))

    @eventually
    def is_handled(self) -> bool:
        """Nothing is dropped [seed:111] (L11)."""
        return self.handled()

    @reachable
    def producer_posts_in_a_read_only_window(self) -> bool:
        return self.way[0] == Thread.PRODUCER and not self.read_write

    @reachable
    def is_held(self) -> bool:
        return self.last_of_main() and self.kind == Kind.SIGNED_BLOCK and not self.read_write

    fairness = Fairness(Weak("switch"), Strong("execute"), Weak("hand_on"))
    scope = Scope(way=5)
