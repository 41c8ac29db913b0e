"""A package as somebody ships it: frozen, compiled, its source left at home.

Every step is a process of its own, as in a build and in a deployment; where the process itself
shows nothing, `imported` saves one.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import annotated_types

ROOT = Path(__file__).resolve().parents[1]
KINDS = '''
from lawful import Nat, Record, Sort, State


class Conn(State):
    OPEN = "open"
    CLOSED = "closed"


class Node(Sort):
    """Who sends."""


class Ack(Record):
    """Cumulative."""

    seqno: Nat
'''
HELP = """
from lawful import Nat


def twice(n: Nat) -> Nat:
    return 2 * n
"""
MODULE = '''
"""Machines of a package."""

from __future__ import annotations

from uuid import UUID

from lawful import (
    Expect, Machine, Nat, Param, Scope, Timer, ignore, initial, invariant, needed,
    require, transition,
)

from .help import twice
from .kinds import Ack, Conn, Node

LIMIT = 3


class Bare(Machine, abstract=True):
    least: Nat


class Base(Machine, abstract=True):
    state: Conn = Conn.OPEN
    sent: Nat = 0

    @transition(source=Conn.OPEN)
    def send(self) -> Nat:
        require(self.sent < LIMIT, "full")
        self.sent += 1
        return twice(self.sent)


class Sender(Base):
    """A sender."""

    most: Param[int] = 3
    idle: Timer = Timer()
    last: Node | None = None
    key: UUID | None = None

    @transition(source=Conn.OPEN)
    def ack(self, m: Ack, who: Node) -> None:
        """What was received."""
        require(m.seqno <= self.sent, f"{m.seqno} was never sent")
        assert self.sent <= self.most
        self.last = who
        self.idle.start(0)

    @transition(source=Conn.OPEN)
    def name(self, key: UUID) -> None:
        self.key = key

    @transition(source=Conn.OPEN, target=Conn.CLOSED, timer="idle")
    def close(self) -> Node:
        return needed(self.last, "nobody")

    late = ignore(
        "ack", source=Conn.CLOSED, when=lambda self, m, who: m.seqno > 1, because="gone"
    )

    @invariant
    def few(self) -> bool:
        return self.sent <= LIMIT

    deadlock_ok = True
    expects = Expect(asserts="holds")
    scope = Scope(Nat=range(0, 5), Node=2, UUID=1)


class Whole(Machine):
    one: Sender = Sender()
    got: Nat = 0

    @initial
    def begin(self, n: Nat) -> None:
        require(n < 2, "small")
        self.got = n

    @transition()
    def go(self) -> None:
        self.got = self.one.send()

    @transition()
    def both(self, m: Ack, who: Node) -> None:
        self.one.ack(m, who)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 7), Node=2, UUID=1)
'''
USE = """
import copy, json, pickle, sys
from uuid import UUID
from pathlib import Path
from lawful import Refused
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.journal import Journal
from pkg.kinds import Ack, Conn, Node
from pkg.mod import Sender, Whole

s = Sender(most=2)
with Journal("journal.jsonl") as journal:
    journal.attach(s, "one")
    print(s.send(), s.lawful.enabled(), s.lawful.at(Conn.OPEN))
    s.ack(Ack(1), Node("a"))
    s.name(UUID(int=7))
    try:
        s.ack(Ack(7), Node("a"))
    except Refused as refused:
        print(refused)
    print(s.close(), s)
try:
    s.send()
except Refused as refused:
    print(refused)
again = Sender.lawful.restore(json.loads(json.dumps(s.lawful.snapshot())))
print(again == s, pickle.loads(pickle.dumps(s)) == s, copy.copy(s) == s)
whole = Whole()
whole.begin(1)
whole.go()
print(whole, Whole.lawful.state(got=5).got)
for cls in (Sender, Whole):
    print(cls.__name__, cls.lawful.fingerprint)
found = replay([Path("journal.jsonl")], ReplayProgram((Sender.lawful.ir,)))
print(found.exit_code, found.to_json()["verdicts"])
print(Sender.lawful.ir.place.file, Sender.lawful.ir.module)
"""


def package(folder: Path, module: str = MODULE) -> Path:
    """The package with its source, in a folder."""
    (folder / "pkg").mkdir(parents=True)
    for name, text in (("__init__", ""), ("kinds", KINDS), ("help", HELP), ("mod", module)):
        (folder / "pkg" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def run(
    folder: Path,
    *args: str,
    python: str = sys.executable,
    paths: Iterable[Path] = (),
    seed: str = "0",
) -> subprocess.CompletedProcess[str]:
    """A Python process in the folder that finds lawful and what lies in the folder.

    The folders beside it share its caches, and no other does.
    """
    found = os.pathsep.join(map(str, (folder, ROOT, *paths)))
    cache = str(folder.parent / "cache")
    return subprocess.run(
        [python, *args],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": found,
            "PYTHONHASHSEED": seed,
            "COLUMNS": "200",
            "XDG_CACHE_HOME": cache,
        },
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def imported(folder: Path) -> Generator[Any]:
    """The module `pkg.mod` of the folder, in this process for as long as the block runs."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module("pkg.mod")
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "pkg"]:
            del sys.modules[name]


def freeze(folder: Path) -> None:
    """As `lawful freeze pkg.mod` does."""
    done = run(folder, "-m", "lawful", "freeze", "pkg.mod")
    assert done.returncode == 0, done.stderr


def compiled(source: Path, to: Path, *options: str, python: str = sys.executable) -> Path:
    """The package with its compiled files in the place of its source."""
    shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
    done = run(to, *options, "-m", "compileall", "-q", "-b", "pkg", python=python)
    assert done.returncode == 0, done.stdout + done.stderr
    for path in (to / "pkg").glob("*.py"):
        path.unlink()
    return to


def other_pythons() -> list[str]:
    """Other versions of Python, new enough, that start here."""
    found: list[str] = []
    for minor in {*range(11, 15)} - {sys.version_info.minor}:
        first = shutil.which(f"python3.{minor}")
        # A version manager may have it without offering it everywhere.
        folder = Path(first or "").parent.parent
        kept = folder.glob(f"versions/3.{minor}*/bin/python") if first else ()
        for path in filter(None, (*map(str, kept), first)):
            if subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
                found.append(path)
                break
    return found


def needs(folder: Path) -> Path:
    """A folder with what lawful needs of other packages, for a Python that has nothing."""
    spec = importlib.util.find_spec("annotated_types")
    assert spec is not None and annotated_types.__file__ is not None
    shutil.copytree(Path(annotated_types.__file__).parent, folder / "annotated_types")
    return folder
