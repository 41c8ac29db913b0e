"""What was shown before is not asked again; what was not shown is never taken for known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.prove import prove
from lawful.checks.prove.counterexamples import Counterexamples
from lawful.checks.prove.induction import Induction
from lawful.checks.prove.result import ProofResult
from lawful.checks.smt.algebra.logic import Logic
from lawful.checks.smt.algebra.term import Term
from lawful.checks.smt.obligations import Case
from lawful.checks.smt.solver import cache, solve
from lawful.checks.smt.solver.budget import Effort
from lawful.checks.smt.solver.solve import ask, key, known_possible, note_possible, script
from lawful.cli import main
from lawful.spec.lower import sized
from lawful.spec.resolve import resolve
from tests.checks.declarations import provable
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase


def proved(cls: type, folder: Path) -> ProofResult:
    with cache.kept_in(folder):
        return prove(resolve(cls).machine, sizes={})


def told(result: ProofResult) -> list[tuple[object, ...]]:
    return [(o.property, o.obligation, o.verdict, o.uses, o.note) for o in result.obligations]


def test_the_second_proof_asks_nothing(tmp_path: Path) -> None:
    first, second = proved(Peterson, tmp_path), proved(Peterson, tmp_path)
    assert {o.verdict.value for o in first.obligations} == {"proved"}
    assert told(first) == told(second)
    # What is true as it is written is not asked at all.
    assert (len(first.obligations), sum(o.cached for o in first.obligations)) == (42, 0)
    assert sum(o.cached for o in second.obligations) == 21


def test_what_is_not_decided_is_not_kept(tmp_path: Path) -> None:
    first, again = proved(provable.Counter, tmp_path), proved(provable.Counter, tmp_path)
    assert not any(o.cached for o in first.obligations)
    assert told(first) == told(again)
    assert {o.verdict.value for o in again.obligations if o.cached} == {"proved"}
    refuted = [o for o in again.obligations if o.counterexample is not None]
    assert {o.obligation for o in refuted} == {"the start", "up"}
    assert not any(o.cached for o in refuted)


def test_another_machine_asks_other_questions(tmp_path: Path) -> None:
    proved(provable.Counter, tmp_path)
    files = {path.name for path in tmp_path.iterdir()}
    assert not any(o.cached for o in proved(provable.Places, tmp_path).obligations)
    assert files < {path.name for path in tmp_path.iterdir()}


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    logic = Logic()
    n = logic.fresh("n", logic.int)
    facts = [logic.less(n, logic.number(3)), logic.less(logic.number(4), n)]
    with cache.kept_in(tmp_path):
        assert not ask(logic, facts, Effort().begin()).cached
        (file,) = tmp_path.iterdir()
        good = file.read_text(encoding="utf-8")
        damaged = ["", "{", "[]", good[:-3], good.replace("[]", "[3]"), good.replace(":", ':"x')]
        another = good.replace(file.name[:6], "abcdef")
        for text in (*damaged, another):
            file.write_text(text, encoding="utf-8")
            found = ask(logic, facts, Effort().begin())
            assert (found.status, found.cached) == ("unsat", False), text
            assert file.read_text(encoding="utf-8") == good
        assert ask(logic, facts, Effort().begin()).cached


def test_a_folder_that_cannot_be_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    barred, good = (proved(provable.Counter, tmp_path / name) for name in ("file", "good"))
    assert told(barred) == told(good)


def keys(cls: type, seed: int) -> dict[tuple[str, str], str]:
    """The key of every question, asked in the order that the seed gives."""
    found = resolve(cls)
    induction = Induction(sized(found.machine, {"RM": 2}))
    asked = list(induction.questions())
    random.Random(seed).shuffle(asked)
    return dict(sorted(_keys(induction, asked)))


def _keys(
    induction: Induction, asked: list[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], str]]:
    for name, property in asked:
        case = induction.exact.case(name, property)
        assert isinstance(case, Case)
        question = induction.exact.question(case, property)
        yield (name, property), key((*question.facts, *question.goals), ())


@pytest.mark.parametrize("cls", [Peterson, TwoPhase, provable.Places], ids=lambda c: c.__name__)
def test_a_question_is_the_same_whatever_was_asked_before(cls: type) -> None:
    assert keys(cls, 0) == keys(cls, 1) == keys(cls, 2)


# Terms, written down as trees and made in two logics.

Tree = str | int | tuple["Tree", ...]
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.sampled_from(["a", "b", "c", 0, 1, 12]),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple),
    max_leaves=12,
)


def made(logic: Logic, tree: Tree) -> Term:
    match tree:
        case int():
            return logic.number(tree)
        case str():
            return logic.const(tree, logic.int)
        case _:
            name = f"f{len(tree)}"
            return logic.function(name, [logic.int])(*(made(logic, each) for each in tree))


@given(TREES, TREES)
def test_equal_terms_have_one_key_in_every_logic_and_others_another(one: Tree, two: Tree) -> None:
    first, second = Logic(), Logic()
    made(second, (two, one))  # What else was made before makes no difference.
    same = key([made(first, one)], ()) == key([made(second, two)], ())
    assert same == (one == two)
    assert (made(first, one) is made(first, two)) == (one == two)


def test_names_that_are_bound_inside_are_not_bound_again() -> None:
    """Z3 writes names as they are: an inner one alike would take the outer one's place."""
    logic = Logic()
    sort = logic.sort("A")
    related = logic.function("related", [sort, sort, logic.bool])
    one, other = logic.fresh("k", sort), logic.fresh("k", sort)

    def some(body: Term) -> Term:
        return logic.forall([one], logic.true, logic.exists([other], body))

    text = script(logic, [some(related(one, other))])
    assert "(related ?1 ?0)" in text
    assert key([some(related(one, other))], ()) != key([some(related(other, one))], ())


