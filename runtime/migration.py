"""Migrations: how snapshots of one version of a machine become states of the next.

    lawful diff OLD NEW --renamed total=paid --json till.json       # at build time

    Till.lawful.restore(data, renamed=proved("till.json"))          # in the service

    def by_halves(old: dict[str, Any]) -> dict[str, Any]:           # not in names alone
        return {"total": old["paid"] // 2}

    Till.lawful.restore(data, renamed=Migration({}, by_halves))

Former names alone take over each snapshot whose state keeps the invariants of the newer version.
`proved` reads what `lawful diff` wrote, and refuses the migration as a whole if some state is not
taken over or the proof is open, before any snapshot is read. A function that changes values is not
proved: the invariants are evaluated on each state that it makes.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lawful.spec.verdicts import PROVED

Change = Callable[[dict[str, Any]], Mapping[str, Any]]


def check_renamed(renamed: Any) -> None:
    """TypeError for what gives no former names."""
    if renamed is not None and not isinstance(renamed, Mapping):
        raise TypeError(f"renamed: new names with the former ones, not {renamed!r}")


@dataclass(frozen=True)
class Between:
    """The two versions of a proof: `old` is the shape of the older one, `new` the whole
    fingerprint of the newer."""

    machine: str
    old: str
    new: str


@dataclass(frozen=True)
class Migration(Mapping[str, str]):
    """The former names of renamed variables, and a function for values that change otherwise.

    `change` gets a copy of the variables and parameters of the older version, by their names there,
    in the form of a snapshot (`instances.snapshots`; a timer from a store is its deadline).
    It returns those of the newer version that it decides, in that form; the others are taken over
    by name. `restore` raises what it raises.
    """

    renamed: Mapping[str, str]
    change: Change | None = None
    proved: Between | None = None  # What `lawful diff` proved of the names.

    @property
    def whole_change(self) -> Callable[[Mapping[str, Any]], dict[str, Any]] | None:
        """`change` as a function that copies what it is given and judges what it makes."""
        return None if self.change is None else partial(changed, self.change)

    def __getitem__(self, name: str) -> str:
        return self.renamed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.renamed)

    def __len__(self) -> int:
        return len(self.renamed)

    def check(self, machine: str, shape: str, whole: str) -> None:
        """ValueError where it was proved of other versions than of this shape and this machine."""
        of = self.proved
        if of is None:
            return
        if (machine, whole) != (of.machine, of.new):
            raise ValueError(
                f"a migration to {of.machine} {of.new}, not to {machine} {whole}: lawful diff"
            )
        if shape != of.old:
            raise ValueError(f"a migration from the shape {of.old}, not from {shape}")


def proved(path: str | os.PathLike[str], change: Change | None = None) -> Migration:
    """The migration by names for which `lawful diff --json` proved, in this file, that every state
    is taken over; `change` is a function for other values, which is not proved.

    ValueError where the proof failed or is open, or for another file; OSError."""
    try:
        data: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        rows: list[Any] = data["machines"] if data["command"] == "diff" else []
        (row,) = rows
        old, new = row["shapes"][0], row["fingerprints"][1]
        verdicts = {each["property"]: each["verdict"] for each in row["obligations"]}
        between = Between(row["machine"], old, new)
        found = Migration(dict(row["renamed"]), change, between)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a file that lawful diff wrote: {error}") from error
    enough = {verdict.value for verdict in PROVED}  # `lawful diff` ends with 0 then.
    lost = [f"{name} is {verdict}" for name, verdict in verdicts.items() if verdict not in enough]
    if lost or not verdicts:
        what = "; ".join(lost) or "nothing was asked"
        raise ValueError(
            f"{path}: not every state of the older {between.machine} is taken over: {what}"
        )
    return found


def changed(change: Change, old: Mapping[str, Any]) -> dict[str, Any]:
    """The values that `change` makes of a snapshot. ValueError unless they are JSON by name."""
    made = change(copy.deepcopy(dict(old)))
    try:
        return dict(json.loads(json.dumps(dict(made))))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the migration gives {made!r}, no JSON by name: {error}") from error
