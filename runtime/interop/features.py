"""Features of a `transitions.Machine` that a declaration of its rows does not have.

They are features of states, and classes of states, rows, triggers or machines that do more than
those of transitions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .names import name_of
from .nested import every_state
from .retries import has_retry, retry_of
from .timeouts import state_features, timeout_of

KNOWN = ("transitions", "lawful")  # Packages whose classes do what their rows say.
# By what the classes of a machine decide, or do when a state is entered and left.
STATE_METHODS = ("enter", "exit")
ROW_METHODS = ("execute", "_eval_conditions", "_change_state")
EVENT_METHODS = ("trigger", "_trigger", "_process")
CONDITION_METHODS = ("check",)
MACHINE_METHODS = (
    "callback",
    "callbacks",
    "resolve_callable",
    "set_state",
    "get_state",
    "get_model_state",
    "_get_trigger",
    "_process",
)
LOCKS = ("transitions", "threading", "_thread")  # Modules whose contexts do nothing but wait.


def features(machine: Any) -> Iterator[str]:
    """Each of them, a sentence."""
    kind: type[Any] = machine.__class__
    if any(base.__name__ == "AsyncMachine" for base in kind.__mro__):
        yield (
            f"{kind.__name__} is asynchronous: an event can be cancelled between its callbacks,"
            " which no step of the declaration is"
        )
    yield from _overridden(f"{kind.__name__}, the machine,", [machine], MACHINE_METHODS)
    for context in _contexts(machine):
        around = f"{kind.__name__} enters {context} around its events"
        yield f"{around}, which the declaration does not do"
    for name, state in every_state(machine).items():
        yield from _of_state(machine, name, state)
    for trigger, event in machine.events.items():
        rows: list[Any] = [row for several in event.transitions.values() for row in several]
        if not rows:
            yield f"{trigger} is a trigger without any row: the declaration does not have it"
        conditions = [each for row in rows for each in row.conditions]
        yield from _overridden(trigger, [event], EVENT_METHODS)
        yield from _overridden(f"{trigger}, in its rows,", rows, ROW_METHODS)
        yield from _overridden(f"{trigger}, in its conditions,", conditions, CONDITION_METHODS)


def _contexts(machine: Any) -> Iterator[str]:
    """The names of the classes of contexts, but of locks, that a `LockedMachine` has."""
    of_models: Mapping[int, list[Any]] = getattr(machine, "model_context_map", {})
    every = [*getattr(machine, "machine_context", ()), *itertools.chain(*of_models.values())]
    for cls in dict.fromkeys(each.__class__ for each in every):
        if cls.__module__.partition(".")[0] not in LOCKS:
            yield cls.__name__


def tags(state: Any) -> tuple[str, ...]:
    """The tags of a state."""
    return tuple(map(str, getattr(state, "tags", ())))


def accepted_ends(machine: Any) -> dict[str, bool]:
    """The states with the feature `Error` and without a way out, and whether each is accepted; if
    it is not, transitions raises a MachineError when the state is entered."""
    return {
        name: "accepted" in state.tags
        for name, state in machine.states.items()
        if "Error" in state_features(state) and not machine.get_triggers(name)
    }


def calls(state: Any) -> dict[str, list[Any]]:
    """The callbacks of a state's features, by the time at which they run."""
    found: dict[str, list[Any]] = {}
    kinds = [kind for kind in state.dynamic_methods if kind not in ("on_enter", "on_exit")]
    for kind in (*sorted(kinds), "on_failure"):
        given: Any = getattr(state, kind, None)
        if given:
            found[kind] = [given] if isinstance(given, str) or callable(given) else list(given)
    return found


def _of_state(machine: Any, name: str, state: Any) -> Iterator[str]:
    known = state_features(state)
    for feature, described in DESCRIPTIONS.items():
        text = described(machine, name, state) if feature in known else ""
        if text:
            yield f"{text}, which the declaration does not do"
    yield from _overridden(f"{name}, a state,", [state], STATE_METHODS)


def _timeout(machine: Any, name: str, state: Any) -> str:
    timeout = timeout_of(machine, state)
    if timeout is None or not timeout.later:
        return ""
    first, later = timeout.trigger, ", ".join(timeout.later)
    return (
        f"{name} has a Timeout: after {first} it triggers {later} in the state that is then reached"
    )


def _retry(machine: Any, name: str, state: Any) -> str:
    if not has_retry(state) or retry_of(machine, name, state) is not None:
        return ""
    often = f"{name} has a Retry: entered from itself more than {state.retries} times"
    return f"{often}, it calls {_named([state.on_failure])} in the place of on_enter"


def _volatile(_machine: Any, name: str, state: Any) -> str:
    made = f"{state.volatile_hook} is a new {state.volatile_cls.__name__}"
    return f"{name} is Volatile: while a model is there, its {made}"


DESCRIPTIONS: Mapping[str, Callable[[Any, str, Any], str]] = {
    "Timeout": _timeout,
    "AsyncTimeout": _timeout,
    "Retry": _retry,
    "Volatile": _volatile,
}


def _named(funcs: Iterable[Any]) -> str:
    return ", ".join(map(name_of, funcs))


def _overridden(what: str, several: Iterable[Any], methods: Sequence[str]) -> Iterator[str]:
    """Methods that objects or their classes have of their own, in the place of those of
    transitions; each is told once."""
    owners = {(m, _owner(each, m)) for each in several for m in methods}
    for method, owner in sorted(owners, key=lambda row: (methods.index(row[0]), row[1])):
        if owner:
            yield f"{what} has its own {method} ({owner}), which the declaration does not do"


def _owner(of: Any, method: str) -> str:
    """Whose method an object has: the name of a class, "" for one of transitions."""
    if method in getattr(of, "__dict__", {}):
        return "an attribute"
    cls: type[Any] = of.__class__
    owner = next((base for base in cls.__mro__ if method in vars(base)), None)
    known = owner is None or owner.__module__.partition(".")[0] in KNOWN
    return "" if owner is None or known else owner.__name__