def test_what_was_shown_is_found_with_what_it_leaned_on(tmp_path: Path) -> None:
    logic = Logic()
    n = logic.fresh("n", logic.int)
    below, above = logic.less(n, logic.number(3)), logic.less(logic.number(4), n)
    named = {"below": below, "other": logic.less(n, logic.number(9))}
    with cache.kept_in(tmp_path):
        first, second = (ask(logic, [above], Effort().begin(), named) for _ in range(2))
        renamed = ask(logic, [above], Effort().begin(), {"under": below, "other": named["other"]})
    assert (first.used, first.cached) == (frozenset({"below"}), False)
    assert (second.used, second.cached) == (frozenset({"below"}), True)
    assert (renamed.used, renamed.cached) == (frozenset({"under"}), False)


def test_what_was_asked_in_another_way_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logic = Logic()
    n = logic.fresh("n", logic.int)
    facts = [logic.less(n, logic.number(3)), logic.less(logic.number(4), n)]
    with cache.kept_in(tmp_path):
        assert [ask(logic, facts, Effort().begin()).cached for _ in range(2)] == [False, True]
        monkeypatch.setattr(solve, "ASKED", "wrongly")
        assert [ask(logic, facts, Effort().begin()).cached for _ in range(2)] == [False, True]


def test_that_some_values_answer_is_kept_apart(tmp_path: Path) -> None:
    logic = Logic()
    n = logic.fresh("n", logic.int)
    few, many = [logic.less(n, logic.number(3))], [logic.less(logic.number(3), n)]
    note_possible(few)  # Nothing is kept here.
    with cache.kept_in(tmp_path):
        assert not known_possible(few)
        note_possible(few)
        assert known_possible(few)
        assert not known_possible(many)
        assert ask(logic, few, Effort().begin()).status == "sat"


def test_the_second_proof_seeks_no_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proved(Peterson, tmp_path)
    sought: list[tuple[object, ...]] = []

    def search(*asked: object) -> None:
        sought.append(asked)

    monkeypatch.setattr(Counterexamples, "search", search)
    again = proved(Peterson, tmp_path)
    assert sought == []
    assert {o.verdict.value for o in again.obligations} == {"proved"}


@pytest.mark.nightly
def test_the_command_says_what_was_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cache, "users", lambda: tmp_path)
    known = "21 of them from the cache"
    for more, is_known in (([], False), ([], True), (["--no-cache"], False)):
        assert main(["prove", "tests.classics.peterson", *more]) == 0
        assert (known in capsys.readouterr().out) == is_known
