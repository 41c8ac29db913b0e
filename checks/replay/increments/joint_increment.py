"""A joint replay in increments: each machine goes on from the states of its own instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..engine_choice import Tell, silent
from ..in_process import TOLD
from ..joint.joint_program import JointProgram
from ..joint.joint_rows import read_joint_rows
from ..sources import ReplayError
from ..tally import Tallies
from .continuation import Judgement

StatesByMachine = Mapping[str, Mapping[str, str]]  # Of a machine's instances, by their names.


@dataclass(frozen=True)
class JointIncrement:
    """What a joint replay of an increment found so far, and the states of each machine."""

    tallies: Tallies
    states: StatesByMachine


def replay_joint_increment(
    paths: Iterable[str | Path],
    program: JointProgram,
    states: StatesByMachine,
    tell: Tell = silent,
) -> JointIncrement:
    """Replay the rows of an increment in this process, from the states that the last one left.

    The files are read once, and each machine judges by its own mapping, as in a joint replay of all
    rows. Raises ReplayError where the files cannot be read, or a state is of another machine or
    version.
    """
    names = [machine.name for machine in program.machines]
    if strange := [name for name in states if name not in names]:
        raise ReplayError(f"states of {strange[0]}; the machines are {', '.join(names)}")
    each = zip(program.programs, names, strict=True)
    files = program.sources(paths, some=not any(states.values()))
    judging = [Judgement(apart, states.get(name, {}), files) for apart, name in each]
    for count, (number, row) in enumerate(read_joint_rows(files, program)):
        if count % TOLD == 0:
            tell(f"{count:,} rows read")
        judging[number].take(row)
    tallies, kept = Tallies(program.every), dict[str, Mapping[str, str]]()
    for name, judged in zip(names, judging, strict=True):
        found = judged.end()
        tallies.merge(found.tallies)
        kept[name] = found.states
    return JointIncrement(tallies, kept)
