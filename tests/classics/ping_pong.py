"""Two actors count each other's messages, over a network that is a set, and one that is a bag.

Source: stateright, src/actor/actor_test_util.rs (the actors) and src/actor/model.rs (the figures in
its tests, taken over and not read there: 4,094 states with a lossy network that delivers a message
as often as it likes, 11 with one that neither loses nor repeats any). A message that changes
nothing is left where it is, and counts past the boundary are not explored.
"""

from collections import Counter

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    initial,
    invariant,
    reachable,
    require,
    transition,
)

LOSSY_COUNTS = (4094, 22529, 22)
PERFECT_COUNTS = (11, 12, 11)


class Ping(Record):
    """To the one who answers."""

    value: Nat


class Pong(Record):
    """To the one who began."""

    value: Nat


class LossyPingPong(Machine):
    """A delivered message stays in the network, until it is lost."""

    pinged: Nat = 0
    ponged: Nat = 0
    network: set[Ping | Pong] = {Ping(0)}

    @transition()
    def hear_pong(self, message: Pong) -> None:
        require(message in self.network, "no such message")
        require(message.value == self.pinged, "an old message")
        self.pinged += 1
        self.network.add(Ping(self.pinged))

    @transition()
    def hear_ping(self, message: Ping) -> None:
        require(message in self.network, "no such message")
        require(message.value == self.ponged, "an old message")
        self.ponged += 1
        self.network.add(Pong(message.value))

    @transition()
    def lose(self, message: Ping | Pong) -> None:
        require(message in self.network, "no such message")
        self.network.remove(message)

    @invariant
    def at_most_one_apart(self) -> bool:
        return 0 <= self.ponged - self.pinged <= 1

    @reachable
    def five(self) -> bool:
        return self.pinged == 5 and self.ponged == 5

    deadlock_ok = True
    scope = Scope(Nat=range(0, 6))


class PerfectPingPong(Machine):
    """A message is delivered once."""

    pinged: Nat = 0
    ponged: Nat = 0
    network: Counter[Ping | Pong] = Counter()

    @initial
    def start(self) -> None:
        self.network[Ping(0)] += 1

    @transition()
    def hear_pong(self, message: Pong) -> None:
        require(message in self.network, "no such message")
        require(message.value == self.pinged, "an old message")
        self.network[message] -= 1
        self.pinged += 1
        self.network[Ping(self.pinged)] += 1

    @transition()
    def hear_ping(self, message: Ping) -> None:
        require(message in self.network, "no such message")
        require(message.value == self.ponged, "an old message")
        self.network[message] -= 1
        self.ponged += 1
        self.network[Pong(message.value)] += 1

    @invariant
    def one_message(self) -> bool:
        return self.network.total() == 1

    @reachable
    def five(self) -> bool:
        return self.pinged == 5 and self.ponged == 5

    scope = Scope(Nat=range(0, 6), network=1)
