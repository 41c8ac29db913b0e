"""A path of a condition that no record has is named: it may be misspelt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, State, transition
from lawful.checks.replay import ReplayProgram, joint_program, replay
from lawful.checks.replay.flaws import unmet_conditions
from lawful.checks.replay.mapping import mapping_of
from lawful.cli import main
from tests.checks.replay.journals import written

NAMED = "{} has a value at {}, so a condition that asks for it is false"


class Link(State):
    UP = "up"
    DOWN = "down"


class Port(Machine):
    state: Link = Link.DOWN

    @transition()
    def tell(self, up: bool) -> None:
        self.state = Link.UP if up else Link.DOWN


ROWS = [{"port": "a", "n": n, "kind": "tell", "code": {"is": n % 2}} for n in range(4)]


def mapping(asked: str, **more: Any) -> dict[str, Any]:
    chosen = {"$if": {asked: 1}, "then": True, "else": False}
    return {
        "instance": "$.port",
        "seq": "$.n",
        "event": "$.kind",
        "args": {"tell": {"up": "$.up"}},
        "preparation": {"fields": {"up": chosen}, **more},
    }


def remark(folder: Path, data: dict[str, Any]) -> str:
    program = ReplayProgram((Port.lawful.ir,), mapping=mapping_of(data))
    return replay([written(folder / "rows.jsonl", ROWS)], program).remark


def test_a_misspelt_path_of_an_if_is_named(tmp_path: Path) -> None:
    assert remark(tmp_path, mapping("$.code.is")) == ""
    assert remark(tmp_path, mapping("$.code.iz")) == NAMED.format("no record", "$.code.iz")


def test_a_misspelt_path_of_a_form_of_rows_is_named(tmp_path: Path) -> None:
    forms = [{"when": {"$.kind": "tell"}}, {"when": {"$.kynd": "no"}, "fields": {"kind": "x"}}]
    found = remark(tmp_path, mapping("$.code.is", rows=forms))
    assert found == NAMED.format("no record", "$.kynd")


def test_paths_that_are_hashed_or_removed_later_are_not_named(tmp_path: Path) -> None:
    private = {"hash": ["$.code"], "drop": ["$.extra"], "salt": "key", "salt_from": "S"}
    data = mapping("$.code.is", **private)
    data["preparation"]["fields"]["extra"] = "$.n"
    data["preparation"]["fields"]["more"] = {"$if": {"$.extra": 1}, "then": 1, "else": 0}
    assert remark(tmp_path, data) == ""


def test_only_the_first_records_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unmet_conditions, "MOST", 3)
    found = remark(tmp_path, mapping("$.code.iz"))
    assert found == NAMED.format("none of the first 3 records", "$.code.iz")


def test_each_mapping_of_a_joint_replay(tmp_path: Path) -> None:
    class Other(Port):
        """It reads the same rows."""

    data = [mapping("$.code.is"), mapping("$.b") | {"machine": "Other"}]
    program = joint_program(
        [Port.lawful.ir, Other.lawful.ir], [mapping_of({"machine": "Port"} | m) for m in data]
    )
    found = replay([written(tmp_path / "rows.jsonl", ROWS)], program).remark
    assert found == NAMED.format("no record", "$.b")


def test_increments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.json").write_text(json.dumps(mapping("$.code.iz")), encoding="utf-8")
    rows = written(tmp_path / "rows.jsonl", ROWS)
    given = ["replay", str(rows), f"{__name__}:Port", "--mapping", str(tmp_path / "m.json")]
    assert main([*given, "--keep", str(tmp_path / "states")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == NAMED.format("no record", "$.code.iz")
