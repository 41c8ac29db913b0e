"""What comes in from outside: the machine's own from then on, complete, and of its exact type."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, cast

import pytest
from annotated_types import Interval

from lawful import Machine, Nat, Opaque, Param, Record, Sort, total, transition


class K(enum.Enum):
    X = "x"
    Y = "y"


class Number(enum.IntEnum):
    ONE = 1


class Big(int):
    pass


class Node(Sort):
    pass


class R(Record):
    m: Mapping[K, int]


class Wide(Record):
    one: R | None
    many: tuple[R, ...]


class Special(R):
    pass


Pair = tuple[Mapping[bool, int], int]
Digit = Annotated[int, Interval(ge=0, le=9)]


class Holder(Machine):
    """Keeps maps in many ways."""

    fixed: Param[R] = R({K.X: 0, K.Y: 0})
    table: Param[Mapping[K, int]] = {K.X: 0, K.Y: 0}
    r: R = R({K.X: 0, K.Y: 0})
    wide: Wide = Wide(None, ())
    pair: Pair = ({False: 0, True: 0}, 0)
    all: frozenset[R] = frozenset()
    row: tuple[Mapping[K, int], ...] = ()
    perhaps: R | None = None
    n: int = 0
    counts: dict[K, Nat] = total(0)

    @transition()
    def put(self, r: R) -> None:
        self.r = r

    @transition()
    def put_wide(self, wide: Wide) -> None:
        self.wide = wide

    @transition()
    def put_pair(self, pair: Pair) -> None:
        self.pair = pair

    @transition()
    def put_all(self, all: frozenset[R]) -> None:
        self.all = all

    @transition()
    def put_row(self, row: tuple[Mapping[K, int], ...]) -> None:
        self.row = row

    @transition()
    def put_perhaps(self, r: R | None) -> None:
        self.perhaps = r

    @transition()
    def count(self, n: int) -> None:
        self.n = n


class Roster(Machine):
    """A map over the elements of a sort."""

    digits: Mapping[Digit, bool] = {d: False for d in range(10)}
    ready: Mapping[Node, bool] | None = None

    @transition()
    def put(self, ready: Mapping[Node, bool]) -> None:
        self.ready = ready

    @transition()
    def dial(self, digits: Mapping[Digit, bool]) -> None:
        self.digits = digits


def call(event: str, make: Callable[[dict[K, int]], Any]) -> Callable[[dict[K, int]], Any]:
    """An instance that was given a map in this way."""

    def run(held: dict[K, int]) -> Any:
        machine = Holder()
        machine.lawful.take(event, make(held))
        return machine

    return run


def of_r(machine: Any) -> Any:
    return machine.r.m


def of_wide(machine: Any) -> Any:
    return machine.wide.one.m


def entries() -> Iterator[tuple[str, Callable[[dict[K, int]], Any], Callable[[Any], Any]]]:
    """Every way in for a caller's map: its name, the way, and where the map is then."""
    yield "record", call("put", R), of_r
    yield "union", call("put_perhaps", R), lambda m: m.perhaps.m
    yield "nested", call("put_wide", lambda d: Wide(R(d), ())), of_wide
    yield "sequence", call("put_wide", lambda d: Wide(None, (R(d),))), lambda m: m.wide.many[0].m
    yield "maps", call("put_row", lambda d: (d,)), lambda m: m.row[0]
    yield "parameter", lambda d: Holder(fixed=R(d)), lambda m: m.fixed.m
    yield "table", lambda d: Holder(table=d), lambda m: m.table
    yield "state", lambda d: Holder.lawful.state(r=R(d)), of_r
    yield "state, deep", lambda d: Holder.lawful.state(wide=Wide(R(d), ())), of_wide


@pytest.mark.parametrize(("way", "find"), [e[1:] for e in entries()], ids=[e[0] for e in entries()])
def test_who_gave_a_map_cannot_change_it_later(way: Any, find: Any) -> None:
    held = {K.X: 1, K.Y: 2}
    machine = way(held)
    held[K.X] = 99
    assert find(machine) == {K.X: 1, K.Y: 2}
    with pytest.raises(TypeError):
        find(machine)[K.X] = 5
    with pytest.raises(TypeError):
        find(machine).update({K.X: 5})
    assert find(machine) == {K.X: 1, K.Y: 2}


