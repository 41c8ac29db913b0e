"""The coffee can: two beans out, one in, until one is left. Of which colour?

Source: D. Gries, "The science of programming" (1981), sections 13 and 23.2, after E. W. Dijkstra
and C. S. Scholten; as in tlaplus/Examples, specifications/CoffeeCan/CoffeeCan.tla, whose manifest
has the figures for every can of up to 100 beans: all are initial states, so the depth is 1.
"""

from lawful import (
    Fairness,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Weak,
    eventually,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    step_property,
    transition,
)

COUNTS = (5150, 20002, 1)


class Can(Record):
    """Beans by colour."""

    black: Nat
    white: Nat


class CoffeeCan(Machine):
    """Two of one colour give a black bean, two of different colours give back the white one."""

    most: Param[Nat] = 100
    can: Can

    @initial
    def filled(self, black: Nat, white: Nat) -> None:
        """Init."""
        require(1 <= black + white <= self.most, "too few or too many")
        self.can = Can(black, white)

    def beans(self) -> Nat:
        return self.can.black + self.can.white

    @transition()
    def two_white(self) -> None:
        """PickSameColorWhite."""
        require(self.can.white >= 2, "not two white ones")
        self.can = Can(self.can.black + 1, self.can.white - 2)

    @transition()
    def two_black(self) -> None:
        """PickSameColorBlack."""
        require(self.can.black >= 2, "not two black ones")
        self.can = self.can.replace(black=self.can.black - 1)

    @transition()
    def one_of_each(self) -> None:
        """PickDifferentColor."""
        require(self.can.black >= 1 and self.can.white >= 1, "not one of each")
        self.can = self.can.replace(black=self.can.black - 1)

    @transition()
    def rest(self) -> None:
        """Termination: the step that changes nothing."""
        require(self.beans() == 1, "more than one bean")

    @invariant
    def never_empty(self) -> bool:
        return 1 <= self.beans() <= self.most

    @step_property
    def fewer_every_time(self, after: "CoffeeCan") -> bool:
        """MonotonicDecrease."""
        return self.beans() == 1 or after.beans() < self.beans()

    @step_property
    def white_stays_even_or_odd(self, after: "CoffeeCan") -> bool:
        """LoopInvariant."""
        return self.can.white % 2 == after.can.white % 2

    @reachable
    def a_white_one_is_left(self) -> bool:
        return self.can == Can(0, 1)

    @eventually
    def one_is_left(self) -> bool:
        """EventuallyTerminates."""
        return self.beans() == 1

    @leads_to
    def even_ends_black(self) -> tuple[bool, bool]:
        """TerminationHypothesis."""
        return self.can.white % 2 == 0, self.can == Can(1, 0)

    @leads_to
    def odd_ends_white(self) -> tuple[bool, bool]:
        """TerminationHypothesis."""
        return self.can.white % 2 == 1, self.can == Can(0, 1)

    fairness = Fairness(Weak("two_white", "two_black", "one_of_each"))
    scope = Scope(Nat=range(0, 101), most=(100,))
    small = Scope(Nat=range(0, 11), most=(4, 10))
