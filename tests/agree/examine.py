"""One generated module from its seed to its differences; what shards do, and the nightly run."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from lawful.checks.smt.solver.processes import map_in_order
from lawful.spec import ir
from lawful.spec.errors import DeclarationError
from tests.agree import packing, planning, searching, walking
from tests.agree.engines import Engines
from tests.agree.exprs import Dead
from tests.agree.hits import Hits
from tests.agree.kinds import NESTINGS
from tests.agree.machines import Module
from tests.agree.replaying import Replaying, ways
from tests.spec import texts
from tests.spec.lower.stages import broken

HEAD = texts.HEAD.replace("Interval, MaxLen", "Gt, Interval, MaxLen")
SOLVED = 6  # Z3 judges one machine of so many.


def text_of(rng: Random, nesting: tuple[str, str] | None = None) -> str:
    """The text of a module, which begins after the usual imports."""
    for _ in range(100):
        try:
            return Module(rng, nesting).text()
        except Dead:
            continue
    raise AssertionError("nothing that can be written comes of this generator")


def seeded(seed: int) -> str:
    """The module of a seed; of consecutive seeds each has another nesting of two types."""
    return text_of(Random(f"module {seed}"), NESTINGS[seed % len(NESTINGS)])


def examine(
    text: str,
    rng: Random,
    hits: Hits,
    folder: Path,
    *,
    solved: bool = False,
    packed: int = packing.STATES,
) -> list[str]:
    """What the engines disagree about in one module; a refused one is counted by its numbers.

    `packed` states are compared with the steps of the fast engine.
    """
    hits.add("total", "modules")
    try:
        engines = Engines(texts.machine(text, HEAD), rng, hits)
    except DeclarationError as error:
        hits.add("total", "refused")
        for problem in error.problems:
            hits.add("refusal", problem.number)
        return []
    except ValueError as error:  # Python makes the part where its whole declares it.
        assert "the assumption" in str(error), error
        hits.add("kept aside", "no instance can be made")
        return []
    finally:
        forget()
    if engines.declared is None:
        hits.add("kept aside", "no instance can be made")
        return []
    hits.add("total", "machines")
    hits.machine(engines.machine)
    hits.methods(engines.running.cls.lawful.plan)
    loaded = engines.loads()
    found = engines.run() or _more(engines, loaded, rng, folder, packed)
    if solved and not found:
        # In a process of its own, which Z3 ends at times where its time is over.
        told, found = map_in_order(partial(_solved, rng), _ended, [engines], 2)[0]
        hits.take(told.rows.items())
    return found


def _ended(_engines: Engines, how: str) -> tuple[Hits, list[str]]:
    hits = Hits()
    hits.add("kept aside", f"Z3 ended its process ({how})")
    return hits, []


STAY: set[str] = set()  # Modules that other tests hold, which were imported to collect them.


def forget() -> None:
    """Modules of this run are many; none is imported twice."""
    if not STAY:
        STAY.update(sys.modules)
    for name in [n for n in sys.modules if n.startswith("declared_") and n not in STAY][:-4]:
        del sys.modules[name]


def _more(
    engines: Engines, loaded: ir.Machine, rng: Random, folder: Path, packed: int
) -> list[str]:
    """Plans and replay."""
    hits = engines.hits
    states = [engines.state() for _ in range(2)]
    found: list[str] = []
    space = planning.space(engines.resolved)
    if space is None:
        hits.add("total", "machines without a scope")
    else:
        found += broken(space.flat)
        found += planning.differences(engines.resolved, space, states, hits)
        found += packing.differences(space, hits, packed)
        searching.search(space, hits)
        found += walking.walk(space, hits)
    replaying = Replaying(engines.running, loaded, rng, hits)
    replaying.open(folder / "journal.jsonl")
    for state in states:
        for name in ways(engines.resolved.machine):
            replaying.take(state, name, engines.args(_params(engines, name)))
    return found + replaying.differences()


def _params(engines: Engines, name: str) -> tuple[Any, ...]:
    events = {e.name: e.params for e in engines.machine.events}
    rows = {row.name: row.function.params for row in engines.machine.transitions}
    return events.get(name) or rows.get(name, ())


def _solved(rng: Random, engines: Engines) -> tuple[Hits, list[str]]:
    """The Z3 step in two states for each transition: what it met, and what differs."""
    from tests.agree.solving import Solving

    hits = engines.hits = Hits()
    hits.add("total", "machines in Z3")
    solving = Solving(engines.running.cls, hits)
    for row in engines.machine.transitions:
        for late in (False, True):
            state = engines.state()
            args = dict(
                zip(
                    (n for n, _ in row.function.params),
                    engines.args(row.function.params),
                    strict=True,
                )
            )
            found = solving.judged(row, state, args, late)
            if found is not None:
                return hits, [found]
    return hits, []


def mutated(text: str, rng: Random) -> str:
    """The module with one thing in it exchanged for another of its kind."""
    start = text.index("LIMIT = 2")
    words = [m for m in re.finditer(r"[A-Za-z_]\w*|\d+|[-+*/%<>=|&^]+", text) if m.start() > start]
    one = rng.choice(words)
    other = rng.choice(words).group()
    if rng.random() < 0.3:
        other = rng.choice(("None", "True", "state", "self", "print", "lambda x: x", "yield", ""))
    return text[: one.start()] + other + text[one.end() :]


def refused(text: str, hits: Hits) -> str | None:
    """Counts why a module is refused; what is wrong where it fails in another way."""
    try:
        Engines(texts.machine(text, HEAD), Random(0), hits)
    except DeclarationError as error:
        hits.add("total", "refused mutations")
        for problem in error.problems:
            hits.add("refusal", problem.number)
    except (SyntaxError, NameError):
        hits.add("total", "mutations that are no Python")
    except Exception as error:
        if "the assumption" in str(error):  # Python makes a part that cannot be made.
            hits.add("total", "mutations that are no Python")
            return None
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = "" if trace is None else trace.tb_frame.f_code.co_filename
        if str(texts.FOLDER) in where or "lawful" not in where:
            hits.add("total", "mutations that are no Python")
        else:
            return f"{error!r} at {where}"
    else:
        hits.add("total", "accepted mutations")
    finally:
        forget()
    return None
