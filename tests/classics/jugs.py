"""The two jugs: measure 4 litres with jugs of 3 and 5.

Source: tlaplus/Examples, specifications/DieHard/DieHard.tla; the puzzle of the film. That the goal
is never reached is what the checker is asked, and its counterexample is the solution: six steps.
The manifest there has no figures, so that those below were compared with none.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import Expect, Machine, invariant, reachable, transition

COUNTS = (16, 97, 8)


class Jugs(Machine):
    """A jug is filled at the tap, emptied, or poured into the other until one is full or empty."""

    small: Annotated[int, Interval(ge=0, le=3)] = 0
    big: Annotated[int, Interval(ge=0, le=5)] = 0

    @transition()
    def fill_small(self) -> None:
        self.small = 3

    @transition()
    def fill_big(self) -> None:
        self.big = 5

    @transition()
    def empty_small(self) -> None:
        self.small = 0

    @transition()
    def empty_big(self) -> None:
        self.big = 0

    @transition()
    def small_to_big(self) -> None:
        poured = min(self.small, 5 - self.big)
        self.small -= poured
        self.big += poured

    @transition()
    def big_to_small(self) -> None:
        poured = min(self.big, 3 - self.small)
        self.big -= poured
        self.small += poured

    @invariant
    def never_four(self) -> bool:
        """NotSolved."""
        return self.big != 4

    @invariant
    def one_is_full_or_empty(self) -> bool:
        """No pouring leaves both jugs partly filled."""
        return self.small in (0, 3) or self.big in (0, 5)

    @reachable
    def one_in_the_small(self) -> bool:
        return self.small == 1

    expects = Expect(never_four=("violated", 6))
