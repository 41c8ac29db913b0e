"""Questions to Z3, and the models of its answers. `z3_terms` makes Z3's objects."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from ..algebra.logic import Logic
from ..algebra.term import Shape, Term, constants
from . import cache
from .budget import Budget
from .processes import exit_worker
from .z3_terms import Translation, renew, translation, z3

NO_NAMES: Mapping[str, Term] = {}
FAR = 1000  # This far beyond the numbers in a model, integers are indistinguishable.
SOON = 1_000_000  # Units of Z3's work for one value of a model.
LATE = 0.25  # Seconds between interrupts of a search that is over its outer limit, and
OFTEN = 40  # how many interrupts before the worker is ended.


# A part of each key: change it when answers of earlier versions may be wrong.
ASKED = "every pair of arrays apart at a place of its own"
COUNTS = "how many elements a set without a bound has is known in part"


@dataclass(frozen=True)
class Answer:
    """Whether some values make all facts true; `model` has such values.

    For `unsat`, `used` names the hypotheses in Z3's unsatisfiable core. `cached`: the answer is
    from an earlier run.
    """

    status: Literal["sat", "unsat", "unknown"]
    model: Model | None = None
    why: str = ""
    used: frozenset[str] = frozenset()
    cached: bool = False


def ask(
    logic: Logic, facts: Iterable[Term], budget: Budget, named: Mapping[str, Term] = NO_NAMES
) -> Answer:
    """Search values that make all facts true; the same question has the same answer."""
    facts = tuple(facts)
    known = answered(facts, named)
    if known is not None:
        return known
    if budget.expired:
        return Answer("unknown", why=budget.why(""))
    answer = Answer("unknown")
    sizes = tuple(logic.sizes((*facts, *named.values())))
    # Z3 decides more with preprocessing, and at times only without it.
    for make in (z3.Solver,) if named else (z3.Solver, z3.SimpleSolver):
        solver = _solver(logic, (*facts, *sizes), make)
        answer = _checked(logic, solver, named, budget)
        if answer.status == "sat" and sizes:
            return Answer("unknown", why=COUNTS)  # The facts about sizes are incomplete.
        if answer.status != "unknown" or budget.over:
            break
    if answer.status == "unsat":
        cache.note(key((*facts, *named.values()), named), answer.used)
    return answer


def _checked(logic: Logic, solver: Any, named: Mapping[str, Term], budget: Budget) -> Answer:
    made = translation(logic)
    solver.set(random_seed=0)
    for name, fact in named.items():
        solver.assert_and_track(made(fact), name)
    try:
        with limited(solver, budget):
            result = solver.check()
    except z3.Z3Exception as error:
        renew(logic)
        return Answer("unknown", why=budget.why(str(error)))
    if result == z3.unsat:
        return Answer("unsat", used=frozenset(str(name) for name in solver.unsat_core()))
    if result == z3.sat:
        return Answer("sat", Model(logic, made, solver.model()))
    why = budget.why(str(solver.reason_unknown()))
    renew(logic)
    return Answer("unknown", why=why)


@contextmanager
def limited(solver: Any, budget: Budget) -> Generator[None]:
    """A block in which the solver's search is limited to the budget, which is charged.

    Z3 at times forgets an interrupt in a search within its search. So the outer limit interrupts it
    again and again, and at last ends the process if it is a worker.
    """
    over, interrupted = threading.Event(), threading.Event()
    solver.set(rlimit=budget.rlimit)

    def watch() -> None:
        if over.wait(max(0.0, budget.rest)):
            return
        budget.strike()
        interrupted.set()
        for _ in range(OFTEN):
            solver.ctx.interrupt()
            if over.wait(LATE):
                return
        exit_worker()

    before = _units(solver)
    watcher = threading.Thread(target=watch, name="lawful outer limit", daemon=True)
    if budget.rest < threading.TIMEOUT_MAX:
        watcher.start()
    try:
        yield
    finally:
        over.set()
        if watcher.ident is not None:
            watcher.join()
        if interrupted.is_set():
            _resume(solver)
        budget.spend(_units(solver) - before)


def _resume(solver: Any) -> None:
    """Make the solver's context usable after an interrupt."""
    with suppress(z3.Z3Exception):
        z3.SimpleSolver(ctx=solver.ctx).check()


def _units(solver: Any) -> int:
    """The units of work that Z3 has counted in the solver's context so far."""
    if isinstance(solver, z3.Fixedpoint):  # A fixed-point engine counts its own queries only.
        solver = z3.SimpleSolver(ctx=solver.ctx)
    return int(solver.statistics().get_key_value("rlimit count"))