def test_a_map_in_a_tuple_or_a_set_is_the_machines_own() -> None:
    class Hashed(dict[K, int]):
        def __hash__(self) -> int:  # type: ignore[override]  # dict says None
            return 1

    machine = Holder()
    flags = {False: 1, True: 2}
    machine.put_pair((flags, 3))
    flags[True] = 99
    assert machine.pair == ({False: 1, True: 2}, 3)
    held = Hashed({K.X: 1, K.Y: 2})
    machine.put_all(frozenset({R(held)}))
    held[K.X] = 99
    (only,) = machine.all
    assert only.m == {K.X: 1, K.Y: 2}


def test_what_is_immutable_already_is_not_made_anew() -> None:
    machine = Holder()
    machine.put(R({K.X: 1, K.Y: 2}))
    mine = machine.r
    machine.put(mine)
    machine.put_wide(wide := Wide(mine, (mine, mine)))
    assert machine.r is mine
    assert machine.wide is wide


def partial_maps() -> dict[str, Callable[[], object]]:
    some = {K.X: 1}
    return {
        "argument": lambda: Holder().put(R(some)),
        "inside": lambda: Holder().put_wide(Wide(None, (R(some),))),
        "union": lambda: Holder().put_perhaps(R(some)),
        "parameter": lambda: Holder(table=some),
        "record parameter": lambda: Holder(fixed=R(some)),
        "state": lambda: Holder.lawful.state(r=R(some)),
        "total variable": lambda: Holder.lawful.state(counts=some),
    }


@pytest.mark.parametrize("name", partial_maps())
def test_a_total_map_has_every_key(name: str) -> None:
    with pytest.raises(ValueError, match="Y"):
        partial_maps()[name]()


def test_the_missing_keys_are_named() -> None:
    roster = Roster()
    with pytest.raises(ValueError, match=r"dial: digits has no value for 1, 2, 3, 4, 5, \.\.\.$"):
        roster.dial({0: True})


def test_of_a_sort_the_known_elements_are_needed() -> None:
    a, b = Node("a"), Node("b")
    with pytest.raises(RuntimeError, match=r"put: ready .*universe=\{Node: \[\.\.\.\]\}"):
        Roster().put({a: True})  # Nobody said which elements there are.
    roster = Roster(universe={Node: [a, b]})
    with pytest.raises(ValueError, match=r"no value for Node\('b'\)"):
        roster.put({a: True})
    with pytest.raises(ValueError, match=r"no value for Node\('b'\)"):
        roster.lawful.may("put", {a: True})
    roster.put({a: True, b: False})
    data = roster.lawful.snapshot()
    assert Roster.lawful.restore(data, universe={Node: [a, b]}) == roster
    more = {Node: [a, b, Node("c")]}
    with pytest.raises(ValueError, match=r"no value for Node\('c'\)"):
        Roster.lawful.restore(data, universe=more, renamed={})


def test_a_snapshot_without_a_key_is_none() -> None:
    data = Holder().lawful.snapshot()
    del data["variables"]["counts"]["X"]
    with pytest.raises(ValueError, match=r"counts has no value for <K\.X"):
        Holder.lawful.restore(data)


@pytest.mark.parametrize("n", [Number.ONE, Big(1), True], ids=repr)
def test_an_int_is_an_int_and_no_subclass_of_it(n: int) -> None:
    machine = Holder()
    with pytest.raises(TypeError, match="count: n is a int"):
        machine.count(n)
    with pytest.raises(TypeError, match="int"):
        machine.put(R({K.X: n, K.Y: 0}))
    with pytest.raises(TypeError, match="int"):
        Holder.lawful.state(n=n)


@pytest.mark.parametrize("event", ["put", "put_perhaps"])
def test_a_record_is_of_its_class_and_no_subclass_of_it(event: str) -> None:
    with pytest.raises(TypeError, match="Special"):
        Holder().lawful.take(event, Special(cast("Mapping[K, int]", {K.X: 1, K.Y: 2})))


