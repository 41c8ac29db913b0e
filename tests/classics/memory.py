"""A memory for several processors, and a write-through cache that is one.

Source: L. Lamport, "Specifying Systems" (2002), figures 5.2 and 5.5: modules InternalMemory and
WriteThroughCache; as in tlaplus/Examples, specifications/SpecifyingSystems/CachingMemory, whose
manifest has the figures. `bus` is what passed the interface last, as in the models there. The
configurations were not read: the constants are those with which the figures come out.
"""

from collections.abc import Mapping
from enum import Enum

from lawful import (
    Machine,
    Record,
    Scope,
    Sort,
    State,
    initial,
    invariant,
    reachable,
    refuse,
    require,
    total,
    transition,
)

MEMORY_COUNTS = (4408, 21400, 10)
CACHE_COUNTS = (5196, 28170, 18)


QUEUE = 1


class Processor(Enum):
    """Two of them."""

    P = "p"
    Q = "q"


class Address(Sort):
    """Of the memory."""


class Value(Sort):
    """What it stores."""


class Phase(State):
    """Of a processor."""

    READY = "rdy"
    BUSY = "busy"
    WAITING = "waiting"
    DONE = "done"


class Read(Record):
    """A request."""

    address: Address


class Write(Record):
    """A request."""

    address: Address
    value: Value


class Answer(Record):
    """To a `Read`; a `Write` is answered with None."""

    value: Value


class Memory(Machine):
    """A request is made, done at once at some moment, and answered."""

    memory: dict[Address, Value]
    phase: dict[Processor, Phase] = total(Phase.READY)
    buffer: dict[Processor, Read | Write | Answer | None] = total(None)
    bus: tuple[Processor, Read | Write | Answer | None] = (Processor.P, None)

    @initial
    def start(self, memory: Mapping[Address, Value]) -> None:
        """IInit."""
        self.memory = dict(memory)

    @transition(source=Phase.READY, target=Phase.BUSY, of="phase[p]")
    def request(self, p: Processor, wish: Read | Write) -> None:
        """Req."""
        self.buffer[p] = wish
        self.bus = (p, wish)

    @transition(source=Phase.BUSY, target=Phase.DONE, of="phase[p]")
    def do(self, p: Processor) -> None:
        """Do."""
        match self.buffer[p]:
            case Write(address, value):
                self.memory[address] = value
                self.buffer[p] = None
            case Read(address):
                self.buffer[p] = Answer(self.memory[address])
            case _:
                refuse("nothing to do")

    @transition(source=Phase.DONE, target=Phase.READY, of="phase[p]")
    def respond(self, p: Processor) -> None:
        """Rsp."""
        self.bus = (p, self.buffer[p])

    @invariant
    def busy_with_a_request(self, p: Processor) -> bool:
        wish = self.buffer[p]
        return self.phase[p] != Phase.BUSY or isinstance(wish, Read | Write)

    @reachable
    def reads(self, value: Value) -> bool:
        return self.bus == (Processor.Q, Answer(value))

    scope = Scope(Address=3, Value=2)


class WriteThroughCache(Machine):
    """Every processor has a cache; writes and missed reads reach the memory through a queue."""

    memory: dict[Address, Value]
    phase: dict[Processor, Phase] = total(Phase.READY)
    buffer: dict[Processor, Read | Write | Answer | None] = total(None)
    bus: tuple[Processor, Read | Write | Answer | None] = (Processor.P, None)
    cache: dict[Processor, dict[Address, Value]] = total({})
    queue: list[tuple[Processor, Read | Write]] = []

    @initial
    def start(self, memory: Mapping[Address, Value]) -> None:
        """Init."""
        self.memory = dict(memory)

    @transition(source=Phase.READY, target=Phase.BUSY, of="phase[p]")
    def request(self, p: Processor, wish: Read | Write) -> None:
        """Req."""
        self.buffer[p] = wish
        self.bus = (p, wish)

    @transition(source=Phase.DONE, target=Phase.READY, of="phase[p]")
    def respond(self, p: Processor) -> None:
        """Rsp."""
        self.bus = (p, self.buffer[p])

    @transition(source=Phase.BUSY, target=Phase.WAITING, of="phase[p]")
    def miss(self, p: Processor) -> None:
        """RdMiss."""
        wish = self.buffer[p]
        if not isinstance(wish, Read):
            refuse("no read")
        require(wish.address not in self.cache[p], "it is in the cache")
        require(len(self.queue) < QUEUE, "the queue is full")
        self.queue.append((p, wish))

    @transition(source=(Phase.BUSY, Phase.WAITING), target=Phase.DONE, of="phase[p]")
    def read(self, p: Processor) -> None:
        """DoRd."""
        wish = self.buffer[p]
        if not isinstance(wish, Read):
            refuse("no read")
        require(wish.address in self.cache[p], "it is not in the cache")
        self.buffer[p] = Answer(self.cache[p][wish.address])

    @transition(source=Phase.BUSY, target=Phase.DONE, of="phase[p]")
    def write(self, p: Processor) -> None:
        """DoWr: every cache that has the address gets the new value."""
        wish = self.buffer[p]
        if not isinstance(wish, Write):
            refuse("no write")
        require(len(self.queue) < QUEUE, "the queue is full")
        for q in (Processor.P, Processor.Q):
            if q == p or wish.address in self.cache[q]:
                self.cache[q][wish.address] = wish.value
        self.queue.append((p, wish))
        self.buffer[p] = None

    @transition()
    def memory_writes(self) -> None:
        """MemQWr."""
        require(len(self.queue) > 0, "the queue is empty")
        _, wish = self.queue[0]
        if not isinstance(wish, Write):
            refuse("a read is next")
        self.memory[wish.address] = wish.value
        self.queue.pop(0)

    @transition()
    def memory_reads(self) -> None:
        """MemQRd: the value that the memory has once all writes in the queue are done."""
        require(len(self.queue) > 0, "the queue is empty")
        p, wish = self.queue[0]
        if not isinstance(wish, Read):
            refuse("a write is next")
        value = self.memory[wish.address]
        for _, other in self.queue:
            if isinstance(other, Write) and other.address == wish.address:
                value = other.value
        self.cache[p][wish.address] = value
        self.queue.pop(0)

    @transition()
    def evict(self, p: Processor, address: Address) -> None:
        """Evict; where nothing is cached, nothing changes."""
        wish = self.buffer[p]
        waits = self.phase[p] == Phase.WAITING and isinstance(wish, Read)
        require(not (waits and wish == Read(address)), "it waits for that")
        if address in self.cache[p]:
            del self.cache[p][address]

    @invariant
    def coherent(self, a: Address) -> bool:
        """Coherence."""
        p = self.cache[Processor.P]
        q = self.cache[Processor.Q]
        return a not in p or a not in q or p[a] == q[a]

    @invariant
    def waits_for_a_read(self, p: Processor) -> bool:
        return self.phase[p] != Phase.WAITING or isinstance(self.buffer[p], Read)

    @reachable
    def both_caches_have(self, value: Value) -> bool:
        return all(value in self.cache[p].values() for p in (Processor.P, Processor.Q))

    scope = Scope(Address=1, Value=2, queue=QUEUE)
