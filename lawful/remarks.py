"""What a declaration has that no engine heeds, although its author may think so."""

from __future__ import annotations

from collections.abc import Iterator

from lawful.runtime.instance import Machine
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.control_variable import control_variable
from lawful.spec.analysis.walk import everything
from lawful.spec.resolve import resolve
from lawful.spec.syntax.declare import declared

# Names by which other libraries of state machines find what they call: of states, of events.
OF_STATES = ("on_enter_", "on_exit_")
OF_EVENTS = ("before_", "after_", "on_")


def uncalled(cls: type[Machine]) -> Iterator[str]:
    """A sentence about each plain method whose name is that of a callback of a state or an event.

    No step runs it, unless a transition calls it. Raises `DeclarationError`.
    """
    machine = resolve(cls).machine
    held = control_variable(machine)
    kind = None if held is None else held.type
    states = set(kind.members) if isinstance(kind, t.Enum) else set[str]()
    events = {row.name for row in machine.events} | {row.name for row in machine.transitions}
    used = _called(machine)
    for method in declared(cls).tree.methods:
        about = _callback_of(method.name, states, events)
        if about and not method.decorators and method.name not in used:
            yield (
                f"{method.place}: no step of {cls.__name__} calls {method.name}, which is named "
                f"like a callback of {about}"
            )


def _called(machine: ir.Machine) -> set[str]:
    """The names of the methods that steps and properties run, also through other methods."""
    steps = [row.function for row in (*machine.transitions, *machine.bases)]
    waiting = [*machine.initials, *steps, *(p.function for p in machine.properties)]
    helpers = {f.name: f for f in machine.functions}
    out: set[str] = set()
    while waiting:
        for node in everything(waiting.pop().body):
            if isinstance(node, ir.Call) and node.function not in out:
                out.add(node.function)
                waiting += [helpers[node.function]] if node.function in helpers else []
    return out


def _callback_of(name: str, states: set[str], events: set[str]) -> str:
    """The state or event to which a callback of this name would belong, and what to do; empty for
    a name that is like none."""
    for kind, prefixes, known in (("state", OF_STATES, states), ("event", OF_EVENTS, events)):
        rests = [name.removeprefix(prefix) for prefix in prefixes if name.startswith(prefix)]
        for each in sorted(known):
            if each.lower() in (rest.lower() for rest in rests):
                return f"the {kind} {each}; a transition may call it"
    for prefix in OF_STATES:
        state = name.removeprefix(prefix)
        if name.startswith(prefix) and state:
            said = f"its states are {', '.join(sorted(states))}" if states else "it has no states"
            return f"a state {state}, which the machine does not have: {said}"
    return ""
