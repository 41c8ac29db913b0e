"""Several machines over one log, each with a mapping of its own: what a replay of them needs.

A machine *takes* a record if one of its rows has an event of that machine, or one that its mapping
skips. A record that some machine takes is left out for all that do not take it. One that no machine
takes is judged by each machine as in a replay of that machine alone: its event is unknown. So the
verdicts of a machine are those of a replay alone, with the events of the others left out.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from lawful.spec import ir

from ..columnar.layout import Layout, layout_of
from ..flaws.mapping_names import check_names, without_unknown
from ..mapping import TraceMapping
from ..preparation.preparation_table import Preparation
from ..program import ReplayProgram, program_of
from ..row_step import Stepper
from ..sources import Sources, sources

# What says how a file becomes records: it is read once, so all machines have to say the same.
READING = ("format", "line", "begins", "file", "columns", "delimiter", "pass_unmatched")


@dataclass(frozen=True)
class JointProgram:
    """A program for each machine, each with a mapping; `joint_program` makes one.

    Raises ValueError where two machines have one name, a program has no mapping, or the mappings
    read the files in different ways.
    """

    programs: tuple[ReplayProgram, ...]

    def __post_init__(self) -> None:
        names = [machine.name for machine in self.machines]
        if len(set(names)) < len(names):
            raise ValueError(f"a replay takes machines of different names, not {names}")
        if not self.programs or not all(len(each.machines) == 1 for each in self.programs):
            raise ValueError("a joint replay takes programs of one machine each")
        if any(each.mapping is None for each in self.programs):
            raise ValueError(
                "a joint replay needs a mapping for each machine; a journal needs none"
            )
        if any(each.resumable for each in self.programs):
            raise ValueError(ALONE.format("a replay in increments"))
        for key in READING:
            first, *others = (getattr(each, key) for each in self._preparations)
            for name, other in zip(names[1:], others, strict=True):
                if other != first:
                    raise ValueError(
                        f"the log is read once, so {key} of the preparation is the same for all "
                        f"machines; {names[0]} has {first!r}, {name} has {other!r}"
                    )

    @property
    def _preparations(self) -> list[Preparation]:
        return [each.preparation or Preparation() for each in self.mappings]

    @cached_property
    def reading(self) -> Preparation:
        """How the files become records."""
        return self._preparations[0]

    @cached_property
    def mappings(self) -> tuple[TraceMapping, ...]:
        """The mapping of each machine."""
        return tuple(each.mapping for each in self.programs if each.mapping is not None)

    @property
    def machines(self) -> tuple[ir.Machine, ...]:
        """All machines."""
        return tuple(each.machines[0] for each in self.programs)

    @property
    def every(self) -> bool:
        """Whether every problem is kept, not the first of each kind."""
        return any(each.every for each in self.programs)

    @property
    def form(self) -> str:
        """What messages call the recorded rows."""
        return self.programs[0].form

    @cached_property
    def steppers(self) -> Mapping[str, Stepper]:
        """A stepper for each machine, by name."""
        return {name: it for each in self.programs for name, it in each.steppers.items()}

    @cached_property
    def versions(self) -> Mapping[str, Mapping[str, Stepper]]:
        """The steppers of all versions of each machine, by name and fingerprint."""
        return {name: them for each in self.programs for name, them in each.versions.items()}

    def of(self, machine: str) -> ReplayProgram:
        """The program of a machine, as it replays the log alone."""
        return next(each for each in self.apart if each.machines[0].name == machine)

    def sources(self, paths: Iterable[str | Path], some: bool = True) -> Sources:
        """The files under the paths. There has to be a row, unless there need not be `some`."""
        return sources(paths, foreign=True, some=some)

    @cached_property
    def alphabets(self) -> tuple[frozenset[str], ...]:
        """The names in the log of the events that each machine takes."""
        return tuple(map(_alphabet, self.programs))

    def alike(self, one: int, other: int) -> bool:
        """Whether two programs make the same rows of a record, with the same names of events."""
        a, b = self.mappings[one], self.mappings[other]
        return a.event == b.event and a.preparation == b.preparation

    @cached_property
    def apart(self) -> tuple[ReplayProgram, ...]:
        """The programs as each replays the log alone: its mapping leaves out the events of others
        that make the same rows of a record."""
        out: list[ReplayProgram] = []
        for number, (program, mapping) in enumerate(zip(self.programs, self.mappings, strict=True)):
            others = (
                each
                for i, each in enumerate(self.alphabets)
                if i != number and self.alike(i, number)
            )
            names = {*mapping.elsewhere, *chain.from_iterable(others)} - self.alphabets[number]
            told = dataclasses.replace(mapping, elsewhere=tuple(sorted(names)))
            out.append(dataclasses.replace(program, mapping=told))
        return tuple(out)

    @cached_property
    def typed(self) -> tuple[tuple[ReplayProgram, Layout], ...] | None:
        """The programs with their typed columns; None where some machine has none, or where a name
        alone does not say who takes a record."""
        if not all(self.alike(0, number) for number in range(len(self.programs))):
            return None
        layouts = [(each, layout_of(each)) for each in self.apart]
        typed = tuple((each, layout) for each, layout in layouts if layout is not None)
        return typed if len(typed) == len(layouts) else None

    @cached_property
    def text(self) -> str:
        """The program as JSON text; `joint_of` reads it."""
        return json.dumps([each.text for each in self.programs])

    def __reduce__(self) -> tuple[Callable[[str], JointProgram], tuple[str]]:
        return joint_of, (self.text,)


ALONE = "{} judges by one mapping; run one for each machine"
_known: dict[str, JointProgram] = {}


def joint_of(text: str) -> JointProgram:
    """The program of a text; cached, because a worker process runs many tasks."""
    if text not in _known:
        _known[text] = JointProgram(tuple(map(program_of, json.loads(text))))
    return _known[text]


def joint_program(
    machines: Iterable[ir.Machine],
    mappings: Sequence[TraceMapping],
    older: Iterable[ir.Machine] = (),
    **options: Any,
) -> JointProgram:
    """The program for these machines, each with the mapping that names it. `options` are those of
    `ReplayProgram`. Raises ValueError where a mapping names none of them, or a machine has none."""
    named = {machine.name: machine for machine in machines}
    told = [mapping.machine for mapping in mappings]
    for name in told:
        if name not in named:
            what = f"the mapping is of {name}" if name else "a mapping does not name its machine"
            raise ValueError(f"{what}; the machines are {', '.join(named)}")
    if missing := [name for name in named if name not in told]:
        raise ValueError(f"no mapping is of {', '.join(missing)}")
    before = [*older]
    if strange := [each.name for each in before if each.name not in named]:
        raise ValueError(f"an older version of {strange[0]}, which is none of {', '.join(named)}")
    versions = [*named.values(), *before]
    programs: list[ReplayProgram] = []
    for mapping in mappings:
        # What a file says outside of the tables of machines is for those that have such a name.
        mine = [each for each in versions if each.name == mapping.machine]
        check_names(mapping, [*mine, *(each for each in versions if each not in mine)])
        own = without_unknown(mapping, mine)
        programs.append(ReplayProgram((mine[0],), mapping=own, older=tuple(mine[1:]), **options))
    return JointProgram(tuple(programs))


def _alphabet(program: ReplayProgram) -> frozenset[str]:
    mapping = program.mapping
    assert mapping is not None
    (versions,) = program.versions.values()
    names = {name for each in versions.values() for name in (*each.events, *each.rows)}
    theirs = {theirs for theirs, ours in mapping.events.items() if ours in names}
    return frozenset({*theirs, *(names - mapping.events.keys()), *mapping.skip})
