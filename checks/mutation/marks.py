"""Marks of equivalent mutants: changes that make no difference, each with its reason.

They stand in a file `equivalent_mutants.toml` beside the declaration:

    [[mutant]]
    machine = "Window"
    row = "begin"                                # the transition, helper or start
    line = 'require(self.queued > 0, "empty")'   # the line of the source, without its indent
    change = "self.queued >= 1 for self.queued > 0"
    because = "queued is a whole number"

A mark is stale if no mutant fits it any more: its line or its machine has changed.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json

from .mutants import Mutant

FILE = "equivalent_mutants.toml"


@dataclass(frozen=True, slots=True)
class Mark:
    """An equivalent mutant; see the top of this module."""

    machine: str
    row: str
    line: str
    change: str
    because: str

    def fits(self, mutant: Mutant) -> bool:
        """Whether this is the mutant that is marked."""
        mine = (self.machine, self.row, self.line, self.change)
        return mine == (mutant.owner, mutant.row, mutant.line, mutant.change.what)


KEYS = tuple(field.name for field in dataclasses.fields(Mark))


def marks_beside(every: Iterable[Mutant]) -> tuple[Mark, ...]:
    """The marks in the folders of the mutants' declarations, of the machines that have mutants.

    Raises ValueError for a file that has another form.
    """
    mutants = list(every)
    owners = {each.owner for each in mutants}
    folders = dict.fromkeys(Path(each.place.file).parent for each in mutants if each.place.file)
    found = (mark for folder in folders for mark in _read(folder / FILE))
    return tuple(mark for mark in found if mark.machine in owners)


def _read(path: Path) -> Iterator[Mark]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    try:
        data: Json = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error
    rows: Json = data.get("mutant", []) if is_object(data) else None
    if not is_object(data) or {*data} - {"mutant"} or not is_list(rows):
        raise ValueError(f"{path}: expected tables [[mutant]] alone, found other keys or values")
    for number, row in enumerate(rows, 1):
        texts = {k: v for k, v in row.items() if isinstance(v, str)} if is_object(row) else {}
        if {*texts} != {*KEYS} or texts != row:
            raise ValueError(f"{path}: mutant {number}: expected the texts {', '.join(KEYS)}")
        if not texts["because"].strip():
            raise ValueError(f"{path}: mutant {number}: because is empty; say why it is equivalent")
        yield Mark(**texts)