class Inner(Machine):
    m: Mapping[bool, int] = {False: 0, True: 0}

    @transition()
    def put(self, m: Mapping[bool, int]) -> None:
        self.m = m


class Whole(Machine):
    """Hands its own map to a helper and to a part, and goes on changing it."""

    d: dict[bool, int] = total(0)
    kept: Mapping[bool, int] = {False: 0, True: 0}
    part: Inner = Inner()

    def keep(self, m: Mapping[bool, int]) -> None:
        self.kept = m

    @transition()
    def hand_on(self) -> None:
        self.d[True] = 1
        self.keep(self.d)
        self.part.put(self.d)
        self.d[True] = 2


def test_a_map_that_is_handed_on_inside_is_a_value() -> None:
    whole = Whole()
    whole.hand_on()
    assert whole.d == {False: 0, True: 2}
    assert whole.kept == whole.part.m == {False: 0, True: 1}
    with pytest.raises(TypeError):
        cast("Any", whole.part.m)[True] = 5
    with pytest.raises(TypeError):
        cast("Any", whole.kept)[True] = 5


Share = Annotated[float, Opaque("Share")]


class Shared(Machine):
    share: Share | None = None
    shares: list[Share | None] = []

    @transition()
    def put(self, share: Share) -> None:
        self.share = share

    @transition()
    def keep(self, share: Share | None) -> None:
        self.shares.append(share)


def test_none_and_what_is_not_equal_to_itself_are_no_opaque_values() -> None:
    shared, none, nan = Shared(), cast(float, None), float("nan")
    with pytest.raises(TypeError, match=r"put: share is a Share, not None, a NoneType"):
        shared.put(none)  # A proof says that there is a share after `put`,

    def made(share: float) -> object:
        return Shared.lawful.state(share=share)

    for call in (shared.put, shared.keep, made):
        with pytest.raises(ValueError, match=r"nan is not equal to itself"):
            call(nan)  # and that it is equal to what was given.
    shared.keep(None)
    shared.put(0.5)
    assert shared == Shared.lawful.state(share=0.5, shares=[None])


Payload = Annotated[bytes, Opaque("Payload")]
Other = Annotated[Annotated[tuple[int, ...], "few"] | None, Opaque("Other")]
Anything = Annotated[Any, Opaque("Anything")]


class Held(Machine):
    n: Nat = 0

    @transition()
    def put(self, payload: Payload) -> None:
        self.n += 1

    @transition()
    def put_other(self, other: Other) -> None:
        self.n += 1

    @transition()
    def put_anything(self, anything: Anything) -> None:
        self.n += 1


def test_an_opaque_value_is_of_a_class_that_its_annotation_admits() -> None:
    held, odd = Held(), cast(Any, frozenset({1}))
    for wrong in (odd, memoryview(b""), object(), "text", 1):
        with pytest.raises(
            TypeError, match=r"payload is a Payload, which holds bytes, not .*, an? "
        ):
            held.put(cast(Any, wrong))
    with pytest.raises(
        TypeError, match=r"other is a Other, which holds tuple, not .*, a frozenset"
    ):
        held.put_other(odd)
    assert held.n == 0
    held.put(b"x")
    held.put(type("Part", (bytes,), {})(b"x"))
    held.put_other((1, 2))
    held.put_anything(odd)
    assert held.n == 4


Note = Annotated[str, Opaque("Note")]


class Shelf(Sort):
    """A sort."""


class Noted(Machine):
    notes: dict[Shelf, Note] = {}

    @transition()
    def note(self, shelf: Shelf, note: Note) -> None:
        self.notes[shelf] = note


def test_an_element_of_a_sort_is_no_opaque_text() -> None:
    """It would come back from a snapshot as a text, to which it is not equal."""
    noted, shelf = Noted(universe={Shelf: ["a"]}), Shelf("a")
    with pytest.raises(
        TypeError, match=r"^note: note is a Note, which holds str, not .*, a Shelf$"
    ):
        noted.note(shelf, shelf)
    noted.note(shelf, type("Text", (str,), {})("a"))
    assert noted.notes == {shelf: "a"}
    assert Noted.lawful.restore(noted.lawful.snapshot()) == noted
