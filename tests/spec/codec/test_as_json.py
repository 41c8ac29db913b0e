"""The IR as JSON, and the fingerprints: what they are free of, and what changes them."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Record, Scope
from lawful.machines.unicast import declaration
from lawful.spec import ir
from lawful.spec.codec import as_json
from lawful.spec.errors import NOWHERE
from tests.frozen import needs, other_pythons, run

HEAD = "from lawful import *\nfrom lawful import Machine, Nat, Param, State, Ghost\n"
DOOR = (
    HEAD
    + '''
def twice(n: Nat) -> Nat:
    return 2 * n

class Door(State):
    OPEN = "open"
    SHUT = "shut"

class Gate(Machine):
    """A gate."""

    state: Door = Door.OPEN
    passed: Nat = 0
    most: Param[int] = 3

    @transition(source=Door.OPEN)
    def enter(self) -> Nat:
        """Come in."""
        require(self.passed < self.most, "full")
        self.passed += twice(1)
        return self.passed

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None: ...

    late = ignore("shut", source=Door.SHUT, because="it is shut")

    def unused(self) -> Nat:
        return self.passed

    @invariant
    def few(self) -> bool:
        return self.passed <= self.most + 1
'''
)
COMMENTED = (
    DOOR.replace('"""A gate."""', '"""Another text.\n\n    Longer.\n    """\n    # a comment\n')
    .replace('"""Come in."""', "# nothing")
    .replace("self.passed < self.most", "(self.passed   <\n            self.most)")
)
REORDERED = DOOR.replace("    state: Door = Door.OPEN\n    passed: Nat = 0\n", "").replace(
    "    most: Param[int] = 3\n",
    "    most: Param[int] = 3\n    passed: Nat = 0\n    state: Door = Door.OPEN\n",
)


def gate(text: str, folder: Path, module: str = "gate") -> ir.Machine:
    path = folder / f"{module}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)
    found: type[Machine] = loaded.Gate
    machine: ir.Machine = found.lawful.ir
    return machine


MACHINES = [declaration.SenderEntryFixed, declaration.ReceiverEntry]


@pytest.mark.parametrize("cls", MACHINES)
def test_a_machine_comes_back_equal(cls: type[Machine]) -> None:
    machine = cls.lawful.ir
    data = as_json.to_json(machine)
    back = as_json.from_json(json.loads(json.dumps(data)))
    assert back == machine
    assert as_json.to_json(back) == data
    assert back.place == machine.place and back.doc == machine.doc


def test_places_can_be_left_out() -> None:
    machine = declaration.ReceiverEntry.lawful.ir
    data = as_json.to_json(machine, places=False)
    text = json.dumps(data)
    assert "declaration.py" not in text
    back = as_json.from_json(json.loads(text))
    assert back == machine and back.place == NOWHERE


def _broken(path: list[Any], value: object) -> Any:
    data: Any = copy.deepcopy(as_json.to_json(declaration.SenderEntryFixed.lawful.ir))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return data


BROKEN: list[tuple[list[Any], object, str]] = [
    (["format"], "x", "expected an object"),
    (["version"], 99, "format version 99; this lawful reads 1"),
    (["types"], None, "no lists under"),
    (["machine"], None, "no Machine under"),
    (["machine", "is"], "Gadget", 'the unknown node "Gadget"'),
    (["types", 0, "is"], "Colour", 'the unknown type "Colour"'),
    (["types", 0, "more"], 1, "with the fields"),
    (["machine", "variables", 0, "type"], {"@": 10_000}, "type 10000, where"),
    (["machine", "variables", 0, "type"], {"@": -1}, "type -1, where"),
    (["machine", "variables", 0, "name"], 7, "7 as name of a Variable"),
    (["machine", "variables", 0, "place"], [0, "x"], "as a place"),
    (["machine", "variables", 0, "place"], [99, 1, 1, 1, 1], "as a place"),
    (["machine", "deadlock_ok"], 1, "1 as deadlock_ok of a Machine"),
    (["machine", "properties", 0, "kind"], "wish", "as kind of a Property"),
    (["machine", "transitions"], {"is": "Break"}, "as transitions of a Machine"),
]


@pytest.mark.parametrize(("path", "value", "why"), BROKEN)
def test_what_is_no_machine_is_refused(path: list[Any], value: object, why: str) -> None:
    with pytest.raises(ValueError, match="machine") as caught:
        as_json.from_json(_broken(path, value))
    assert why in str(caught.value)


@pytest.mark.parametrize("data", [None, 3, "x", [], {}])
def test_other_json_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="not a machine"):
        as_json.from_json(data)


def test_fingerprints_are_free_of_how_it_is_written(tmp_path: Path) -> None:
    expected = as_json.fingerprints(gate(DOOR, tmp_path))
    assert as_json.fingerprints(gate(COMMENTED, tmp_path, "commented")) == expected
    assert as_json.fingerprints(gate("#\n" * 40 + DOOR, tmp_path, "moved")) == expected
    assert as_json.fingerprints(gate(REORDERED, tmp_path, "reordered")) == expected
    unused = DOOR.replace("return self.passed\n\n    @inv", "return 7\n\n    @inv")
    assert unused != DOOR and as_json.fingerprints(gate(unused, tmp_path, "unused")) == expected


CHANGES = [
    ("passed: Nat = 0", "passed: int = 0", "shape behaviour whole"),
    ("passed: Nat = 0", "passed: Nat = 0\n    other: bool = False", "shape behaviour whole"),
    ("passed: Nat = 0", "passed: Nat = 0\n    told: Ghost[bool] = False", "behaviour whole"),
    ("passed: Nat = 0", "passed: Nat = 1", "behaviour whole"),
    ("most: Param[int] = 3", "most: Param[int] = 4", "behaviour whole"),
    ('"shut"\n', '"shut"\n    AJAR = "ajar"\n', "shape behaviour whole"),
    ("passed < self.most", "passed <= self.most", "behaviour whole"),
    ("2 * n", "n + n", "behaviour whole"),
    ("source=Door.SHUT, because", "source=Door.OPEN, because", "behaviour whole"),
    ("self.most + 1", "self.most + 2", "whole"),
    ("def few", "def little", "whole"),
]


@pytest.mark.parametrize(("old", "new", "changed"), CHANGES)
def test_fingerprints_tell_what_changed(old: str, new: str, changed: str, tmp_path: Path) -> None:
    before = as_json.fingerprints(gate(DOOR, tmp_path))
    assert old in DOOR
    after = as_json.fingerprints(gate(DOOR.replace(old, new), tmp_path, "changed"))
    names = ("shape", "behaviour", "whole")
    differ = [name for name in names if getattr(before, name) != getattr(after, name)]
    assert differ == changed.split()


SAID = [
    ("", "    scope = Scope(Nat=range(0, 4))\n", "whole"),
    ("", "    wide = Scope(Nat=range(0, 9))\n", "whole"),
    ("", '    expects = Expect(few="violated")\n', "whole"),
    ("", '    fairness = Fairness(Weak("enter"))\n', "whole"),
    ("", "    deadlock_ok = True\n", "whole"),
    ('"it is shut"', '"it is closed"', "behaviour whole"),
    ('"full"', '"no room"', "behaviour whole"),
]


@pytest.mark.parametrize(("old", "new", "changed"), SAID)
def test_the_class_tells_its_own(old: str, new: str, changed: str, tmp_path: Path) -> None:
    after = DOOR.replace(old, new) if old else DOOR + new
    prints: list[as_json.Fingerprints] = []
    for module, text in (("before", DOOR), ("after", after)):
        gate(text, tmp_path, module)
        cls: type[Machine] = sys.modules[module].Gate
        prints.append(cls.lawful.fingerprint)
    names = ("shape", "behaviour", "whole")
    differ = [name for name in names if getattr(prints[0], name) != getattr(prints[1], name)]
    assert differ == changed.split()


class Pair(Record):
    left: int
    right: int


def test_what_is_said_about_checking_counts_for_the_whole() -> None:
    machine = declaration.SenderEntryFixed.lawful.ir
    scopes = [
        Scope(Nat=range(0, 4), beans=(1, 2.5, None), pairs={Pair(1, 2), Pair(2, 1)}),
        Scope(Nat=range(0, 5), beans=(1, 2.5, None), pairs={Pair(1, 2), Pair(2, 1)}),
        Scope({"a.b": [declaration.Conn.OPEN]}),
    ]
    found = [as_json.fingerprints(machine), *(as_json.fingerprints(machine, s) for s in scopes)]
    assert len({f.whole for f in found}) == 4
    assert len({(f.shape, f.behaviour) for f in found}) == 1
    resolved = declaration.SenderEntryFixed.lawful.resolved
    said = (resolved.scopes, resolved.expects)
    assert as_json.fingerprints(machine, said) == as_json.fingerprints(machine, said)
    with pytest.raises(TypeError, match="does not belong"):
        as_json.fingerprints(machine, object())


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from gate import Gate
from lawful.machines.unicast.declaration import ReceiverEntry, SenderEntryFixed
from lawful.spec.codec import as_json as serial
for cls in (SenderEntryFixed, ReceiverEntry, Gate):
    r = cls.lawful.resolved
    print(cls.lawful.fingerprint)
    print(serial.digest(serial.to_json(r.machine)))
"""


@pytest.mark.nightly
def test_nothing_depends_on_the_hash_seed_or_process_or_python(tmp_path: Path) -> None:
    needed = [needs(tmp_path / "needs")]
    (tmp_path / "gate.py").write_text(DOOR, encoding="utf-8")
    runs = [(sys.executable, seed) for seed in ("0", "1", "4711")]
    runs += [(python, "5") for python in other_pythons()]
    outputs: set[str] = set()
    for python, seed in runs:
        done = run(tmp_path, "-c", SCRIPT, str(tmp_path), python=python, seed=seed, paths=needed)
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1 and len(outputs.pop().splitlines()) == 6
