"""A search ends when its time is over, whether Z3 thinks of it or not."""

from __future__ import annotations

import threading

from lawful.checks.logic import Logic
from lawful.checks.solve import ask, limited
from lawful.checks.translate import translation, z3

LOGIC = Logic()
X, Y, Z = (LOGIC.const(name, LOGIC.int) for name in "xyz")
CUBES = LOGIC.add(*(LOGIC.times(LOGIC.times(v, v), v) for v in (X, Y, Z)))
HARD = LOGIC.equal(CUBES, LOGIC.number(114))  # Nobody knows of any.
NEVER = 2**32 - 1  # Z3's own limit, in milliseconds, where there is none.


def test_a_search_that_forgets_its_limit_is_interrupted() -> None:
    made = translation(LOGIC)
    solver = z3.Solver(ctx=made.context)
    solver.add(made(HARD))
    with limited(solver, 0.05):
        solver.set(timeout=NEVER)
        assert solver.check() == z3.unknown
    assert "lawful time limit" not in {thread.name for thread in threading.enumerate()}


def test_the_next_search_knows_nothing_of_it() -> None:
    assert ask(LOGIC, [HARD], 0.05).status == "unknown"
    assert ask(LOGIC, [LOGIC.equal(X, LOGIC.number(3))], 60.0).status == "sat"
