"""What a scope leaves out of arguments, values and serial numbers weakens `holds`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine
from lawful.checks.explore import CheckResult, Engine, explore
from lawful.checks.explore.advice import advise
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.omissions import arguments
from lawful.checks.explore.omissions.arguments import left_out
from lawful.checks.explore.omissions.first_guards import first_guards
from lawful.checks.explore.result import Bound, Narrow, Widened
from lawful.checks.report import advice as advising
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.spec import ir
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.classics.two_phase import TwoPhase
from tests.spec import texts

PUT = """
class Put(Machine):
    x: Nat = 0

    @transition()
    def put(self, i: Nat) -> None:
        self.x = i

    @invariant
    def small(self) -> bool:
        return self.x <= 3

    scope = Scope(Nat=range(0, 4))
"""


def found_in(
    cls: type[Machine],
    engine: Engine = "auto",
    symmetry: bool = False,
    bounds: Mapping[str, object] | None = None,
) -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes["scope"].widened(bounds or {}))
    return explore(flat, found.world, found.expects, engine=engine, symmetry=symmetry)


def names(cls: type[Machine]) -> list[str]:
    found = resolve(cls)
    return [str(row) for row in left_out(lower(found.machine, found.scopes["scope"]))]


def verdicts(result: CheckResult) -> dict[str, Verdict]:
    return {p.name: p.verdict for p in result.properties}


@pytest.mark.parametrize("engine", ["auto", "reference", "generated", "compiled"])
def test_an_argument_beyond_a_range_weakens_what_holds(engine: Engine) -> None:
    result = found_in(texts.machine(PUT), engine)
    assert (result.distinct, result.generated, result.depth, result.cuts) == (4, 17, 2, 0)
    assert set(verdicts(result).values()) == {Verdict.HOLDS_WITHIN_SCOPE}
    assert result.left_out == ("put.i",)
    assert result.as_expected


def test_the_same_of_one_state_for_each_orbit() -> None:
    node = "class Node(Sort): ...\n" + PUT.replace("i: Nat)", "i: Nat, n: Node)").replace(
        "Nat=range(0, 4))", "Nat=range(0, 4), Node=2)"
    )
    result = found_in(texts.machine(node), symmetry=True)
    assert set(verdicts(result).values()) == {Verdict.HOLDS_WITHIN_SCOPE}


GUARDED = """
class Node(Sort): ...

class Data(Record):
    seq: Nat
    of: Node

class Ack(Record):
    seq: Nat

class Guarded(Machine):
    x: Nat = 0
    y: int = 0
    log: list[Nat] = []
    sent: set[Data] = set()
    both: set[Data | Ack] = set()
    of: dict[Node, set[Nat]] = {{}}
    small: dict[Nat, bool] = {{}}
    most: Param[Nat] = 2
    deadlock_ok = True

    def free(self, k: Nat) -> bool:
        return k in self.log and k != 1

    @transition()
    def put(self, i: {kind}) -> None:
        {guards}
        self.x = 0

    scope = Scope(
        {{"put.i": {bound}}}, Nat=range(0, 4), int=range(-2, 3), log=2, Node=2, most=(1, 3)
    )