def answered(facts: Iterable[Term], named: Mapping[str, Term]) -> Answer | None:
    """The answer in the cache; None where it has none."""
    used = cache.shown(key((*facts, *named.values()), named))
    return None if used is None else Answer("unsat", used=used, cached=True)


def _solver(logic: Logic, facts: Iterable[Term], make: Any = z3.Solver) -> Any:
    """A solver with these facts."""
    made = translation(logic)
    solver = make(ctx=made.context)
    for fact in facts:
        solver.add(made(fact))
    return solver


def key(facts: Iterable[Term], about: Iterable[str]) -> str:
    """The hash that names a question: the same in every process."""
    settings = "\0".join((z3.get_full_version(), ASKED, *about)).encode()
    return hashlib.sha256(settings + b"\0" + b"".join(fact.digest for fact in facts)).hexdigest()


POSSIBLE = ("some values",)  # For these questions the cache keeps only that they are satisfiable.


def known_possible(facts: Iterable[Term]) -> bool:
    """Whether the cache says that some values make all facts true."""
    about = key(facts, POSSIBLE)
    return cache.shown(about) is not None


def note_possible(facts: Iterable[Term]) -> None:
    """Write to the cache that some values make all facts true."""
    about = key(facts, POSSIBLE)
    cache.note(about, frozenset())


def preferred_model(
    logic: Logic, facts: Iterable[Term], preferences: Iterable[Sequence[Term]], budget: Budget
) -> Answer:
    """Values that make all facts true and, one after the other, as many preferences as can be met.

    Of each preference the first term that can be true counts. Returns the best model so far where
    the budget ends.
    """
    if budget.expired:
        return Answer("unknown", why=budget.why(""))
    made, solver = translation(logic), _solver(logic, facts)
    solver.set(random_seed=0)

    def met() -> Any:
        try:
            with limited(solver, budget):
                return solver.check()
        except z3.Z3Exception:
            return z3.unknown

    result = met()
    if result != z3.sat:
        why = budget.why(str(solver.reason_unknown()))
        renew(logic)
        return Answer("unknown", why=why)
    model = solver.model()
    for wish in preferences:
        for term in wish:
            if result == z3.unknown or budget.over:
                break
            wanted = made(term)
            solver.push()
            solver.add(wanted)
            if z3.is_true(model.eval(wanted, model_completion=True)):
                break
            result = met()
            if result == z3.sat:
                model = solver.model()
                break
            solver.pop()
    if result == z3.unknown:
        renew(logic)
    return Answer("sat", Model(logic, made, model))


Terms = tuple[Term, ...]


@dataclass(frozen=True)
class Horn:
    """Rules for reachable states: `state` names a state's values; each rule has facts, the state
    before, None at a start, and the state after."""

    state: Terms
    rules: tuple[tuple[Terms, Terms | None, Terms], ...]


def reach(logic: Logic, horn: Horn, bad: tuple[Sequence[Term], Term], budget: Budget) -> Answer:
    """Whether one of the first terms can be true, or the second in a reachable state."""
    if logic.counts:
        return Answer("unknown", why=COUNTS)
    if budget.expired:
        return Answer("unknown", why=budget.why(""))
    made = translation(logic)
    solver = z3.Fixedpoint(ctx=made.context)
    solver.set(engine="spacer")
    shapes = [z3.BoolSort(made.context)]
    reached = z3.Function("reached", *(made.shape(term.shape) for term in horn.state), *shapes)
    wrong = z3.Function("wrong", *shapes)
    solver.register_relation(reached, wrong)
    starts, reaching = bad
    at = [(tuple(map(made, after)), before, facts) for facts, before, after in horn.rules]
    rules = [
        (reached(*after), [*map(made, facts), *([reached(*map(made, b))] if b else [])])
        for after, b, facts in at
    ]
    rules += [(wrong(), [made(start)]) for start in starts]
    rules.append((wrong(), [reached(*map(made, horn.state)), made(reaching)]))
    terms = [(*facts, *(before or ()), *after) for facts, before, after in horn.rules]
    for constant in dict.fromkeys(chain(*map(constants, chain(*terms, starts, (reaching,))))):
        solver.declare_var(made(constant))
    try:
        for head, body in rules:
            solver.rule(head, list(body))
        with limited(solver, budget):
            result = solver.query(wrong())
    except z3.Z3Exception as error:
        renew(logic)
        return Answer("unknown", why=budget.why(str(error)))
    if result == z3.unknown:
        renew(logic)
        # Its reason is bytes: a line, then the rule at which it stopped.
        why = str(solver.reason_unknown()).removeprefix("b").strip("'\"")
        return Answer("unknown", why=budget.why(why.split("\\n")[0].rstrip(":")))
    return Answer("sat" if result == z3.sat else "unsat")


