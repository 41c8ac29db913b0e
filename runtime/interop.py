"""From `transitions`: an existing `transitions.Machine` as the text of a declaration.

    found = from_transitions(machine)
    found.problems                          # what is wrong in it already
    Path("imported.py").write_text(found.text)

The text is there to be read, checked, drawn and gone on with. What the machine calls stays opaque:
a condition is a parameter of its event, true or false; other callbacks are named in docstrings. Of
the rows for one trigger and state transitions takes the first whose conditions hold, so a later
one says that the earlier ones do not.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

HEAD = '''"""Imported from a transitions.Machine; conditions are opaque: parameters of events."""

from lawful import {names}


class Place(State):
    """Where a model is."""

{states}


class Imported(Machine):
    """Its triggers as events."""

    state: Place = Place.{initial}
'''
CALLBACKS = ("prepare", "before", "after")


@dataclass(frozen=True)
class Imported:
    """The text of a declaration, and what was found to be wrong in the machine."""

    text: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class _Row:
    """A transition of a trigger from one state; `conditions` are (name, wanted)."""

    trigger: str
    source: str
    dest: str | None
    conditions: tuple[tuple[str, bool], ...]
    callbacks: tuple[str, ...]
    known: bool


def from_transitions(machine: Any) -> Imported:
    """The declaration of a flat `transitions.Machine`, and its problems: rows to unknown states,
    rows that are never reached behind others, triggers that a model's own attribute hides, and
    callbacks that no model has.

    Errors: ValueError for nested states, for one without an initial state, and for names that no
    declaration can have.
    """
    if any(hasattr(state, "states") for state in machine.states.values()):
        raise ValueError("its states are nested: only flat machines are imported")
    states = {name: _member(name) for name in machine.states}
    if machine.initial not in states:
        raise ValueError("it has no initial state")
    if len(set(states.values())) < len(states):
        raise ValueError(f"two of its states have one name here: {', '.join(states)}")
    rows = list(_rows(machine))
    final = [name for name, state in machine.states.items() if getattr(state, "final", False)]
    names = ["Machine", "State", "event", "require", "transition", *(["terminal"] if final else [])]
    text = HEAD.format(
        names=", ".join(sorted(names)), initial=states[machine.initial],
        states="\n".join(f"    {member} = {name!r}" for name, member in states.items()),
    )
    for trigger in dict.fromkeys(row.trigger for row in rows):
        text += _event([row for row in rows if row.trigger == trigger], states)
    if final:
        places = "".join(f"Place.{states[name]}, " for name in final)
        text += "\n    @terminal\n    def final(self) -> bool:\n"
        text += f"        return self.state in ({places})\n"
    return Imported(text, tuple(_problems(machine, rows)))


def _member(name: str) -> str:
    return re.sub(r"\W", "_", name).upper() if name[:1].isalpha() else f"S_{name}"


def _rows(machine: Any) -> Iterator[_Row]:
    """The transitions of all triggers but the automatic `to_STATE`, in the order of trying."""
    for trigger, event in machine.events.items():
        if machine.auto_transitions and trigger.removeprefix("to_") in machine.states:
            continue
        if not trigger.isidentifier() or keyword.iskeyword(trigger) or trigger.startswith("_"):
            raise ValueError(f"no event can be called {trigger}")
        for source, several in event.transitions.items():
            for each in several:
                conditions = tuple((_name(c.func), bool(c.target)) for c in each.conditions)
                callbacks = tuple(
                    f"{kind}: {_name(func)}" for kind in CALLBACKS for func in getattr(each, kind)
                )
                known = each.dest is None or each.dest in machine.states
                yield _Row(trigger, source, each.dest, conditions, callbacks, known)


def _name(func: Any) -> str:
    name = func if isinstance(func, str) else getattr(func, "__name__", type(func).__name__)
    return re.sub(r"\W", "_", name)


def _event(rows: Sequence[_Row], states: dict[str, str]) -> str:
    """The event of a trigger, and a transition for each of its rows that leads somewhere."""
    names = dict.fromkeys(name for row in rows for name, _ in row.conditions)
    params = "".join(f", {name}: bool" for name in names)
    trigger = rows[0].trigger
    text = f"\n    @event\n    def {trigger}(self{params}) -> None: ...\n"
    for number, row in enumerate(rows, 1):
        earlier = [each for each in rows[: number - 1] if each.source == row.source]
        if not row.known or not all(each.conditions for each in earlier):
            continue
        target = "" if row.dest is None else f", target=Place.{states[row.dest]}"
        text += f"\n    @transition(event={trigger!r}, source=Place.{states[row.source]}{target})\n"
        text += f"    def {trigger}_{number}(self{params}) -> None:\n"
        said = "; ".join(row.callbacks)
        text += f'        """{said or "No callbacks"}."""\n'
        for name, wanted in row.conditions:
            text += f"        require({'' if wanted else 'not '}{name}, {name!r})\n"
        for each in earlier:
            held = " and ".join(f"{'' if w else 'not '}{name}" for name, w in each.conditions)
            text += f'        require(not ({held}), "an earlier row is taken")\n'
    return text


def _problems(machine: Any, rows: Sequence[_Row]) -> Iterator[str]:
    for number, row in enumerate(rows):
        if not row.known:
            yield f"{row.trigger} from {row.source} leads to {row.dest}, which is no state"
        for each in rows[:number]:
            same = (each.trigger, each.source) == (row.trigger, row.source)
            if same and set(each.conditions) <= set(row.conditions):
                yield (
                    f"{row.trigger} from {row.source} to {row.dest} is never reached: one before"
                    f" it, to {each.dest}, is taken whenever it could be"
                )
                break
    for model in machine.models:
        kind = type(model).__name__
        for trigger in dict.fromkeys(row.trigger for row in rows):
            if not isinstance(getattr(model, trigger, None), partial):
                yield f"{trigger} is no trigger of {kind}, which has its own {trigger}"
        for where, name in _called(machine):
            if not hasattr(model, name) and "." not in name:
                yield f"{where} calls {name}, which {kind} does not have"


def _called(machine: Any) -> Iterator[tuple[str, str]]:
    """Where callbacks are called by name, and the names."""
    for name, state in machine.states.items():
        for kind in ("on_enter", "on_exit"):
            funcs = getattr(state, kind)
            yield from ((f"{kind} of {name}", func) for func in funcs if isinstance(func, str))
    for trigger, event in machine.events.items():
        for each in (row for several in event.transitions.values() for row in several):
            funcs = [*(c.func for c in each.conditions)]
            funcs += [func for kind in CALLBACKS for func in getattr(each, kind)]
            where = f"{trigger} from {each.source}"
            yield from ((where, func) for func in funcs if isinstance(func, str))
