"""Paxos, one decision.

Source: L. Lamport, "Paxos made simple" (2001) and his lecture "Paxos: how to win a Turing award";
as in tlaplus/Examples, specifications/PaxosHowToWinATuringAward/Paxos.tla, whose manifest has the
figures of the model MCPaxosTiny: three acceptors, two values, ballots 0 and 1. Messages stay for
ever, so they may be lost and come twice; a quorum is two of the three. The figure for generated is
23,563 there: TLC counts a proposal once for every promise that allows it, and of 96 of the
proposals in all states two promises do.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Record,
    Scope,
    Sort,
    invariant,
    reachable,
    require,
    step_property,
    total,
    transition,
)

COUNTS = (3921, 23467, 17)

Ballot = Annotated[int, Interval(ge=0, le=1)]
MaybeBallot = Annotated[int, Interval(ge=-1, le=1)]


class Acceptor(Sort):
    """Who votes."""


class Value(Sort):
    """What is chosen among."""


class Vote(Record):
    """What an acceptor has accepted last."""

    ballot: Ballot
    value: Value


class Prepare(Record):
    """1a."""

    ballot: Ballot


class Promise(Record):
    """1b."""

    acceptor: Acceptor
    ballot: Ballot
    vote: Vote | None


class Accept(Record):
    """2a."""

    vote: Vote


class Accepted(Record):
    """2b."""

    acceptor: Acceptor
    vote: Vote


Message = Prepare | Promise | Accept | Accepted


class Paxos(Machine):
    """A ballot's leader asks, hears of earlier votes, and may propose only what they allow."""

    promised: dict[Acceptor, MaybeBallot] = total(-1)
    voted: dict[Acceptor, Vote | None] = total(None)
    messages: set[Message] = set()

    @transition()
    def prepare(self, ballot: Ballot) -> None:
        """Phase1a."""
        self.messages.add(Prepare(ballot))

    @transition()
    def promise(self, acceptor: Acceptor, asked: Prepare) -> None:
        """Phase1b."""
        require(asked in self.messages, "no such message")
        require(asked.ballot > self.promised[acceptor], "a later ballot was promised")
        self.promised[acceptor] = asked.ballot
        self.messages.add(Promise(acceptor, asked.ballot, self.voted[acceptor]))

    @transition()
    def propose(self, ballot: Ballot, value: Value, left_out: Acceptor) -> None:
        """Phase2a: a quorum is all but one."""
        proposed = any(isinstance(m, Accept) and m.vote.ballot == ballot for m in self.messages)
        require(not proposed, "the ballot has its value")
        heard = {
            m
            for m in self.messages
            if isinstance(m, Promise) and m.ballot == ballot and m.acceptor != left_out
        }
        require(len({m.acceptor for m in heard}) == 2, "not all of the quorum have promised")
        votes = {m.vote for m in heard if m.vote is not None}
        latest = max((vote.ballot for vote in votes), default=-1)
        free = len(votes) == 0
        require(free or Vote(latest, value) in votes, "an earlier vote was for another value")
        self.messages.add(Accept(Vote(ballot, value)))

    @transition()
    def accept(self, acceptor: Acceptor, proposal: Accept) -> None:
        """Phase2b."""
        require(proposal in self.messages, "no such message")
        vote = proposal.vote
        require(vote.ballot >= self.promised[acceptor], "a later ballot was promised")
        self.promised[acceptor] = vote.ballot
        self.voted[acceptor] = vote
        self.messages.add(Accepted(acceptor, vote))

    def chosen(self, value: Value) -> bool:
        """Chosen: two of three have accepted it in one ballot."""
        return any(
            sum(1 for a in Acceptor if Accepted(a, Vote(b, value)) in self.messages) >= 2
            for b in (0, 1)
        )

    @invariant
    def agreement(self, a: Value, b: Value) -> bool:
        return a == b or not (self.chosen(a) and self.chosen(b))

    @invariant
    def one_value_a_ballot(self, a: Value, b: Value, ballot: Ballot) -> bool:
        both = Accept(Vote(ballot, a)) in self.messages and Accept(Vote(ballot, b)) in self.messages
        return a == b or not both

    @invariant
    def promises_cover_votes(self, acceptor: Acceptor) -> bool:
        vote = self.voted[acceptor]
        return vote is None or vote.ballot <= self.promised[acceptor]

    @step_property
    def what_was_said_stays(self, after: "Paxos") -> bool:
        return self.messages <= after.messages

    @step_property
    def promises_only_grow(self, after: "Paxos", acceptor: Acceptor) -> bool:
        return self.promised[acceptor] <= after.promised[acceptor]

    @reachable
    def is_chosen(self, value: Value) -> bool:
        return self.chosen(value)

    @reachable
    def chosen_in_the_second_ballot(self) -> bool:
        return all(v is not None and v.ballot == 1 for v in self.voted.values())

    scope = Scope(Acceptor=3, Value=2)
