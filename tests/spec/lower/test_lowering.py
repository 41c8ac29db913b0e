"""A machine within its scope: bounded types, values of parameters, plans of arguments."""

from __future__ import annotations

import pytest

from lawful import Scope
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.errors import DeclarationError
from lawful.spec.flat import Flat
from lawful.spec.lower import lower
from tests.spec import texts

MACHINE = """\
    class Node(Sort): ...
    class Msg(Record):
        seqno: Nat
        to: Node
    class M(Machine):
        x: Nat = 0
        offset: int = 0
        small: Annotated[int, Interval(ge=1, le=2)] = 1
        queue: list[Msg] = []
        net: set[Msg] = set()
        limit: Param[Nat] = 3
        modes: Param[frozenset[bool]] = frozenset()

        @transition()
        def take(self, m: Msg, k: Nat) -> None:
            require(m in self.net and k > self.x, "not there")
            self.x = k

        @transition()
        def late(self, m: Msg) -> None:
            self.x = 6 // self.x
            require(m in self.net, "not there")

        @transition()
        def helped(self, m: Msg) -> None:
            self.check(m)

        def check(self, m: Msg) -> None:
            require(m in self.net, "not there")
    """


def lowered(**bounds: object) -> Flat:
    scope = Scope(None, None, **{"Node": 2, "Nat": range(0, 4), "queue": 2, **bounds})
    return lower(texts.resolved(MACHINE).machine, scope)


def fields(flat: Flat) -> dict[str, t.Type]:
    return {name: kind for _, name, kind in flat.fields}


def test_integers_have_the_range_of_their_name_before_that_of_their_kind() -> None:
    kinds = fields(lowered(int=range(-2, 3), x=range(1, 3)))
    assert kinds["x"] == t.Int(1, 2, "Nat")
    assert kinds["offset"] == t.Int(-2, 2)
    assert kinds["small"] == t.Int(1, 2)


def test_a_range_never_reaches_below_what_the_type_allows() -> None:
    assert fields(lowered(int=range(0, 1), x=range(-5, 3)))["x"] == t.Int(0, 2, "Nat")


def test_records_and_collections_are_bounded_inside() -> None:
    kinds = fields(lowered(int=range(0, 1)))
    queue = kinds["queue"]
    assert isinstance(queue, t.Seq) and queue.most == 2
    assert isinstance(queue.item, t.Record)
    assert dict(queue.item.fields)["seqno"] == t.Int(0, 3, "Nat")


def test_values_of_parameters_have_their_json_form() -> None:
    flat = lowered(int=range(0, 1), limit=(1, 2), modes=(frozenset({True, False}),))
    assert dict(flat.parameters) == {
        "limit": (1, 2),
        "modes": ({"$set": [False, True]},),
    }


def test_without_values_a_parameter_has_its_default() -> None:
    assert dict(lowered(int=range(0, 1)).parameters) == {"limit": (), "modes": ()}


RING = """\
    class Node(Sort): ...
    class Place(Record):
        of: Node
        next: tuple[Node, ...]
    class Ring(Machine):
        met: set[Node] = set()
        all: Param[Mapping[Node, Place]]

        @transition()
        def meet(self, n: Node) -> None:
            self.met.add(n)

        scope = Scope(Node=2, all=({Node("Node1"): Place(Node("Node2"), (Node("a"),))},))
    """


def test_parameters_know_only_the_elements_that_are_explored() -> None:
    (problem,) = texts.problems(RING)
    assert problem.number == "L303"
    assert (problem.found, problem.expected) == ("Node('a') in all", "one of Node1, Node2")


def test_a_leading_membership_is_iterated_and_no_other() -> None:
    plans = {rule.name: rule.plans for rule in lowered(int=range(0, 1)).rules}
    over = [plan.over for plan in plans["take"]]
    assert isinstance(over[0], ir.Field) and over[0].name == "net"
    assert over[1] is None
    # What comes before may be undefined, which a message that is not there would show.
    assert plans["late"][0].over is None
    # A guard in a helper that is called first counts as its caller's.
    assert isinstance(plans["helped"][0].over, ir.Field)


def test_the_scope_is_told_as_text() -> None:
    told = dict(lowered(int=range(0, 1), limit=(1, 2)).scope)
    assert told == {"Node": "2", "Nat": "0..3", "queue": "2", "int": "0..0", "limit": "1,2"}


def test_a_number_under_a_map_of_lists_is_their_length_and_bounds_no_key() -> None:
    found = texts.resolved(
        """
        Place = Annotated[int, Interval(ge=1, le=3)]
        class M(Machine):
            sent: dict[tuple[Place, Place], list[Place]] = total([])
            held: dict[Nat, tuple[Nat, ...]] = {}
            @transition()
            def send(self, a: Place, b: Place) -> None:
                self.sent[a, b].append(a)
        """
    )
    flat = lower(found.machine, Scope(sent=6, held=2, Nat=range(0, 4)))
    kinds = {name: kind for _, name, kind in flat.fields}
    place, few = t.Int(1, 3), t.Int(0, 3, "Nat")
    pairs = t.Tuple((place, place))
    assert kinds["sent"] == t.Map(pairs, t.Seq(place, True, 6), mutable=True, total=True)
    assert kinds["held"] == t.Map(few, t.Seq(few, False, 2), mutable=True)


def test_a_parameter_of_a_part_is_no_key_of_the_whole() -> None:
    declared = """\
        class Inner(Machine):
            n: Nat = 0
            most: Param[int] = 2
            @transition()
            def up(self) -> None:
                require(self.n < self.most, "full")
                self.n += 1
        class M(Machine):
            inner: Inner = Inner()
            @transition()
            def up(self) -> None:
                self.inner.up()
        """
    machine = texts.resolved(declared).machine
    with pytest.raises(DeclarationError) as refused:
        lower(machine, Scope(None, None, Nat=range(0, 4), most=(4,)))
    assert "L302" in str(refused.value)
    assert "most in the scope of M, whose it is not" in str(refused.value)
    assert "write Inner(most=...) in M" in str(refused.value)
