"""Runs of several events in Z3: the shortest violations, and induction over more than one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import explore
from lawful.checks.prove import How, Method, prove
from lawful.checks.prove.result import ProofResult
from lawful.checks.reference import Done, Reference
from lawful.checks.verdict import Trace, Verdict
from lawful.cli import main
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from lawful.spec.ir import Json
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.values.world import decode
from tests.checks.declarations.attempts import AttemptsFixed
from tests.classics.jugs import Jugs
from tests.spec import texts

WRONG: tuple[tuple[type[Machine], str], ...] = (
    (SenderEntryAsSeed, "no_silent_loss"),
    (ReceiverEntryAsSeed, "never_goes_back"),
    (Jugs, "never_four"),
)


def assert_is_a_run(cls: type[Machine], name: str, trace: Trace) -> None:
    """The reference engine goes the same way, and finds the property false at the end."""
    found = resolve(cls)
    machine, reference = found.machine, Reference(found.machine, found.world)
    kinds = {p.name: p.type for p in machine.parameters}
    kinds |= {v.name: v.type for v in machine.variables}

    def valued(shown: Mapping[str, Json], names: Iterable[str]) -> dict[str, Any]:
        return {n: decode(shown[n], kinds[n], found.world) for n in names}

    variables = [v.name for v in machine.variables]
    states = [reference.initial(valued(trace.states[0], [p.name for p in machine.parameters]))]
    for step, after in zip(trace.steps, trace.states[1:], strict=True):
        params = machine.transition(step.transition).function.params
        args = {n: decode(step.args[n], kind, found.world) for n, kind in params}
        outcome = reference.step(states[-1], step.transition, args)
        assert isinstance(outcome, Done)
        states.append(outcome.state)
        own = dict(zip(variables, outcome.state, strict=False))
        assert own == valued(after, variables)
    (p,) = [p for p in machine.properties if p.name == name]
    given = {} if p.kind == "invariant" else {p.function.params[0][0]: states[-1]}
    judged = states[-1] if p.kind == "invariant" else states[-2]
    assert reference.call_named(p.function, judged, given) is False


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("cls", "name"), WRONG, ids=[f"{c.__name__}" for c, _ in WRONG])
def test_a_violation_is_real_and_the_shortest(cls: type[Machine], name: str) -> None:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    explored = explore(flat, found.world, found.expects)
    (shortest,) = [p.trace for p in explored.properties if p.name == name]
    assert shortest is not None
    sizes = dict(flat.sizes)
    result = prove(found.machine, sizes=sizes, how=How("bounded", depth=len(shortest)))
    (p,) = [p for p in result.properties if p.name == name]
    assert p.verdict is Verdict.VIOLATED and p.trace is not None
    assert len(p.trace) == len(shortest)
    assert_is_a_run(cls, name, p.trace)
    fewer = prove(found.machine, sizes=sizes, how=How("bounded", depth=len(shortest) - 1))
    (p,) = [p for p in fewer.properties if p.name == name]
    assert (p.verdict, p.events) == (Verdict.BOUNDED, len(shortest) - 1)


CHAIN = """
class Chain(Machine):
    n: int = 0

    @transition()
    def go(self) -> None:
        ROWS

    @invariant
    def never_bad(self) -> bool:
        return self.n != 9

    deadlock_ok = True
"""


def chain(steps: dict[int, int]) -> type[Machine]:
    """A machine that goes from one number to another, and nowhere else."""
    tests = [
        f"{'el' * bool(i)}if self.n == {a}:\n            self.n = {b}"
        for i, (a, b) in enumerate(steps.items())
    ]
    rows = "\n        ".join([*tests, "else:", "    refuse('an end')"])
    return texts.last_machine(texts.module(CHAIN.replace("ROWS", rows)))


def proof(cls: type[Machine], method: Method, depth: int | None = None) -> ProofResult:
    return prove(resolve(cls).machine, sizes={}, how=How(method, depth=depth))


def verdict(result: ProofResult, name: str) -> tuple[str, str]:
    (p,) = [p for p in result.properties if p.name == name]
    return p.verdict.value, p.method


CIRCLE = {0: 1, 1: 2, 2: 0}


def test_as_many_steps_as_it_takes() -> None:
    cls = chain({**CIRCLE, 6: 7, 7: 8, 8: 9})
    assert verdict(proof(cls, "induction"), "never_bad") == ("unknown", "induction")
    assert verdict(proof(cls, "k-induction", 3), "never_bad") == ("unknown", "induction")
    result = proof(cls, "k-induction", 4)
    assert verdict(result, "never_bad") == ("proved", "k-induction")
    (row,) = [o for o in result.obligations if (o.obligation, o.property) == ("go", "never_bad")]
    assert (row.depth, row.counterexample, row.note) == (4, None, "")
    assert row.uses == frozenset()


@pytest.mark.nightly
def test_what_goes_round_out_of_reach_is_not_proved_by_any_number_of_steps() -> None:
    cls = chain({**CIRCLE, 6: 7, 7: 6})
    assert verdict(proof(cls, "k-induction", 3), "never_bad") == ("proved", "induction")
    looped = CHAIN.replace("ROWS", "self.n = 9 if self.n > 99 and self.n % 2 == 1 else self.n + 2")
    loose = texts.last_machine(texts.module(looped))
    assert verdict(proof(loose, "k-induction", 3), "never_bad") == ("unknown", "induction")
    assert verdict(proof(loose, "bounded", 3), "never_bad") == ("bounded", "bounded")
    assert verdict(proof(loose, "auto", 3), "never_bad") == ("proved", "spacer")


def test_the_first_states_are_looked_at_too() -> None:
    """Of two steps none leads to 9, for nothing leads to 0: but one step from the start does."""
    cls = chain({0: 9})
    assert verdict(proof(cls, "k-induction", 2), "never_bad") == ("unknown", "induction")
    assert verdict(proof(cls, "auto"), "never_bad") == ("violated", "bounded")


def test_runs_that_end_are_all_there_are() -> None:
    result = proof(chain({0: 1, 1: 2}), "bounded", 5)
    (p,) = [p for p in result.properties if p.name == "never_bad"]
    assert (p.verdict, p.note) == (Verdict.PROVED, "no run has more than 2 events")
    never = CHAIN.replace("ROWS", "refuse('no')").replace("n: int = 0", "n: int = 9")
    wrong = proof(texts.last_machine(texts.module(never)), "bounded", 5)
    (p,) = [p for p in wrong.properties if p.name == "never_bad"]
    assert p.trace is not None and len(p.trace) == 0 and p.verdict is Verdict.VIOLATED


FAULTS = """
class Faults(Machine):
    n: Nat = 3
    m: int = 0

    @transition()
    def down(self) -> None:
        self.n = self.n - 2

    @transition()
    def divide(self, by: Nat) -> None:
        require(self.n == 1)
        self.m = 7 // by

    @transition()
    def trust(self) -> None:
        assert self.n == 3

    deadlock_ok = True
