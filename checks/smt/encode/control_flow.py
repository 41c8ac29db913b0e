"""Control flow: all branches and all exits of loops are executed, and their states merged."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

from lawful.spec import ir

from ..algebra.term import Term
from .conversion import merge
from .sorts import NotEncodable
from .symbolic import LocalValue, LoopExit, State, Unencodable, Value
from .trail import Trail

Locals = Mapping[str, LocalValue]


def choose(run: Trail, test: Term, then: Callable[[], None], other: Callable[[], None]) -> None:
    """Execute both branches, each under its condition, and merge state and locals."""
    logic, before, count = run.logic, run.path, len(run.stops)
    exits = _exits(run)
    state, names = dict(run.state), dict(run.frame.locals)
    run.path = logic.all((before, test))
    then()
    path, after, bound = run.path, run.state, run.frame.locals
    run.state, run.frame.locals = state, names
    run.path = logic.all((before, logic.negate(test)))
    other()
    if path is logic.false:
        return
    if run.path is logic.false:
        run.path, run.state, run.frame.locals = path, after, bound
        return
    run.path = logic.any((path, run.path))
    if len(run.stops) == count and _exits(run) == exits:
        run.path = before
    _merge_into(run, test, after, bound)


def leave(run: Trail, exits: list[LoopExit]) -> None:
    """End the execution here, and note the exit, from which `rejoined` goes on."""
    exits.append(LoopExit(run.path, dict(run.state), dict(run.frame.locals)))
    run.path = run.logic.false


@contextmanager
def rejoined(run: Trail, exits: list[LoopExit]) -> Generator[None]:
    """A block after which execution goes on from its end and from all its exits, merged."""
    kept = list(exits)
    exits.clear()
    yield
    for way in reversed(exits):
        _merge_into(run, way.when, way.state, way.locals)
        run.path = run.logic.any((way.when, run.path))
    exits[:] = kept


def join_states(
    run: Trail, test: Term, then: State, other: State, node: ir.Node
) -> dict[str, Value]:
    """The first state where the test is true, else the other one."""
    return {name: merge(run, test, then[name], value, node) for name, value in other.items()}


def _exits(run: Trail) -> tuple[int, int, int]:
    """The numbers of exits of the body and of its loops so far."""
    frame = run.frame
    return len(frame.returns), len(frame.broken), len(frame.continued)


def _merge_into(run: Trail, test: Term, state: State, bound: Locals) -> None:
    """Replace state and locals by these where the test is true."""
    node, own = run.frame.machine, run.frame.locals
    run.state = join_states(run, test, state, run.state, node)
    names = {name: _only_where(run, test, each) for name, each in bound.items()}
    otherwise = run.logic.negate(test)
    names.update((name, _only_where(run, otherwise, each)) for name, each in own.items())
    for name in bound.keys() & own.keys():
        (a, kind, _), (b, _, _), there = bound[name], own[name], None
        if bound[name].there is not None or own[name].there is not None:
            there = run.logic.choose(test, _there(run, bound[name]), _there(run, own[name]))
        try:
            value = merge(run, test, a, b, node)
        except NotEncodable as error:
            value = Unencodable(f"the local {name}: {error.construct}")
        names[name] = LocalValue(value, kind, there)
    run.frame.locals = names


def _there(run: Trail, local: LocalValue) -> Term:
    return run.logic.true if local.there is None else local.there


def _only_where(run: Trail, test: Term, local: LocalValue) -> LocalValue:
    """A local that only one of two ways assigns."""
    return local._replace(there=run.logic.all((test, _there(run, local))))
