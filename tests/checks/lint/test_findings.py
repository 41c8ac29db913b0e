"""Oddities of declarations, and changes that no property notices."""

from __future__ import annotations

import json

import pytest

from lawful import Machine, Scope
from lawful.checks.explore.compiled import engine
from lawful.checks.explore.compiled.engine import NotGenerated
from lawful.checks.explore.search import Limits
from lawful.checks.lint import mutants as mutate
from lawful.checks.lint.findings import Findings, lint, text
from lawful.checks.lint.mutants import mutants, survey
from lawful.cli import main
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.classics.peterson import Peterson
from tests.spec import texts


def found_in(cls: type[Machine], limits: Limits | None = None) -> Findings:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    return lint(flat, found.world, limits or Limits())


ODD = """
class Phase(State):
    ON = "on"
    OFF = "off"
    LOST = "lost"

class Odd(Machine):
    state: Phase = Phase.ON
    count: Nat = 0
    spare: bool = False
    members: set[int] = set()
    rest: Timer = Timer()

    @transition(source=Phase.ON, target=Phase.OFF)
    def stop(self) -> None:
        require(self.count < 3, "counted")

    @transition(source=Phase.ON)
    def tell(self) -> None:
        self.count = min(self.count + 1, 2)

    @transition(source=Phase.OFF)
    def wait(self) -> None: ...

    @transition(source=Phase.ON)
    def never(self) -> None:
        require(self.count > 5, "counted little")

    @transition(timer="rest")
    def fire(self) -> None: ...

    kept = ignore("tell", source=Phase.OFF, because="it is off")

    @invariant
    def asks_nothing(self) -> bool:
        return implies(self.spare, self.count == 0)

    @invariant
    def asks_of_nobody(self, n: Nat) -> bool:
        return all(implies(m == n, m < 3) for m in self.members)

    @invariant
    def asks(self) -> bool:
        return implies(self.count == 2, self.count < 3)

    @leads_to
    def leads(self) -> tuple[bool, bool]:
        return self.count == 3, self.state == Phase.OFF

    scope = Scope(Nat=range(0, 9), int=range(0, 3))
"""


def kinds(findings: Findings) -> list[tuple[str, str]]:
    return [(each.kind, each.what) for each in findings.rows]


def test_each_oddity_is_found_in_the_order_of_the_source() -> None:
    found = found_in(texts.last_machine(texts.module(ODD)))
    assert kinds(found) == [
        ("sink", "nothing leaves OFF, which is not terminal"),
        ("unreached", "state is never LOST"),
        ("unchanged", "spare never changes"),
        ("unchanged", "members never changes"),
        ("unchanged", "rest never changes"),
        ("unanswered", "nothing is said about stop in OFF, LOST"),
        ("unanswered", "nothing is said about tell in LOST"),
        ("unanswered", "nothing is said about wait in ON, LOST"),
        ("dead", "never is never possible"),
        ("unanswered", "nothing is said about never in OFF, LOST"),
        ("dead", "fire is never possible"),
        ("vacuous", "asks_nothing: self.spare is never true"),
        ("vacuous", "asks_of_nobody: any(m == n for m in self.members) is never true"),
        ("vacuous", "leads: self.count == 3 is never true"),
    ]


def test_of_states_that_were_not_all_seen_nothing_is_said() -> None:
    found = found_in(texts.last_machine(texts.module(ODD)), Limits(states=1))
    assert {each.kind for each in found.rows} == {"unanswered"} and not found.explored
    said = "  only the declaration was looked at: a limit ended the exploration"
    assert text("Odd", found).splitlines()[-1] == said
    assert text("Peterson", found_in(Peterson)) == "Peterson: nothing odd"


SMALL = """
class Small(Machine):
    n: Nat = 0
    m: Nat = 0

    @transition()
    def up(self) -> None:
        require(self.n < 3, "high")
        self.n += 1

    @transition()
    def mark(self) -> None:
        self.m = 1

    @invariant
    def low(self) -> bool:
        return self.n <= 3

    scope = Scope(Nat=range(0, 6))
    deadlock_ok = True
"""


