"""The fold of an instance as JSON, so that another replay goes on with it: `snapshot`, `restored`.

The text has everything that later verdicts depend on: the states in which the instance may be, the
last rows, the problems and the counts. Values have the form of a journal. It is bound to the
version of the machine by its fingerprint, and to the mapping by a digest.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from lawful.spec.codec.as_json import is_object

from ...reference.states import State
from ..deviations import Malformed
from ..problems import Finding
from ..program import ReplayProgram
from ..row_step import Stepper
from ..rows import Row, row_json, row_of_json, seconds_json, seconds_of
from ..sources import ReplayError
from .continued_fold import ContinuedFold
from .judged_rows import JudgedRows
from .mapping_changes import print_of

VERSION = 2
VERSIONS = (1, VERSION)  # The first one has no digest of the mapping, and remembers no rows.
PLAIN = (
    *("instance", "machine", "lost", "next", "stopped"),
    *("rows", "events", "judged", "needs"),
)
OLDER = "name it by --older, or replay the whole log"
WHOLE_LOG = "replay the whole log"
COUNTERS = ("transitions", "states", "counts", "latencies")


class StateError(ReplayError):
    """A replay cannot go on from the state of an instance; `instead` says what to do."""

    def __init__(self, instance: str, what: str, instead: str = WHOLE_LOG) -> None:
        super().__init__(f"instance {instance}: {what}; {instead}")


def snapshot(fold: ContinuedFold, waiting: tuple[Row, ...] = ()) -> str:
    """The fold as JSON text, with rows that wait for earlier ones."""
    stepper = fold.stepper
    held = [] if fold.state is None else [fold.state, *fold.others]
    out: dict[str, Any] = {name: getattr(fold, name) for name in PLAIN}
    out |= {name: dict(getattr(fold, name)) for name in COUNTERS}
    out |= {
        "v": VERSION,
        "mapping": print_of(fold.program),
        "fingerprint": None if stepper is None else stepper.fingerprint,
        "first": fold.first,
        "at": [] if stepper is None else [_state(stepper, each) for each in held],
        "universe": {sort: [*map(str, each)] for sort, each in fold.universe.items()},
        "origin": seconds_json(fold.origin),
        "time": seconds_json(fold.time),
        "held": None if fold.held is None else row_json(fold.held),
        "twice": fold.unlike,
        "waiting": [row_json(row) for row in waiting],
        "last": [row_json(row) for row in fold.near.last],
        "problems": [[*key, _finding(found)] for key, found in fold.problems.found],
        "seen": [[list(key), count] for key, count in fold.problems.seen.items()],
        "open": [_problem_with(fold, after) for after in fold.near.waiting],
        "known": fold.known.to_json(),
    }
    if files := _files(fold, waiting):
        out["files"] = files
    if fold.program.any_order:
        out["tied"] = [row_json(row) for row in fold.tied]
        out["orders"] = [fold.open_order, fold.hinges]
    if fold.program.deadlines:
        out["stay"] = fold.stay.to_json()
    # In ASCII, because a row may say what UTF-8 does not have.
    return json.dumps(out, separators=(",", ":"))


def _files(fold: ContinuedFold, waiting: Iterable[Row]) -> dict[str, str]:
    """The files of rows of which a later increment may say something, by their numbers."""
    rows = [*fold.near.last, *waiting, *fold.tied, *([] if fold.held is None else [fold.held])]
    places = [fold.program.record_place(row.seq) for row in rows]
    numbers = {place[0] for place in places if place is not None}
    return {str(number): file for number, file in fold.files.items() if number in numbers}


def number_of_version(text: str) -> int | None:
    """The version of a snapshot; None where the text is none."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data.get("v") if is_object(data) else None


