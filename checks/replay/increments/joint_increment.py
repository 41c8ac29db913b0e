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
from .continuation import Judgement, file_numbers
from .given_files import NO_FILES, GivenFiles

StatesByMachine = Mapping[str, Mapping[str, str]]  # Of a machine's instances, by their names.


@dataclass(frozen=True)
class JointIncrement:
    """What a joint replay of an increment found so far, and the states of each machine; `files` and
    `remark` as in an `Increment`."""

    tallies: Tallies
    states: StatesByMachine
    files: GivenFiles = NO_FILES
    remark: str = ""


def replay_joint_increment(
    paths: Iterable[str | Path],
    program: JointProgram,
    states: StatesByMachine,
    tell: Tell = silent,
    *,
    files: GivenFiles | None = None,
) -> JointIncrement:
    """Replay the rows of an increment in this process, from the states that the last one left.

    The files are read once, and each machine judges by its own mapping, as in a joint replay of all
    rows; `files` are those of the last increment, if one orders rows by files. Raises ReplayError
    where the files cannot be read, where those of the increments before are not known, or a state
    is of another machine or version.
    """
    names = [machine.name for machine in program.machines]
    if strange := [name for name in states if name not in names]:
        raise ReplayError(f"states of {strange[0]}; the machines are {', '.join(names)}")
    each = zip(program.programs, names, strict=True)
    some = any(states.values())
    given = program.sources(paths, some=not some)
    numbers = file_numbers(program.programs, given, files, begins=not some and files is None)
    judging = [Judgement(apart, states.get(name, {}), numbers) for apart, name in each]
    for count, (number, row) in enumerate(read_joint_rows(given, program)):
        if count % TOLD == 0:
            tell(f"{count:,} rows read")
        judging[number].take(row)
    tallies, kept = Tallies(program.every), dict[str, Mapping[str, str]]()
    for name, judged in zip(names, judging, strict=True):
        found = judged.end()
        tallies.merge(found.tallies)
        kept[name] = found.states
    if numbers is None:
        return JointIncrement(tallies, kept)
    return JointIncrement(tallies, kept, numbers.after(), numbers.remark)