"""


def guarded(kind: str, bound: str, guards: str) -> type[Machine]:
    lines = "\n        ".join(guards.split("; "))
    return texts.last_machine(texts.module(GUARDED.format(kind=kind, bound=bound, guards=lines)))


@pytest.mark.parametrize(
    ("kind", "bound", "guards"),
    [
        ("Nat", "range(0, 4)", "require(i < self.x)"),
        ("Nat", "range(0, 4)", "require(self.x >= i)"),
        ("Nat", "range(0, 4)", "require(not i > self.x)"),
        ("Nat", "range(0, 4)", "require(i == self.x)"),
        ("Nat", "range(0, 5)", "require(i + 2 <= self.x + self.most)"),
        ("Nat", "range(0, 3)", "require(i < len(self.log) + 1)"),
        ("Nat", "range(0, 4)", "require(i in self.log)"),
        ("Nat", "range(0, 4)", "require(self.free(i))"),
        ("Nat", "range(0, 4)", "require(i <= self.most)"),
        ("Nat", "range(0, 4)", "require(i in self.small)"),
        ("Nat", "range(0, 4)", "require(i < 2 or i == self.x)"),
        ("Nat", "range(0, 4)", "require(i in range(self.most))"),
        ("Nat", "range(0, 4)", "require(self.x // self.x == 1); require(i < 4)"),
        ("int", "range(-2, 3)", "require(-2 <= i <= 2)"),
        ("int", "range(-4, 5)", "require(i - self.y <= 2); require(self.y - i <= 2)"),
        ("int", "range(-2, 4)", "require(-i <= 2 and min(i, 9) == i); require(i < self.x)"),
        ("Data", "range(0, 4)", "require(i in self.sent)"),
        ("Data", "range(0, 4)", "require(i in self.both)"),
        ("Data", "range(0, 4)", "require(i.seq < self.x)"),
        ("Data | Ack", "range(0, 4)", "require(i in self.both)"),
        ("frozenset[Nat]", "range(0, 4)", "require(all(k < self.x for k in i))"),
        ("tuple[Node, ...]", "2", "require(len(i) <= len(self.log))"),
    ],
)
def test_what_guards_refuse_anyway_is_not_left_out(kind: str, bound: str, guards: str) -> None:
    assert names(guarded(kind, bound, guards)) == []


@pytest.mark.parametrize(
    ("kind", "bound", "guards"),
    [
        ("Nat", "range(0, 4)", "require(self.x > 0)"),
        ("Nat", "range(0, 4)", "require(i > self.x)"),
        ("Nat", "range(0, 4)", "require(i <= self.x + 1)"),
        ("Nat", "range(0, 2)", "require(i in self.log)"),
        ("Nat", "range(0, 3)", "require(i <= self.most)"),
        ("Nat", "range(0, 4)", "require(i < 2 or self.x > 1)"),
        ("Nat", "range(1, 4)", "require(i < 4)"),
        ("Nat", "range(0, 4)", "require(self.log[i] == 0); require(i < 4)"),
        ("Nat", "range(0, 4)", "require(i != 0); require(1 // self.x == 1); require(i < 4)"),
        ("Nat", "range(0, 4)", "require(i > 2); self.log.pop(0); require(i < 4)"),
        ("Data", "range(0, 4)", "require(i.of in self.of)"),
        ("frozenset[Nat]", "range(0, 4)", "require(len(i) <= 2)"),
        ("tuple[Nat, ...]", "2", "require(all(k < self.x for k in i))"),
        ("tuple[Node, ...]", "1", "require(len(i) <= len(self.log))"),
    ],
)
def test_what_no_guard_is_known_to_refuse_is_left_out(kind: str, bound: str, guards: str) -> None:
    """So it is where something before the guard has no value for an argument beyond the scope."""
    assert names(guarded(kind, bound, guards)) == ["put.i"]


ANY = """
class Box(Machine):
    held: set[Nat] = {{0}}
    top: Nat = 2

    @transition()
    def take(self, k: Nat) -> None:
        require(k in self.held)
        self.top = k

    @transition()
    def late(self, k: Nat) -> None:
        self.top = 1
        require(k < 3)

    @transition()
    def either(self, k: Nat) -> None:
        if self.top > 1:
            require(k < self.top)
            return
        self.held.remove(2)
        require(k in self.held)

class Any(Machine):
    x: Nat = 1
    log: list[Nat] = []
    box: Box = Box()
    deadlock_ok = True

    @transition()
    def grow(self) -> None:
        require(self.x < 3)
        self.x += 1
        self.log.append(self.x)

    @transition()
    def put(self, i: Nat, j: Nat) -> None:
        {body}
        self.x = 0

    scope = Scope({{"put.i": range(0, 4), "put.j": range(0, 4)}}, Nat=range(0, 4), log=2)
"""
STATEMENTS = (
    *(
        f"require({test})"
        for test in (
            "i < self.x",
            "i <= j",
            "j in self.log",
            "i in self.log",
            "i == j",
            "i + j < 4",
            "j < 3",
            "i != 1",
            "self.log[j] > 0",
            "self.log[i] > j",
            "i // j < 2",
            "j < 2 or i < self.x",
            "not (j > 2 or i > 3)",
            "i - j <= 1",
            "max(i, j) < self.x",
            "i < len(self.log)",
            "all(k >= j for k in self.log)",
            "(i, j) in {(k, 1) for k in self.log}",
            "i <= 3 or self.log[0] > 1",
            "self.log[0] > 1",
            "i > 1 and j < 4",
        )
    ),
    "n = self.log[0]; require(i < n)",
    "m = i + 1; require(m < 4)",
    "self.log.pop()",
    "self.x = 0",
    "self.box.take(i)",
    "self.box.late(i)",
    "self.box.either(j)",
    "if i > j: return",
)


@given(st.lists(st.sampled_from(STATEMENTS), min_size=2, max_size=5))
def test_what_is_not_left_out_would_have_changed_nothing(statements: list[str]) -> None:
    """With more arguments there are the same states and verdicts, and as many steps: what has no
    value for any argument is as undefined with fewer."""
    lines = [line for each in statements for line in each.split("; ")]
    cls = texts.last_machine(texts.module(ANY.format(body="\n        ".join(lines))))
    wider = {key: range(9) for key in ("put.i", "put.j") if key not in names(cls)}
    here, there = (found_in(cls, "reference", bounds=bounds) for bounds in ({}, wider))
    assert (here.distinct, verdicts(here)) == (there.distinct, verdicts(there))
    if verdicts(here)["undefined"] is not Verdict.UNDEFINED:
        assert here.generated == there.generated


STARTED = """
class Started(Machine):
    x: Nat = 9
    y: Nat = 0
    deadlock_ok = True

    @initial
    def begin(self, i: Nat) -> None:
        require(i < self.x)
        self.x = i

    @transition()
    def down(self) -> None:
        require(self.x > 0)
        self.x -= 1

    @invariant
    def apart(self, n: Nat) -> bool:
        return n != 7

    @invariant
    def below(self, n: Nat) -> bool:
        return implies(n < self.x, n < 4)

    @reachable
    def some(self, n: Nat) -> bool:
        return self.x == n

    scope = Scope(Nat=range(0, 4))