def _object(instance: str, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise StateError(instance, f"a state that is no JSON ({error})") from error
    if not is_object(data):
        raise StateError(instance, f"no state of an instance, but {text[:40]}")
    return data


def restored(
    program: ReplayProgram, instance: str, text: str
) -> tuple[ContinuedFold, tuple[Row, ...]]:
    """The fold of a snapshot of an instance, and the rows that wait. Raises StateError where the
    snapshot is of another format or mapping, or of a version of the machine that the program does
    not have."""
    data = _object(instance, text)
    _check(program, instance, data)
    try:
        return _restored(program, instance, data)
    except (LookupError, TypeError, ValueError, AttributeError, Malformed) as error:
        what = f"{error.__class__.__name__}: {error}"
        raise StateError(instance, f"a state that cannot be read ({what})") from error


def _check(program: ReplayProgram, instance: str, data: Mapping[str, Any]) -> None:
    """StateError where the state is not for this program."""
    if data.get("v") not in VERSIONS:
        found = f"version {data.get('v')}; this lawful reads {' and '.join(map(str, VERSIONS))}"
        raise StateError(instance, f"a state of another format, {found}")
    if data.get("instance") != instance:
        raise StateError(instance, f"the state of another instance, {data.get('instance')}")
    if data.get("fingerprint") is not None:
        known_version(program, instance, data)
    if "mapping" in data and data["mapping"] != print_of(program):
        what = "a state of rows that another mapping read"
        raise StateError(instance, what, "give that mapping, or replay the whole log")


def known_version(program: ReplayProgram, instance: str, data: Mapping[str, Any]) -> None:
    """StateError where the state is of a version of a machine that the program does not have."""
    if data["fingerprint"] in program.versions.get(data["machine"], {}):
        return
    what = f"a state of {data['machine']} {data['fingerprint']}, which is not given"
    versions = program.versions.items()
    given = ", ".join(f"{name} {mark}" for name, them in versions for mark in them)
    raise StateError(instance, f"{what} (given: {given})", OLDER)


def _restored(
    program: ReplayProgram, instance: str, data: Mapping[str, Any]
) -> tuple[ContinuedFold, tuple[Row, ...]]:
    fold = ContinuedFold(program, instance)
    for name in PLAIN:
        setattr(fold, name, data[name])
    for name in COUNTERS:
        setattr(fold, name, Counter(data[name]))
    fold.late = False
    if "known" in data:
        fold.known = JudgedRows.of_json(data["known"], program.remembered)
    else:
        fold.known = JudgedRows(program.remembered, fold.next - 1)
    fold.first = None if data["first"] is None else (data["first"][0], data["first"][1])
    fold.origin, fold.time = seconds_of(data["origin"]), seconds_of(data["time"])
    if "stay" in data:
        fold.stay.restore(data["stay"])
    fold.held = None if data["held"] is None else row_of_json(data["held"])
    # Earlier versions tell only whether there are such rows.
    twice = data["twice"]
    fold.unlike = [""] * twice if isinstance(twice, bool) else twice
    fold.tied = [*map(row_of_json, data.get("tied", ()))]
    fold.open_order, fold.hinges = data.get("orders", (False, False))
    fold.files = {int(number): file for number, file in data.get("files", {}).items()}
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


def _place(fold: ContinuedFold, program: ReplayProgram, data: Mapping[str, Any]) -> None:
    """Put the fold into the states of the snapshot."""
    stepper = fold.stepper = program.versions[fold.machine][data["fingerprint"]]
    told = [_state_of(fold, stepper, each, data["universe"]) for each in data["at"]]
    fold.state, fold.others = (told[0], told[1:]) if told else (None, [])


def _state(stepper: Stepper, state: State) -> dict[str, Any]:
    return {"parameters": stepper.form.parameters(state), "variables": stepper.shown(state)}


def _state_of(
    fold: ContinuedFold, stepper: Stepper, data: Mapping[str, Any], universe: Mapping[str, Any]
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


def _problem_with(fold: ContinuedFold, after: list[Any]) -> int:
    """The number of the problem whose list of later rows is this one."""
    for number, (_, found) in enumerate(fold.problems.found):
        around = found.details.get("around")
        if is_object(around) and around["after"] is after:
            return number
    raise AssertionError("rows are collected for no problem")
