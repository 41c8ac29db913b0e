"""Invariants and guards as columns: each answer is the reference engine's, or null."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from enum import auto
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Param, State, invariant, require, terminal, transition
from lawful.checks.reference import Reference, Refusal
from lawful.checks.reference.missing_values import NoValue
from lawful.checks.replay import TraceMapping, property_column
from lawful.checks.replay.preparation.preparation_table import Preparation
from lawful.checks.replay.spark.property_columns import StateColumns
from lawful.checks.replay.spark.sql_expressions import ARITHMETIC, CONVERSIONS, TESTS
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.errors import NOWHERE, Unsupported
from lawful.spec.values.world import World
from tests.checks.replay.conftest import NEEDS_SPARK

pytestmark = NEEDS_SPARK
SCHEMA = "mode string, n long, o int, ok boolean, by struct<much: long>"
MAPPING = TraceMapping(
    "$.id",
    "$.at",
    "$.what",
    observed={"state": "$.mode", "n": "$.n", "o": "$.o", "ok": "$.ok"},
    args={"grow": {"by": "$.by.much"}},
    parameters={"most": 4},
)
FAR = 2**63 - 1


class Mode(State):
    OFF = auto()
    ON = auto()


class Meter(Machine):
    most: Param[int] = 5
    state: Mode = Mode.OFF
    n: Nat = 0
    o: int | None = None
    ok: bool = False
    names: set[int] = set()

    def half(self, of: int) -> int:
        return of // 2

    @invariant
    def within(self) -> bool:
        return self.state is Mode.OFF or self.n <= self.most

    @invariant
    def odd(self) -> bool:
        return self.o != 4 and (self.o is None or self.o % 3 != 1)

    @invariant
    def exact(self) -> bool:
        return self.o == 1

    @invariant
    def stepwise(self) -> bool:
        if self.state in (Mode.ON,) and not self.ok:
            return True
        left = self.half(self.n - self.most)
        return left in {0, 1, 2} or -1 <= left < (self.o if self.o is not None else 2)

    @invariant
    def shared(self) -> bool:
        share = 12 // self.n
        return self.ok or share > 3

    @invariant
    def far(self) -> bool:
        return self.n + 1 > self.n

    @invariant
    def listed(self) -> bool:
        return self.n in self.names

    @invariant
    def summed(self) -> bool:
        return sum(x for x in self.names) < 9

    @terminal
    def full(self) -> bool:
        return self.n == self.most

    @transition(source=Mode.ON)
    def grow(self, by: Nat) -> None:
        room = self.most - self.n
        require(by <= room, f"{by} do not fit")
        require(self.ok, "not permitted")
        self.n += by

    @transition(source=Mode.OFF, target=Mode.ON)
    def start(self) -> None:
        self.n += 1
        require(self.ok, "not permitted")


MACHINE = Meter.lawful.ir
WORLD = World.made_of(MACHINE.types)
MISSING: Any = object()


class Told(tuple[Any, ...]):
    """A state that may lack some values."""

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        if found is MISSING:
            raise NoValue("a row does not tell", HERE)
        return found


def state_of(row: Sequence[Any]) -> Told:
    """The state in the columns `mode`, `n`, `o`, `ok`."""
    mode, n, o, ok = row[:4]
    known = WORLD.enums["Mode"].__members__
    told = [known.get(mode, MISSING), n, o, ok]
    filled = [MISSING if each is None and at != 2 else each for at, each in enumerate(told)]
    return Told([*filled, frozenset(), 4])


def expected(function: ir.Function, row: Sequence[Any], reference: Reference) -> bool | None:
    """What the reference engine says of a row; None where it has no answer."""
    try:
        found: bool = reference.call(function, state_of(row), [])
    except NoValue:
        return None
    return found


@pytest.fixture(
    params=["true", pytest.param("false", marks=pytest.mark.nightly)], ids=["ansi", "not ansi"]
)
def frames(request: pytest.FixtureRequest, session: Any) -> Iterator[Any]:
    """Sessions of which one raises errors where the other gives null."""
    before = session.conf.get("spark.sql.ansi.enabled")
    session.conf.set("spark.sql.ansi.enabled", request.param)
    yield session
    session.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.nightly
def test_columns_answer_as_the_reference_engine(frames: Any) -> None:
    """All states of a few values, and of rows that lack some."""
    values = (
        ["OFF", "ON", "else", None],
        [0, 1, 5, 9, -2, None],
        [1, -2, None],
        [True, False, None],
    )
    rows = [(*each, (by,)) for each, by in product(product(*values), (0, 3))]
    names = ("within", "odd", "exact", "stepwise", "shared", "far", "full")
    frame = frames.createDataFrame(rows, SCHEMA)
    columns = [property_column(frame, Meter, name, MAPPING) for name in (*names, "grow")]
    found = [tuple(row) for row in frame.select(*columns).collect()]
    reference = Reference(MACHINE, WORLD)
    properties = {p.name: p.function for p in MACHINE.properties}
    for row, answers in zip(rows, found, strict=True):
        wanted = [expected(properties[name], row, reference) for name in names]
        assert list(answers[:-1]) == wanted, row
        state = state_of(row)
        if MISSING not in tuple(state):
            outcome: Any = reference.step(state, "grow", {"by": row[4][0]})
            assert answers[-1] is not isinstance(outcome, Refusal), row
    assert {answers[-1] for answers in found} == {True, False, None}


def test_numbers_beyond_64_bits_give_no_answer(frames: Any) -> None:
    rows = [("ON", n, 1, True, (0,)) for n in (FAR - 1, FAR)]
    frame = frames.createDataFrame(rows, SCHEMA)
    found = frame.select(property_column(frame, Meter, "far", MAPPING)).collect()
    assert [row[0] for row in found] == [True, None]


REFUSED = {
    "listed": "Meter has no column expression for `in` of anything but values in brackets",
    "summed": "Meter has no column expression for `sum(x for x in self.names)`",
    "start": "Meter has no column expression for a guard after other statements",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_sql_cannot_say_is_refused_with_its_place(name: str, session: Any) -> None:
    frame = session.createDataFrame([], SCHEMA)
    with pytest.raises(Unsupported) as refused:
        property_column(frame, Meter, name, MAPPING)
    where, _, what = str(refused.value).partition(": ")
    assert what == REFUSED[name]
    assert where.startswith(f"{Path(__file__)}:")


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("else", SCHEMA, {}, "Meter has no invariant, @terminal property or transition else"),
    ("within", SCHEMA, {"observed": {"n": "$.n"}}, "the mapping names no column for state"),
    (
        "within",
        SCHEMA.replace("n long", "n double"),
        {},
        "the column $.n of n has to be bigint or int or smallint or tinyint, not double",
    ),
    ("within", "mode string", {}, "the data frame has no column $.n"),
    ("within", SCHEMA, {"machine": "Other"}, "the mapping is of Other, not of Meter"),
    ("within", SCHEMA, {"parameters": {"most": "4"}}, "'4' is no int that a column can hold"),
    (
        "within",
        SCHEMA,
        {"parameters": {"most": 2**63}},
        f"{2**63} is no int that a column can hold",
    ),
    ("grow", SCHEMA, {"args": {}}, "the mapping names no column for the argument by"),
    (
        "within",
        SCHEMA,
        {"preparation": Preparation()},
        "the rows of a mapping with a preparation are not those of the frame",
    ),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "schema", "changes", "why"), WRONG)
def test_wrong_columns_are_refused(
    name: str, schema: str, changes: dict[str, Any], why: str, session: Any
) -> None:
    frame = session.createDataFrame([], schema)
    with pytest.raises(ValueError) as refused:
        property_column(frame, Meter, name, dataclasses.replace(MAPPING, **changes))
    assert str(refused.value) == why


# Random expressions.

HERE = ir.Self(NOWHERE, t.Part("Meter"))
MODE = t.Enum("Mode", ("OFF", "ON"))
MAYBE = t.Union((t.INT, t.NOTHING))
FIELDS = {"state": MODE, "n": t.INT, "o": MAYBE, "ok": t.BOOL, "most": t.INT}
INTEGERS = (*ARITHMETIC, "int")


class Writer:
    """Writes random expressions over the fields of `Meter`."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def field(self, name: str) -> ir.Expr:
        return ir.Field(NOWHERE, FIELDS[name], HERE, name)

    def op(self, op: str, kind: t.Type, *args: ir.Expr) -> ir.Expr:
        return ir.Op(NOWHERE, kind, op, args)

    def chosen(self, kind: t.Type, depth: int) -> ir.Expr:
        """One of two values."""
        one, two = self.of(kind, depth - 1), self.of(kind, depth - 1)
        return ir.If(NOWHERE, kind, self.truth(depth - 1), one, two)

    def of(self, kind: t.Type, depth: int) -> ir.Expr:
        if kind == t.INT:
            return self.integer(depth)
        if kind == t.BOOL:
            return self.truth(depth)
        if depth > 0 and self.rng.random() < 0.3:
            return self.chosen(kind, depth)
        if kind == MODE:
            member = ir.Const(NOWHERE, MODE, self.rng.choice(MODE.members))
            return self.rng.choice([self.field("state"), member])
        none = ir.Const(NOWHERE, t.NOTHING, None)
        return self.rng.choice([self.field("o"), none, self.integer(0)])

    def integer(self, depth: int) -> ir.Expr:
        if depth <= 0:
            number = ir.Const(NOWHERE, t.INT, self.rng.randrange(4))
            return self.rng.choice([self.field("n"), self.field("most"), number])
        way = self.rng.choice((*INTEGERS, "if", "narrowed"))
        if way == "if":
            return self.chosen(t.INT, depth)
        if way == "narrowed":
            o = self.field("o")
            test = ir.IsA(NOWHERE, t.BOOL, o, (t.NOTHING,))
            some = ir.Narrow(NOWHERE, t.INT, o)
            return ir.If(NOWHERE, t.INT, test, self.integer(depth - 1), some)
        if way == "int":
            return self.op(way, t.INT, self.rng.choice([self.integer, self.truth])(depth - 1))
        arity = 1 if way in ("neg", "abs") else 3 if way in ("min", "max") else 2
        return self.op(way, t.INT, *(self.integer(depth - 1) for _ in range(arity)))

    def truth(self, depth: int) -> ir.Expr:
        if depth <= 0:
            return self.field("ok")
        way = self.rng.choice((*TESTS, "in", "not_in", "bool", "and", "or", "if", "is"))
        match way:
            case "if":
                return self.chosen(t.BOOL, depth)
            case "and" | "or":
                args = tuple(self.truth(depth - 1) for _ in range(3))
                return (ir.And if way == "and" else ir.Or)(NOWHERE, t.BOOL, args)
            case "is":
                asked = self.rng.choice([(t.NOTHING,), (t.INT,), (t.INT, t.NOTHING)])
                return ir.IsA(NOWHERE, t.BOOL, self.of(MAYBE, depth - 1), asked)
            case "not":
                return self.op(way, t.BOOL, self.truth(depth - 1))
            case "bool":
                return self.op(way, t.BOOL, self.rng.choice([self.integer, self.truth])(depth - 1))
            case "eq" | "ne" | "in" | "not_in":
                kind = self.rng.choice([t.INT, t.BOOL, MODE, MAYBE])
                of, *items = (self.of(kind, depth - 1) for _ in range(self.rng.randint(2, 3)))
                if way in ("eq", "ne"):
                    return self.op(way, t.BOOL, of, items[0])
                tuple_of = t.Tuple(tuple(each.type for each in items))
                return self.op(way, t.BOOL, of, self.op("tuple", tuple_of, *items))
            case _:
                return self.op(way, t.BOOL, self.integer(depth - 1), self.integer(depth - 1))


