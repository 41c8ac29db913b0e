"""The fold of an instance as JSON, so that another replay goes on with it: `snapshot`, `restored`.

The text has everything that later verdicts depend on: the states in which the instance may be, the
last rows, the problems and the counts. Values have the form of a journal. It is bound to the
version of the machine by its fingerprint.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lawful.spec.codec.as_json import is_object

from ...reference.states import State
from ..fold import Fold
from ..problems import Finding
from ..program import ReplayProgram
from ..row_step import Stepper
from ..rows import Row, row_json, row_of_json, seconds_json, seconds_of
from ..sources import ReplayError
from ..unseen.tied_fold import TiedFold

VERSION = 1
PLAIN = (
    *("instance", "machine", "lost", "next", "twice", "stopped"),
    *("rows", "events", "judged", "needs"),
)
COUNTERS = ("transitions", "states", "counts", "latencies")


def snapshot(fold: Fold, waiting: tuple[Row, ...] = ()) -> str:
    """The fold as JSON text, with rows that wait for earlier ones."""
    stepper = fold.stepper
    held = [] if fold.state is None else [fold.state, *fold.others]
    out: dict[str, Any] = {name: getattr(fold, name) for name in PLAIN}
    out |= {name: dict(getattr(fold, name)) for name in COUNTERS}
    out |= {
        "v": VERSION,
        "fingerprint": None if stepper is None else stepper.fingerprint,
        "first": fold.first,
        "at": [] if stepper is None else [_state(stepper, each) for each in held],
        "universe": {sort: [*map(str, each)] for sort, each in fold.universe.items()},
        "origin": seconds_json(fold.origin),
        "time": seconds_json(fold.time),
        "held": None if fold.held is None else row_json(fold.held),
        "waiting": [row_json(row) for row in waiting],
        "last": [row_json(row) for row in fold.near.last],
        "problems": [[*key, _finding(found)] for key, found in fold.problems.found],
        "seen": [[list(key), count] for key, count in fold.problems.seen.items()],
        "open": [_problem_with(fold, after) for after in fold.near.waiting],
    }
    if isinstance(fold, TiedFold) and fold.program.any_order:
        out["tied"] = [row_json(row) for row in fold.tied]
        out["orders"] = [fold.open_order, fold.hinges]
    if fold.program.deadlines:
        out["stay"] = fold.stay.to_json()
    return json.dumps(out, ensure_ascii=False, separators=(",", ":"))


def number_after(text: str) -> int:
    """The number after that of the last row of a snapshot."""
    data: dict[str, Any] = json.loads(text)
    return int(data["next"])


def restored(program: ReplayProgram, text: str) -> tuple[Fold, tuple[Row, ...]]:
    """The fold of a snapshot, and the rows that wait. Raises ReplayError where the snapshot is of
    another format, or of a version of the machine that the program does not have."""
    data: dict[str, Any] = json.loads(text)
    if data.get("v") != VERSION:
        found = f"version {data.get('v')}; this lawful reads {VERSION}"
        raise ReplayError(f"a state of another format, {found}: replay the whole log")
    fold = TiedFold(program, data["instance"])
    for name in PLAIN:
        setattr(fold, name, data[name])
    for name in COUNTERS:
        setattr(fold, name, Counter(data[name]))
    fold.late = False
    fold.resumed = True
    fold.first = None if data["first"] is None else (data["first"][0], data["first"][1])
    fold.origin, fold.time = seconds_of(data["origin"]), seconds_of(data["time"])
    if "stay" in data:
        fold.stay.restore(data["stay"])
    fold.held = None if data["held"] is None else row_of_json(data["held"])
    fold.tied = [*map(row_of_json, data.get("tied", ()))]
    fold.open_order, fold.hinges = data.get("orders", (False, False))
    if data["fingerprint"] is not None:
        _place(fold, program, data)
    for row in data["last"]:
        fold.near.last.append(row_of_json(row))
    for index, rank, found in data["problems"]:
        fold.problems.found.append(((index, rank), _finding_of(found)))
    fold.problems.seen = Counter({tuple(key): count for key, count in data["seen"]})
    for number in data["open"]:
        _, problem = fold.problems.found[int(number)]
        around: Any = problem.details["around"]
        fold.near.waiting.append(around["after"])
    return fold, tuple(map(row_of_json, data["waiting"]))


def _place(fold: Fold, program: ReplayProgram, data: Mapping[str, Any]) -> None:
    """Put the fold into the states of the snapshot."""
    stepper = program.versions.get(fold.machine, {}).get(data["fingerprint"])
    if stepper is None:
        what = f"{fold.machine} {data['fingerprint']}"
        raise ReplayError(
            f"a state of {what}, which is not given; name it, or replay the whole log"
        )
    fold.stepper = stepper
    told = [_state_of(fold, stepper, each, data["universe"]) for each in data["at"]]
    fold.state, fold.others = (told[0], told[1:]) if told else (None, [])


def _state(stepper: Stepper, state: State) -> dict[str, Any]:
    return {"parameters": stepper.form.parameters(state), "variables": stepper.shown(state)}


def _state_of(
    fold: Fold, stepper: Stepper, data: Mapping[str, Any], universe: Mapping[str, Any]
) -> State:
    row = Row(fold.instance, 0, fold.machine, args=data["parameters"], universe=universe)
    stepper.universe = fold.universe = stepper.universe_of(row)
    return stepper.reader.state(data["variables"], stepper.made(row))


def _finding(found: Finding) -> dict[str, Any]:
    return {each.name: getattr(found, each.name) for each in dataclasses.fields(Finding)}


def _finding_of(data: Mapping[str, Any]) -> Finding:
    known: dict[str, Any] = {**data}
    known["legal"] = tuple(data["legal"])
    return Finding(**known)


def _problem_with(fold: Fold, after: list[Any]) -> int:
    """The number of the problem whose list of later rows is this one."""
    for number, (_, found) in enumerate(fold.problems.found):
        around = found.details.get("around")
        if is_object(around) and around["after"] is after:
            return number
    raise AssertionError("rows are collected for no problem")
