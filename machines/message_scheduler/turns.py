"""Message scheduler: whose turn it is if senders have priorities.

Source as in `declaration.py`. Senders wait in a "priority queue", which today is first come, first
served [seed:151-154] (R16). A sender of high priority "must not hog all channels for ever"
[seed:212-219] (R24); one that continues gets what is left after those of higher priority
[seed:226-232] (R26).

`TurnsByArrival` is first come, first served: nobody starves. In `TurnsByPriority` urgent senders go
first, perhaps for ever (R-B11). In `TurnsFixed` they do too, but a sender that was passed over
`patience` times goes before them.

Abstractions. There is one channel. A sender that is offered the channel takes it, and it is open
again some time later. There are two priorities.
"""

from lawful import (
    Expect,
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    invariant,
    leads_to,
    reachable,
    require,
    step_property,
    total,
    transition,
)


class Waiter(Sort):
    """A dependent whose sender waits for a channel, again and again."""


class Turns(Machine, abstract=True):
    """A queue of senders, and a channel."""

    queue: list[Waiter] = []
    urgent: set[Waiter] = set()
    open: bool = True
    served: Ghost[Waiter | None] = None

    @transition()
    def schedule(self, t: Waiter, urgent: bool) -> None:
        """[seed:151] (R16)"""
        require(t not in self.queue, "waits already")
        self.queue.append(t)
        if urgent:
            self.urgent.add(t)

    @transition(fair="weak")
    def serve(self, t: Waiter) -> None:
        """The sender is offered the channel, and closes it (R18, R19)."""
        require(self.open, "no channel is open")
        require(t in self.queue, "does not wait")
        require(self.goes_first(t), "others are before it")
        self.queue.remove(t)
        self.urgent.discard(t)
        self.open = False
        self.served = t

    def goes_first(self, t: Waiter) -> bool:
        """Whether it is this sender's turn."""
        raise NotImplementedError

    @transition(fair="weak")
    def reopen(self) -> None:
        require(not self.open, "is open")
        self.open = True

    def earlier(self, t: Waiter) -> frozenset[Waiter]:
        return frozenset(self.queue[: self.queue.index(t)])

    @invariant
    def each_waits_once(self) -> bool:
        """And only waiting senders are urgent."""
        return self.urgent <= frozenset(self.queue) and all(
            self.queue.count(t) == 1 for t in self.queue
        )

    @step_property
    def equals_come_first_served(self, after: "Turns") -> bool:
        """Of two senders with the same priority, the first to come is served first (R16, S12)."""
        t = after.served
        if t is None or len(after.queue) >= len(self.queue):
            return True
        return all((u in self.urgent) != (t in self.urgent) for u in self.earlier(t))

    @leads_to
    def served_in_the_end(self, t: Waiter) -> tuple[bool, bool]:
        """No sender waits for ever (R7, R24, R-B11)."""
        return t in self.queue, t not in self.queue

    @reachable
    def everybody_waits(self) -> bool:
        return len(self.queue) == len(Waiter)

    scope = Scope(Nat=range(0, 5), Waiter=3, queue=3)


class TurnsByArrival(Turns):
    """First come, first served, whatever the priority."""

    def goes_first(self, t: Waiter) -> bool:
        return t == self.queue[0]


class TurnsByPriority(Turns):
    """Urgent senders go first: while they keep coming, the others wait (R-B11)."""

    def is_before(self, t: Waiter) -> bool:
        return t in self.urgent

    def goes_first(self, t: Waiter) -> bool:
        return all(self.is_before(t) and not self.is_before(u) for u in self.earlier(t)) and (
            self.is_before(t) or all(not self.is_before(u) for u in self.queue)
        )

    @reachable
    def the_urgent_goes_first(self) -> bool:
        return any(self.goes_first(t) and t != self.queue[0] for t in self.queue)

    scope = Scope(Nat=range(0, 3), Waiter=2, queue=2)
    expects = Expect(served_in_the_end=("violated", 6))


class TurnsFixed(TurnsByPriority):
    """Urgent senders go first, except before those that were passed over too often."""

    passed: dict[Waiter, Nat] = total(0)
    patience: Param[Nat] = 2

    @transition(fair="weak")
    def serve(self, t: Waiter) -> None:
        require(t in self.queue, "does not wait")
        earlier = self.earlier(t)
        super().serve(t)
        for u in earlier:
            self.passed[u] += 1
        self.passed[t] = 0

    def is_before(self, t: Waiter) -> bool:
        return t in self.urgent or self.passed[t] >= self.patience

    @invariant
    def patience_has_an_end(self) -> bool:
        """A sender that was passed over so often waits only for those that came before it."""
        return all(
            n <= self.patience and (n == 0 or t in self.queue) for t, n in self.passed.items()
        )

    @invariant
    def who_waits_longer_was_passed_more(self) -> bool:
        return all(self.passed[u] >= self.passed[t] for t in self.queue for u in self.earlier(t))

    @reachable
    def the_urgent_waits_for_one_who_waited_longer(self) -> bool:
        return any(
            self.goes_first(t) and t not in self.urgent and self.urgent != set() for t in self.queue
        )

    scope = Scope(Nat=range(0, 5), Waiter=3, queue=3)
    expects = Expect(served_in_the_end="holds")
