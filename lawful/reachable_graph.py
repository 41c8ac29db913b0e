"""The reachable states of a machine as the graph that `lawful draw --what graph` draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Event, Space
from lawful.checks.explore.state_graph import StateGraph, state_graph
from lawful.checks.explore.state_json import shown
from lawful.checks.reference.missing_values import NoValue
from lawful.checks.reference.states import State
from lawful.diagrams import state_space
from lawful.spec.text.reasons import text as value_text
from lawful.spec.values.world import encode

from .commands.errors import CommandError
from .targets import ScopedMachine


def text(machine: ScopedMachine, most: int) -> Callable[[int | None], str]:
    """The graph as DOT text for a resolution.

    Raises CommandError where there are more states than `most`: nobody could read the picture.
    """
    space = Space(machine.flat, machine.world)
    made = state_graph(space, Limits(states=most + 1))
    name = machine.cls.__name__
    if not made.found.complete or len(made.found.states) > most:
        raise CommandError(
            f"{name} has more than {most} states within its scope; give a smaller --scope, or "
            "more with --max-states"
        )
    nodes, arrows = [*_nodes(space, made)], [*_arrows(space, made)]
    return lambda dpi: state_space.text(name, nodes, arrows, dpi)


def _nodes(space: Space, made: StateGraph) -> Iterator[state_space.Node]:
    for number, state in enumerate(made.found.states):
        values = shown(space.machine, state, space.machine)
        lines = [f"{name} = {value_text(value)}" for name, value in values.items()]
        begins = made.found.before(number) < 0
        yield state_space.Node(lines, begins, [*_violated(space, state)])


def _violated(space: Space, state: State) -> Iterator[str]:
    for p in space.machine.of_kind("invariant"):
        try:
            if not space.holds(p, state):
                yield p.name
        except NoValue:
            yield p.name


def _arrows(space: Space, made: StateGraph) -> Iterator[state_space.Arrow]:
    for number, steps in enumerate(made.steps):
        events: dict[int, list[str]] = {}
        for event, after in steps:
            events.setdefault(after, []).append(_event(space, event))
        yield from (state_space.Arrow(number, after, rows) for after, rows in events.items())


def _event(space: Space, event: Event) -> str:
    row = space.rules[event[0]][1]
    args = zip(row.function.params, event[1], strict=True)
    return f"{row.name}({', '.join(value_text(encode(v, kind)) for (_, kind), v in args)})"
