"""What generated code has to get right beside the meaning of each statement."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Refused,
    Sort,
    State,
    Undefined,
    implies,
    invariant,
    require,
    step_property,
    total,
    transition,
)


class Kind(enum.Enum):
    A = 1
    B = 2


class Bound(Record):
    by: Mapping[bool, Nat]
    tags: frozenset[Nat]


class Names(Machine):
    """Every name that the generated code could want for itself is the user's."""

    state: Nat = 1
    error: Nat = 2
    value0: Nat = 3
    items: dict[Nat, Nat] = {}

    @transition()
    def len(self, state: Nat, type: Nat, int: Nat, error: Nat) -> Nat:
        at = state + type + int + error + self.state + self.error
        value0 = self.value0
        failed = max(at, value0)
        self.items[failed] = at
        Refusal = min(q for q in self.items.values())
        require(failed > 0 and Refusal > 0, "no")
        return failed

    @transition()
    def max(self, min: Nat, BaseException: Nat) -> Nat:
        return sum(1 for sum_ in self.items if sum_ > min) + BaseException


def test_names_do_not_clash() -> None:
    names = Names()
    assert names.len(1, 2, 3, 4) == 13
    assert names.max(5, 6) == 7
    assert names.len(state=1, type=1, int=1, error=1) == 7
    with pytest.raises(TypeError, match="type is a Nat"):
        names.lawful.take("len", 1, "2", 3, 4)


class Shapes(Machine):
    """Immutable where the type is; containers of one's own where it is not."""

    left: set[Nat] = {1}
    right: set[Nat] = {2}
    keys: frozenset[Nat] = frozenset()
    table: dict[Nat, Nat] = {1: 1, 2: 2}
    frozen: Mapping[bool, Nat] = {False: 0, True: 1}
    bound: Bound | None = None
    sets: dict[Nat, set[Nat]] = {1: {1}, 2: {2}}

    @transition()
    def swap(self, first: bool) -> None:
        self.left = set(self.left if first else self.right)
        self.left.add(9)

    @transition()
    def view(self) -> frozenset[Nat]:
        self.keys = frozenset(self.table.keys())
        self.table[7] = 7
        return self.keys | {0}

    @transition()
    def keep(self, x: Nat) -> Bound:
        self.bound = Bound({False: x, True: x + 1}, frozenset(q for q in self.table if q < x))
        self.frozen = {False: self.frozen[True], True: x}
        return self.bound

    @transition()
    def spread(self, x: Nat) -> None:
        for key in self.sets:
            self.sets[key].add(x)
        require(x < 5, "large")

    @transition()
    def fetch(self, key: Nat, x: Nat) -> Nat:
        found = set(self.sets.get(key, {x}))
        found.add(x)
        return len(found)


def shapes() -> Shapes:
    return Shapes()


def test_no_two_variables_share_a_container() -> None:
    machine = shapes()
    machine.swap(False)
    assert machine.left == {2, 9}
    assert machine.right == {2}


def test_what_is_immutable_is_a_value() -> None:
    machine = shapes()
    assert machine.view() == {0, 1, 2}
    assert machine.keys == {1, 2}
    assert set(machine.table) == {1, 2, 7}
    bound = machine.keep(2)
    assert {bound} == {machine.bound}
    assert bound == Bound({False: 2, True: 3}, frozenset({1}))
    assert machine.frozen == {False: 1, True: 2}


def test_a_local_container_is_a_locals() -> None:
    machine = shapes()
    assert (machine.fetch(1, 5), machine.fetch(8, 5)) == (2, 1)
    assert machine.sets == {1: {1}, 2: {2}}


def test_a_loop_may_change_what_it_goes_over_and_is_undone() -> None:
    machine = shapes()
    machine.spread(4)
    assert machine.sets == {1: {1, 4}, 2: {2, 4}}
    with pytest.raises(Refused):
        machine.spread(5)
    assert machine.sets == {1: {1, 4}, 2: {2, 4}}


class Node(Sort):
    pass


