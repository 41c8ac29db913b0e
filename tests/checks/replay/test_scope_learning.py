"""Scopes from traces: which values were seen, and which reachable states never were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Param, Sort, State, require, transition
from lawful.checks.replay import ReplayProgram
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.studies.scope_learning import Range, learned
from lawful.cli import main
from tests.checks.replay import journals
from tests.checks.replay.journals import of, worker, written


class Mode(State):
    OPEN = "open"
    SHUT = "shut"


class Account(Machine):
    state: Mode = Mode.OPEN
    held: Nat = 0
    moves: list[int] = []
    most: Param[Nat] = 9

    @transition(source=Mode.OPEN)
    def put(self, much: Nat) -> None:
        require(self.held + much <= self.most, "too much")
        self.held += much
        self.moves.append(much)

    @transition(source=Mode.OPEN, target=Mode.SHUT)
    def shut(self) -> None:
        pass

    @transition(source=Mode.SHUT, target=Mode.OPEN)
    def reopen(self) -> None:
        pass


TARGET = f"{__name__}:Account"
MAPPING = {
    "instance": "$.i",
    "seq": "$.n",
    "event": "$.e",
    "args": {"put": {"much": "$.much"}},
    "parameters": {"most": 4},
}
TOLD: list[dict[str, Any]] = [
    {"i": "a", "n": 0, "e": "put", "much": 2},
    {"i": "a", "n": 1, "e": "put", "much": 1},
    {"i": "b", "n": 0, "e": "shut"},
    {"i": "b", "n": 1, "e": "put", "much": 4},  # It deviates: the account is shut.
    {"i": "c", "n": 0, "e": "put", "much": 9},
]


def traces(folder: Path) -> list[str]:
    (folder / "m.json").write_text(json.dumps(MAPPING), encoding="utf-8")
    lines = "".join(json.dumps(each) + "\n" for each in TOLD)
    (folder / "t.jsonl").write_text(lines, encoding="utf-8")
    return [str(folder / "t.jsonl"), TARGET, "--mapping", str(folder / "m.json")]


def test_what_was_seen(tmp_path: Path) -> None:
    program = ReplayProgram((Account.lawful.ir,), mapping=mapping_of(MAPPING))
    found = learned([traces(tmp_path)[0]], program)["Account"]
    assert found.numbers == {
        "held": Range(0, 3),
        "moves": Range(1, 2),
        "put.much": Range(1, 2),
    }
    assert (found.sizes, found.parameters) == ({"moves": Range(0, 2)}, {"most": {"4"}})
    assert found.scope == ["Nat=0..3", "int=1..2", "held=0..3", "moves=2", "most=4"]
    assert found.states == {
        f'{{"held": {held}, "state": "{mode}"}}'
        for held, mode in ((0, "OPEN"), (2, "OPEN"), (3, "OPEN"), (0, "SHUT"))
    }
    assert found.tally.verdicts == {"fits": 1, "deviates": 2}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main(["learn-scope", *traces(tmp_path), "--json", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Account: 3 instances, 5 events judged, 4 states seen",
        "  held: 0..3",
        "  moves: 1..2",
        "  put.much: 1..2",
        "  moves: 0 to 2 items",
        "  parameter most: 4",
        "  --scope Nat=0..3",
        "  --scope int=1..2",
        "  --scope held=0..3",
        "  --scope moves=2",
        "  --scope most=4",
        "  4 of 8 reachable states were never seen (by state, held)",
        *(f'    {{"held": {h}, "state": "{m}"}}' for h, m in NEVER),
    ]
    (answer,) = json.loads(out.read_text(encoding="utf-8"))["machines"]
    assert answer["states"] == {
        "compared": ["state", "held"],
        "seen": 4,
        "reachable": 8,
        "never_seen": 4,
        "first_never_seen": [f'{{"held": {h}, "state": "{m}"}}' for h, m in NEVER],
        "why": "",
    }


NEVER = [(1, "OPEN"), (1, "SHUT"), (2, "SHUT"), (3, "SHUT")]


def test_a_limit_of_states_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn-scope", *traces(tmp_path), "--max-states", "2"]) == 0
    assert "only the first" in capsys.readouterr().out.splitlines()[-1]


def test_amounts_of_which_nobody_tries_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was seen is told, and no exploration begins that would not end."""
    told = [{**row, "much": 50_000_000} if row["e"] == "put" else row for row in TOLD]
    traces(tmp_path)
    path = written(tmp_path / "large.jsonl", told)
    mapping = tmp_path / "large.json"
    mapping.write_text(json.dumps(MAPPING | {"parameters": {"most": 10**9}}), encoding="utf-8")
    assert main(["learn-scope", str(path), TARGET, "--mapping", str(mapping)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Account: 3 instances, 5 events judged, 4 states seen"
    assert lines[-1] == "  not explored: put has 100,000,001 arguments in each state"


def test_a_journal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "j.jsonl", worker("a"))
    assert main(["learn-scope", str(path), f"{journals.__name__}:Worker"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "Worker: 1 instance, 16 events judged, 12 states seen"
    assert "  parameter limit: 5" in told


def test_what_is_not_certain_is_not_learned(tmp_path: Path) -> None:
    journal = worker("a")
    of(journal, "a", 4)["v"] = 7  # The state after it is not certain.
    path = written(tmp_path / "j.jsonl", journal)
    found = learned([path], ReplayProgram((journals.Worker.lawful.ir,)))["Worker"]
    assert found.numbers["done"] == Range(0, 1)


class Node(Sort):
    pass


class Members(Machine):
    up: frozenset[Node] = frozenset()

    @transition()
    def join(self, m: Node) -> None:
        self.up = self.up | {m}


def test_what_cannot_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"i": "a", "n": 0, "e": "join", "m": "x"}\n', encoding="utf-8")
    mapping = {"instance": "$.i", "seq": "$.n", "event": "$.e", "args": {"join": {"m": "$.m"}}}
    (tmp_path / "m.json").write_text(json.dumps(mapping), encoding="utf-8")
    options = ["--mapping", str(tmp_path / "m.json")]
    assert main(["learn-scope", str(path), f"{__name__}:Members", *options]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "  no variable can be compared"
    (tmp_path / "m.json").write_text(json.dumps(mapping | {"skip": ["join"]}), encoding="utf-8")
    assert main(["learn-scope", str(path), f"{__name__}:Members", *options]) == 3