def script(logic: Logic, facts: Iterable[Term]) -> str:
    """The question whether some values make all facts true, in SMT-LIB 2.6."""
    facts = tuple(facts)
    solver = _solver(logic, (*facts, *logic.sizes(facts)))
    # A quoted symbol of the standard has no bars inside; Z3 escapes those of union types.
    return "(set-logic ALL)\n" + str(solver.to_smt2()).replace(r"\|", "/")


class Undecided(Exception):
    """The model does not give a value, as where that depends on a quantifier."""


class Model:
    """Values for all constants; constants that the question did not need get any value."""

    def __init__(self, logic: Logic, made: Translation, model: Any) -> None:
        self._logic = logic
        self._made = made
        self._model = model
        self._numbers: dict[str, dict[str, int]] = {}

    def truth(self, term: Term) -> bool:
        """The value of a condition.

        Where evaluation leaves it open (a quantifier, equality of two sets) it is true if Z3 soon
        proves it.
        """
        value = self._value(term)
        if z3.is_true(value) or z3.is_false(value):
            return bool(z3.is_true(value))
        solver = z3.Solver(ctx=value.ctx)
        solver.set(rlimit=SOON)
        solver.add(z3.Not(value))
        return bool(solver.check() == z3.unsat)

    def integer(self, term: Term) -> int:
        """The value of an integer term; raises Undecided."""
        value = self._value(term)
        if not z3.is_int_value(value):
            raise Undecided
        return int(value.as_long())

    def real(self, term: Term) -> float:
        """The value of a real term, rounded to a float."""
        value = self._value(term)
        if z3.is_algebraic_value(value):
            value = value.approx(20)
        return float(value.as_fraction())

    def variant(self, term: Term) -> int:
        """Which variant of its datatype the value is; raises Undecided."""
        value = self._value(term)
        sort = value.sort()
        names = [sort.constructor(i) for i in range(sort.num_constructors())]
        found = next((i for i, c in enumerate(names) if c.eq(value.decl())), None)
        if found is None:
            raise Undecided
        return found

    def number(self, term: Term) -> int:
        """A number for a value of an uninterpreted sort: equal values have equal numbers."""
        value = self._value(term)
        known = self._numbers.setdefault(str(value.sort()), {})
        return known.setdefault(str(value), len(known))

    def mentioned(self, array: Term, shape: Shape) -> list[Term]:
        """The values of this shape that occur in the array's own value."""
        values = self._mentioned(self._value(array), self._made.shape(shape))
        return self._terms(values, shape)

    def _terms(self, values: Iterable[Any], shape: Shape) -> list[Term]:
        found = {str(v): self._made.known(v, shape, self._logic) for v in values}
        return [value for _, value in sorted(found.items())]

    def integers(self, array: Term) -> list[int]:
        """Integers at which an array may differ from its default, and their neighbours."""
        values = self._mentioned(self._value(array), self._made.shape(self._logic.int))
        found = {int(value.as_long()) for value in values} | {0}
        return sorted({i + d for i in found for d in (-1, 0, 1)})

    def elements(self, shape: Shape) -> list[Term]:
        """The elements of an uninterpreted sort in this model."""
        some = self._value(self._logic.fresh("some", shape))
        rest = self._model.get_universe(self._made.shape(shape)) or ()
        return self._terms((some, *rest), shape)

    def _mentioned(self, value: Any, shape: Any) -> Iterable[Any]:
        seen: set[int] = set()
        stack = [value]
        while stack:
            each = stack.pop()
            if each.get_id() in seen:
                continue
            seen.add(each.get_id())
            if each.sort() == shape and self._ground(each):
                yield each
            stack.extend(each.children())
            if z3.is_as_array(each):
                stack.extend(self._entries(z3.get_as_array_func(each)))

    def _entries(self, function: Any) -> list[Any]:
        interp = self._model[function]
        rows = [interp.entry(i) for i in range(interp.num_entries())]
        return [
            *(row.arg_value(0) for row in rows),
            *(row.value() for row in rows),
            interp.else_value(),
        ]

    def _ground(self, value: Any) -> bool:
        if z3.is_var(value) or z3.is_quantifier(value):
            return False
        if value.num_args() == 0:
            return bool(z3.is_int_value(value) or value.sort().kind() != z3.Z3_INT_SORT)
        constructed = z3.is_app_of(value, z3.Z3_OP_DT_CONSTRUCTOR)
        written = z3.is_store(value) or z3.is_const_array(value)  # A set that is a key of another.
        return bool((constructed or written) and all(map(self._ground, value.children())))

    def _value(self, term: Term) -> Any:
        return self._model.eval(self._made(term), model_completion=True)
