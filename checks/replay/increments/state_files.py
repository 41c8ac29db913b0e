"""Files of states: a first line that says what is in the file, and a JSON line for each instance.

    {"v": 2, "states": 2, "sum": "...", "mappings": {"Order": {...}}}
    {"instance": "a", "state": "..."}
    {"instance": "b", "state": "..."}

`states` is the number of the lines that follow, `sum` their SHA-256; so a file that was cut is no
file of fewer instances. `mappings` are those of the machines, without secret keys; a journal needs
none. Where several machines have mappings of their own, a line has its `machine`, too. Files of the
first version have no first line of this kind.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json
from lawful.spec.sha256 import hexdigest

from ..flaws.row_texts import kind_of
from ..joint.joint_program import JointProgram
from ..mapping import TraceMapping
from ..preparation.masks import hashed
from ..program import ReplayProgram
from ..sources import ReplayError
from .fold_snapshots import VERSION, number_of_version
from .mapping_changes import changes

ALONE = ("instance", "state")
JOINT = ("machine", "instance", "state")
FIRST = ("v", "states", "sum", "mappings")
KEEP = "write it anew by `lawful replay --keep`"


def read_states(path: Path, program: ReplayProgram) -> dict[str, str]:
    """The states in a file, by instance. ReplayError where it is no such file, is not whole, or its
    states come from rows that another mapping read."""
    return {name: state for name, state in _rows(path, ALONE, program)}


def read_joint_states(path: Path, program: JointProgram) -> dict[str, dict[str, str]]:
    """The states in a file of several machines, by machine and instance. ReplayError as above."""
    out: dict[str, dict[str, str]] = {}
    for machine, name, state in _rows(path, JOINT, program):
        out.setdefault(machine, {})[name] = state
    return out


def _rows(
    path: Path, keys: Sequence[str], program: ReplayProgram | JointProgram
) -> list[list[str]]:
    """What each line has at these keys, which are all that it has."""
    try:
        text = path.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error
    if not text.strip():
        raise ReplayError(f"{path}: is empty, and no file of states; {KEEP}")
    first, _, rest = text.partition("\n")
    told = _object(path, 1, first)
    if "v" not in told:
        return _lines(path, 1, text, keys, older=True)
    if told["v"] != VERSION:
        found = f"version {told['v']}; this lawful reads 1 and {VERSION}"
        raise ReplayError(f"{path}: line 1: states of another format, {found}")
    if set(told) != {*FIRST}:
        raise ReplayError(f"{path}: line 1 has {', '.join(told)}, not {', '.join(FIRST)}; {KEEP}")
    if not is_object(told["mappings"]):
        raise ReplayError(f"{path}: line 1: mappings is {kind_of(told['mappings'])}, not an object")
    count = rest.count("\n")
    if count != told["states"]:
        what = f"has {count} states, and by its line 1 {told['states']}"
        raise ReplayError(f"{path}: {what}: a part of the file is missing; {KEEP}")
    if hexdigest(rest.encode()) != told["sum"]:
        raise ReplayError(f"{path}: has another checksum than its line 1 says; {KEEP}")
    _same_mappings(path, told["mappings"], program)
    return _lines(path, 2, rest, keys)


def _lines(
    path: Path, begin: int, text: str, keys: Sequence[str], older: bool = False
) -> list[list[str]]:
    out: list[list[str]] = []
    for number, line in enumerate(StringIO(text, newline="\n"), begin):
        data = _object(path, number, line)
        if set(data) != {*keys}:
            what = f"is no state of an instance, with {', '.join(keys)}: it has {', '.join(data)}"
            raise ReplayError(f"{path}: line {number} {what}")
        out.append([str(data[key]) for key in keys])
        if older and number_of_version(out[-1][-1]) != 1:
            what = "is a state of a file whose first line is missing"
            raise ReplayError(f"{path}: line {number} {what}; {KEEP}")
    return out


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise ReplayError(f"{path}: line {number} is no JSON: {error}") from error
    if not is_object(data):
        raise ReplayError(f"{path}: line {number} is no JSON object")
    return data


def _same_mappings(path: Path, before: Any, program: ReplayProgram | JointProgram) -> None:
    """ReplayError where states were made by other mappings than those of the program."""
    now = _mappings(program)
    if now and (strange := [name for name in before if name not in now]):
        known = ", ".join(now)
        raise ReplayError(f"{path}: has states of {strange[0]}; the machines are {known}")
    for name in dict.fromkeys((*before, *now)):
        if what := changes(before.get(name), now.get(name)):
            raise ReplayError(
                f"{path}: its states come from rows of {name} that another mapping read: {what}; "
                "give that mapping, or replay the whole log"
            )


def _mappings(program: ReplayProgram | JointProgram) -> dict[str, Json]:
    """The mapping of each machine, as JSON."""
    each = program.mappings if isinstance(program, JointProgram) else (program.mapping,)
    return {mapping.machine: _public(mapping) for mapping in each if mapping is not None}


def _public(mapping: TraceMapping) -> Json:
    """A mapping as JSON, with a digest in place of the secret key of its hashes."""
    how = mapping.preparation
    if how is not None and how.salt:
        how = dataclasses.replace(how, salt=hashed("", how.salt))
        mapping = dataclasses.replace(mapping, preparation=how)
    return mapping.to_json()


def states_text(states: Mapping[str, str], program: ReplayProgram) -> str:
    """The text of a file of states."""
    return _text(
        ({"instance": name, "state": state} for name, state in sorted(states.items())), program
    )


def joint_states_text(states: Mapping[str, Mapping[str, str]], program: JointProgram) -> str:
    """The same of several machines, by machine and instance."""
    rows = (
        {"machine": machine, "instance": name, "state": state}
        for machine, mine in sorted(states.items())
        for name, state in sorted(mine.items())
    )
    return _text(rows, program)


def _text(rows: Iterable[Mapping[str, str]], program: ReplayProgram | JointProgram) -> str:
    # In ASCII, because a row may say what UTF-8 does not have.
    lines = [json.dumps(row) + "\n" for row in rows]
    rest = "".join(lines)
    first = {
        "v": VERSION,
        "states": len(lines),
        "sum": hexdigest(rest.encode()),
        "mappings": _mappings(program),
    }
    return json.dumps(first) + "\n" + rest
