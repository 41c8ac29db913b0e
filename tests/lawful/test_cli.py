"""The command line: exit codes, JSON, and what it says where it can do nothing."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from lawful.cli import main

JOBS = "tests.checks.declarations.provable:Owned"
SENDER = "lawful.machines.unicast.declaration:SenderEntryFixed"
SENDER_AS_SEED = "lawful.machines.unicast.as_seed:SenderEntryAsSeed"

WRONG = """
from lawful import Machine, Nat, State, transition

class Door(State):
    OPEN = "open"
    SHUT = "shut"

class Wrong(Machine):
    state: Door = Door.OPEN
    n: Nat = 0

    @transition(source=Door.OPEN)
    def shut(self) -> None:
        self.n = self.m

    @transition(source=Door.SHUT)
    def open(self) -> None:
        while self.n:
            self.n //= 2
"""
SURPRISE = """
from lawful import Machine, Nat, Scope, invariant, require, transition

class Surprise(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        require(self.n < 3, "enough")
        self.n += 1

    @invariant
    def below_two(self) -> bool:
        return self.n < 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 5))
"""
EXPECTS = 'expects = Expect(below_two=("violated", 2))'
MET = SURPRISE.replace("deadlock_ok", f"{EXPECTS}\n    deadlock_ok").replace(
    "Machine, Nat", "Expect, Machine, Nat"
)
MISNAMED = WRONG.split("    @transition(source=Door.SHUT", maxsplit=1)[0]


def run(*args: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(args)
    out, err = capsys.readouterr()
    return code, out, err


def answer(*args: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code, out, _ = run(*args, "--json", "-", capsys=capsys)
    return code, json.loads(out)


def declared(tmp_path: Path, text: str) -> str:
    path = tmp_path / f"declared_{abs(hash(text))}.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_expected_verdicts_met_is_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run("check", declared(tmp_path, MET), capsys=capsys)
    assert (code, err) == (0, "")
    assert "below_two  invariant  violated after 2 events  as expected" in out


def test_json_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer("check", SENDER, capsys=capsys)
    assert code == 0
    assert (found["version"], found["command"]) == (1, "check")
    [machine] = found["machines"]
    assert machine["machine"] == "SenderEntryFixed"
    assert (machine["distinct"], machine["generated"], machine["depth"]) == (602, 41_405, 14)
    assert machine["verdict"] == "holds-within-scope"
    assert machine["scope"] == {"Nat": "0..3", "Payload": "1", "reaping": "True,False"}


def test_a_surprise_is_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("check", declared(tmp_path, SURPRISE), capsys=capsys)
    assert code == 1
    assert "below_two is violated: n < 2 is false (n = 2)" in out


def test_an_expected_violation_with_its_length_is_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", declared(tmp_path, MET), capsys=capsys)[0] == 0
    other = MET.replace('("violated", 2)', '("violated", 1)')
    code, out, _ = run("check", declared(tmp_path, other), capsys=capsys)
    assert code == 1
    assert "violated after 2 events  EXPECTED violated after 1" in out


def test_an_expected_violation_not_found_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MET.replace("self.n < 3", "self.n < 1")
    assert run("check", declared(tmp_path, text), capsys=capsys)[0] == 1


def test_out_of_budget_is_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("check", SENDER, "--max-states", "10", capsys=capsys)
    assert code == 3
    assert "stopped   by the limit on states before everything was explored" in out


def test_a_refused_declaration_is_4_and_says_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = declared(tmp_path, WRONG)
    code, out, err = run("check", path, capsys=capsys)
    assert (code, out) == (4, "")
    assert f"{path}:18: L102" in err
    assert "while self.n:" in err
    code, _, err = run("check", declared(tmp_path, MISNAMED), capsys=capsys)
    assert code == 4
    assert "L205" in err
    assert "m of a Wrong" in err


@pytest.mark.parametrize("command", ["check", "prove", "lint"])
def test_a_key_of_the_scope_that_names_nothing_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scope = "    scope = Scope(Nat=range(2), bogus=3)\n"
    text = f"from lawful import *\n\nclass Up(Machine):\n    n: Nat = 0\n{scope}"
    code, out, err = run(command, declared(tmp_path, text), capsys=capsys)
    assert (code, out) == (4, "")
    assert "found:    bogus in the scope of Up" in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["check", "no.such.module"], "there is no module no.such.module"),
        (["check", "nowhere.py"], "there is no file nowhere.py"),
        (["check", "lawful.machines.unicast.declaration:Nobody"], "has no machine Nobody"),
        (["check", SENDER, "--scope", "huge"], "has no scope huge"),
        (["check", SENDER, "--scope", "Nat=many"], "expected N, A..B or A,B,C"),
        (["check", SENDER, "--only", "nothing"], "has no property nothing"),
        (
            ["check", "tests.checks.declarations.encoding:Collections"],
            "the parameter ms: frozenset[Packet] has more than 4,194,304 values within the scope",
        ),
    ],
)
def test_usage_is_5(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(*args, capsys=capsys)
    assert (code, out) == (5, "")
    assert said in err


def test_unknown_options_are_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["check", SENDER, "--sideways"])
    assert stopped.value.code == 5
    assert "--sideways" in capsys.readouterr().err


def test_a_missing_bound_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run("check", SENDER, "--scope", "Naat=4", capsys=capsys)
    assert code == 4
    assert "Naat in the scope of SenderEntryFixed" in err


def test_a_smaller_scope_is_weaker(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer("check", SENDER, "--scope", "Nat=0..2", capsys=capsys)
    assert code == 3  # A reachable state of the larger scope is not seen.
    assert found["machines"][0]["distinct"] == 162


def test_prove_says_what_is_proved_and_for_what(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer("prove", SENDER, capsys=capsys)
    assert code == 0
    [machine] = found["machines"]
    asked = [p for p in machine["properties"] if p["method"] != "none"]
    assert {p["verdict"] for p in asked} == {"proved"}
    assert all("all integers" in p["covers"] for p in asked)
    names = {p["name"] for p in machine["properties"]}
    assert {"bounds", "window_is_what_is_unacked", "no_silent_loss"} <= names


def test_prove_leaves_the_size_of_a_sort_open(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer("prove", JOBS, "--any-size", "Worker", capsys=capsys)
    assert code == 0
    [machine] = found["machines"]
    asked = {(p["verdict"], p["covers"]) for p in machine["properties"] if p["method"] != "none"}
    assert asked == {
        (
            "proved",
            "all integers; timers armed or not; any Worker",
        )
    }
    code, _, err = run("prove", JOBS, "--any-size", "Body", capsys=capsys)
    assert code == 5
    assert "Owned has no sort Body; it has: Worker" in err
    code, _, err = run("prove", SENDER, "--any-size", "Peer", capsys=capsys)
    assert code == 5
    assert "SenderEntryFixed has no sort Peer; it has none" in err


def test_a_counterexample_to_induction_is_no_violation(capsys: pytest.CaptureFixture[str]) -> None:
    target = "tests.classics.two_phase:TwoPhase"
    code, out, _ = run("prove", target, "--method", "induction", capsys=capsys)
    assert code == 3
    assert "consistent: counterexample to induction" in out
    assert "violated after" not in out


def test_show_prints_declaration_ir_and_flat(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("show", SENDER, capsys=capsys)
    assert code == 0
    assert "class SenderEntryFixed(Machine):" in out
    code, out, _ = run("show", SENDER, "--what", "ir", capsys=capsys)
    assert code == 0
    assert json.loads(out)["machine"]
    code, out, _ = run("show", SENDER, "--what", "flat", capsys=capsys)
    assert code == 0
    assert "transition ack(m: Ack(seqno=Nat[0..3], conn=Nat[0..3]))\n" in out
    assert "transition task()" in out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"lawful {version('lawful')}\n")


def test_quiet_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", declared(tmp_path, MET), "--quiet", capsys=capsys) == (0, "", "")


NEEDS = """
from lawful import Machine, Nat, Record, Scope, needed, transition

