"""Python as people write it: forms that mean what a longer form means, and declarations in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.spec import texts

FOLDER = Path(__file__).parent / "everyday"
# The lines of the declarations in `everyday` that have to be written otherwise.
REWRITTEN: dict[str, list[int]] = {
    "backoff": [26],
    "bucket": [44],
    "account": [11, 15, 16, 21, 22, 23, 28],
    "booking": [43],
    "job": [38],
    "parking": [64],
    "coordination": [203],
    "devices": [145, 148],
    "pipeline": [28, 49],
    "retry_queue": [46],
    "shop_orders": [119],
    "upload": [54],
    "workflow": [45],
    "game_lobby": [117],
    "hotel": [69, 82, 95],
    "leader_election": [77],
    "paper_review": [69, 119],
    "vending_machine": [99],
    "account_holds": [50, 63],
    "ci_stages": [41],
    "lobby_scores": [37, 83, 87],
    "oauth_session": [47],
    "rate_limiter": [52],
    "two_phase_participant": [71],
}


def refused(path: Path) -> list[int]:
    """The lines of a file that are refused."""
    lines: set[int] = set()
    try:
        module = texts.load(path)
    except DeclarationError as error:
        return sorted({problem.place.line for problem in error.problems})
    for cls in [c for c in vars(module).values() if isinstance(c, type)]:
        if issubclass(cls, Machine) and cls.__module__ == module.__name__:
            try:
                found = resolve(cls)
                lower(found.machine, found.scopes.get("scope", Scope()))
            except DeclarationError as error:
                lines.update(problem.place.line for problem in error.problems)
    return sorted(lines)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_everyday_declarations(path: Path) -> None:
    assert refused(path) == REWRITTEN.get(path.stem, [])


HEAD = """
import dataclasses
from datetime import timedelta

class Mode(State):
    A = 1
    B = 2

class Way(Enum):
    UP = 1
    DOWN = 2

    def other(self) -> Way:
        return Way.DOWN if self is Way.UP else Way.UP

    def steps(self, n: Nat, *, by: Nat = 1) -> Nat:
        return n * by if self is Way.UP else 0

    @property
    def is_up(self) -> bool:
        return self is Way.UP


class Pair(Record):
    low: Nat
    high: Nat

    @property
    def size(self) -> Nat:
        return self.high - self.low

    def holds(self, way: Way) -> bool:
        return self.low < self.high and way.is_up


def other_way(way: Way) -> Way:
    return Way.DOWN if way is Way.UP else Way.UP


def size_of(pair: Pair) -> Nat:
    return pair.high - pair.low


def scaled(n: Nat, by: Nat = 2, *, more: Nat = 1) -> Nat:
    return n * by + more

TABLE = [1, 2, 4]
ROW = (1, 2, 4)
LISTS = [[1, 4], [2, 3]]
MIXED = [1, True]
LEASE = timedelta(seconds=90)
"""
FIELDS = """
    state: Mode = Mode.A
    n: Nat = 0
    k: Nat = 0
    way: Way = Way.UP
    pair: Pair = Pair(1, 2)
    mode: Mode | None = None
    q: list[Nat] = []
    s: set[Nat] = set()
    m: dict[Nat, Nat] = {}
"""
# A body, and one that says the same in more words.
SAME = [
    ("if self.q: self.n = 1", "if len(self.q) > 0: self.n = 1"),
    ("if not self.s and self.n: self.k = 1", "if not len(self.s) > 0 and self.n != 0: self.k = 1"),
    ("require(len(self.q), '')", "require(len(self.q) != 0, '')"),
    ("self.n = 1 if bool(self.m) else 2", "self.n = 1 if len(self.m) > 0 else 2"),
    ("if self.mode is Mode.B: self.n = 1", "if self.mode == Mode.B: self.n = 1"),
    ("if self.state is not Mode.B: self.n = 1", "if self.state != Mode.B: self.n = 1"),
    ("self.n = self.k = 3", "self.n = 3; self.k = 3"),
    ("self.n = TABLE[self.k]", "self.n = ROW[self.k]"),
    ("self.n = len(TABLE)", "self.n = len(ROW)"),
    ("self.m = {**self.m, 1: 2}", "self.m = self.m | {1: 2}"),
    ("self.m |= {1: 2}", "self.m = self.m | {1: 2}"),
    ("self.n = scaled(2)", "self.n = scaled(2, 2, more=1)"),
    ("self.n = scaled(2, more=3)", "self.n = scaled(more=3, by=2, n=2)"),
    (
        "self.n = sum(a * b for a, b in zip(self.q, ROW, strict=False))",
        "self.n = sum(a * b for a, b in zip(self.q, ROW))",
    ),
    ("self.pair = dataclasses.replace(self.pair, low=0)", "self.pair = self.pair.replace(low=0)"),
    ("self.n = self._twice()", "self.n = self._twice(1)"),
]


def text_of(statement: str, decorator: str = "@transition") -> str:
    """A machine with one transition, which is this statement."""
    return f"""{HEAD}
