"""Queue ownership as turns: why at most one node has the queue, for any number of nodes.

Source: `new-cluster-plan.org`, as in `declaration.py` and `system.py`; this file keeps what the
argument needs. The order gives the queue away in turns: each begins with the release of the turn
before, or when its holder leaves. A node knows the turns up to some point, at its own pace. It runs
its consumers in a turn that it holds, and releases the queue once they are stopped.

Abstractions. The next holder may be any present node, or none for a while; `next_after` allows
less. Multicasts that do not concern ownership are no turns. A release counts for the turn in which
its node sent it; `releases` of `declaration.py` looks for it among the multicasts under way.
"""

from lawful import (
    Machine,
    Nat,
    Scope,
    initial,
    invariant,
    reachable,
    require,
    terminal,
    total,
    transition,
)

from .messages import Node


class Turns(Machine):
    """The turns in the order; what each node knows and does."""

    turn: Nat = 0
    holder: dict[Nat, Node | None] = {0: None}
    here: set[Node]
    known: dict[Node, Nat] = total(0)
    said: dict[Node, Nat] = total(0)
    runs: set[Node] = set()
    releasing: set[Node] = set()

    @initial
    def begin(self) -> None:
        self.here = set(Node)

    @transition()
    def take(self, n: Node) -> None:
        """`take()`, as far as this node knows [seed:270-274] (Q35, Q36)."""
        require(n in self.here and n not in self.runs, "gone, or runs already")
        require(self.holder[self.known[n]] == n, "it is not this one's turn")
        require(self.said[n] <= self.known[n], "it has released this turn")
        self.runs.add(n)

    @transition()
    def release(self, n: Node) -> None:
        """It sends the release after its consumers have stopped [seed:263-268] (Q31, Q36)."""
        require(n in self.here, "gone")
        require(self.holder[self.known[n]] == n, "it is not this one's turn")
        require(self.said[n] <= self.known[n], "it has released this turn")
        self.runs.discard(n)
        self.releasing.add(n)
        self.said[n] = self.known[n] + 1

    @transition()
    def place(self, n: Node, heir: Node | None) -> None:
        """The release gets its place, and the next turn begins [seed:250-252] (Q34)."""
        require(n in self.releasing and n in self.here, "releases nothing")
        self.releasing.discard(n)
        self.begin_turn(heir)

    @transition()
    def leave(self, n: Node, heir: Node | None) -> None:
        """It crashes; if it held the turn, the turn ends [seed:306-307] (Q41)."""
        require(n in self.here, "gone")
        self.here.discard(n)
        if self.holder[self.turn] == n:
            self.begin_turn(heir)

    @transition()
    def claim(self, n: Node) -> None:
        """The first interested node becomes the owner [seed:293-295] (Q38, Q-B1)."""
        require(self.holder[self.turn] is None, "somebody has the queue")
        self.begin_turn(n)

    def begin_turn(self, heir: Node | None) -> None:
        require(heir is None or heir in self.here, "gone")
        self.turn += 1
        self.holder[self.turn] = heir

    @transition()
    def handle(self, n: Node) -> None:
        """The deliver thread reaches the next turn."""
        require(n in self.here, "gone")
        require(self.known[n] < self.turn, "knows everything")
        self.known[n] += 1

    @terminal
    def nobody_is_left(self) -> bool:
        return len(self.here) == 0

    @invariant
    def at_most_one_owner(self, n: Node, m: Node) -> bool:
        """At any time [seed:241-244] (Q32)."""
        both = n in self.runs and n in self.here and m in self.runs and m in self.here
        return not both or n == m

    @invariant
    def who_runs_has_the_turn(self, n: Node) -> bool:
        """A node that runs holds the very last turn, however little it knows of the others."""
        runs = n in self.runs and n in self.here
        return not runs or (self.known[n] == self.turn and self.said[n] <= self.turn)

    @invariant
    def every_turn_has_its_place(self, t: Nat) -> bool:
        return (t in self.holder) == (t <= self.turn)

    @invariant
    def nobody_is_ahead_of_the_order(self, n: Node) -> bool:
        return self.known[n] <= self.turn and self.said[n] <= self.known[n] + 1

    @invariant
    def turns_end_by_what_their_holder_said(self, n: Node) -> bool:
        """A present node has released each earlier turn that it held and knows of."""
        earlier = n in self.here and self.known[n] < self.turn
        return not earlier or self.holder[self.known[n]] != n or self.said[n] > self.known[n]

    @invariant
    def no_turn_passes_unknown_to_its_holder(self, n: Node, t: Nat) -> bool:
        passed = n in self.here and self.known[n] < t < self.turn
        return not passed or self.holder[t] != n

    @invariant
    def who_runs_holds_what_it_knows(self, n: Node) -> bool:
        runs = n in self.runs and n in self.here
        return not runs or (self.holder[self.known[n]] == n and self.said[n] <= self.known[n])

    @invariant
    def who_releases_has_stopped(self, n: Node) -> bool:
        releases = n in self.releasing and n in self.here
        return not releases or (
            n not in self.runs
            and self.holder[self.known[n]] == n
            and self.said[n] == self.known[n] + 1
            and self.known[n] == self.turn
        )

    @reachable
    def a_turn_comes_back(self) -> bool:
        """A node runs that has released the queue before."""
        return any(self.said[n] > 0 and n in self.runs for n in Node)

    scope = Scope(Node=3, Nat=range(0, 3))
