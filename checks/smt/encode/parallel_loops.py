"""A loop over a set without a bound: all of its rounds at once.

This is possible if each round reads and writes the containers that the loop changes at its own
element only. Then rounds are independent, and the effect of one round on an arbitrary element is
the effect of the loop on every element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lawful.spec import ir
from lawful.spec.errors import a

from ..algebra.term import Term, occurs
from .conversion import as_term
from .iteration import bind
from .sorts import NotEncodable
from .symbolic import Elements, LocalValue, State, Unencodable, Value
from .trail import Trail


def at_once(run: Trail, s: ir.Loop, many: Elements, body: Callable[[], None]) -> None:
    """Execute the body for every element of the one row; raises NotEncodable where rounds may
    interfere."""
    logic, refused = run.logic, NotEncodable(f"a loop over {a(s.over.type)}, which has no bound")
    row = many.rows[0]
    if len(row.names) != 1 or row.value is not row.names[0]:
        raise refused
    element, before = row.names[0], dict(run.state)
    # Constants for the containers before the round: their occurrences show what the round reads.
    blank = {n: logic.fresh(n, held.shape) for n, held in _arrays(before)}
    run.state = {**before, **blank}
    went_on = _round(run, s, many, body)
    after, run.state = run.state, before
    changed = [n for n in after if after[n] is not blank.get(n, before[n])]
    if not went_on or not all(_only_at(after[n], blank.get(n), element) for n in changed):
        raise refused
    held = dict(_arrays(before))
    own = [(logic.read(blank[n], element), logic.read(held[n], element)) for n in changed]
    outside = [(blank[n], held[n]) for n in blank if n not in changed]
    for n in changed:
        value = logic.replace(logic.replace(logic.read(as_term(after[n]), element), own), outside)
        if any(occurs(blank[other], value) for other in changed):
            raise refused
        stays = logic.read(held[n], element)
        run.state[n] = logic.by_cases(element, logic.choose(row.when, value, stays))


def _round(run: Trail, s: ir.Loop, many: Elements, body: Callable[[], None]) -> bool:
    """Execute one round for an arbitrary element; returns whether it changes the state alone."""
    frame, kept = run.frame, dict(run.frame.locals)
    ways = len(frame.returns), len(frame.broken), len(frame.continued)
    extra, count = run.extra_key, len(run.laws)
    with run.inside(many.rows[0].when) as stops:
        bind(run, s.names, many.rows[0].value, many.item)
        body()
    local = [n for n in kept if n not in s.names and frame.locals[n][0] is not kept[n][0]]
    left = ways != (len(frame.returns), len(frame.broken), len(frame.continued))
    # Which element the last round was for is not known, nor whether there was a round.
    lost = {
        n: LocalValue(Unencodable(f"{n} after the loop"), frame.locals[n].type)
        for n in frame.locals.keys() - kept.keys()
    }
    frame.locals = {**kept, **lost}
    found = len(run.laws) > count
    return not (stops or local or left or found or run.extra_key is not extra)


def _arrays(state: State) -> Iterator[tuple[str, Term]]:
    for name, value in state.items():
        if isinstance(value, Term) and value.shape.of == "array":
            yield name, value


def _only_at(value: Value, blank: Term | None, element: Term) -> bool:
    """Whether the value differs from the container at the element only."""
    if not isinstance(value, Term) or blank is None or value is blank:
        return value is blank and blank is not None
    match value.op:
        case "store":
            below, at, _ = value.args
            return at is element and _only_at(below, blank, element)
        case "if":
            return all(_only_at(each, blank, element) for each in value.args[1:])
        case _:
            return False