class M(Machine):{FIELDS}
    {decorator}
    def go(self) -> None:
        {statement}

    def _twice(self, n: Nat = 1) -> Nat:
        return self.k + n

    @property
    def twice(self) -> Nat:
        return self._twice()
"""


def behaviour(statement: str, decorator: str = "@transition") -> str:
    """The text of the transition that this statement is."""
    cls = texts.machine(text_of(statement, decorator))
    return repr(resolve(cls).machine.transitions[0]).replace(cls.__module__, "")


# What the class of a value computes, and a function that computes the same.
COMPUTED = [
    ("self.way = self.way.other()", "self.way = other_way(self.way)"),
    ("self.way = Way.UP.other()", "self.way = other_way(Way.UP)"),
    ("self.n = self.pair.size", "self.n = size_of(self.pair)"),
    ("self.n = self.way.steps(2, by=3)", "self.n = 6 if self.way is Way.UP else 0"),
    ("if self.pair.holds(self.way): self.n = 1", "if self.way is Way.UP and 1 < 2: self.n = 1"),
]


@pytest.mark.parametrize(("method", "function"), COMPUTED)
def test_methods_of_enums_and_records_are_functions_of_them(method: str, function: str) -> None:
    def after(statement: str) -> list[Any]:
        made: Any = texts.machine(text_of(statement))()
        made.go()
        return [str(made.n), made.way.name]

    assert after(method) == after(function)
    assert after(method) != after("pass")


def test_each_instance_shows_itself_as_its_class_says() -> None:
    made: Any = texts.machine(
        """
class M(Machine):
    n: Nat = 3

    def __str__(self) -> str:
        return f"{self.n:03d} of {type(self).__name__}"

    @transition
    def go(self) -> None:
        self.n += 1
"""
    )()
    made.go()
    assert str(made) == "004 of M"


def test_a_scope_takes_from_its_ancestors_what_it_leaves_without_a_bound() -> None:
    heir = texts.machine(
        """
class Base(Machine):
    n: Nat = 0
    k: Param[Nat] = 0

    @transition
    def add(self, m: Nat) -> None:
        self.n += m

    scope = Scope({"add.m": range(0, 2)}, int=range(-2, 2), Nat=range(0, 3), k=(1, 2))
    large = Scope(Nat=range(0, 9))

class Heir(Base):
    xs: list[int] = []
    scope = Scope(xs=2)
    large = Scope(xs=3)

class Last(Heir):
    scope = Scope(Nat=range(0, 4), xs=1)
    broken = Scope(k=(3,))
"""
    )
    last = resolve(heir).scopes
    older = resolve(heir.__bases__[0]).scopes
    # The range of an argument is needed where nothing bounds it; the values of `k` never are.
    of_heir = {"add.m": range(0, 2), "int": range(-2, 2), "Nat": range(0, 3), "xs": 2}
    assert older["scope"].bounds == of_heir
    assert older["scope"].inherited == {"add.m", "int", "Nat"}  # They need name nothing here.
    assert older["large"].bounds == {"xs": 3}
    assert last["scope"].bounds == {"int": range(-2, 2), "Nat": range(0, 4), "xs": 1}
    assert last["large"].bounds == {"xs": 3}
    assert last["broken"].bounds == {"k": (3,)}


@pytest.mark.parametrize("call", ["math.isqrt(4)", "textwrap.dedent('a')", "copy.deepcopy(1)"])
def test_a_function_of_the_standard_library_is_refused_where_it_is_called(call: str) -> None:
    text = f"""
import copy
import math
import textwrap

class M(Machine):
    n: Nat = 0

    @transition
    def go(self) -> Nat:
        return {call}
