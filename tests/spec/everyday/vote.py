"""A ballot."""

from lawful import Machine, Nat, Record, Scope, Sort, State, invariant, require, transition


class Voter(Sort): ...


class Option(Sort): ...


class Ballot(State):
    OPEN = "open"
    CLOSED = "closed"


class Result(Record):
    winner: Option | None
    votes: Nat
    summary: str = ""


class Vote(Machine):
    state: Ballot = Ballot.OPEN
    votes: dict[Voter, Option] = {}

    @transition(source=Ballot.OPEN)
    def cast(self, voter: Voter, option: Option) -> None:
        require(voter not in self.votes, f"{voter} has voted")
        self.votes = {**self.votes, voter: option}

    @transition(source=Ballot.OPEN)
    def withdraw(self, voter: Voter) -> None:
        require(voter in self.votes, "did not vote")
        self.votes = {v: o for v, o in self.votes.items() if v != voter}

    @transition(source=Ballot.OPEN, target=Ballot.CLOSED)
    def close(self, candidate: Option) -> Result:
        count = self._count(candidate)
        majority = count * 2 > len(self.votes)
        return Result(
            winner=candidate if majority else None,
            votes=count,
            summary=f"{count} of {len(self.votes)} votes",
        )

    def _count(self, option: Option) -> Nat:
        return len([v for v in self.votes if self.votes[v] == option])

    @invariant
    def one_vote_each(self) -> bool:
        return len(self.votes) <= len(Voter)

    deadlock_ok = True
    scope = Scope(Voter=2, Option=2)
