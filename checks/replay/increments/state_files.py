"""Files of states: a JSON line for each instance, with its name and its state; of several machines
with mappings of their own also with its machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from lawful.spec.codec.as_json import is_object

from ..sources import ReplayError


def read_states(path: Path) -> dict[str, str]:
    """The states in a file, by instance. ReplayError where it is no such file."""
    return {name: state for name, state in _rows(path, ("instance", "state"))}


def read_joint_states(path: Path) -> dict[str, dict[str, str]]:
    """The states in a file of several machines, by machine and instance. ReplayError where it is no
    such file."""
    out: dict[str, dict[str, str]] = {}
    for machine, name, state in _rows(path, ("machine", "instance", "state")):
        out.setdefault(machine, {})[name] = state
    return out


def _rows(path: Path, keys: Sequence[str]) -> list[list[str]]:
    """What each line has at these keys, which are all that it has."""
    out: list[list[str]] = []
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            data = json.loads(line)
            if not is_object(data) or set(data) != {*keys}:
                raise ReplayError(
                    f"{path}: line {number} is no state of an instance, with {', '.join(keys)}"
                )
            out.append([str(data[key]) for key in keys])
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error
    return out


def states_text(states: Mapping[str, str]) -> str:
    """The text of a file of states."""
    rows = ({"instance": name, "state": state} for name, state in sorted(states.items()))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def joint_states_text(states: Mapping[str, Mapping[str, str]]) -> str:
    """The same of several machines, by machine and instance."""
    rows = (
        {"machine": machine, "instance": name, "state": state}
        for machine, mine in sorted(states.items())
        for name, state in sorted(mine.items())
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
