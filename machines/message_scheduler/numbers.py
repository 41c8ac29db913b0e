"""Message scheduler: the numbers of requests, which are finitely many.

Source as in `declaration.py`: the scheduler assigns the number of a request and matches the reply
by it [seed:17-31] (R3). The document says no more. Its implementation counts up from a least number
and starts again below that least one, and does not check for outstanding requests (R-B10).

`NumbersFixed` begins anywhere between the least and the greatest, starts again at the least, and
skips outstanding numbers. The content and the destination of requests are left out.
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
    """Which numbers are outstanding, and which is given out next."""

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
        """At random, so that two schedulers rarely give the same numbers."""
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
        """The scheduler must not give a number below the least."""
        return all(self.least <= n <= self.greatest for n in self.outstanding)

    @step_property
    def others_stay(self, after: "Numbers") -> bool:
        """A step gives one number or ends one; the others stay as they are."""
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
    """Gives the next number that is not outstanding, or none if all are."""

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
        """After the greatest number comes the least (R-B10)."""
        return self.least <= self.following <= self.greatest


class NumbersAsImplemented(Numbers):
    """Gives the next number, even if it is outstanding; after the greatest comes one below the
    least (R-B10)."""

    def chosen(self) -> Nat:
        return self.following

    def after(self, number: Nat) -> Nat:
        return 0 if number == self.greatest else number + 1

    expects = Expect(each_has_its_own=("violated", 7), none_is_out_of_range=("violated", 2))
