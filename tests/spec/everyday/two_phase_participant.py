from enum import Enum

from lawful import Machine, Record, Scope, Sort, State, invariant, require, transition


class Tx(Sort): ...


class Vote(Enum):
    YES = "yes"
    NO = "no"


class Prepare(Record):
    tx: Tx


class Commit(Record):
    tx: Tx


class Abort(Record):
    tx: Tx


Message = Prepare | Commit | Abort


class Phase(State):
    UP = "up"
    DOWN = "down"


class Participant(Machine):
    state: Phase = Phase.UP
    votes: dict[Tx, Vote] = {}
    locks: set[Tx] = set()
    committed: set[Tx] = set()
    aborted: set[Tx] = set()

    def is_decided(self, tx: Tx) -> bool:
        return tx in self.committed | self.aborted

    @property
    def in_doubt(self) -> set[Tx]:
        return {
            tx for tx, vote in self.votes.items() if vote == Vote.YES and not self.is_decided(tx)
        }

    @transition(source=Phase.UP)
    def receive(self, message: Message) -> Vote | None:
        match message:
            case Prepare(tx):
                if tx in self.votes:
                    return self.votes[tx]
                vote = Vote.NO if self.locks else Vote.YES
                self.votes[tx] = vote
                if vote == Vote.YES:
                    self.locks.add(tx)
                else:
                    self.aborted.add(tx)
                return vote
            case Commit(tx=tx) if self.votes.get(tx) == Vote.YES:
                require(tx not in self.aborted, "aborted before")
                self.committed.add(tx)
                self.locks.discard(tx)
            case Abort(tx) if tx not in self.committed:
                self.aborted.add(tx)
                self.locks -= {tx}
            case Commit() | Abort():
                require(False, f"cannot {type(message).__name__}")
        return None

    @transition(source=Phase.UP, target=Phase.DOWN)
    def crash(self) -> None:
        self.locks = set()

    @transition(source=Phase.DOWN, target=Phase.UP)
    def recover(self) -> None:
        self.locks = self.in_doubt.copy()

    @invariant
    def decided_once(self) -> bool:
        return not (self.committed & self.aborted)

    @invariant
    def one_lock(self) -> bool:
        return len(self.locks) <= 1

    scope = Scope(Tx=2)