class A(Record):
    x: Nat

class B(Record):
    y: Nat

class Needs(Machine):
    o: int | None = None
    i: int = 0
    r: A | B | None = B(1)

    @transition()
    def always_refused(self) -> None:
        self.o = None
        self.i = 1 - needed(self.o, "none")

    @transition()
    def matches(self) -> None:
        match self.r:
            case A():
                self.i = 1
            case None:
                self.i = 0
            case _:
                self.i = self.r.y + 1

    deadlock_ok = True
    scope = Scope(int=range(0, 3), Nat=range(0, 2))
"""
UNMET = """
from lawful import Expect, Machine, Nat, Scope, invariant

class Unmet(Machine):
    n: Nat = 0

    @invariant
    def ok(self) -> bool:
        return True

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3), expects=Expect(ok="violated"))
"""
NOWHERE = UNMET.replace("n: Nat = 0", "n: Nat = -1").replace("return True", "return False")


def test_what_is_needed_and_known_to_be_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = answer("check", declared(tmp_path, NEEDS), capsys=capsys)
    assert code == 0
    [machine] = found["machines"]
    assert machine["transitions"] == {
        "always_refused": {"enabled": 0, "new": 0},
        "matches": {"enabled": 2, "new": 1},
    }


def test_the_scopes_own_expectations_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", declared(tmp_path, UNMET), capsys=capsys)[0] == 1


def test_nothing_holds_of_no_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = declared(tmp_path, NOWHERE)
    code, found = answer("check", path, "--only", "ok", capsys=capsys)
    assert code == 3
    assert [p["verdict"] for p in found["machines"][0]["properties"]] == ["unknown"]
    assert run("check", path, capsys=capsys)[0] == 1


def test_what_a_module_prints_does_not_stand_beside_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = declared(tmp_path, "print('hello')\n" + SURPRISE)
    code, out, err = run("check", path, "--json", "-", capsys=capsys)
    assert code == 1
    assert json.loads(out)["command"] == "check"
    assert err == "hello\n"


def test_a_module_that_exits_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run("check", declared(tmp_path, "raise SystemExit(0)"), capsys=capsys)
    assert code == 5
    assert "cannot be imported: SystemExit: 0, in " in err
    assert err.endswith(":1: raise SystemExit(0)\n")


def test_a_module_that_raises_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "from lawful import Scope\n\n\nscope = Scope(1, 2)\n"
    code, _, err = run("check", declared(tmp_path, text), capsys=capsys)
    assert code == 5
    assert err.endswith(":4: scope = Scope(1, 2)\n")


INHERITED = """
from lawful import Machine, Nat, Scope, Sort, drop, require, transition

class Key(Sort):
    "Who has one may enter."

class Door(Machine):
    n: Nat = 0

    @transition()
    def unlock(self, key: Key) -> None:
        require(self.n == 0)

    @transition()
    def count(self) -> None:
        self.n += 1

    scope = Scope(Key=2, Nat=range(0, 2))
    large = Scope(Key=3)

class Open(Door):
    unlocked = drop("unlock")
"""


def test_a_scope_may_name_what_the_heir_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = declared(tmp_path, INHERITED)
    for scope in ((), ("--scope", "large")):
        code, found = answer("check", target, *scope, capsys=capsys)
        assert code == 0
        assert [(m["machine"], m["distinct"]) for m in found["machines"]] == [
            ("Door", 2),
            ("Open", 2),
        ]
    code, _, err = run("check", f"{target}:Open", "--scope", "Key=3", capsys=capsys)
    assert code == 4
    assert "Key in the scope of Open" in err
