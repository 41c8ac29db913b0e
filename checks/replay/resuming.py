"""The state in which a replay goes on after a row that does not fit the machine.

A row of a journal tells the state after it, as whole or as what changed. A foreign row tells none.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lawful.runtime.instances.container_changes import is_change
from lawful.spec import ir
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json

from ..reference.states import State, freeze, thaw
from .deviations import Deviation, Inconclusive, Malformed
from .difference import hidden
from .row_step import Stepper
from .rows import WHOLE, Absent, Row
from .told_containers import changed, key_of_parts, parts_changed

Policy = Literal["resync", "skip", "force", "stop"]
POLICIES: tuple[Policy, ...] = ("resync", "skip", "force", "stop")


@dataclass(frozen=True, slots=True)
class Resumed:
    """A state to go on from.

    `whole`: the row tells all of it. Otherwise it is as certain as the state before the row, or not
    even that.
    """

    state: State
    certain: bool = True
    whole: bool = False


def after_deviation(
    stepper: Stepper, policy: Policy, state: State | None, row: Row, error: Deviation
) -> Resumed | None:
    """The state after a row that deviates; None where there is none.

    `resync`: what the row tells. Where it tells nothing, the machine's state after the event, and
    where the machine does not do the event, the state before. `skip`: the state before. `force`:
    the machine's state after the event, or else the control state to which the event leads.
    """
    kept = None if state is None else Resumed(state)
    if policy == "skip" and kept is not None:
        return kept
    if policy == "force" and state is not None:
        return Resumed(error.after if error.after is not None else _forced(stepper, state, row))
    after = kept if error.after is None else Resumed(error.after)
    return told(stepper, state, row, error.after) or after


def told(
    stepper: Stepper, state: State | None, row: Row, machines: State | None = None
) -> Resumed | None:
    """The state after a row, as the row tells it; None where the row does not tell it.

    A value that the journal hides is taken from `machines`, the machine's state after the event, or
    else from `state`; then the result is not certain.
    """
    if row.observed and state is not None:
        return _seen(stepper, state if machines is None else machines, row.observed)
    if isinstance(row.changed, Absent) or (state is None and row.outcome not in WHOLE):
        return None
    try:
        base = stepper.made(row) if state is None or row.outcome in WHOLE else state
        whole = _changed(stepper, base, row.changed)
        secret = [name for name, value in whole.items() if hidden(value)]
        rest = stepper.shown(base if machines is None else machines)
        whole.update({name: rest[name] for name in secret})
        all_told = row.outcome in WHOLE and not secret
        return Resumed(stepper.reader.state(whole, base), not secret, all_told)
    except (Malformed, Inconclusive, Deviation):
        return None


def _seen(stepper: Stepper, state: State, told: Mapping[str, Json]) -> Resumed | None:
    """The state with the variables that a foreign row tells."""
    whole: dict[str, Json] = copy.deepcopy(stepper.shown(state))
    for path, data in stepper.form.told(told).items():
        if "." in path:
            _put(whole, path.split("."), data)
        else:
            whole[path] = data
    try:
        return Resumed(stepper.reader.state(whole, state))
    except (Malformed, Inconclusive, Deviation):
        return None


def _changed(stepper: Stepper, state: State, rows: Mapping[str, Json]) -> dict[str, Json]:
    """The JSON form of the state with the changes of a row; paths of no variable are left out."""
    out: dict[str, Json] = copy.deepcopy(stepper.shown(state))
    for i, v in stepper.form.kept:
        data = rows.get(v.name)
        if is_change(data) and (key := key_of_parts(v.type)) is not None:
            out[v.name] = parts_changed(v.name, out[v.name], data, key)
        elif is_change(data):
            value = changed(v.name, state[i], data, v.type, stepper.reader.read)
            out[v.name] = stepper.form.json(value, v.type)
        elif v.name in rows:
            out[v.name] = copy.deepcopy(data)  # What is put into it must not change the row.
    for path, data in rows.items():
        _put(out, path.split("."), data)
    return out


def _put(whole: dict[str, Any], path: list[str], data: Json) -> None:
    inside: Any = whole
    for name in path[:-1]:
        inside = inside.get(name) if is_object(inside) else None
    if len(path) > 1 and is_object(inside):
        inside[path[-1]] = data


def placed(stepper: Stepper, state: State, row: Row) -> Resumed:
    """An uncertain state with what a row tells of the state before it."""
    try:
        if is_object(row.before):
            return Resumed(stepper.reader.state(row.before, state), whole=True)
        if isinstance(row.before, str):
            return Resumed(_in_control(stepper, state, row.before))
    except (Malformed, Inconclusive, Deviation):
        pass
    return Resumed(state)


def at_time(stepper: Stepper, state: State, row: Row) -> State:
    """The state at the time of the row, before its event; as it is where the row tells no time."""
    try:
        return stepper.on_time(state, row)
    except (Malformed, Inconclusive, Deviation):
        return state


def _forced(stepper: Stepper, state: State, row: Row) -> State:
    """The state in which only the control state follows the event."""
    at = stepper.form.at_control
    name = None if at is None else stepper.machine.variables[at].name
    served = stepper.serving.get(str(row.event), ())
    moving = (r for r in served if isinstance(r.control, ir.Field) and r.control.name == name)
    rows = [r for r in moving if r.target is not None]
    named = [r for r in rows if r.name == row.transition] or rows
    targets = [target for r in named for target in r.target or ()]
    if isinstance(row.after, str):
        targets.insert(0, row.after)
    try:
        return _in_control(stepper, state, targets[0]) if targets else state
    except Malformed:
        return state


def _in_control(stepper: Stepper, state: State, name: str) -> State:
    if stepper.form.at_control is None:
        return state
    working = thaw(state)
    control = stepper.machine.variables[stepper.form.at_control]
    working[stepper.form.at_control] = stepper.reader.read(control.name, name, control.type)
    return freeze(working)
