"""Refinement: each step is seen as a step of the abstract machine, or as none."""

from __future__ import annotations

import dataclasses

import pytest

from lawful import (
    Expect,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    assume,
    initial,
    refines,
    require,
    transition,
)
from lawful.checks.explore import explore
from lawful.checks.prove import How, Method, prove
from lawful.checks.prove.induction import Induction
from lawful.checks.verdict import PropertyResult, Verdict
from lawful.spec.codec import as_json
from lawful.spec.lower import lower, sized
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.spec.text import statements
from tests.classics.commit import RM, Decision, TCommit
from tests.classics.implementing import Changeable, Hasty, Implements
from tests.spec import texts


class Counter(Machine):
    """Counts up to its limit, by at most `by` at a time."""

    n: Nat = 0
    limit: Param[Nat] = 4

    @assume
    def some(self) -> bool:
        return self.limit > 0

    @initial
    def start(self, at: bool) -> None:
        self.n = 1 if at else 0

    @transition()
    def count(self, by: Nat) -> None:
        require(self.n + by <= self.limit, "too many")
        self.n += by

    deadlock_ok = True
    scope = Scope({"count.by": range(0, 3), "n": range(0, 2)})


class Doubled(Machine):
    """Counts halves; what is seen are wholes."""

    halves: Nat = 0

    @transition()
    def add(self) -> None:
        require(self.halves < 8, "enough")
        self.halves += 1

    @refines(Counter)
    def counts(self) -> Counter:
        whole = self.halves // 2
        return Counter.lawful.state(n=whole)

    deadlock_ok = True
    scope = Scope(halves=range(0, 9))


class Leaping(Doubled):
    """More at a time than the scope of the abstract machine tries."""

    @transition()
    def add(self) -> None:
        require(self.halves == 0, "once")
        self.halves += 8


class Late(Doubled):
    """Begins where the abstract machine does not."""

    halves: Nat = 6


