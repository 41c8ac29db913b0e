"""`True` beside `1` and `1.0`: equal in Python, and never one value of a machine."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, cast

import pytest

from lawful import Machine, Nat, Opaque, Param, Record, Scope, Sort, total, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.journal import Journal
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from tests.spec import texts

Token = Annotated[object, Opaque("Token")]
Weight = Annotated[float, Opaque("Weight")]
Many = Annotated[tuple[bool, ...], Opaque("Many")]


class Node(Sort):
    """A node."""


class Both(Record):
    n: Nat
    b: bool


class Ones(Machine):
    n: Nat = 0
    b: bool = False
    s: frozenset[Nat] = frozenset()
    m: dict[bool, Nat] = {}
    t: tuple[Nat, bool] = (0, False)
    c: Counter[bool] = Counter()
    r: Both | None = None
    tokens: set[Token] = set()
    weights: dict[Weight, Nat] = {}
    marks: dict[Node, bool] = total(False)
    x: Param[float] = 1.0
    k: Param[Nat] = 1

    @transition()
    def put(self, n: Nat, b: bool, s: frozenset[Nat]) -> tuple[Nat, bool]:
        self.n = n
        self.b = b
        self.s = s
        self.m[b] = n
        self.t = (n, b)
        self.c[b] += 1
        self.r = Both(n, b)
        return self.t

    @transition()
    def maps(self, m: Mapping[bool, Nat], r: Both, t: tuple[Nat, ...]) -> float:
        return self.x

    @transition()
    def token(self, p: Token, many: tuple[Token, ...]) -> Token:
        self.tokens.add(p)
        self.tokens.update(many)
        return p

    @transition()
    def weigh(self, w: Weight, many: Many) -> Weight:
        self.weights[w] = 1
        return w

    scope = Scope(Node=1, Token=1, Weight=1, Many=1, Nat=range(0, 2), c=1, t=1, k=(1,))


ONE: Any = {"universe": {Node: ["a"]}}
FULL = {True: 1, False: 0}
CALLS: list[Callable[[Any], object]] = [
    lambda m: m.put(True, True, frozenset()),
    lambda m: m.put(1.0, True, frozenset()),
    lambda m: m.put(1, 1, frozenset()),
    lambda m: m.put(1, True, frozenset({True})),
    lambda m: m.put(1, True, frozenset({1.0})),
    lambda m: m.maps({1: 1, 0: 0}, Both(1, True), ()),
    lambda m: m.maps({True: True, False: 0}, Both(1, True), ()),
    lambda m: m.maps(FULL, Both(True, True), ()),
    lambda m: m.maps(FULL, Both(1, cast("bool", 1)), ()),
    lambda m: m.maps(FULL, Both(1, True), (1, True)),
    lambda m: m.token(True, ()),
    lambda m: m.token(1.0, ()),
    lambda m: m.token((1, (1, True)), ()),
    lambda m: m.token(frozenset({Decimal(1)}), ()),
    lambda m: m.token(Both(1, True), ()),
    lambda m: m.token(1, (2, True)),
    lambda m: m.weigh(1, ()),
    lambda m: m.weigh(True, ()),
    lambda m: m.weigh(1.0, (True, 1)),
    lambda m: Ones(x=True, **ONE),
    lambda m: Ones(k=True, **ONE),
    lambda m: Ones(universe={Node: [1, True]}),
    lambda m: Ones(universe={str: ["a"]}),
    lambda m: Ones.lawful.state(n=True, **ONE),
    lambda m: Ones.lawful.state(c=Counter({1: 1}), **ONE),
    lambda m: Ones.lawful.state(c=Counter({True: True}), **ONE),
]


@pytest.mark.parametrize("call", CALLS)
def test_from_outside_it_is_a_type_error(call: Callable[[Any], object]) -> None:
    machine = Ones(**ONE)
    with pytest.raises(TypeError):
        call(machine)
    assert machine == Ones(**ONE)


def test_opaque_numbers_of_one_type_are_kept_apart() -> None:
    machine = Ones(**ONE)
    machine.token(1, (2, "1", b"1", (1, 2)))
    machine.weigh(1.0, (True, False))
    assert machine.tokens == {1, 2, "1", b"1", (1, 2)} and machine.weights == {1.0: 1}
    with pytest.raises(ValueError, match="an element of Node is given twice"):
        Ones(universe={Node: ["a", "a"]})


@pytest.mark.parametrize("numbers", ["int | bool", "float | int", "tuple[int, float]"])
def test_an_opaque_has_numbers_of_one_type(numbers: str) -> None:
    field = f'x: Annotated[{numbers}, Opaque("P")] | None = None'
    assert texts.numbers(texts.body("pass", field)) == ["L202"]


@pytest.mark.parametrize(
    "bounds",
    [
        {"k": (1, True)},
        {"k": (1.0,)},
        {"x": (True,)},
        {"Node": True},
        {"t": True},
        {"Nat": (0, True)},
    ],
    ids=str,
)
def test_no_bound_of_a_scope_is_a_truth_value(bounds: dict[str, object]) -> None:
    with pytest.raises(DeclarationError, match="L303"):
        lower(Ones.lawful.ir, Ones.scope.widened(bounds))


def ones(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every 0, 1, false and true in JSON, with its path."""
    rows: Any = data.items() if data.__class__ is dict else enumerate(data)
    for key, value in rows:
        if value.__class__ in (dict, list):
            yield from ones(value, (*path, key))
        elif value in (0, 1):
            yield (*path, key), value


def others(data: Any, within: tuple[str, ...]) -> Iterator[Any]:
    """The data with one value told as another that Python takes for it."""
    for path, value in ones({key: data[key] for key in within}):
        for other in (int(value) if isinstance(value, bool) else bool(value), float(value)):
            if repr(other) != repr(value):
                made = copy.deepcopy(data)
                place = made
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = other
                yield made


def test_a_snapshot_tells_them_apart() -> None:
    machine = Ones(**ONE)
    machine.put(1, True, frozenset({0, 1}))
    kept = machine.lawful.snapshot()
    wrong = list(others(kept, tuple(k for k in kept if k not in ("v", "shape"))))
    for each in wrong:
        with pytest.raises(ValueError):
            Ones.lawful.restore(each, **ONE)
    assert len(wrong) > 20 and Ones.lawful.restore(kept, **ONE) == machine


def test_a_journal_tells_them_apart(tmp_path: Path) -> None:
    path, machine = tmp_path / "journal.jsonl", Ones(**ONE)
    with Journal(path) as journal:
        journal.attach(machine, "one")
        machine.put(1, True, frozenset({0, 1}))
    program = ReplayProgram((Ones.lawful.ir,))
    assert replay([path], program).verdicts["fits"] == 1
    made, row = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    wrong = list(others(row, ("args", "changed", "output")))
    for each in wrong:
        path.write_text(f"{json.dumps(made)}\n{json.dumps(each)}\n", encoding="utf-8")
        assert replay([path], program).verdicts["fits"] == 0, each
    assert len(wrong) > 20
