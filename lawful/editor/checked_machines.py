"""The last verdicts of machines: from checks that the editor asked for, and from `lawful.lock`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

Row = Mapping[str, Any]


class CheckedMachines:
    """The answers of `lawful check --json` by file and machine, and the text of counterexamples."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Path, str], Row] = {}

    def keep(self, path: Path, machine: str, answer: Row) -> None:
        """Note the answer, which has the fingerprint of the declaration that was checked."""
        self._answers[path, machine] = answer

    def verdict(self, path: Path, machine: Row, member: str) -> str | None:
        """The last verdict of a property, and whether the declaration has changed since."""
        answer = self._answers.get((path, machine["name"]))
        for row in (answer or {}).get("properties", ()):
            if row["name"] == member:
                return f"{row['verdict']}{self._age(answer, machine)}"
        for folder in path.parents:
            if (folder / "lawful.lock").is_file():
                return _locked(folder, path, machine, member)
        return None

    def violated(self, path: Path, machine: Row) -> Iterator[str]:
        """The properties of which there is a counterexample."""
        answer = self._answers.get((path, machine["name"]), {})
        for row in answer.get("properties", ()):
            if row.get("trace"):
                yield row["name"]

    def told(self, path: Path, machine: Row) -> str:
        """The sum of the last check, for the line of the class; "" before one."""
        answer = self._answers.get((path, machine["name"]))
        if answer is None:
            return ""
        states = f"{answer['distinct']:,} states"
        return f"{answer['verdict']}, {states}{self._age(answer, machine)}"

    @staticmethod
    def _age(answer: Row | None, machine: Row) -> str:
        same = answer is not None and answer["fingerprint"] == machine["fingerprint"]
        return "" if same else " (of an earlier text)"


def _locked(folder: Path, path: Path, machine: Row, member: str) -> str | None:
    """What the lock file says, which names a machine by the path from its folder or a module."""
    try:
        data: Any = json.loads((folder / "lawful.lock").read_text(encoding="utf-8"))
        rows = cast(Mapping[str, Any], data["machines"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    inside = path.relative_to(folder).with_suffix("")
    names = {f"{inside}.py", ".".join(inside.parts)}
    for key, row in rows.items():
        where, _, name = key.rpartition(":")
        if where in names and name == machine["name"]:
            found = [row[kind]["properties"].get(member) for kind in ("prove", "check")]
            said = [each["verdict"] for each in found if each]
            age = "" if row["fingerprint"] == machine["fingerprint"] else " (of an earlier text)"
            return f"{', '.join(said)} in lawful.lock{age}" if said else None
    return None
