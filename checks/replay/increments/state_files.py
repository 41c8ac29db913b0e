"""Files of states: a JSON line for each instance, with its name and its state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from lawful.spec.codec.as_json import is_object

from ..sources import ReplayError


def read_states(path: Path) -> dict[str, str]:
    """The states in a file, by instance. ReplayError where it is no such file."""
    out: dict[str, str] = {}
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            data = json.loads(line)
            if not is_object(data) or set(data) != {"instance", "state"}:
                raise ReplayError(f"{path}: line {number} is no state of an instance")
            out[str(data["instance"])] = str(data["state"])
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error
    return out


def states_text(states: Mapping[str, str]) -> str:
    """The text of a file of states."""
    rows = ({"instance": name, "state": state} for name, state in sorted(states.items()))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
