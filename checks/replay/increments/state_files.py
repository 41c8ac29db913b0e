"""Files of states: a first line that says what is in the file, and a JSON line for each instance.

    {"v": 3, "states": 2, "sum": "...", "mappings": {"Order": {...}}, "files": {...}}
    {"instance": "a", "state": "..."}
    {"instance": "b", "state": "..."}

`states` is the number of the lines that follow; so a file that was cut is no file of fewer
instances. `sum` is the SHA-256 of the whole file, in which it stands as an empty text. `mappings`
are those of the machines, without secret keys; a journal needs none. `files` are those of all
increments, as `given_files` has them. Where several machines have mappings of their own, a line has
its `machine`, too.

Files of the second version have no `files`, and their `sum` is that of the lines after the first
one. Those of the first version have no first line of this kind. The states in the lines have a
version of their own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from .fold_snapshots import number_of_version
from .given_files import NO_FILES, GivenFiles
from .mapping_changes import changes

VERSION = 3

ALONE = ("instance", "state")
JOINT = ("machine", "instance", "state")
FIRST = {
    2: ("v", "states", "sum", "mappings"),
    VERSION: ("v", "states", "sum", "mappings", "files"),
}
KEEP = "write it anew by `lawful replay --keep`"


@dataclass(frozen=True)
class Kept:
    """The states of the instances in a file, and the files of the increments before; None where
    lawful did not keep these yet."""

    states: dict[str, str]
    files: GivenFiles | None


@dataclass(frozen=True)
class JointKept:
    """The same of several machines: the states by machine and instance."""

    states: dict[str, dict[str, str]]
    files: GivenFiles | None


def read_states(path: Path, program: ReplayProgram) -> Kept:
    """What a file of states has. ReplayError where it is no such file, is not whole, or its states
    come from rows that another mapping read."""
    rows, files = _read(path, ALONE, program)
    return Kept({name: state for name, state in rows}, files)


def read_joint_states(path: Path, program: JointProgram) -> JointKept:
    """What a file of states of several machines has. ReplayError as above."""
    out: dict[str, dict[str, str]] = {}
    rows, files = _read(path, JOINT, program)
    for machine, name, state in rows:
        out.setdefault(machine, {})[name] = state
    return JointKept(out, files)


def _read(
    path: Path, keys: Sequence[str], program: ReplayProgram | JointProgram
) -> tuple[list[list[str]], GivenFiles | None]:
    """What each line has at these keys, which are all that it has, and the files."""
    try:
        text = path.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error
    if not text.strip():
        raise ReplayError(f"{path}: is empty, and no file of states; {KEEP}")
    first, _, rest = text.partition("\n")
    told = _object(path, 1, first)
    if "v" not in told:
        return _lines(path, 1, text, keys, older=True), None
    version = told["v"]
    if type(version) is not int or version not in FIRST:
        found = f"version {version}; this lawful reads 1 to {VERSION}"
        raise ReplayError(f"{path}: line 1: states of another format, {found}")
    if set(told) != {*FIRST[version]}:
        wanted = ", ".join(FIRST[version])
        raise ReplayError(f"{path}: line 1 has {', '.join(told)}, not {wanted}; {KEEP}")
    for name in ("mappings", "files"):
        if name in told and not is_object(told[name]):
            what = f"{name} is {kind_of(told[name])}, not an object"
            raise ReplayError(f"{path}: line 1: {what}; {KEEP}")
    count = rest.count("\n")
    if count != told["states"]:
        what = f"has {count} states, and by its line 1 {told['states']}"
        raise ReplayError(f"{path}: {what}: a part of the file is missing; {KEEP}")
    summed = rest if version == 2 else _without_sum(first, told["sum"]) + "\n" + rest
    if hexdigest(summed.encode()) != told["sum"]:
        raise ReplayError(f"{path}: has another checksum than its line 1 says; {KEEP}")
    _same_mappings(path, told["mappings"], program)
    return _lines(path, 2, rest, keys), _files(path, told)


def _files(path: Path, told: Mapping[str, Any]) -> GivenFiles | None:
    """The files of the increments before, in the first line."""
    try:
        return GivenFiles.of_json(told["files"]) if "files" in told else None
    except (LookupError, TypeError, AttributeError) as error:
        what = f"line 1: files has another form ({error.__class__.__name__}: {error})"
        raise ReplayError(f"{path}: {what}; {KEEP}") from error


def _without_sum(first: str, told: Any) -> str:
    """The first line with an empty text in place of its checksum."""
    return first.replace(f'"sum": "{told}"', '"sum": ""', 1)


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


def states_text(
    states: Mapping[str, str], program: ReplayProgram, files: GivenFiles = NO_FILES
) -> str:
    """The text of a file of states."""
    rows = ({"instance": name, "state": state} for name, state in sorted(states.items()))
    return _text(rows, program, files)


def joint_states_text(
    states: Mapping[str, Mapping[str, str]], program: JointProgram, files: GivenFiles = NO_FILES
) -> str:
    """The same of several machines, by machine and instance."""
    rows = (
        {"machine": machine, "instance": name, "state": state}
        for machine, mine in sorted(states.items())
        for name, state in sorted(mine.items())
    )
    return _text(rows, program, files)


def _text(
    rows: Iterable[Mapping[str, str]], program: ReplayProgram | JointProgram, files: GivenFiles
) -> str:
    # In ASCII, because a row may say what UTF-8 does not have.
    lines = [json.dumps(row) + "\n" for row in rows]
    rest = "".join(lines)
    first = {
        "v": VERSION,
        "states": len(lines),
        "sum": "",
        "mappings": _mappings(program),
        "files": files.to_json(),
    }
    told = hexdigest(f"{json.dumps(first)}\n{rest}".encode())
    return json.dumps({**first, "sum": told}) + "\n" + rest