"""


def test_built_in_properties_are_violated_by_the_last_event() -> None:
    result = proof(texts.last_machine(texts.module(FAULTS)), "bounded", 3)
    rows = {
        p.name: (p.verdict.value, p.trace and [s.event for s in p.trace.steps])
        for p in result.properties
    }
    assert rows == {
        "bounds": ("violated", ["down", "down"]),
        "asserts": ("violated", ["down", "trust"]),
        "undefined": ("undefined", ["down", "divide"]),
        "ambiguous": ("bounded", None),
    }


CONSTRAINTS = """
class Early(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n += 1

    @constraint
    def few(self) -> bool:
        return 6 % (2 - self.n) == 0


class Never(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n += 1

    @constraint
    def few(self) -> bool:
        return self.n < 1 or (self.n > 2 and 6 % (3 - self.n) == 0)
"""


def test_a_constraint_without_a_value_is_undefined_where_exploration_comes() -> None:
    both = texts.module(CONSTRAINTS)
    for cls, verdict, events in (
        (both.Early, "undefined", ["up", "up"]),
        (both.Never, "bounded", None),
    ):
        found = {p.name: p for p in proof(cls, "bounded", 3).properties}["undefined"]
        assert (found.verdict.value, found.trace and [s.event for s in found.trace.steps]) == (
            verdict,
            events,
        )


SKIPPED = """
class Inner(Machine):
    items: list[Nat] = [1]
    most: Param[int] = 3

    @assume
    def negative(self) -> bool:
        return self.most < 0


class Outer(Machine):
    inner: Inner = Inner()
"""


def test_a_default_without_an_encoding_may_have_no_value() -> None:
    """Here no instance can be made, because the part breaks what it assumes."""
    cls = texts.last_machine(texts.module(SKIPPED))
    for method in ("induction", "bounded", "auto"):
        found = {p.name: p for p in proof(cls, method, 3).properties}["undefined"]
        assert found.verdict is Verdict.UNKNOWN


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("method", "verdict"), [("bounded", Verdict.BOUNDED), ("auto", Verdict.PROVED)]
)
def test_a_timer_is_not_due_before_its_ticks_have_passed(method: Method, verdict: Verdict) -> None:
    """As exploration finds: what is put back once is not put back again."""
    result = proof(AttemptsFixed, method, 7)
    assert {p.verdict for p in result.properties if p.method != "none"} == {verdict}
    assert {p.events for p in result.properties if p.method == "bounded"} <= {7}


SMALL_SETS = """
class SmallSets(Machine):
    tags: Param[frozenset[int]] = frozenset()
    n: int = 0

    @assume
    def few(self) -> bool:
        return len({2 * tag for tag in self.tags}) < 1

    @transition()
    def up(self) -> None:
        require(5 in self.tags)
        self.n = 1

    @invariant
    def still(self) -> bool:
        return self.n == 0

    deadlock_ok = True
"""


def test_parameters_that_may_not_be_allowed_violate_nothing() -> None:
    """The assumption has no encoding, and excludes what breaks the invariant."""
    result = proof(texts.last_machine(texts.module(SMALL_SETS)), "bounded", 2)
    (still,) = [p for p in result.properties if p.name == "still"]
    assert (still.verdict, still.trace, still.events) == (Verdict.BOUNDED, None, 0)
    assert still.note.endswith("perhaps only with parameters that may not be allowed")


def test_the_command_shows_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "tests.classics.jugs", "--method", "bounded", "--depth", "6"]) == 3
    out = capsys.readouterr().out
    assert "never_four is violated after 6 events" in out and "  1  fill_big()" in out


ROWS = """
class Rows(Machine):
    pair: tuple[tuple[Nat, ...], int] = ((), 0)

    @transition()
    def go(self) -> None:
        self.pair = (self.pair[0], self.pair[1] + 1)

    @invariant
    def low(self) -> bool:
        return self.pair[1] < 1
"""


def test_a_tuple_with_a_sequence_in_it_has_its_form_in_a_trace() -> None:
    cls = texts.last_machine(texts.module(ROWS))
    run = prove(resolve(cls).machine, sizes={}, how=How("bounded", depth=2))
    (low,) = [p for p in run.properties if p.name == "low"]
    assert low.trace is not None
    assert [dict(state) for state in low.trace.states] == [
        {"pair": {"$tuple": [{"$tuple": []}, number]}} for number in (0, 1)
    ]
