"""A FIFO buffer between two channels.

Source: L. Lamport, "Specifying Systems" (2002), figure 4.1: module InnerFIFO; as in
tlaplus/Examples, specifications/SpecifyingSystems/FIFO/MCInnerFIFO.tla, whose manifest has the
figures.
"""

from lawful import Machine, Scope, constraint, initial, invariant, reachable, require, transition
from tests.classics.channel import Bit, Channel, Data

COUNTS = (3864, 9660, 11)


class Fifo(Machine):
    """Values go in by one channel and out by the other, in order."""

    into: Channel = Channel()
    out: Channel = Channel()
    queue: list[Data] = []

    @initial
    def start(self, first: Data, second: Data, a: Bit, b: Bit) -> None:
        """Init."""
        self.into.start(first, a)
        self.out.start(second, b)

    @transition()
    def send(self, value: Data) -> None:
        """SSend."""
        self.into.send(value)

    @transition()
    def take_in(self) -> None:
        """BufRcv."""
        value = self.into.receive()
        self.queue.append(value)

    @transition()
    def give_out(self) -> None:
        """BufSend."""
        require(len(self.queue) > 0, "the buffer is empty")
        self.out.send(self.queue.pop(0))

    @transition()
    def receive(self) -> Data:
        """RRcv."""
        return self.out.receive()

    @constraint
    def at_most_three(self) -> bool:
        """qConstraint."""
        return len(self.queue) <= 3

    @invariant
    def within(self) -> bool:
        return len(self.queue) <= 3

    @reachable
    def all_full(self) -> bool:
        waits = self.into.ready != self.into.acked and self.out.ready != self.out.acked
        return waits and len(self.queue) == 3

    scope = Scope(Data=3, queue=4)
