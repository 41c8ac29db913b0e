"""The majority vote: one pass over the votes finds the only one who can have a majority.

Source: R. S. Boyer and J. S. Moore, "MJRTY: a fast majority vote algorithm" (1991); as in
tlaplus/Examples, specifications/Majority/Majority.tla (S. Merz), whose manifest has the figures.
The configuration was not read: they come out for all sequences of at most five votes for three
candidates.
"""

from lawful import (
    Expect,
    Machine,
    Nat,
    Scope,
    Sort,
    initial,
    invariant,
    reachable,
    require,
    terminal,
    transition,
)

COUNTS = (2733, 3459, 6)


class Candidate(Sort):
    """Who is voted for."""


class Majority(Machine):
    """`leads` counts the votes for the candidate that no other vote has paired off."""

    votes: tuple[Candidate, ...]
    seen: Nat = 0
    candidate: Candidate
    leads: Nat = 0

    @initial
    def start(self, votes: tuple[Candidate, ...], candidate: Candidate) -> None:
        """Init."""
        self.votes = votes
        self.candidate = candidate

    @transition()
    def look(self) -> None:
        """Next."""
        require(self.seen < len(self.votes), "all votes are seen")
        vote = self.votes[self.seen]
        self.seen += 1
        if self.leads == 0:
            self.candidate = vote
            self.leads = 1
        elif vote == self.candidate:
            self.leads += 1
        else:
            self.leads -= 1

    def seen_for(self, who: Candidate) -> Nat:
        return self.votes[: self.seen].count(who)

    @invariant
    def correct(self, who: Candidate) -> bool:
        """Correct."""
        has_it = 2 * self.votes.count(who) > len(self.votes)
        return self.seen < len(self.votes) or not has_it or who == self.candidate

    @invariant
    def the_others_pair_off(self, who: Candidate) -> bool:
        """Inv."""
        mine, unpaired = self.seen_for(who), self.seen - self.leads
        if who == self.candidate:
            return self.leads <= mine and 2 * (mine - self.leads) <= unpaired
        return 2 * mine <= unpaired

    @invariant
    def who_is_left_has_a_majority(self) -> bool:
        """Which is not supposed to hold: the votes must be counted once more."""
        everything = self.seen == len(self.votes) and self.leads > 0
        return not everything or 2 * self.seen_for(self.candidate) > len(self.votes)

    @reachable
    def elected(self, who: Candidate) -> bool:
        return self.seen == 5 and self.candidate == who and self.leads == 5

    @terminal
    def over(self) -> bool:
        return self.seen == len(self.votes)

    scope = Scope(Candidate=3, Nat=range(0, 6), votes=5)
    expects = Expect(who_is_left_has_a_majority=("violated", 3))