"""


def test_starts_and_values_of_properties_are_left_out_too() -> None:
    """A start compares with what a variable has before it, whatever bounds the scope gives it."""
    started = texts.machine(STARTED)
    assert names(started) == ["begin.i", "Started.apart.n", "Started.some.n"]
    within = STARTED.replace("require(i < self.x)", "require(i < 4)")
    result = found_in(texts.machine(within))
    found = {name: verdict.value for name, verdict in verdicts(result).items()}
    assert {name for name, verdict in found.items() if verdict != "holds"} == {"apart", "some"}
    assert (found["apart"], found["some"]) == ("holds-within-scope", "holds-within-scope")


OPEN = """
class Open(Machine):
    x: Nat = 0

    @transition()
    def put(self, i: Nat) -> None:
        require(i > self.x)
        self.x = i

    @reachable
    def seven(self) -> bool:
        return self.x == 7

    @recoverable
    def even(self) -> bool:
        return self.x in (0, 2)

    scope = Scope({"put.i": range(0, 4)}, Nat=range(0, 9))
"""


def test_what_only_arguments_beyond_the_scope_could_mend_is_unknown() -> None:
    """A deadlock, a state that is not reached, one from which there is no way back."""
    found = verdicts(found_in(texts.machine(OPEN)))
    assert {name for name, verdict in found.items() if verdict is Verdict.UNKNOWN} == {
        "deadlock",
        "seven",
        "even",
    }
    refused = OPEN.replace("require(i > self.x)", "require(self.x < 3 and i > self.x)")
    found = verdicts(found_in(texts.machine(refused)))
    assert found["deadlock"] is found["even"] is Verdict.VIOLATED
    assert found["seven"] is Verdict.UNKNOWN


SERIAL = """
class Turn(Machine):
    at: Annotated[int, Serial(bits=8)] = 0

    @transition()
    def turn(self) -> None:
        self.at += 1

    scope = Scope(Serial=3)
"""


def test_fewer_bits_weaken_what_holds_and_all_of_them_do_not() -> None:
    cls = texts.machine(SERIAL)
    result = found_in(cls)
    assert set(verdicts(result).values()) == {Verdict.HOLDS_WITHIN_SCOPE}
    assert result.left_out == ("Serial(bits=8) with fewer bits",)
    assert set(verdicts(found_in(cls, bounds={"Serial": 8})).values()) == {Verdict.HOLDS}


def advised(text: str) -> list[str]:
    found = resolve(texts.machine(text))
    return advising.text(advise(found, found.scopes["scope"], {}, Limits()))


def test_advice_names_the_bound() -> None:
    assert advised(PUT)[1:] == [
        "  Nat: its high end leaves out arguments that may be a step: put.i",
        "  no bound cuts a step that was explored",
        "  no bound has all values, for there is no end of them: put.i",
    ]
    assert advised(SERIAL)[1:] == [
        "  Serial(bits=8) with fewer bits: what holds with so few may not with all",
        "  no bound cuts a step that was explored",
    ]


def test_advice_widens_a_bound_that_can_have_all_arguments() -> None:
    some = PUT.replace("        self.x = i", "        require(i < 6)\n        self.x = i")
    found = resolve(texts.machine(some))
    advice = advise(found, found.scopes["scope"], {}, Limits())
    assert advice.narrow == (Narrow(Bound("Nat", False), ("put.i",), ()),)
    assert advice.widened == Widened({"Nat": range(6)}, 6)


def test_the_command_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, answer = tmp_path / "put.py", tmp_path / "a.json"
    file.write_text(texts.HEAD + PUT, encoding="utf-8")
    assert main(["check", str(file), "--advice", "--json", str(answer)]) == 0
    assert "  left out  arguments beyond the scope: put.i" in capsys.readouterr().out.splitlines()
    (machine,) = json.loads(answer.read_text(encoding="utf-8"))["machines"]
    assert (machine["verdict"], machine["left_out"]) == ("holds-within-scope", ["put.i"])
    assert machine["advice"]["left_out"] == [
        {"bound": "Nat", "end": "high", "arguments": ["put.i"], "endless": ["put.i"]}
    ]


def test_guards_are_sought_only_where_values_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """To look through all bodies for them takes as long as to lower the machine."""
    sought: list[set[str]] = []

    def counted(machine: ir.Machine, function: ir.Function, params: set[str]) -> list[ir.Expr]:
        sought.append(params)
        return first_guards(machine, function, params)

    monkeypatch.setattr(arguments, "first_guards", counted)
    assert names(texts.last_machine(texts.module(PUT))) == ["put.i"]
    assert sought == [{"i"}]
    assert names(TwoPhase) == []
    assert sought == [{"i"}]
