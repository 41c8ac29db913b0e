"""TARGET: files inside packages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lawful.cli import main

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
