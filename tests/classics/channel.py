"""A channel for one value at a time: the two-phase handshake.

Source: L. Lamport, "Specifying Systems" (2002), figure 3.2: module Channel; as in
tlaplus/Examples, specifications/SpecifyingSystems/AsynchronousInterface/Channel.tla, whose manifest
has the figures for three values.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Scope,
    Sort,
    initial,
    reachable,
    recoverable,
    require,
    step_property,
    transition,
)

COUNTS = (12, 30, 2)

Bit = Annotated[int, Interval(ge=0, le=1)]


class Data(Sort):
    """What is sent."""


class Channel(Machine):
    """`ready` differs from `acked` while a value waits to be received."""

    value: Data
    ready: Bit
    acked: Bit

    @initial
    def start(self, value: Data, bit: Bit) -> None:
        """Init: any value, and nothing waits."""
        self.value = value
        self.ready = bit
        self.acked = bit

    @transition()
    def send(self, value: Data) -> None:
        require(self.ready == self.acked, "the last value was not received")
        self.value = value
        self.ready = 1 - self.ready

    @transition()
    def receive(self) -> Data:
        require(self.ready != self.acked, "nothing waits")
        self.acked = 1 - self.acked
        return self.value

    @step_property
    def waiting_values_stay(self, after: "Channel") -> bool:
        return self.ready == self.acked or after.value == self.value

    @recoverable
    def empty(self) -> bool:
        return self.ready == self.acked

    @reachable
    def carries(self, value: Data) -> bool:
        return self.ready != self.acked and self.value == value

    scope = Scope(Data=3)
