"""Stores, outboxes and journals that are called with something else say what was expected."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, initial, transition
from lawful.runtime.interop import from_transitions
from lawful.runtime.journal import Journal, read
from lawful.runtime.outbox import Outbox
from lawful.runtime.store import Store, StoreError
from tests.root import ROOT


class Till(Machine):
    paid: Nat = 0

    @transition()
    def pay(self, amount: Nat) -> Nat:
        self.paid += amount
        return self.paid


Act = Callable[[Store, Path], object]
ANY: Any = Till
INT: Any = int
THREE: Any = 3
CALLS: list[tuple[Act, type[Exception], str]] = [
    (
        lambda _, path: Store(path / "b", outbox=[INT]),
        TypeError,
        "each of outbox .* not <class 'int",
    ),
    (
        lambda _, path: Store(path / "b", outbox=ANY),
        TypeError,
        "outbox: several classes of machines",
    ),
    (lambda _, path: Store(path), StoreError, "is a folder, and no file for a store"),
    (lambda store, _: Outbox(store, ANY(), print), TypeError, "an outbox's machine is a class"),
    (
        lambda store, _: store.add(THREE, "b"),
        TypeError,
        "the class of what is stored .* <class 'int'>",
    ),
    (lambda store, _: store.restore(THREE, "a"), TypeError, "what is restored .* not 3"),
    (
        lambda store, _: store.restore(Till, "a", renamed=THREE),
        TypeError,
        "renamed: new names .* not 3",
    ),
    (
        lambda _, __: Till.lawful.restore(Till().lawful.snapshot(), renamed=THREE),
        TypeError,
        "not 3",
    ),
    (lambda _, __: from_transitions(3), TypeError, "a machine of transitions, not 3"),
    (lambda store, _: store.add(Till(), "\ud800"), StoreError, "cannot be a name"),
]


@pytest.mark.parametrize(("act", "error", "told"), CALLS)
def test_the_error_says_what_was_expected(
    act: Act, error: type[Exception], told: str, tmp_path: Path
) -> None:
    with Store(tmp_path / "a.db", outbox=[Till]) as store:
        store.add(Till(), "a")
        with pytest.raises(error, match=told):
            act(store, tmp_path)
        assert store.names() == ["a"]


def test_a_name_that_no_replay_could_read(tmp_path: Path) -> None:
    named = pytest.raises(ValueError, match=r"'\\ud800' cannot be a name")
    with Journal(tmp_path / "j.jsonl") as journal, named:
        journal.attach(Till(), "\ud800")
    assert [*read(tmp_path / "j.jsonl")] == []


class Later(Machine):
    """Has a value once it was begun."""

    count: Nat
    held: list[Nat]

    @initial
    def begin(self, n: Nat) -> None:
        self.count = n
        self.held = [n]

    @transition()
    def up(self) -> None:
        self.count += 1

    def twice(self) -> int:
        return self.count * 2


def test_a_variable_without_a_value_is_named() -> None:
    later = Later()
    for name, read_it in (
        ("count", lambda: later.count),
        ("count", later.twice),
        ("held", lambda: later.held),
    ):
        told = f"^Later.{name} has no value yet: begin has to be called first$"
        with pytest.raises(AttributeError, match=told):
            read_it()
    assert not hasattr(later, "count")
    later.begin(3)
    assert (later.count, later.twice(), [*later.held]) == (3, 6, [3])


REFUSED_PATHS = """
import os, sys
from lawful.runtime.store import Store, StoreError
folder = sys.argv[1]
if os.geteuid() == 0:
    os.seteuid(65534)  # Root may do everything.
for name in sys.argv[2:]:
    try:
        Store(folder + "/" + name)
        print(name, "opened")
    except StoreError as error:
        print(str(error).replace(folder, "."))
"""


def test_paths_that_cannot_be_opened_are_named() -> None:
    rest = "this process has to read and write the file, and to make others beside it"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for each, mode in (("read_only.db", 0o444), ("closed.db", 0o000)):
            Store(folder / each).close()
            (folder / each).chmod(mode)
        (folder / "closed").mkdir(mode=0o600)
        (folder / "file").touch()
        (folder / "still").mkdir()
        (folder / "still").chmod(0o555)
        names = ["none/s.db", "file/s.db", "closed/s.db", "closed.db", "read_only.db"]
        done = subprocess.run(
            [sys.executable, "-c", REFUSED_PATHS, name, *names, "still/s.db", "still"],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        (folder / "closed").chmod(0o700)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "./none/s.db: its folder ./none: No such file or directory",
        "./file/s.db: its folder ./file: Not a directory",
        f"./closed/s.db cannot be opened as a store: unable to open database file; {rest}",
        f"./closed.db cannot be opened as a store: unable to open database file; {rest}",
        f"./read_only.db cannot be opened as a store: attempt to write a readonly database; {rest}",
        f"./still/s.db cannot be opened as a store: unable to open database file; {rest}",
        "./still is a folder, and no file for a store",
    ]
