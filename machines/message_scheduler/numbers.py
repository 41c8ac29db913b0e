"""Message scheduler: the numbers of requests, of which there are not infinitely many.

Source as in `declaration.py`: the scheduler assigns the number of a request and matches the reply
by it [seed:17-31] (R3). The document says no more; its implementation counts from a least number up
and begins again, below the least one, and looks at no request that is still outstanding (R-B10).

`NumbersFixed` begins anywhere between the least and the greatest, goes round, and passes over those
that are outstanding. What requests say, and to whom they go, is left out.
"""

from lawful import (
    Expect,
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    assume,
    initial,
    invariant,
    needed,
    reachable,
    require,
    step_property,
    transition,
)


class Numbers(Machine, abstract=True):
    """Which numbers are outstanding, and which is the next to be given out."""

    following: Nat = 0
    outstanding: set[Nat] = set()
    requests: Ghost[Nat] = 0

    least: Param[Nat] = 0x1000000
    greatest: Param[Nat] = 0xFFFFFFFF

    @assume
    def there_are_numbers(self) -> bool:
        return 0 < self.least <= self.greatest

    @initial
    def start(self, first: Nat) -> None:
        """At random, so that two schedulers seldom give the same."""
        require(self.least <= first <= self.greatest, "no number of a request")
        self.following = first

    @transition()
    def give(self) -> Nat:
        """A request is sent."""
        number = self.chosen()
        self.following = self.after(number)
        self.outstanding.add(number)
        self.requests += 1
        return number

    def chosen(self) -> Nat:
        raise NotImplementedError

    def after(self, number: Nat) -> Nat:
        return self.least if number == self.greatest else number + 1

    @transition()
    def end(self, number: Nat) -> None:
        """It is answered, or its time is over."""
        require(number in self.outstanding, "no such request")
        self.outstanding.remove(number)
        self.requests -= 1

    @invariant
    def each_has_its_own(self) -> bool:
        """No two requests that are outstanding have the same number (R3)."""
        return len(self.outstanding) == self.requests

    @invariant
    def none_is_out_of_range(self) -> bool:
        """What is below is not the scheduler's to give."""
        return all(self.least <= n <= self.greatest for n in self.outstanding)

    @step_property
    def others_stay(self, after: "Numbers") -> bool:
        """One is given or ends; nobody else's is touched."""
        return (
            self.outstanding <= after.outstanding or after.outstanding <= self.outstanding
        ) and abs(len(after.outstanding) - len(self.outstanding)) <= 1

    @reachable
    def has_gone_round(self) -> bool:
        return self.greatest in self.outstanding and self.least in self.outstanding

    scope = Scope(
        {"start.first": range(1, 5)},
        Nat=range(0, 6),
        least=(1,),
        greatest=(4,),
    )


class NumbersFixed(Numbers):
    """The next that nobody has; none if all are outstanding."""

    def chosen(self) -> Nat:
        number = next(
            (n for n in range(self.following, self.greatest + 1) if n not in self.outstanding), None
        )
        if number is None:
            number = next(
                (n for n in range(self.least, self.following) if n not in self.outstanding), None
            )
        return needed(number, "all numbers are outstanding")

    @invariant
    def it_goes_round_in_range(self) -> bool:
        """After the greatest comes the least (R-B10)."""
        return self.least <= self.following <= self.greatest


class NumbersAsImplemented(Numbers):
    """The next, whoever has it; after the greatest comes none of them (R-B10)."""

    def chosen(self) -> Nat:
        return self.following

    def after(self, number: Nat) -> Nat:
        return 0 if number == self.greatest else number + 1

    expects = Expect(each_has_its_own=("violated", 7), none_is_out_of_range=("violated", 2))
