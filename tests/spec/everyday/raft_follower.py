from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen

from lawful import Machine, Nat, Scope, Sort, State, invariant, require, transition


class Node(Sort): ...


class Role(State):
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


@dataclass(frozen=True)
class Entry:
    term: Nat
    value: bool


@dataclass(frozen=True)
class AppendEntries:
    term: Nat
    leader: Node
    prev_index: Nat
    prev_term: Nat
    entry: Entry | None
    commit: Nat


class Follower(Machine):
    state: Role = Role.FOLLOWER
    term: Nat = 0
    voted_for: Node | None = None
    log: Annotated[list[Entry], MaxLen(2)] = []
    commit_index: Nat = 0

    def last(self) -> tuple[int, int]:
        if not self.log:
            return 0, 0
        return len(self.log), self.log[-1].term

    def _see_term(self, term: int) -> None:
        if term > self.term:
            self.term, self.voted_for = term, None
            self.state = Role.FOLLOWER

    @transition
    def request_vote(self, term: Nat, candidate: Node, last_index: Nat, last_term: Nat) -> bool:
        if term < self.term:
            return False
        self._see_term(term)
        my_index, my_term = self.last()
        up_to_date = (last_term, last_index) >= (my_term, my_index)
        granted = up_to_date and self.voted_for in (None, candidate)
        if granted:
            self.voted_for = candidate
        return granted

    @transition(source=[Role.FOLLOWER, Role.CANDIDATE])
    def append(self, message: AppendEntries) -> bool:
        if message.term < self.term:
            return False
        self._see_term(message.term)
        self.state = Role.FOLLOWER
        if message.prev_index > len(self.log):
            return False
        if message.prev_index > 0 and self.log[message.prev_index - 1].term != message.prev_term:
            del self.log[message.prev_index - 1 :]
            return False
        if message.entry is not None:
            require(message.prev_index < 2, "the log is full")
            self.log[message.prev_index :] = [message.entry]
        self.commit_index = max(self.commit_index, min(message.commit, len(self.log)))
        return True

    @transition(source=[Role.FOLLOWER, Role.CANDIDATE], target=Role.CANDIDATE)
    def election_timeout(self) -> None:
        require(self.term < 1)
        self.term += 1
        self.voted_for = None

    @invariant
    def terms_grow(self) -> bool:
        return all(a.term <= b.term for a, b in zip(self.log, self.log[1:], strict=False))

    scope = Scope(Nat=range(0, 2), Node=2)
