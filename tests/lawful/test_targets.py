"""TARGET: files inside packages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from lawful import targets
from lawful.cli import main
from lawful.runtime.journal import Journal, read

PACKAGED = """
from lawful import Machine, transition
from .kinds import Lamp

class Switch(Machine):
    lamp: Lamp = Lamp.OFF

    @transition()
    def press(self) -> None:
        self.lamp = Lamp.ON if self.lamp == Lamp.OFF else Lamp.OFF
"""
KINDS = """
from enum import Enum

class Lamp(Enum):
    ON = "on"
    OFF = "off"
"""


TANK = """
from lawful import Machine, Nat, Record, Scope, invariant, transition

Size = Nat

class Item(Record):
    n: "Size"

class Tank(Machine):
    last: Item = Item(0)

    @transition
    def put(self, item: Item) -> None:
        self.last = item

    @invariant
    def few(self) -> bool:
        return self.last.n < 9

    scope = Scope(Nat=range(0, 4))
"""
BIG = "from {of}base import Tank\n\nclass Big(Tank):\n    pass\n"


@pytest.mark.parametrize("packaged", [False, True])
def test_two_revisions_import_their_own_modules(
    packaged: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The older one's module is in memory under the name that the newer one imports."""
    old, new = (tmp_path / which / "wares_of_two_revisions" for which in ("old", "new"))
    lost = TANK[: TANK.index("    @invariant")] + TANK[TANK.index("    scope") :]
    for folder, text in ((old, TANK), (new, lost.replace("Size", "Amount"))):
        folder.mkdir(parents=True)
        (folder / "base.py").write_text(text, encoding="utf-8")
        (folder / "big.py").write_text(BIG.format(of="." * packaged), encoding="utf-8")
        for _ in range(packaged):
            (folder / "__init__.py").touch()
    pair = str(old / "big.py"), str(new / "big.py")
    assert main(["diff", *pair, "--no-loss", "--json", "-"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    assert row["unapproved"] == ["few"]
    assert main(["check", *reversed(pair), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["machines"]
    assert [m["properties"][-1]["name"] for m in found] == ["ambiguous", "few"]


def test_two_modules_of_one_name_are_resolved_each_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record's fields are read by the names of its own module, not of the last of its name."""
    for folder, text in (("a", TANK), ("b", TANK.replace("Size", "Amount"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tank.py").write_text(text, encoding="utf-8")
    assert main(["check", str(tmp_path), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["machines"]
    assert [(m["machine"], m["distinct"]) for m in found] == [("Tank", 4), ("Tank", 4)]


def test_a_file_of_a_package_has_the_package_s_imports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = tmp_path / "wires_of_a_house" / "switches"
    inner.mkdir(parents=True)
    (inner / "switch.py").write_text(PACKAGED, encoding="utf-8")
    (inner / "kinds.py").write_text(KINDS, encoding="utf-8")
    assert main(["check", str(inner / "switch.py")]) == 5
    wanted = "its folder needs an __init__.py, or name it as package.module"
    assert wanted in capsys.readouterr().err
    for folder in (inner, inner.parent):
        (folder / "__init__.py").touch()
    assert main(["check", str(inner / "switch.py"), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(m["machine"], m["distinct"]) for m in found["machines"]] == [("Switch", 2)]


BESIDE = """
from lawful import Machine, Nat, Scope, require, transition

class Scoped(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n += 1

    scope = Scope(Nat=range(3))

class Unscoped(Machine):
    n: Nat = 0

    @transition()
    def down(self, m: Nat) -> None:
        require(m < 3, "too much")
        self.n = m
"""


def test_a_replay_judges_the_machines_without_a_scope_too(tmp_path: Path) -> None:
    """A replay explores nothing. It left them out where another machine of the module had one."""
    module = tmp_path / "beside.py"
    module.write_text(BESIDE, encoding="utf-8")
    scoped, unscoped = targets.machine(f"{module}:Scoped"), targets.machine(f"{module}:Unscoped")
    journal, answer = tmp_path / "events.jsonl", tmp_path / "answer.json"
    with Journal(journal) as kept:
        for cls, event, args in ((scoped, "up", ()), (unscoped, "down", (2,))):
            one = cls()
            kept.attach(one, event)
            getattr(one, event)(*args)
    rows = [
        {**row, "args": {"m": 7} if row["event"] == "down" else row["args"]}
        for row in read(journal)
    ]
    journal.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code = main(["replay", str(journal), str(module), "--json", str(answer), "--quiet"])
    found = json.loads(answer.read_text(encoding="utf-8"))
    verdicts = {each["machine"]: +Counter[str](each["verdicts"]) for each in found["machines"]}
    assert verdicts == {"Scoped": {"fits": 1}, "Unscoped": {"deviates": 1}}
    assert (code, found["other_machines"]) == (2, {})