def test_a_change_that_no_property_notices_survives() -> None:
    found = resolve(texts.last_machine(texts.module(SMALL)))
    every = [each.what for each in mutants(found.machine)]
    assert every == [
        "up: without require(self.n < 3)",
        "up: without the assignment of self.n",
        "up: self.n <= 3 for self.n < 3",
        "up: 4 for 3",
        "up: self.n - 1 for self.n + 1",
        "up: 2 for 1",
        "mark: without the assignment of self.m",
        "mark: 2 for 1",
    ]
    result = survey(found, found.scopes["scope"], 100, Limits())
    assert result.tried == 8
    assert [each.what for each in result.survived] == [
        "up: without the assignment of self.n",
        "mark: without the assignment of self.m",
        "mark: 2 for 1",
    ]
    assert survey(found, found.scopes["scope"], 3, Limits()).tried == 3
    with pytest.raises(ValueError, match="not explored to its end, 3 states: its mutants need"):
        survey(found, found.scopes["scope"], 3, Limits(states=2))


WEAKER = """
class Weaker(Machine):
    a: Nat = 0
    b: Nat = 0
    c: Nat = 0
    deadlock_ok = True

    @transition()
    def grow(self) -> None:
        require(self.a < 3)
        self.a += 1

    @transition()
    def spread(self, b: Nat, c: Nat) -> None:
        require(b < 1 and c < 1)
        self.b = b
        self.c = c

    @invariant
    def few(self) -> bool:
        return self.b <= 1000

    scope = Scope(Nat=range(0, 40))
"""


def test_a_weaker_verdict_or_a_limit_notices_nothing() -> None:
    """`holds-within-scope` for `holds`, and 4 * 4 + 1,000 states, leave a mutant undecided."""
    found = resolve(texts.last_machine(texts.module(WEAKER)))
    result = survey(found, found.scopes["scope"], 100, Limits())
    assert [each.what for each in result.survived] == [
        "grow: without the assignment of self.a",
        "grow: self.a <= 3 for self.a < 3",
        "grow: 4 for 3",
        "grow: 2 for 1",
        "spread: without the assignment of self.b",
        "spread: without the assignment of self.c",
        "spread: b <= 1 for b < 1",
        "spread: 2 for 1",
        "spread: c <= 1 for c < 1",
        "spread: 2 for 1",
    ]
    assert [each.what for each in result.undecided] == [
        "grow: without require(self.a < 3)",
        "spread: without require(b < 1 and c < 1)",
    ]
    assert result.tried == 13  # `self.a - 1` breaks the bounds: that is noticed.
    assert mutate.text(result).splitlines()[11] == (
        "  2 of 13 small changes are undecided: the scope or a limit leaves open whether a property"
        " notices them"
    )
    late = survey(found, found.scopes["scope"], 1, Limits(seconds=1000.0))
    assert (late.tried, len(late.undecided)) == (1, 1)


COUNTS = """
class Up(Machine):
    n: Nat = 0
    deadlock_ok = True

    @transition()
    def up(self) -> None:
        self.n += 1

    scope = Scope(Nat=range(0, 4))

class Twice(Machine):
    twice: Nat = 0
    deadlock_ok = True

    @transition()
    def up(self) -> None:
        self.twice += 2

    @refines(Up)
    def counts(self) -> Up:
        return Up.lawful.state(n=self.twice // 2)

    scope = Scope(Nat=range(0, 7))
"""


def test_what_a_refined_machine_forbids_is_noticed() -> None:
    found = resolve(texts.last_machine(texts.module(COUNTS)))
    result = survey(found, found.scopes["scope"], 100, Limits())
    # What never counts refines Up, too; no bound cuts it then, which notices nothing.
    assert [each.what for each in result.survived] == ["up: without the assignment of self.twice"]
    assert (result.tried, result.undecided) == (3, ())


def test_the_command_exits_with_1_where_something_is_odd(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lint", "tests.classics.peterson", "--mutants", "4", "--json", "-"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    assert row == {
        "machine": "Peterson",
        "findings": [],
        "complete": True,
        "engine": "generated",
        "mutants": {"tried": 3, "survived": [], "undecided": [], "engines": {"generated": 3}},
    }
    assert main(["lint", "tests.classics.two_phase"]) == 1
    assert "sink: nothing leaves ABORTED" in capsys.readouterr().out


