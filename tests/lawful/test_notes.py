"""What a user may not expect of a declaration is said, by every command and before a search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lawful.test_cli import declared, run

DOOR = """from lawful import *

class Side(State):
    OPEN = "open"
    SHUT = "shut"

class Door(Machine):
    state: Side = Side.OPEN
    told: bool = False

    @transition(source=Side.OPEN, target=Side.SHUT)
    def close(self) -> None:
        self.after_close()

    @transition(source=Side.SHUT, target=Side.OPEN)
    def lift(self) -> None: ...

    def on_enter_SHUT(self) -> None:
        print("shut")

    def before_lift(self) -> None:
        print("lifts")

    def after_close(self) -> None:
        self.told = not self.told

    def on_exit_SHUT(self) -> None:
        self.rest()

    def rest(self) -> None:
        self.on_enter_OPEN()

    def on_enter_OPEN(self) -> None:
        # Only what nobody calls calls it.
        self.told = False

    def on_enter_nothing(self) -> None:
        print("no state has this name")

    def on_enter_(self) -> None:
        print("like none")
"""
WIDE = """from lawful import *

class Wide(Machine):
    scope = Scope(Nat=range(0, 6))
    x: Nat = 0

    @transition()
    def put(self, s: frozenset[tuple[Nat, Nat]]) -> None:
        require(len(s) == 99)
        self.x = 1

    @transition()
    def few(self, a: Nat, b: Nat) -> None:
        require(a > b and b > a)
        self.x = a
"""
OPEN = """from lawful import *

class Open(Machine):
    a: Nat = 0
    b: Nat = 2

    @transition()
    def up(self) -> None:
        self.a = (self.a + 2) % 10
        self.b = (self.b * 3) % 14

    @invariant
    def odd(self) -> bool:
        return BODY

    deadlock_ok = True
    scope = Scope(Nat=range(FIRST, 20))
"""


@pytest.mark.parametrize(("command", "ends"), [("check", 0), ("lint", 1), ("show", 0)])
def test_a_callback_that_no_step_calls_is_named(
    command: str, ends: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = declared(tmp_path, DOOR)
    more = "; a transition may call it"
    like = "which is named like a callback of the"
    notes = [
        f"{target}:18: no step of Door calls on_enter_SHUT, {like} state SHUT{more}",
        f"{target}:21: no step of Door calls before_lift, {like} event lift{more}",
        f"{target}:27: no step of Door calls on_exit_SHUT, {like} state SHUT{more}",
        f"{target}:33: no step of Door calls on_enter_OPEN, {like} state OPEN{more}",
        f"{target}:37: no step of Door calls on_enter_nothing, which is named like a callback of a"
        " state nothing, which the machine does not have: its states are OPEN, SHUT",
    ]
    code, out, err = run(command, target, "--json", "-", capsys=capsys)
    assert (code, err.splitlines(), json.loads(out)["notes"]) == (ends, notes, notes)
    assert run(command, target, "--quiet", capsys=capsys) == (ends, "", "")


def test_a_large_number_of_arguments_is_said_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("check", declared(tmp_path, WIDE), "--max-seconds", "0.1")
    note = "Wide: put has 68,719,476,736 arguments to try in a state"
    code, out, err = run(*given, "--json", "-", capsys=capsys)
    answer = json.loads(out)
    assert (code, err, answer["notes"]) == (3, f"{note}\n", [note])
    assert (answer["machines"][0]["stopped"], answer["machines"][0]["distinct"]) == ("seconds", 1)


@pytest.mark.parametrize(
    ("body", "first", "said"),
    [
        ("self.a != 5 and self.b != 7", 0, "no clause that it tried proves more of what is open"),
        ("self.a < 10", 0, "no obligation is open for which a stronger invariant could help"),
        (
            "self.a * self.b != 77 and self.b != 7",
            3,
            "no state within the scope can be explored, and its clauses come from such states",
        ),
    ],
)
def test_strengthening_says_that_it_found_nothing(
    body: str, first: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = OPEN.replace("BODY", body).replace("FIRST", str(first))
    given = ("prove", declared(tmp_path, text), "--method", "induction", "--no-cache")
    _, out, _ = run(*given, "--strengthen", capsys=capsys)
    assert f"strengthening found nothing: {said}\n" in out
    assert "strengthening" not in run(*given, capsys=capsys)[1]
    _, out, _ = run(*given, "--strengthen", "--json", "-", capsys=capsys)
    assert json.loads(out)["machines"][0]["no_proposal"] == said
