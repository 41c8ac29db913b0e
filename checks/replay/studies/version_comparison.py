"""One trace under two versions of a machine: which events are newly illegal, and newly legal.

Both versions judge all rows, whichever version wrote them. An event is newly illegal where only the
newer version deviates at its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lawful.spec import ir

from ..engine_choice import EngineChoice, Tell, silent
from ..flaws.mapping_names import without_unknown
from ..problems import Finding
from ..program import ReplayProgram
from ..tally import Tally
from ..validation import ReplayResult, replay

Place = tuple[str, str, int]  # Machine, instance, and number of the row.


@dataclass(frozen=True)
class Change:
    """Rows of one kind at which only one version deviates, and the first of them.

    `clause` and the finding are of the version that deviates.
    """

    machine: str
    instance: str
    finding: Finding
    rows: int
    instances: int


@dataclass(frozen=True)
class VersionComparison:
    """The replays by both versions, and where they differ.

    `moved` counts instances by their verdicts under the older and the newer version.
    """

    old: ReplayResult
    new: ReplayResult
    illegal: tuple[Change, ...]
    legal: tuple[Change, ...]
    moved: Mapping[tuple[str, str], int]

    @property
    def exit_code(self) -> int:
        """2 where an event is newly illegal, 3 where a version could not judge all, or else 0."""
        if self.illegal:
            return 2
        judged = all(each.conclusive and not each.failures for each in (self.old, self.new))
        return 0 if judged else 3


def compared(
    paths: Iterable[str | Path],
    program: ReplayProgram,
    older: tuple[ir.Machine, ...],
    engine: EngineChoice = "local",
    master: str | None = None,
    *,
    tell: Tell = silent,
) -> VersionComparison:
    """Replay the traces by the machines of the program, and by older versions of them.

    The older machines have the names of the newer ones; the mapping is the same. All deviations
    are held in memory. Raises ReplayError as `replay` does, and ValueError for other names.
    """
    if {m.name for m in older} != {m.name for m in program.machines}:
        names = ", ".join(sorted(m.name for m in older))
        raise ValueError(f"the versions are of other machines: {names}")
    given = [*paths]
    newer = replace(program, every=True, any_version=True)
    mapping = program.mapping and without_unknown(program.mapping, older)
    before, now = (
        replay(given, each, engine, master, tell=tell)
        for each in (replace(newer, machines=older, mapping=mapping), newer)
    )
    old, new = _deviations(before), _deviations(now)
    return VersionComparison(
        before,
        now,
        tuple(_changes({place: found for place, found in new.items() if place not in old})),
        tuple(_changes({place: found for place, found in old.items() if place not in new})),
        _moved(before, now),
    )


def _deviations(result: ReplayResult) -> dict[Place, Finding]:
    return {
        (name, instance, finding.index): finding
        for name in result.program.steppers
        for rows in result.tallies.machines.get(name, Tally()).found.rows.values()
        for instance, finding in rows
        if finding.verdict == "deviates"
    }


def _changes(places: Mapping[Place, Finding]) -> Iterator[Change]:
    """The rows by machine and kind, the most frequent kind first."""
    kinds: dict[tuple[str, ...], list[Place]] = {}
    for place, finding in sorted(places.items(), key=lambda row: row[0]):
        kinds.setdefault((place[0], *finding.key), []).append(place)
    for _, rows in sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0])):
        machine, instance, _ = rows[0]
        instances = len({each[1] for each in rows})
        yield Change(machine, instance, places[rows[0]], len(rows), instances)


def _moved(old: ReplayResult, new: ReplayResult) -> dict[tuple[str, str], int]:
    """How many instances have which verdicts."""
    out: Counter[tuple[str, str]] = Counter()
    for name in new.program.steppers:
        before, now = (each.tallies.machines.get(name, Tally()).named for each in (old, new))
        out.update((before[instance], now[instance]) for instance in now.keys() & before.keys())
    return dict(sorted(out.items()))
