"""Machines with parts, contested events and odd starts: what induction must see of them."""

from lawful import (
    Machine,
    Nat,
    event,
    infinitely_often,
    invariant,
    reachable,
    require,
    step_property,
    total,
    transition,
)
from tests.checks.declarations.encoding import Sm
from tests.checks.declarations.provable import Step


class Cell(Machine):
    """A part; what it says of itself is to hold inside of any whole."""

    n: Nat = 0
    even: int = 0

    @transition()
    def up(self) -> None:
        self.n += 1
        self.even += 2

    @transition()
    def down(self) -> None:
        self.n -= 1

    @invariant
    def is_even(self) -> bool:
        return self.even % 2 == 0

    @invariant
    def low(self) -> bool:
        return self.n < 3

    @step_property
    def grows(self, after: "Cell") -> bool:
        return after.n >= self.n


class Pair(Machine):
    """A whole with two parts of one kind."""

    cell: Cell = Cell()
    other: Cell = Cell()

    @transition()
    def up(self) -> None:
        self.cell.up()

    @transition()
    def up_other(self) -> None:
        require(self.other.n < 2, "high")
        self.other.up()

    @transition()
    def down(self) -> None:
        require(self.cell.n > 0, "zero")
        self.cell.down()

    @transition()
    def rest(self) -> None:
        require(self.cell.even % 2 == 0, "odd")


class Whole(Machine):
    """The part's part."""

    pair: Pair = Pair()

    @transition()
    def up(self) -> None:
        self.pair.up()


class Contested(Machine):
    """Events that two transitions serve."""

    state: Step = Step.ONE
    n: Nat = 0

    @event
    def go(self, by: Nat) -> None: ...

    @event(choice=True)
    def pick(self) -> None: ...

    @transition(event="go")
    def go_far(self, by: Nat) -> None:
        require(by >= 3, "near")

    @transition(event="go")
    def go_near(self, by: Nat) -> None:
        require(by <= 3, "far")

    @transition(source=Step.ONE, target=Step.TWO)
    def turn(self) -> None:
        pass

    @transition(source=Step.TWO, target=Step.ONE, event="turn")
    def turn_back(self) -> None:
        pass

    @transition(event="pick")
    def one(self) -> None:
        pass

    @transition(event="pick")
    def other(self) -> None:
        pass

    @reachable
    def turned(self) -> bool:
        return self.state == Step.TWO


class Still(Machine):
    """Without transitions: no step breaks anything, and none keeps it."""

    n: Nat = 0

    @invariant
    def zero(self) -> bool:
        return self.n == 0

    @step_property
    def moves(self, after: "Still") -> bool:
        return after.n > self.n


class Unborn(Machine):
    """Its initial state is out of its bounds."""

    n: Nat = -1

    @transition()
    def up(self) -> None:
        self.n += 1

    @invariant
    def absurd(self) -> bool:
        return False


class Outside(Machine):
    """What a total map is asked for outside its keys."""

    all_of: dict[Sm, Sm] = total(0)
    some: dict[Sm, int] = {}

    @transition()
    def put(self, k: Sm) -> None:
        self.all_of[k] = k

    @transition()
    def copy(self) -> None:
        self.some = dict(self.all_of)

    @invariant
    def default(self) -> bool:
        return self.all_of.get(9, 5) == 5

    @invariant
    def stand_in(self) -> bool:
        return self.all_of.get(9, 5) == 0

    @invariant
    def no_others(self) -> bool:
        return 9 not in self.some


class Plain(Machine):
    """Declares no property: what every machine has is proved of it."""

    state: Step = Step.ONE

    @transition(source=Step.ONE, target=Step.TWO)
    def go(self) -> None: ...

    @transition(source=Step.TWO, target=Step.ONE)
    def back(self) -> None: ...


class Alive(Plain):
    """Declares what only exploration can judge."""

    @infinitely_often
    def goes_on(self) -> bool:
        return self.state == Step.TWO