"""
    with pytest.raises(DeclarationError) as caught:
        resolve(texts.machine(text))
    (problem,) = caught.value.problems
    assert (problem.number, problem.place.file) == (
        "L204",
        str(texts.FOLDER / Path(problem.place.file).name),
    )


@pytest.mark.parametrize(("short", "long"), SAME)
def test_a_short_form_means_the_long_one(short: str, long: str) -> None:
    assert behaviour(short) == behaviour(long)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("@transition", "@transition()"),
        ("@transition(source=[Mode.A])", "@transition(source=Mode.A)"),
        ("@transition(source=list(Mode))", "@transition(source=(Mode.A, Mode.B))"),
        ("@transition(source=Mode)", "@transition(source=(Mode.A, Mode.B))"),
    ],
)
def test_a_short_header_means_the_long_one(short: str, long: str) -> None:
    assert behaviour("self.n += 1", short) == behaviour("self.n += 1", long)


def test_the_caller_may_leave_out_defaults() -> None:
    module = texts.module(
        f"""{HEAD}
class Part(Machine):
    n: Nat = 0

    @transition
    def bump(self, by: Nat = 2, *, twice: bool = False) -> Nat:
        self.n += by * 2 if twice else by
        return self.n

class M(Machine):
    count: Nat = 0
    part: Part = Part()

    @initial
    def begin(self, count: Nat = 1, *, off: Nat = 0) -> None:
        self.count = count + off

    @transition
    def add(self, n: Nat = 1, *, more: bool = False) -> Nat:
        self._count(n)
        return self.part.bump(twice=more) + scaled(self.count)

    def total(self, times: Nat = 1) -> Nat:
        return self.count * times

    def _count(self, by: Nat) -> None:
        self.count += by
"""
    )
    entry = module.M()
    entry.begin(off=2)
    assert (entry.add(), entry.add(more=True), entry.add(2), entry.add(n=3, more=False)) == (
        2 + 9,
        6 + 11,
        8 + 15,
        10 + 21,
    )
    assert (entry.total(), entry.total(2), entry.total(times=3)) == (10, 20, 30)
    with pytest.raises(TypeError, match="unexpected argument of"):
        entry.total(of=1)


def test_a_number_of_few_bits_needs_no_scope() -> None:
    text = """
class M(Machine):
    at: Annotated[int, Serial(bits={bits})] = 0

    @transition
    def go(self) -> None:
        self.at += 1

    scope = Scope()
"""
    assert texts.problems(text.format(bits=4)) == ()
    assert [p.number for p in texts.problems(text.format(bits=5))] == ["L301"]


def test_integers_of_a_new_type_have_a_key_of_their_own() -> None:
    text = """
from typing import NewType
OrderId = NewType("OrderId", int)

class M(Machine):
    last: OrderId = OrderId(0)
    n: Nat = 0

    @transition
    def go(self, order: OrderId, n: Nat) -> None:
        self.last = order
        self.n = n

    scope = Scope({scope})
"""
    assert texts.problems(text.format(scope="OrderId=range(0, 3), Nat=range(0, 2)")) == ()
    missing = texts.problems(text.format(scope="Nat=range(0, 2)"))
    assert [p.number for p in missing] == ["L301", "L301"]


def test_a_second_class_of_a_name() -> None:
    machine = "class M(Machine):\n    n: Nat = 0\n\n\n"
    (problem,) = texts.problems(machine + machine)
    assert (problem.number, problem.place.line) == ("L109", 12)
    assert problem.expected == "one class M: the first is in line 8"


def test_a_word_that_no_header_has() -> None:
    text = (
        "class M(Machine):\n    n: Nat = 0\n\n    @transition({})\n    def go(self) -> None: ...\n"
    )
    for words, mend in (("dest=None", "target=..."), ("sourc=None", "source"), ("on=1", "leave")):
        (problem,) = texts.problems(text.format(words))
        assert (problem.number, problem.place.line) == ("L105", 11)
        assert problem.found == f"@transition({words.split('=')[0]}=...)"
        assert mend in problem.rewrite


def test_text_is_made_and_returned_alone() -> None:
    text = """
class Note(Record):
    n: Nat
    text: str = ""

class M(Machine):
    {field}

    @transition
    def go(self{params}) -> Note:
        return Note(1, f"n is {{1}}" + str(2))
"""
    made: Any = texts.machine(text.format(field="n: Nat = 0", params=""))
    assert made().go().text == "n is 12"
    for field, params in (
        ("n: str = ''", ""),
        ("n: Note | None = None", ""),
        ("n: Nat = 0", ", t: str"),
    ):
        found = texts.problems(text.format(field=field, params=params))
        assert [problem.number for problem in found] == ["L202"]
        assert "text is only made and returned" in found[0].rewrite
    assert texts.numbers(text.format(field="n: Param[str] = ''", params="")) == ["L202"]
