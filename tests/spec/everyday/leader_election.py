"""Raft-like leader election."""

from __future__ import annotations

from lawful import (
    Machine,
    Nat,
    Scope,
    Sort,
    State,
    invariant,
    require,
    step_property,
    total,
    transition,
)


class Node(Sort):
    """A server."""


class Role(State):
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


def majority(n: int) -> int:
    return n // 2 + 1


class Election(Machine):
    role: dict[Node, Role] = total(Role.FOLLOWER)
    term: dict[Node, Nat] = total(0)
    voted_for: dict[Node, Node | None] = total(None)
    votes: dict[Node, set[Node]] = total(set())
    down: set[Node] = set()

    @transition(source=(Role.FOLLOWER, Role.CANDIDATE), target=Role.CANDIDATE, of="role[n]")
    def timeout(self, n: Node) -> Nat:
        require(n not in self.down, "down")
        self.term[n] += 1
        self.voted_for[n] = n
        self.votes[n] = {n}
        return self.term[n]

    @transition()
    def vote(self, voter: Node, candidate: Node) -> bool:
        require(not {voter, candidate} & self.down, "one of them is down")
        require(self.role[candidate] is Role.CANDIDATE, "no candidate")
        require(voter != candidate, "itself")
        if self.term[voter] > self.term[candidate]:
            return False
        if self.term[voter] < self.term[candidate]:
            self.term[voter], self.voted_for[voter] = self.term[candidate], None
            self.role[voter] = Role.FOLLOWER
            self.votes[voter].clear()
        if self.voted_for[voter] in (None, candidate):
            self.voted_for[voter] = candidate
            self.votes[candidate] |= {voter}
            return True
        return False

    @transition(source=Role.CANDIDATE, target=Role.LEADER, of="role[n]")
    def win(self, n: Node) -> None:
        require(n not in self.down)
        require(len(self.votes[n]) >= majority(len(Node)), "too few votes")

    @transition()
    def heartbeat(self, leader: Node) -> frozenset[Node]:
        require(self.role[leader] == Role.LEADER and leader not in self.down, "no leader")
        behind = {n for n in Node if n != leader and self.term[n] <= self.term[leader]} - self.down
        for n in behind:
            if self.term[n] < self.term[leader]:
                self.voted_for[n] = None
            self.term[n] = self.term[leader]
            self.role[n] = Role.FOLLOWER
        return frozenset(behind)

    @transition()
    def crash(self, n: Node) -> None:
        require(n not in self.down, "is down")
        require(len(self.down) + 1 < majority(len(Node)), "no majority would be left")
        self.down.add(n)
        self.votes[n] = set()
        if self.role[n] != Role.FOLLOWER:
            self.role[n] = Role.FOLLOWER

    @transition()
    def recover(self, n: Node) -> None:
        self.down.remove(n)

    def leaders(self) -> set[Node]:
        return {n for n, r in self.role.items() if r == Role.LEADER}

    @invariant
    def one_leader_per_term(self) -> bool:
        leaders = self.leaders()
        return all(a == b or self.term[a] != self.term[b] for a in leaders for b in leaders)

    @invariant
    def votes_are_of_this_term(self) -> bool:
        return all(
            self.term[v] >= self.term[c]
            for c, vs in self.votes.items()
            if self.role[c] == Role.CANDIDATE
            for v in vs
        )

    @step_property
    def terms_grow(self, after: Election) -> bool:
        return all(self.term[n] <= after.term[n] for n in Node)

    scope = Scope(Node=3, Nat=range(0, 2))