class Negative(Doubled):
    """Is seen below what the abstract machine's type has."""

    @refines(Counter)
    def counts(self) -> Counter:
        return Counter.lawful.state(n=self.halves // 2 - self.halves // 4 * 3)


class Unlimited(Doubled):
    """Is seen with a limit that the assumption excludes."""

    @refines(Counter)
    def counts(self) -> Counter:
        return Counter.lawful.state(n=0, limit=0)


class Unseen(Doubled):
    """The view has no value in the end."""

    @refines(Counter)
    def counts(self) -> Counter:
        return Counter.lawful.state(n=self.halves // 2 // (2 - self.halves // 2))


def judged(cls: type[Machine]) -> PropertyResult:
    r = resolve(cls)
    flat = lower(r.machine, r.scopes["scope"], abstract_scopes(r))
    result = explore(flat, r.world, r.expects)
    found = next(p for p in result.properties if p.kind == "refines")
    assert found.trace is not None or found.verdict.good
    return found


def told(cls: type[Machine]) -> tuple[Verdict, str, int]:
    found = judged(cls)
    return found.verdict, found.why, 0 if found.trace is None else len(found.trace.steps)


def test_two_phase_commit_implements_transaction_commit() -> None:
    assert told(Implements) == (Verdict.HOLDS, "", 0)


def test_one_that_commits_too_early_does_not() -> None:
    why = (
        "no step of TCommit leads from (rms = {RM1: WORKING, RM2: WORKING, RM3: WORKING}) "
        "to (rms = {RM1: COMMITTED, RM2: WORKING, RM3: WORKING})"
    )
    assert told(Hasty) == (Verdict.VIOLATED, why, 2)
    assert judged(Hasty).as_expected


def test_one_that_aborts_after_all_does_not() -> None:
    assert told(Changeable)[::2] == (Verdict.VIOLATED, 10)
    assert judged(Changeable).as_expected


def test_a_step_may_be_seen_as_none() -> None:
    # Also beyond what the abstract machine's own scope explores.
    assert told(Doubled) == (Verdict.HOLDS, "", 0)


def test_arguments_that_were_not_tried_leave_it_unknown() -> None:
    why = (
        "no step of Counter leads from (n = 0, limit = 4) to (n = 4, limit = 4); "
        "only by of count within its scope was tried"
    )
    assert told(Leaping) == (Verdict.UNKNOWN, why, 1)


def test_it_starts_where_the_abstract_machine_starts() -> None:
    assert told(Late) == (Verdict.VIOLATED, "Counter does not start as (n = 3, limit = 4)", 0)
    assert told(Unlimited) == (Verdict.VIOLATED, "Counter does not start as (n = 0, limit = 0)", 0)


def test_a_view_is_within_the_types_of_the_abstract_machine() -> None:
    why = "counts gives no state of Counter: n: -1 is below 0"
    assert told(Negative) == (Verdict.VIOLATED, why, 4)


def test_a_view_without_a_value_is_undefined() -> None:
    verdict, why, events = told(Unseen)
    assert (verdict, events) == (Verdict.UNDEFINED, 4)
    assert why.startswith("undefined: ")


def test_it_is_written_and_read() -> None:
    for cls in (Implements, Doubled):
        r = resolve(cls)
        flat = lower(r.machine, r.scopes["scope"], abstract_scopes(r))
        assert as_json.from_json(as_json.to_json(r.machine)) == r.machine
        assert as_json.flat_from_json(as_json.flat_to_json(flat)) == flat


def test_it_is_shown_with_the_abstract_machine_before_it() -> None:
    text = statements.machine(Doubled.lawful.ir)
    assert text.index("class Counter(Machine):") < text.index("class Doubled(Machine):")
    assert text.endswith(
        "    @refines(Counter)\n"
        "    def counts(self) -> Counter:\n"
        "        whole = self.halves // 2\n"
        "        return Counter.lawful.state(n=whole)\n"
    )


def test_what_it_refines_is_part_of_the_whole_and_of_nothing_else() -> None:
    machine = Doubled.lawful.ir
    (abstract,) = machine.abstracts
    other = dataclasses.replace(machine, abstracts=(dataclasses.replace(abstract, transitions=()),))
    one, changed = as_json.fingerprints(machine), as_json.fingerprints(other)
    assert (one.shape, one.behaviour) == (changed.shape, changed.behaviour)
    assert one.whole != changed.whole


def test_an_instance_gives_an_instance_of_the_abstract_machine() -> None:
    a, b = RM("a"), RM("b")
    machine = Implements(universe={RM: [a, b]})
    machine.prepare(a)
    seen = machine.implements()
    assert seen == TCommit.lawful.state(rms={a: Decision.PREPARED, b: Decision.WORKING})
    seen.prepare(b)
    assert seen.can_commit()
    assert not machine.implements().can_commit()


def proved(cls: type[Machine]) -> dict[str, Verdict]:
    """What induction says of the start and of each step, as far as the refinement is concerned."""
    result = prove(resolve(cls).machine, sizes={})
    return {o.obligation: o.verdict for o in result.obligations if o.property == "counts"}


def test_refinement_is_proved_step_by_step() -> None:
    both = {"the start": Verdict.PROVED, "add": Verdict.PROVED}
    assert proved(Doubled) == both
    assert proved(Leaping) == both  # No scope bounds what the abstract machine is tried with.


@pytest.mark.parametrize(
    ("cls", "start", "step"),
    [
        (Late, Verdict.VIOLATED, Verdict.PROVED),
        (Negative, Verdict.PROVED, Verdict.UNKNOWN),
        (Unlimited, Verdict.VIOLATED, Verdict.PROVED),
        (Unseen, Verdict.PROVED, Verdict.UNKNOWN),
    ],
    ids=lambda x: x.__name__ if isinstance(x, type) else str(x),
)
def test_what_does_not_refine_is_not_proved(
    cls: type[Machine], start: Verdict, step: Verdict
) -> None:
    assert proved(cls) == {"the start": start, "add": step}


class Place(Sort):
    """Where a token may be."""


class Token(Machine):
    """Is at a place or at none, and goes from one to another by way of none."""

    at: Place | None = None

    @transition()
    def go(self, to: Place | None) -> None:
        require(self.at is None or to is None, "straight from one to another")
        self.at = to


class Walking(Machine):
    """Goes where it chose to: to a place that is no argument of that step."""

    at: Place | None = None
    chosen: Place | None = None

    @transition()
    def choose(self, p: Place | None) -> None:
        self.chosen = p

    @transition()
    def go(self) -> None:
        require(self.at is None or self.chosen is None, "straight from one to another")
        self.at = self.chosen

    @refines(Token)
    def counts(self) -> Token:
        return Token.lawful.state(at=self.at)


class Straight(Walking):
    @transition()
    def go(self) -> None:
        self.at = self.chosen


@pytest.mark.parametrize(
    ("sizes", "good", "among_any"),
    [({"Place": 3}, Verdict.PROVED_WITHIN, False), ({}, Verdict.PROVED, True)],
)
def test_the_arguments_of_the_abstract_step_are_listed_where_they_are_few(
    sizes: dict[str, int], good: Verdict, among_any: bool
) -> None:
    for cls, last in ((Walking, good), (Straight, Verdict.UNKNOWN)):
        induction = Induction(sized(resolve(cls).machine, sizes))
        steps = {step: induction.answer(step, "counts").verdict for step in ("choose", "go")}
        assert steps == {"choose": good, "go": last}
        script = induction.script("go", "counts")
        assert script is not None and ("(forall" in script) == among_any


ASKED: dict[Method, dict[str, str]] = {
    "auto": {"ones": "unknown"},
    "k-induction": {"ones": "unknown"},
    "spacer": {},
    "bounded": {"ambiguous": "bounded"},
}


@pytest.mark.parametrize("method", ASKED)
def test_what_is_no_refinement_is_proved_by_no_method(method: Method) -> None:
    """Of numbers alone, where what is open is asked of Spacer, too."""
    pairs = texts.last_machine(
        texts.module("""
        class Ones(Machine):
            n: Nat = 0

            @transition()
            def go(self) -> None:
                self.n += 1


        class Pairs(Machine):
            n: Nat = 0

            @transition()
            def go(self) -> None:
                self.n += 2

            @refines(Ones)
            def ones(self) -> Ones:
                return Ones.lawful.state(n=self.n)
    """)
    )
    found = prove(resolve(pairs).machine, sizes={}, how=How(method))
    good = "bounded" if method == "bounded" else "proved"
    built_in = {"bounds": good, "asserts": good, "undefined": good}
    seen = {p.name: p.verdict.value for p in found.properties if p.method != "none"}
    assert seen == {**built_in, **ASKED[method]}


def test_an_expected_failure_is_the_pass() -> None:
    class Expecting(Late):
        expects = Expect(counts=("violated", 0))

    assert judged(Expecting).as_expected
