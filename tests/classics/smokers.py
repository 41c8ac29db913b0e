"""The cigarette smokers' problem.

Source: S. Patil (1971); as in tlaplus/Examples, specifications/CigaretteSmokers, whose manifest has
the figures.
"""

from enum import Enum

from lawful import (
    Fairness,
    Machine,
    Weak,
    infinitely_often,
    initial,
    invariant,
    reachable,
    require,
    total,
    transition,
)

COUNTS = (6, 15, 2)


class Ingredient(Enum):
    """Each smoker has one of them, and no other."""

    MATCHES = "matches"
    PAPER = "paper"
    TOBACCO = "tobacco"


class CigaretteSmokers(Machine):
    """The dealer offers all ingredients but one; who has that one smokes."""

    smoking: dict[Ingredient, bool] = total(False)
    offer: frozenset[Ingredient]

    @initial
    def start(self, offer: frozenset[Ingredient]) -> None:
        """Init."""
        require(len(offer) == len(Ingredient) - 1, "one is to be missing")
        self.offer = offer

    @transition()
    def start_smoking(self) -> None:
        """startSmoking."""
        require(len(self.offer) > 0, "nothing is offered")
        self.smoking = {own: own not in self.offer for own in Ingredient}
        self.offer = frozenset()

    @transition()
    def stop_smoking(self, offer: frozenset[Ingredient]) -> None:
        """stopSmoking."""
        require(len(self.offer) == 0, "somebody is yet to smoke")
        require(len(offer) == len(Ingredient) - 1, "one is to be missing")
        self.smoking = {own: False for own in Ingredient}
        self.offer = offer

    @invariant
    def at_most_one(self) -> bool:
        """AtMostOne."""
        return sum(1 for own in Ingredient if self.smoking[own]) <= 1

    @reachable
    def smokes(self, own: Ingredient) -> bool:
        return self.smoking[own]

    @infinitely_often
    def somebody_smokes(self) -> bool:
        return any(self.smoking.values())

    fairness = Fairness(Weak("start_smoking", "stop_smoking", each=()))
