"""The conditions of `ignore(when=...)`: where one has no value at run time, all engines say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lawful import Machine, Undefined
from lawful.checks.conform.runtime_check import compare
from lawful.checks.explore import CheckResult, Engine, explore
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from lawful.checks.tla.module import export
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.prove.proofs import proof, verdicts
from tests.checks.tla import checking
from tests.spec import texts

ENGINES: tuple[Engine, ...] = ("reference", "generated", "compiled")
TAKEN = "require(self.n > 0 and amount == 1)\n        self.n -= 1"
ALWAYS = "require(self.n == 0 or amount == 1)\n        self.n = max(0, self.n - 1)"
ANY = "lambda self, amount: 10 // self.n > amount"
AFTER = "lambda self, amount: 10 // (self.n * amount) > 1"


def machine(taken: str, *ignores: str) -> type[Machine]:
    """A machine with one event, `pay`, and these rows of `ignore`."""
    rows = "\n".join(
        f'    i{n} = ignore("pay", {row}, because="so")' for n, row in enumerate(ignores)
    )
    return texts.last_machine(
        texts.module(f"""from lawful import *

class Door(State):
    OPEN = 1
    SHUT = 2

class Pay(Machine):
    state: Door = Door.OPEN
    n: Nat = 2

    @transition()
    def pay(self, amount: Nat) -> None:
        {taken}

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None:
        pass

{rows}
    @invariant
    def small(self) -> bool:
        return self.n <= 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 4))
""")
    )


# Each with the events to the first state in which a call has no value; None where every call has.
ROWS: Mapping[str, tuple[type[Machine], int | None]] = {
    "no transition takes it": (machine(TAKEN, f"when={ANY}"), 3),
    "a transition takes it": (machine(ALWAYS, f"when={ANY}"), None),
    "an ignore before it matches": (
        machine(ALWAYS, "when=lambda self, amount: amount == 0", f"when={AFTER}"),
        None,
    ),
    "one after it matches": (
        machine(ALWAYS, f"when={AFTER}", "when=lambda self, amount: amount == 0"),
        1,
    ),
    "in another state": (machine(TAKEN, f"source=Door.SHUT, when={ANY}"), 4),
    "fewer parameters": (machine(TAKEN, "when=lambda self: 1 // self.n > 5"), 3),
}


def checked(cls: type[Machine], engine: Engine) -> CheckResult:
    found = resolve(cls)
    return explore(lower(found.machine, found.scopes["scope"]), found.world, {}, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ROWS)
def test_exploration_finds_what_has_no_value(row: str, engine: Engine) -> None:
    cls, events = ROWS[row]
    result = checked(cls, engine)
    (found,) = (p for p in result.properties if p.name == "undefined")
    assert {"pay", "shut"} == result.transitions.keys()
    if events is None:
        assert (found.verdict, found.trace) == (Verdict.HOLDS_WITHIN_SCOPE, None)
        return
    assert found.trace is not None
    assert (found.verdict, len(found.trace.steps)) == (Verdict.UNDEFINED, events)
    assert found.trace.steps[-1].event == "pay"
    instance: Any = cls()
    for step in found.trace.steps[:-1]:
        getattr(instance, step.event)(**step.args)
    with pytest.raises(Undefined):
        instance.pay(**found.trace.steps[-1].args)


@pytest.mark.parametrize("row", ROWS)
def test_engines_count_the_same(row: str) -> None:
    results = [checked(ROWS[row][0], engine) for engine in ENGINES]
    assert len({(r.distinct, r.generated, r.depth, str(r.cut_by)) for r in results}) == 1


@pytest.mark.parametrize("row", ROWS)
def test_proofs_say_the_same(row: str) -> None:
    cls, events = ROWS[row]
    result = verdicts(proof(cls))
    assert (result["undefined"] == "proved") is (events is None)
    assert result["small"] == "proved"


@pytest.mark.parametrize("row", ROWS)
def test_the_runtime_does_the_same_in_every_state(row: str) -> None:
    cls = ROWS[row][0]
    found = resolve(cls)
    space = Space(lower(found.machine, found.scopes["scope"]), found.world)
    compared = compare(space, cls, Limits())
    assert (compared.complete, compared.disagreements) == (True, [])


def test_an_event_that_only_an_ignore_answers() -> None:
    text = """from lawful import *

class Only(Machine):
    n: Nat = 0

    @event
    def ask(self, k: Nat) -> None: ...

    silent = ignore("ask", when=lambda self, k: 6 // k > self.n, because="so")
    deadlock_ok = True
    scope = Scope({"ask.k": range(1, 3)}, Nat=range(0, 3))
"""
    cls = texts.last_machine(texts.module(text))
    with pytest.raises(Undefined):
        cls().ask(0)  # type: ignore[attr-defined]  # the class is made of text
    for engine in ENGINES:
        result = checked(cls, engine)
        assert (result.generated, len(result.left_out)) == (1, 1)
        # The scope leaves out the argument 0.
        (found,) = (p for p in result.properties if p.name == "undefined")
        assert found.verdict is Verdict.HOLDS_WITHIN_SCOPE
    assert verdicts(proof(cls))["undefined"] != "proved"


PART = """from lawful import *

class Inner(Machine):
    n: Nat = 2

    @transition()
    def pay(self, amount: Nat) -> None:
        require(self.n == 0 or amount == 1)
        self.n = amount

    never = ignore("pay", when=lambda self, amount: self.n > 0 and amount == 0, because="so")
    idle = ignore("pay", when=lambda self, amount: 10 // (self.n * amount) > 1, because="so")

class Outer(Machine):
    inner: Inner = Inner()

    @transition()
    def go(self, amount: Nat) -> None:
        require(amount < 3)
        self.inner.pay(amount)

    scope = Scope(Nat=range(0, 4))
"""


def test_in_a_part_a_condition_counts_only_where_it_is_evaluated() -> None:
    cls = texts.last_machine(texts.module(PART))
    assert verdicts(proof(cls))["undefined"] == "proved"
    for engine in ENGINES:
        result = checked(cls, engine)
        (found,) = (p for p in result.properties if p.name == "undefined")
        assert found.verdict is Verdict.HOLDS


@pytest.mark.parametrize("row", ROWS)
def test_tla_says_it_too(row: str) -> None:
    cls, events = ROWS[row]
    found = resolve(cls)
    written = export(lower(found.machine, found.scopes["scope"]), {})
    assert not written.left_out
    explored = checking.check(written.module, written.safety)
    assert explored.false == ({"all_defined"} if events is not None else set())


def test_the_arguments_of_an_ignored_event_are_those_of_its_transition() -> None:
    text = """from lawful import *

class Pay(Machine):
    n: Nat = 2

    @transition()
    def pay(self, amounts: tuple[Nat, ...]) -> None:
        require(len(amounts) == 1 and self.n > 0)
        self.n -= 1

    idle = ignore("pay", when=lambda self, given: given[0] > self.n, because="so")
    deadlock_ok = True
    scope = Scope({"pay.amounts": 2}, Nat=range(0, 4))
"""
    result = checked(texts.last_machine(texts.module(text)), "reference")
    (found,) = (p for p in result.properties if p.name == "undefined")
    assert found.trace is not None
    assert (found.verdict, found.trace.steps[-1].args) == (
        Verdict.UNDEFINED,
        {"amounts": {"$tuple": []}},
    )
