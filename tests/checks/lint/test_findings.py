"""Oddities of declarations."""

from __future__ import annotations

import json

import pytest

from lawful import Machine, Scope
from lawful.checks.explore.compiled import engine
from lawful.checks.explore.compiled.engine import NotGenerated
from lawful.checks.explore.search import Limits
from lawful.checks.lint.findings import Findings, lint, text
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


def test_the_command_exits_with_1_where_something_is_odd(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lint", "tests.classics.peterson", "--json", "-"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    assert row == {
        "machine": "Peterson",
        "findings": [],
        "complete": True,
        "engine": "generated",
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


def test_the_reference_engine_says_that_it_took_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: object) -> None:
        raise NotGenerated("a set over too many values")

    monkeypatch.setattr(engine, "stepping", refused)
    why = "steps cannot be generated for a set over too many values"
    assert text("Peterson", found_in(Peterson)) == f"Peterson: nothing odd\n  slow: {why}"