def random_machine(seed: int, count: int) -> ir.Machine:
    """The machine with so many random invariants."""
    writer = Writer(Random(seed))
    rows: list[ir.Property] = []
    for at in range(count):
        body = (ir.Return(NOWHERE, writer.truth(3)),)
        function = ir.Function(NOWHERE, f"p{at}", (), t.BOOL, body)
        rows.append(ir.Property(NOWHERE, f"p{at}", "invariant", function, ""))
    return dataclasses.replace(MACHINE, properties=tuple(rows))


NEAR = [-3, -2, -1, 0, 1, 2, 3, None]
BEYOND = [-FAR - 1, -FAR, FAR, FAR - 1, 2**62, 2**32, -(2**32)]


def agree(session: Any, seed: int, count: int) -> set[str]:
    """Random invariants answer as the reference engine in random rows; the operators in them.

    Where numbers are small no answer may lack; where they are not, a wrong one may not be given.
    """
    rng = Random(seed)
    rows = [
        (
            rng.choice(["OFF", "ON", "ON", "else", None]),
            rng.choice(NEAR if small else BEYOND + NEAR),
            rng.choice([-3, 0, 2, None] if small else [2**31 - 1, -(2**31), 1, None]),
            rng.choice([True, False, None]),
            (0,),
        )
        for small in (True, False)
        for _ in range(40)
    ]
    machine = random_machine(seed, count)
    frame = session.createDataFrame(rows, SCHEMA)
    texts = [StateColumns(frame, machine, MAPPING).sql(p.name) for p in machine.properties]
    found = frame.selectExpr(*texts).collect()
    reference = Reference(machine, WORLD)
    for at, (row, answers) in enumerate(zip(rows, found, strict=True)):
        wanted = [expected(p.function, row, reference) for p in machine.properties]
        for p, text, answer, known in zip(machine.properties, texts, answers, wanted, strict=True):
            assert answer == known or (at >= 40 and answer is None), (row, p.function.body, text)
    return {
        node.op for p in machine.properties for node in everything([p]) if isinstance(node, ir.Op)
    }


@pytest.mark.nightly
def test_random_invariants_answer_as_the_reference_engine(frames: Any) -> None:
    used = agree(frames, 3, 25)
    assert used == {*ARITHMETIC, *TESTS, *CONVERSIONS, "in", "not_in", "tuple"}


@pytest.mark.nightly
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_more_random_invariants(session: Any, seed: int) -> None:
    agree(session, seed, 25)
