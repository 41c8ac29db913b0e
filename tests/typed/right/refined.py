"""Serial numbers, subsets, and what a machine does seen as what another one can do."""

from typing import Annotated, assert_type

from lawful import Machine, Nat, Scope, Serial, before, invariant, refines, subsets, transition

Seqno = Annotated[int, Serial(bits=16)]


class Counted(Machine):
    n: Nat = 0

    @transition()
    def step(self) -> None:
        self.n += 1

    scope = Scope(Nat=range(0, 4))


class Sender(Machine):
    first: Seqno = 65535
    number: Seqno = 65535
    seen: frozenset[Nat] = frozenset()

    @transition()
    def step(self) -> Seqno:
        self.number += 1
        self.seen = self.seen | {self.number - self.first}
        return self.number

    @invariant
    def counted(self) -> bool:
        return all(len(s) <= len(self.seen) for s in subsets(self.seen))

    @refines(Counted)
    def view(self) -> Counted:
        return Counted.lawful.state(n=len(self.seen))

    scope = Scope(Nat=range(0, 4), Serial=16)


def words(sender: Sender) -> None:
    """What words and operations give, as type checkers see it."""
    assert_type(before(sender.number, 3), bool)
    assert_type([s for s in subsets(sender.seen)], list[frozenset[int]])


def embed() -> None:
    sender = Sender()
    assert_type(sender.step(), int)
    assert_type(sender.number, int)
    assert_type(sender.view(), Counted)
    assert sender.seen == {1} and sender.view().n == 1
