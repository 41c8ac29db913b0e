"""A question made smaller has the same answer, and a term made simpler means the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.smt.algebra.logic import Logic
from lawful.checks.smt.algebra.term import Term
from lawful.checks.smt.solver.budget import Budget, Effort
from lawful.checks.smt.solver.incremental import NO_HYPOTHESIS, IncrementalSearch
from lawful.checks.smt.solver.simplify import SimplifiedFacts, cases
from lawful.checks.smt.solver.solve import Answer, ask
from lawful.checks.smt.solver.z3_terms import translation, triggers

LOGIC = Logic()
COLOR = LOGIC.datatype("Color", [("red", []), ("green", []), ("blue", [])])
ENTRY = LOGIC.datatype("Entry", [("none", []), ("some", [("it", COLOR.shape), ("n", LOGIC.int)])])
COLORS = [LOGIC.const(name, COLOR.shape) for name in "cd"] + LOGIC.values(COLOR.shape)
ENTRIES = LOGIC.const("entries", LOGIC.array(COLOR.shape, ENTRY.shape))
BOOLS = [LOGIC.const(name, LOGIC.bool) for name in "pq"]


def enough() -> Budget:
    return Effort().begin()


def entry(key: Term, written: Term, number: int) -> Term:
    made = LOGIC.make(ENTRY, 1, [written, LOGIC.number(number)])
    return LOGIC.read(LOGIC.write(ENTRIES, key, made), COLORS[0])


Made = st.SearchStrategy[Term]
colors: Made = st.sampled_from(COLORS)
entries: Made = st.one_of(
    st.builds(LOGIC.read, st.just(ENTRIES), colors),
    st.builds(entry, colors, colors, st.integers(0, 2)),
)
numbers: Made = st.one_of(
    st.integers(0, 2).map(LOGIC.number), entries.map(lambda e: LOGIC.field(ENTRY, 1, 1, e))
)
atoms: Made = st.one_of(
    st.sampled_from(BOOLS),
    st.builds(LOGIC.equal, colors, colors),
    st.builds(LOGIC.at_most, numbers, numbers),
    entries.map(lambda e: LOGIC.is_variant(ENTRY, 1, e)),
    entries.flatmap(lambda e: colors.map(lambda c: LOGIC.equal(LOGIC.field(ENTRY, 1, 0, e), c))),
)


def wider(inner: Made) -> Made:
    of: Callable[[list[Term]], Term] = LOGIC.all
    return st.one_of(
        inner.map(LOGIC.negate),
        st.lists(inner, min_size=2, max_size=3).map(of),
        st.lists(inner, min_size=2, max_size=3).map(LOGIC.any),
        st.builds(LOGIC.choose, inner, inner, inner),
    )


terms: Made = st.recursive(atoms, wider, max_leaves=6)


def answer(facts: tuple[Term, ...], goals: tuple[Term, ...]) -> str:
    """Whether the facts can be true where a goal is not; no goal can fail to be true."""
    return ask(LOGIC, (*facts, LOGIC.negate(LOGIC.all(goals))), enough()).status


@given(st.lists(terms, max_size=3), st.lists(terms, min_size=1, max_size=2), terms)
def test_by_cases_and_with_what_is_known_put_in_the_answer_is_the_same(
    facts: list[Term], goals: list[Term], kept: Term
) -> None:
    found: set[str] = set()
    for put in cases(LOGIC, COLORS[:2]):
        each = SimplifiedFacts(LOGIC, facts, {"kept": kept}, put)
        found.add(answer((*each.facts, *each.named.values()), each.goals(goals, "kept")))
    assert answer((*facts, kept), tuple(goals)) == ("sat" if "sat" in found else "unsat")
    assert len(list(cases(LOGIC, COLORS[:2]))) == 9


@given(terms, terms, terms, st.tuples(colors, colors))
def test_a_term_made_simpler_is_still_the_same(
    test: Term, then: Term, other: Term, put: tuple[Term, Term]
) -> None:
    """Each operator is what Z3 says of its arguments, with other terms put in, too."""
    c, d = COLORS[:2]
    for made, plain in (
        (LOGIC.all((test, then, other)), [test, then, other]),
        (LOGIC.negate(LOGIC.any((test, then, other))), [*map(LOGIC.negate, (test, then, other))]),
    ):
        asked = [*plain, LOGIC.negate(made)]
        assert ask(LOGIC, asked, enough()).status == "unsat"
        for part in plain:
            assert ask(LOGIC, [made, LOGIC.negate(part)], enough()).status == "unsat"
    chosen = LOGIC.choose(test, then, other)
    for where, which in ((test, then), (LOGIC.negate(test), other)):
        assert ask(LOGIC, [where, chosen, LOGIC.negate(which)], enough()).status == "unsat"
        assert ask(LOGIC, [where, which, LOGIC.negate(chosen)], enough()).status == "unsat"
    same = [LOGIC.equal(c, put[0]), LOGIC.equal(d, put[1])]
    replaced = LOGIC.replace(chosen, [(c, put[0]), (d, put[1])])
    assert ask(LOGIC, [*same, chosen, LOGIC.negate(replaced)], enough()).status == "unsat"
    assert ask(LOGIC, [*same, replaced, LOGIC.negate(chosen)], enough()).status == "unsat"


@given(terms, colors)
def test_below_quantifiers_a_term_made_simpler_is_still_the_same(body: Term, put: Term) -> None:
    """One below the other, too; what is put in may be called as what they bind."""
    c, d = COLORS[:2]
    inner = LOGIC.exists([d], LOGIC.any((body, LOGIC.equal(c, d))))
    every = LOGIC.forall([c], LOGIC.true, LOGIC.all((LOGIC.any((inner, body)), body)))
    replaced, same = LOGIC.replace(every, [(d, put)]), LOGIC.equal(d, put)
    assert ask(LOGIC, [same, every, LOGIC.negate(replaced)], enough()).status == "unsat"
    assert ask(LOGIC, [same, replaced, LOGIC.negate(every)], enough()).status == "unsat"


def test_what_a_step_does_not_touch_is_no_question() -> None:
    """A written entry is read at any key as what it was before, where it is written back."""
    c, d = COLORS[:2]
    back = LOGIC.write(ENTRIES, c, LOGIC.read(ENTRIES, c))
    assert LOGIC.read(back, d) is LOGIC.read(ENTRIES, d)


def test_what_is_told_is_put_into_everything_else() -> None:
    c, d = COLORS[:2]
    red, green, _ = LOGIC.values(COLOR.shape)
    p, q = BOOLS
    facts = LOGIC.equal(c, red), LOGIC.any((LOGIC.negate(p), q)), p
    each = SimplifiedFacts(LOGIC, facts, {"h": q}, [(d, green)])
    assert set(each.facts) == {LOGIC.equal(d, green), LOGIC.equal(c, red), p, q}
    assert each.named == {"h": LOGIC.true}
    assert each.goals((q,), "") == ()


def test_what_quantifiers_say_is_asked_where_something_is_looked_up() -> None:
    """Where that shows nothing the search comes to its end, and the next goes on in its context."""
    logic = Logic()
    held = logic.const("held", logic.array(logic.int, logic.bool))
    x, y = (logic.const(name, logic.int) for name in "xy")
    zero, inside = logic.number(0), logic.read(held, y)
    known = logic.forall([y], inside, logic.at_most(zero, y))
    search = IncrementalSearch(logic, (known,), {})
    assert search.shown(logic.at_most(zero, x), (), enough()).status == "unknown"
    context = translation(logic, sparing=True)
    goal = logic.implies(logic.read(held, x), logic.at_most(zero, x))
    assert search.shown(goal, (), enough()).status == "unsat"
    assert translation(logic, sparing=True) is context


def test_hypotheses_are_asked_where_what_is_found_without_them_denies_them() -> None:
    """And no goal is said to lean on others."""
    logic = Logic()
    held, lent = (logic.const(n, logic.array(logic.int, logic.bool)) for n in ("held", "lent"))
    x, y = (logic.const(name, logic.int) for name in "xy")
    zero = logic.number(0)
    named = {
        "held_is_positive": logic.forall([y], logic.read(held, y), logic.less(zero, y)),
        "lent_is_positive": logic.forall([y], logic.read(lent, y), logic.less(zero, y)),
        "lent_is_held": logic.forall([y], logic.read(lent, y), logic.read(held, y)),
        "x_is_less": logic.less(x, zero),
    }
    search = IncrementalSearch(logic, (), named)
    goal = logic.negate(logic.read(held, x))
    assert search.shown(goal, (), enough()) == Answer(
        "unsat", used=frozenset({"held_is_positive", "x_is_less"})
    )
    few = "lent_is_held", "lent_is_positive", "held_is_positive"
    search = IncrementalSearch(logic, (), {name: named[name] for name in few})
    goal = logic.implies(logic.read(lent, x), logic.less(zero, x))
    assert search.shown(goal, {"lent_is_positive"}, enough()).used == {"lent_is_positive"}
    assert search.shown(logic.less(zero, x), (), enough()) == Answer("unknown", why=NO_HYPOTHESIS)


def test_arrays_that_differ_do_so_somewhere() -> None:
    logic = Logic()
    held, lent = (logic.const(n, logic.array(logic.int, logic.bool)) for n in ("held", "lent"))
    y = logic.const("y", logic.int)
    same = logic.forall([y], logic.true, logic.equal(logic.read(held, y), logic.read(lent, y)))
    goal = logic.equal(held, lent)
    assert IncrementalSearch(logic, (same,), {}).shown(goal, (), enough()).status == "unsat"
    assert IncrementalSearch(logic, (), {"same": same}).shown(goal, (), enough()).used == {"same"}


@pytest.mark.parametrize("together", [True, False])
def test_arrays_that_differ_do_so_each_pair_at_a_place_of_its_own(together: bool) -> None:
    """Of two pairs in one goal the first differs at 0 alone, and the second at 1."""
    logic = Logic()
    shape = logic.array(logic.int, logic.bool)
    one, other, third, fourth = (logic.const(n, shape) for n in ("a", "b", "c", "d"))
    p, y = logic.const("p", logic.bool), logic.const("y", logic.int)

    def apart_at(a: Term, b: Term, place: Term) -> tuple[Term, Term]:
        same, elsewhere = (logic.equal(logic.read(a, k), logic.read(b, k)) for k in (place, y))
        not_there = logic.negate(logic.equal(y, place))
        return logic.negate(same), logic.forall([y], not_there, elsewhere)

    zero, first = logic.number(0), logic.number(1)
    facts = p, *apart_at(one, other, zero), *apart_at(third, fourth, first)
    pairs = logic.equal(one, other), logic.equal(third, fourth)
    goal = logic.implies(p, logic.all(pairs)) if together else logic.choose(p, *pairs)
    assert IncrementalSearch(logic, facts, {}).shown(goal, (), enough()).status == "unknown"
    assert ask(logic, (*facts, logic.negate(goal)), enough()).status == "sat"


def test_what_is_looked_up_in_a_place_that_depends_on_a_condition_is_no_trigger() -> None:
    p, c = BOOLS[0], COLORS[0]
    rows = LOGIC.array(LOGIC.int, LOGIC.bool)
    held = LOGIC.const("held", LOGIC.array(ENTRY.shape, rows))
    x, y = (LOGIC.const(name, LOGIC.int) for name in "xy")
    number = LOGIC.choose(p, LOGIC.number(1), LOGIC.number(2))
    some, one = (LOGIC.make(ENTRY, 1, [c, n]) for n in (number, LOGIC.number(1)))
    either, plain = (LOGIC.read(LOGIC.read(held, key), y) for key in (some, one))
    known = LOGIC.forall([y], LOGIC.any((either, plain)), LOGIC.at_most(x, y))
    assert [str(each) for each in triggers(known)] == [str(plain).replace(" y)", " ?0)")]
    assert triggers(LOGIC.forall([y], either, LOGIC.at_most(x, y))) == []
    goal = LOGIC.implies(LOGIC.read(LOGIC.read(held, one), x), LOGIC.at_most(x, x))
    assert IncrementalSearch(LOGIC, (known,), {}).shown(goal, (), enough()).status == "unsat"
