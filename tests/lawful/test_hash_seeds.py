"""Nothing that can be seen depends on the hash seed: whole outputs of processes, byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.frozen import ROOT, run

SEEDS = ("0", "4711")
FILES = (
    "classics/peterson.py",
    "classics/two_phase.py",
    "checks/declarations/unordered.py",
    "checks/declarations/encoding.py",
)
UNICAST = "lawful.machines.unicast.declaration"
TIMES = re.compile(r'"(total_|compile_)?seconds": [-\d.e]+|\b[\d.]+ s\b')


def outputs(folder: Path, *args: str) -> set[str]:
    """What processes with several hash seeds print, times aside."""
    found: set[str] = set()
    for seed in SEEDS:
        done = run(folder, *args, seed=seed)
        assert done.returncode in (0, 1), done.stderr
        found.add(TIMES.sub("0", done.stdout) + done.stderr)
    return found


@pytest.mark.nightly
def test_show_and_check(tmp_path: Path) -> None:
    script = """
import sys
from lawful.cli import main
from lawful import targets
for target in sys.argv[1:]:
    for cls in targets.declared_in(target)[1]:
        name = f"{target}:{cls.__name__}"
        print(main(["show", name]), main(["show", name, "--what", "flat"]), flush=True)
        print(main(["check", name, "--max-states", "20", "--coverage", "--json", "-"]), flush=True)
        print(main(["draw", name, "--format", "dot", "--quiet"]), flush=True)
"""
    found = outputs(
        tmp_path, "-c", script, *(str(ROOT / "tests" / file) for file in FILES), UNICAST
    )
    assert len(found) == 1 and len(found.pop()) > 20_000


@pytest.mark.nightly
def test_errors(tmp_path: Path) -> None:
    folder = ROOT / "tests" / "refused"
    paths = sorted(str(path) for path in folder.glob("L*.py"))
    script = """
import sys
from lawful.cli import main
for path in sys.argv[1:]:
    print(main(["check", path]))
"""
    found = outputs(tmp_path, "-c", script, *paths)
    assert len(found) == 1 and found.pop().count("rewrite:") > 100


def test_an_instance_and_what_it_refuses(tmp_path: Path) -> None:
    found = outputs(tmp_path, "-m", "tests.checks.declarations.unordered")
    assert len(found) == 1
    text = found.pop()
    assert "known={Node('ada'), Node('bob'), Node('eve'), Node('joe')}" in text
    assert "known: {ada, bob, eve, joe}, {ada, eve}, {ada: 4, bob: 4, eve: 4, joe: 4}" in text


def test_a_journal_and_its_replay(tmp_path: Path) -> None:
    script = """
from pathlib import Path
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.journal import Journal
from tests.checks.declarations.unordered import Msg, Node, Unordered
nodes = [Node(name) for name in ("eve", "ada", "bob")]
class Still:
    def now(self): return 0.0
entry = Unordered(clock=Still())
with Journal("j.jsonl", append=False) as journal:
    journal.attach(entry, "one")
    entry.meet(frozenset(nodes)); entry.refill(); entry.pick(Msg(frozenset(nodes), 1))
import re
print(re.sub(r'"(time|wall|sum)": ?("[0-9a-f]+"|[-0-9.e]+)', "", Path("j.jsonl").read_text()))
result = replay([Path("j.jsonl")], ReplayProgram((Unordered.lawful.ir,))).to_json()
print({k: v for k, v in result.items() if k != "seconds"})
"""
    found = outputs(tmp_path, "-c", script)
    assert len(found) == 1 and "'fits': 1" in found.pop()
