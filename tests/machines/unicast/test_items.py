"""The entries of unicast as items of pytest: every property has the verdict that is expected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec.verdicts import BUILT_IN, JUDGED
from tests.root import ROOT


@pytest.mark.nightly
def test_every_property_of_the_entries_is_an_item(tmp_path: Path) -> None:
    target = SenderEntryFixed.__module__
    plugin = ("-p", "lawful.pytest_plugin", "-p", "no:cacheprovider", "-v")
    asked = ("--lawful-target", target, "--lawful-only", "check", str(tmp_path))
    env = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", *plugin, *asked]
    ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    for cls in (SenderEntryFixed, ReceiverEntryFixed):
        own = [p.name for p in cls.lawful.ir.properties if p.kind in JUDGED]
        for name in ("explored", *BUILT_IN, *own):
            assert f"{target}::{cls.__name__}::check {name}[" in ended.stdout
    assert "FAILED" not in ended.stdout
