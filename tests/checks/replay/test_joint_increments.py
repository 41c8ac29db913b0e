"""Several machines with mappings of their own in increments: the verdicts of all rows together."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lawful.checks.replay import JointProgram, Preparation, ReplayError, replay
from lawful.checks.replay.increments.joint_increment import (
    JointIncrement,
    replay_joint_increment,
)
from lawful.checks.replay.increments.state_files import (
    JointKept,
    joint_states_text,
    read_joint_states,
)
from lawful.checks.replay.tally import Tallies
from lawful.cli import main
from tests.checks.replay.journals import written
from tests.checks.replay.test_joint_replays import (
    LINES,
    MAPPING_FILE,
    MAPPINGS,
    PLANTED,
    answers,
    joint,
    named,
)

TARGETS = [f"tests.checks.replay.test_joint_replays:{name}" for name in PLANTED]


def in_parts(folder: Path, parts: Sequence[Sequence[str]], program: JointProgram) -> JointIncrement:
    """The last increment, after the states went through a file each time."""
    found = JointIncrement(Tallies(program.every), {})
    kept = folder / "states"
    for number, part in enumerate(parts):
        path = written(folder / f"{number}.jsonl", [*part])
        before = read_joint_states(kept, program) if number else JointKept({}, None)
        found = replay_joint_increment([path], program, before.states, files=before.files)
        text = joint_states_text(found.states, program, found.files)
        kept.write_text(text, encoding="utf-8")
    return found


def test_any_cut_gives_the_verdicts_of_all_rows(tmp_path: Path) -> None:
    """Payment 2 and order 2 have one name: each goes on from its own state."""
    program = joint(every=True)
    whole = replay([written(tmp_path / "all.jsonl", [*LINES])], program).tallies
    for cut in range(1, len(LINES)):
        found = in_parts(tmp_path, [LINES[:cut], LINES[cut:]], program)
        assert named(found.tallies) == PLANTED
        assert answers(found.tallies) == answers(whole)
    one_by_one = in_parts(tmp_path, [[line] for line in LINES], program)
    assert answers(one_by_one.tallies) == answers(whole)
    assert {name: sorted(mine) for name, mine in one_by_one.states.items()} == {
        name: sorted(mine) for name, mine in PLANTED.items()
    }


def test_an_increment_may_have_no_row(tmp_path: Path) -> None:
    program = joint()
    found = in_parts(tmp_path, [LINES, [], []], program)
    assert answers(found.tallies) == answers(in_parts(tmp_path, [LINES], program).tallies)
    with pytest.raises(ReplayError, match="has no row"):
        in_parts(tmp_path, [[], LINES], program)


def test_rows_in_the_order_of_their_files(tmp_path: Path) -> None:
    """The files of an increment come after those before it, for each machine, also for one that has
    no row in some file."""
    how = Preparation(order="file")
    mappings = [dataclasses.replace(each, seq="", preparation=how) for each in MAPPINGS]
    program = joint(mappings, every=True)
    for cut in range(1, len(LINES)):
        parts = [LINES[:cut], LINES[cut:]]
        found = in_parts(tmp_path, parts, program)
        assert named(found.tallies) == PLANTED
        whole = replay([tmp_path / "0.jsonl", tmp_path / "1.jsonl"], program).tallies
        assert numbers(found.tallies) == numbers(whole)
        files = [written(tmp_path / f"{n}.jsonl", [line]) for n, line in enumerate(LINES)]
        one_by_one = in_parts(tmp_path, [[line] for line in LINES], program)
        assert numbers(one_by_one.tallies) == numbers(replay(files, program).tallies)


def numbers(tallies: Tallies) -> list[tuple[str, int]]:
    """Each problem: its instance and the number of its row."""
    rows = itertools.chain(*(each.found.rows.values() for each in tallies.machines.values()))
    return sorted((name, found.index) for each in rows for name, found in each)


def test_states_of_other_machines_are_refused(tmp_path: Path) -> None:
    program = joint()
    path = written(tmp_path / "shop.jsonl", [*LINES])
    states = replay_joint_increment([path], program, {}).states
    with pytest.raises(ReplayError, match="states of Van; the machines are Order, Payment, Cour"):
        replay_joint_increment([path], program, {**states, "Van": {}})
    with pytest.raises(ReplayError, match="a state of Payment"):
        replay_joint_increment([path], program, {"Order": states["Payment"]})


def test_one_command_keeps_the_states_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapping = tmp_path / "shop.toml"
    mapping.write_text(MAPPING_FILE)
    also = [part for target in TARGETS[1:] for part in ("--also", target)]
    days = [written(tmp_path / f"{n}.jsonl", part) for n, part in enumerate((LINES[:4], LINES[4:]))]
    kept = tmp_path / "states"

    def replayed(day: Path, *more: str) -> int:
        return main(["replay", str(day), TARGETS[0], *also, "--mapping", str(mapping), *more])

    assert replayed(days[0], "--keep", str(kept), "--quiet") == 0
    first = kept.read_text(encoding="utf-8")
    assert [json.loads(line)["machine"] for line in first.splitlines()[1:]] == [
        "Courier",
        "Order",
        "Payment",
    ]
    capsys.readouterr()
    assert replayed(days[1], "--resume", str(kept), "--keep", str(kept), "--json", "-") == 2
    answer = json.loads(capsys.readouterr().out)
    assert {m["machine"]: m["by_instance"] for m in answer["machines"]} == PLANTED
    last = kept.read_text(encoding="utf-8")
    assert replayed(days[1], "--resume", str(kept), "--engine", "spark") == 5
    assert "for a replay in this process, without a store" in capsys.readouterr().err
    kept.write_text('{"instance": "1", "state": ""}\n', encoding="utf-8")
    assert replayed(days[1], "--resume", str(kept), "--keep", str(kept)) == 5
    told = "line 1 is no state of an instance, with machine, instance, state"
    assert told in capsys.readouterr().err
    assert len(last.splitlines()) == 1 + sum(map(len, PLANTED.values()))
