"""From one version of a machine to the next, as far as that is proved.

    lawful diff OLD NEW --renamed total=paid --json till.json       # at build time

    Till.lawful.restore(data, renamed=proved("till.json"))          # in the service

The former names alone take over whatever snapshot the newer invariants allow, judged of each. With
what `lawful diff` wrote a migration is refused as a whole where it found a state that is not taken
over, or could not tell: before any instance of the older version is met.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROVED = frozenset({"proved", "proved-within"})  # `lawful diff` ends with 0 then.


@dataclass(frozen=True)
class Migration(Mapping[str, str]):
    """The former names of what had others, between two versions: `old` is the shape of the older
    one, `new` the whole fingerprint of the newer."""

    machine: str
    renamed: Mapping[str, str]
    old: str
    new: str

    def __getitem__(self, name: str) -> str:
        return self.renamed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.renamed)

    def __len__(self) -> int:
        return len(self.renamed)

    def check(self, machine: str, shape: str, whole: str) -> None:
        """ValueError where it is not from this shape to this machine."""
        if (machine, whole) != (self.machine, self.new):
            raise ValueError(
                f"a migration to {self.machine} {self.new}, not to {machine} {whole}: lawful diff"
            )
        if shape != self.old:
            raise ValueError(f"a migration from the shape {self.old}, not from {shape}")


def proved(path: str | os.PathLike[str]) -> Migration:
    """The migration of which `lawful diff --json` says in this file that every state is taken
    over. ValueError where it says that one is not, or might not be; OSError."""
    try:
        data: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        rows: list[Any] = data["machines"] if data["command"] == "diff" else []
        (row,) = rows
        old, new = row["shapes"][0], row["fingerprints"][1]
        verdicts = {each["property"]: each["verdict"] for each in row["obligations"]}
        found = Migration(row["machine"], dict(row["renamed"]), old, new)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is nothing that lawful diff wrote: {error}") from error
    lost = [f"{name} is {verdict}" for name, verdict in verdicts.items() if verdict not in PROVED]
    if lost or not verdicts:
        what = "; ".join(lost) or "nothing was asked"
        raise ValueError(f"{path}: not every {found.machine} of before is taken over: {what}")
    return found