ASKED = """
class Ask(Record):
    epoch: Nat
    what: bool

class Told(Record):
    epoch: Nat
    what: bool

class Lost(Record):
    epoch: Nat

class Asking(Machine):
    epoch: Nat = 0
    rounds: Nat = 0
    known: bool = False
    sent: set[Ask] = set()
    answers: set[Told] = set()
    patience: Timer = Timer()

    @transition()
    def ask(self) -> Ask:
        self.epoch += 1
        self.rounds += 1
        self.patience.start(1.0)
        made = Ask(self.epoch, self.known)
        self.sent.add(made)
        return made

    @transition()
    def answer(self, asked: Ask) -> None:
        require(asked in self.sent, "nobody asked")
        self.answers.add(Told(asked.epoch, True))

    @transition()
    def hear(self, told: Told) -> None:
        require(told in self.answers, "nobody said so")
        self.answers.discard(told)
        self.known = told.what

    @transition()
    def hear_present(self, told: Told) -> None:
        require(told in self.answers and told.epoch == self.epoch, "of an earlier question")
        self.known = told.what

    @transition()
    def fail(self, epoch: Nat, reason: Nat) -> None:
        self.known = False

    @transition()
    def either(self, told: Told | Lost) -> None:
        if isinstance(told, Told):
            require(told.epoch == self.epoch, "of an earlier question")
        self.known = False

    @transition()
    def keep(self, told: Told) -> None:
        self.answers = {told}

    @transition()
    def lose(self, told: Told) -> None:
        require(told in self.answers, "nobody said so")
        self.answers.discard(told)

    @transition(timer="patience")
    def give_up(self) -> None: ...

    deadlock_ok = True
    scope = Scope(Nat=range(0, 2))
"""
LATE = (
    "though epoch is counted and given out: "
    "a late {} of an earlier epoch is taken for the present one"
)


def test_an_answer_whose_number_is_not_read_may_be_a_late_one() -> None:
    found = found_in(texts.last_machine(texts.module(ASKED)), Limits(states=1))
    assert kinds(found) == [
        ("unfenced", f"hear does not read told.epoch, {LATE.format('hear')}"),
        ("unfenced", f"fail does not read epoch, {LATE.format('fail')}"),
    ]


FEWER_BITS = """
class Serials(Machine):
    s: Annotated[int, Serial(bits=8)] = 0
    n: Nat = 0

    @transition()
    def send(self) -> None:
        require(self.n < 3, "full")
        self.s += 1
        self.n += 1

    @invariant
    def apart(self) -> bool:
        return not before(self.s, 0)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 12), Serial=3)
"""


def test_a_violation_that_only_fewer_bits_have_notices_nothing() -> None:
    """With 3 bits `s` passes half the circle after 5 sends, with the declared 8 after 129."""
    found = resolve(texts.last_machine(texts.module(FEWER_BITS)))
    few = survey(found, found.scopes["scope"], 100, Limits())
    assert [each.what for each in few.undecided] == [
        "send: without require(self.n < 3)",
        "send: without the assignment of self.n",
        "send: 2 for 1",
    ]
    every = survey(found, Scope(Nat=range(0, 12), Serial=8), 100, Limits())
    assert [each.what for each in every.undecided] == ["send: without require(self.n < 3)"]
    assert (few.tried, len(few.survived), every.tried, len(every.survived)) == (9, 5, 9, 6)


def test_the_reference_engine_says_that_it_took_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: object) -> None:
        raise NotGenerated("a set over too many values")

    monkeypatch.setattr(engine, "stepping", refused)
    found = found_in(Peterson)
    why = "steps cannot be generated for a set over too many values"
    assert text("Peterson", found) == f"Peterson: nothing odd\n  slow: {why}"
    whole = resolve(Peterson)
    told = mutate.text(survey(whole, whole.scopes.get("scope", Scope()), 4, Limits()))
    assert told.splitlines()[-1] == f"  explored 3 by the reference engine: {why}"
