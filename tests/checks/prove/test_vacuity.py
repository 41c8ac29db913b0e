"""What cannot happen, or is not known to, is never called proved."""

from __future__ import annotations

from typing import Any

import pytest

from lawful import Scope
from lawful.checks.prove import How, prove
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.checks.prove.result import NOT_SHOWN, VACUOUS
from lawful.checks.report import proofs
from lawful.checks.smt.solver.budget import Effort
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations.parts import Alive, Plain, Still, Unborn
from tests.checks.declarations.provable import Absurd, Assumed, Channel, Cubes, Dead
from tests.checks.prove.proofs import not_proved, proof, verdicts
from tests.classics.two_phase import TwoPhase
from tests.spec import texts


def test_of_sets_that_differ_each_at_another_element_nothing_is_proved() -> None:
    """Whichever number comes to one side's sets, another one comes to the other's."""
    books = texts.last_machine(
        texts.module("""
        class Books(Machine):
            old: set[Nat] = set()
            copied: set[Nat] = set()
            new: set[Nat] = set()
            listed: set[Nat] = set()
            strict: Param[bool] = True

            @transition()
            def put(self, x: Nat, y: Nat) -> None:
                require(x != y and x not in self.old and y not in self.new)
                self.old.add(x)
                self.new.add(y)

            @invariant
            def same(self) -> bool:
                return implies(self.strict, self.old == self.copied and self.new == self.listed)
    """)
    )
    assert verdicts(proof(books)) == {
        "bounds": "proved",
        "asserts": "proved",
        "undefined": "proved",
        "same": "unknown",
    }


def test_of_a_transition_that_never_happens_nothing_is_proved() -> None:
    result = proof(Dead)
    found = {
        name: {(o.verdict.value, o.note) for o in result.obligations if o.obligation == name}
        for name in ("contradicts", "excluded", "barred")
    }
    assert found["contradicts"] == found["excluded"] == {("unknown", VACUOUS)}
    # What is ruled out by an invariant that is not proved may happen.
    assert found["barred"] == {("proved", "")}
    assert not_proved(result) == {
        ("up", "small"),
        *((o.obligation, o.property) for o in result.obligations if o.note == VACUOUS),
    }
    assert set(verdicts(result).values()) == {"unknown"}
    assert proofs.exit_code(result, {}) == 3


@pytest.mark.parametrize(
    ("seen", "found"),
    [((), ("unknown", NOT_SHOWN)), (("hit",), ("proved", ""))],
    ids=["not seen", "seen"],
)
def test_what_z3_does_not_see_happen_may_be_seen_in_a_run(
    seen: tuple[str, ...], found: tuple[str, str]
) -> None:
    """Nobody tells Z3 of which three cubes 33 is the sum: they have sixteen digits."""
    how = How(effort=Effort(2_000_000))
    result = prove(resolve(Cubes).machine, sizes={}, how=how, transitions_seen=lambda: seen)
    rows = [o for o in result.obligations if o.obligation == "hit"]
    assert {(o.verdict.value, o.note) for o in rows} == {found}


def test_a_run_meets_what_happens_within_the_scope() -> None:
    every: set[str | None] = {row.name for row in resolve(TwoPhase).machine.transitions}
    small = Scope(int=range(0, 4), Nat=range(0, 4), low=(0,), high=(3,))
    assert met(TwoPhase, Scope(RM=2)) == every | {None}
    assert met(Dead, Scope(int=range(0, 4), Nat=range(0, 4))) == {None, "up"}
    assert met(Assumed, small) == {"begin", "up"}


def met(cls: Any, scope: Scope) -> set[str | None]:
    resolved = resolve(cls)
    return set(transitions_seen(lower(resolved.machine, scope), resolved.world).met)


def test_an_unsatisfiable_assumption_proves_nothing() -> None:
    result = proof(Absurd)
    assert set(verdicts(result).values()) == {"unknown"}
    notes = {p.note for p in result.properties if p.method != "none"}
    assert notes == {"no start is possible: nothing is proved of it"}
    assert {(o.verdict, o.note) for o in result.obligations} == {(Verdict.UNKNOWN, VACUOUS)}


def test_covers_names_the_bounds_that_were_used_and_no_others() -> None:
    bounds = {"channel": 2, "sent": 7, "RM": 4, "Nat": 5}
    result = proof(Channel, bounds)
    assert {o.covers for o in result.obligations} == {"all integers; channel <= 2"}
    assert verdicts(result)["counted"] == "proved-within"
    result = proof(TwoPhase, bounds)
    assert {p.covers for p in result.properties if p.method != "none"} == {"RM=4"}
    result = proof(Assumed, bounds)
    assert set(verdicts(result).values()) == {"proved"}
    assert result.properties[0].covers == "all integers; all parameter values that @assume allows"


def test_a_pass_needs_something_that_was_asked() -> None:
    result = proof(Alive)
    assert verdicts(result) == {"bounds": "proved", "asserts": "proved", "undefined": "proved"}
    assert proofs.exit_code(result, {}) == 3
    assert proofs.text(result, {}).splitlines()[-2:] == [
        "for check, not for prove: deadlock, goes_on",
        "no property that it declares was proved or refuted here",
    ]
    assert proofs.exit_code(proof(Plain), {}) == 0


def test_without_transitions_nothing_is_proved_of_steps() -> None:
    result = proof(Still)
    moves = next(p for p in result.properties if p.name == "moves")
    assert moves.verdict is Verdict.UNKNOWN and "no transition" in moves.note
    assert verdicts(result)["zero"] == "proved"
    assert proofs.exit_code(result, {}) == 3


def test_nothing_is_proved_of_a_start_out_of_bounds() -> None:
    result = proof(Unborn)
    assert verdicts(result) == {
        "bounds": "violated",
        "asserts": "unknown",
        "undefined": "unknown",
        "absurd": "unknown",
    }