class Votes(Machine):
    """Properties that iterate a sort can be asked of an instance."""

    voted: dict[Node, Kind] = total(Kind.A)
    least: Param[Nat] = 1

    @transition()
    def vote(self, node: Node, kind: Kind) -> None:
        self.voted[node] = kind

    def count(self, kind: Kind) -> int:
        return sum(1 for n in Node if self.voted[n] == kind)

    @invariant
    def enough(self) -> bool:
        return self.count(Kind.A) >= self.least

    @step_property
    def one_at_a_time(self, after: Votes) -> bool:
        return sum(1 for n in Node if self.voted[n] != after.voted[n]) <= 1

    @invariant
    def of_kind(self, kind: Kind) -> bool:
        return implies(kind == Kind.A, any(self.voted[n] == kind for n in Node))


def test_properties_can_be_asked() -> None:
    a, b = Node("a"), Node("b")
    votes = Votes(universe={Node: [a, b]})
    other = Votes(universe={Node: [a, b]})
    assert votes.enough() and votes.count(Kind.A) == 2 and votes.of_kind(Kind.A)
    votes.vote(a, Kind.B)
    assert votes.one_at_a_time(other)
    votes.vote(b, Kind.B)
    assert not votes.enough() and not votes.of_kind(Kind.A) and not votes.one_at_a_time(other)


class Unordered(Machine):
    """Over what has no order every element is evaluated: nothing depends on the hash seed."""

    known: set[Nat] = {1, 2}
    table: dict[Nat, bool] = {1: True}

    @transition()
    def any_of(self) -> bool:
        return any(self.table[q] for q in self.known)

    @transition()
    def all_of(self) -> bool:
        return all(not self.table[q] for q in self.known)

    @transition()
    def in_order(self) -> bool:
        return any(self.table[q] for q in sorted(self.known))


def test_an_undefined_element_makes_a_quantifier_undefined() -> None:
    machine = Unordered()
    for event in ("any_of", "all_of"):
        with pytest.raises(Undefined, match="KeyError: 2"):
            machine.lawful.take(event)
    assert machine.in_order()


class Parent(Machine):
    phase: Nat = 0
    seen: list[Nat] = []

    @transition()
    def go(self) -> Nat:
        self.phase += 1
        return self.phase


def test_a_class_can_be_inherited_after_it_ran() -> None:
    parent = Parent()
    assert parent.go() == 1

    class Child(Parent):
        more: Nat = 5

        @transition()
        def go(self) -> Nat:
            by = super().go()
            self.more += by
            return self.more

        @transition()
        def undo(self) -> None:
            self.phase -= 1

    child = Child()
    assert (child.go(), child.phase, parent.phase) == (6, 1, 1)
    assert [v.name for v in Child.lawful.ir.variables] == ["phase", "seen", "more"]
    assert parent.go() == 2


class Turn(State):
    LEFT = "left"
    RIGHT = "right"


class Returns(Machine):
    """Ends in many places; each is followed by the target and the bounds."""

    state: Turn = Turn.LEFT
    n: Nat = 0

    @transition(source=Turn.LEFT, target=Turn.RIGHT)
    def pick(self, x: int) -> Turn:
        self.n += x
        if x == 1:
            return self.state
        if x == 2:
            return Turn.RIGHT
        for q in range(x):
            if q == 3:
                self.n -= 100
                return self.state
        return self.state


@pytest.mark.parametrize(("x", "output"), [(1, Turn.LEFT), (2, Turn.RIGHT), (3, Turn.LEFT)])
def test_every_end_is_an_end(x: int, output: Turn) -> None:
    machine = Returns()
    assert machine.pick(x) is output
    assert (machine.state, machine.n) == (Turn.RIGHT, x)
    with pytest.raises(Refused):
        machine.pick(x)


def test_bounds_hold_at_every_end() -> None:
    machine = Returns()
    for x in (-1, 4):
        with pytest.raises(Exception, match="bounds: n"):
            machine.pick(x)
    assert machine == Returns()
