"""Small machines, each with one thing that exploration has to get right."""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Expect,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    State,
    assume,
    constraint,
    event,
    initial,
    invariant,
    reachable,
    recoverable,
    require,
    step_property,
    terminal,
    total,
    transition,
)


class Light(State):
    RED = "red"
    GREEN = "green"


class Below(Machine):
    """A `Nat` goes below 0: a violation, never a cut."""

    n: Nat = 1

    @transition()
    def less(self) -> None:
        self.n -= 1

    @transition()
    def more(self) -> None:
        self.n += 1

    scope = Scope(Nat=range(0, 3), expects=None)
    expects = Expect(bounds=("violated", 2))


class Faults(Machine):
    """Steps that break a built-in property have no successor, and are no deadlock."""

    n: Annotated[int, Interval(ge=0, le=3)] = 0
    seen: dict[Nat, Nat] = {}
    items: list[Nat] = []

    @transition()
    def missing(self) -> None:
        self.n = self.seen[self.n]

    @transition()
    def claims(self) -> None:
        assert self.n > 0

    @transition()
    def too_far(self) -> None:
        self.n = 4

    scope = Scope(Nat=range(0, 2), items=1)
    expects = Expect(undefined=("undefined", 1), asserts=("violated", 1), bounds=("violated", 1))


class Stuck(Machine):
    """A deadlock, and why each transition is refused there."""

    state: Light = Light.RED
    n: Annotated[int, Interval(ge=0, le=2)] = 0

    @transition(source=Light.RED)
    def count(self) -> None:
        require(self.n < 2, "enough")
        self.n += 1

    @transition(source=Light.GREEN)
    def leave(self) -> None: ...

    expects = Expect(deadlock=("violated", 2))


class Rests(Stuck):
    """The same, but it may end there."""

    @terminal
    def counted(self) -> bool:
        return self.n == 2

    expects = Expect(deadlock="holds")


class Twice(Machine):
    """Two transitions of one event are enabled for n == 1."""

    n: Annotated[int, Interval(ge=0, le=1)] = 0

    @event
    def go(self) -> None: ...

    @transition(event="go")
    def up(self) -> None:
        require(self.n < 1)
        self.n += 1

    @transition(event="go")
    def stay(self) -> None:
        require(self.n == 0)

    @transition()
    def back(self) -> None:
        require(self.n == 1)
        self.n = 0

    expects = Expect(ambiguous=("violated", 1))


class Counter(Machine):
    """Counts without end: the scope cuts it, and what was not seen is unknown."""

    n: Nat = 0
    step: Param[int] = 1

    @assume
    def goes_up(self) -> bool:
        return self.step > 0

    @transition()
    def up(self) -> None:
        self.n += self.step

    @invariant
    def small(self) -> bool:
        return self.n <= 100

    @reachable
    def three(self) -> bool:
        return self.n == 3

    @reachable
    def fifty(self) -> bool:
        return self.n == 50

    @recoverable
    def even(self) -> bool:
        return self.n % 2 == 0

    scope = Scope(Nat=range(0, 4), step=(0, 1, 2))
    wide = Scope(Nat=range(0, 51), step=(1,))


class Unsure(Machine):
    """A constraint that has no value in some state says nothing about it."""

    keys: set[Annotated[int, Interval(ge=0, le=2)]] = {0}

    @transition()
    def clear(self) -> None:
        self.keys.clear()

    @transition()
    def add(self, key: Annotated[int, Interval(ge=0, le=2)]) -> None:
        self.keys.add(key)

    @constraint
    def low(self) -> bool:
        return min(self.keys) < 1

    expects = Expect(undefined=("undefined", 1))


class Pruned(Counter):
    """Only even numbers are looked at."""

    @constraint
    def below_three(self) -> bool:
        return self.n < 3


class Node(Sort):
    pass


class Several(Machine):
    """Three initial states from two methods, and a step property with a parameter."""

    owner: Node | None
    marks: dict[Node, bool]

    @initial
    def nobody(self) -> None:
        self.owner = None
        self.marks = {n: False for n in Node}

    @initial
    def somebody(self, who: Node) -> None:
        self.owner = who
        self.marks = {n: n == who for n in Node}

    @transition()
    def take(self, who: Node) -> None:
        require(self.owner is None, "owned")
        self.owner = who
        self.marks[who] = True

    @transition()
    def leave(self) -> None:
        require(self.owner is not None, "nobody owns it")
        self.owner = None

    @step_property
    def marks_stay(self, after: "Several", who: Node) -> bool:
        return not self.marks[who] or after.marks[who]

    @reachable
    def owns(self, who: Node) -> bool:
        return self.owner == who

    scope = Scope(Node=2)


class Trap(Machine):
    """From one state there is no way back."""

    state: Light = Light.RED
    doors: dict[Light, bool] = total(True)

    @transition(source=Light.RED, target=Light.GREEN)
    def go(self) -> None: ...

    @transition(source=Light.GREEN, target=Light.RED)
    def back(self) -> None:
        require(self.doors[Light.GREEN])

    @transition(source=Light.GREEN)
    def shut(self) -> None:
        self.doors[Light.GREEN] = False

    @recoverable
    def red_again(self) -> bool:
        return self.state == Light.RED

    expects = Expect(red_again=("violated", 2))


class Lookup(Machine):
    """What is sought has no value in some states: at the start, or later, seen already or not."""

    found: dict[Light, bool] = {}

    @transition()
    def put(self, at: Light, value: bool) -> None:
        self.found[at] = value

    @transition()
    def drop(self, at: Light) -> None:
        require(at in self.found)
        del self.found[at]

    @reachable
    def green(self) -> bool:
        return self.found[Light.GREEN]

    @reachable
    def empty_or_green(self) -> bool:
        return len(self.found) == 0 or self.found[Light.GREEN]

    @recoverable
    def green_again(self) -> bool:
        return self.found[Light.GREEN]

    @reachable
    def red(self, value: bool) -> bool:
        return Light.RED in self.found and self.found[Light.RED] == value

    expects = Expect(
        green=("undefined", 0), empty_or_green=("undefined", 1), green_again=("undefined", 0)
    )
