"""What decorators and statements of a class body take, and how they refuse the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import Machine, Nat, Scope, State, drop, event, ignore, transition
from lawful.cli import main
from lawful.spec.resolve import resolve


class Phase(State):
    IDLE = "idle"
    BUSY = "busy"


class ByMethod(Machine):
    state: Phase = Phase.IDLE
    done: Nat = 0
    scope = Scope(Nat=range(0, 2))

    @event
    def work(self) -> None: ...

    @transition(event=work, source=Phase.IDLE, target=Phase.BUSY)
    def begin(self) -> None: ...

    @transition(source=Phase.BUSY, target=Phase.IDLE)
    def end(self) -> None:
        self.done += 1

    late = ignore(end, source=Phase.IDLE, because="it has ended")


class Wider(ByMethod):
    scope = Scope(done=range(0, 9))


class Fewer(Wider):
    gone = drop(ByMethod.end)
    quiet = drop("late")
    alone = drop("scope")


class Again(Fewer):
    scope = Scope()


def test_an_inherited_scope_is_dropped_with_its_bounds() -> None:
    assert "scope" in resolve(ByMethod).scopes
    assert "scope" not in resolve(Fewer).scopes
    assert resolve(Again).scopes["scope"].bounds == {}


def test_a_method_stands_for_its_name() -> None:
    machine = resolve(ByMethod).machine
    assert [(row.name, row.event) for row in machine.transitions] == [
        ("begin", "work"),
        ("end", "end"),
    ]
    assert [row.event for row in machine.ignores] == ["end"]
    assert [row.name for row in resolve(Fewer).machine.transitions] == ["begin"]


HEAD = """from lawful import *

class S(State):
    A = "a"
    B = "b"

def helper() -> int: return 1

class M(Machine):
    state: S = S.A
    idle: Timer = Timer()
    @transition(source=S.A, target=S.B)
    def f(self) -> None: ...
    """


@pytest.mark.parametrize(
    ("written", "found", "rewrite"),
    [
        (
            "@transition(S.A, S.B)",
            "@transition with a value",
            "@transition(source=..., target=...)",
        ),
        ("@transition(S.A)", "@transition with a value", "@transition(source=..., target=...)"),
        ("@transition(timer=idle)", "timer=Timer(", 'timer="name"'),
        ("@transition(of=S)", "of=<enum 'S'>", 'of="name"'),
        ("@transition(fair=True)", "fair=True", 'fair="weak" or fair="strong"'),
        ("@transition(event=helper)", "event=<function helper", 'event="name"'),
        ("@transition(source=5)", "source=5", "a state, or several: (S.A, S.B)"),
        ("@invariant('text')", "@invariant(...)", "@invariant"),
        ("@leads_to(S.A, S.B)", "@leads_to(...)", "@leads_to"),
        ("late = ignore(helper, because='x')", "event=<function helper", 'event="name"'),
        ("late = ignore('f', source=5, because='x')", "source=5", "a state, or several"),
        ("less = drop(5)", "name=5", 'name="name"'),
    ],
)
def test_what_a_word_does_not_take_is_refused_where_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str, found: str, rewrite: str
) -> None:
    file = tmp_path / "wrong.py"
    rest = "\n    def g(self) -> None: ..." if written.startswith("@") else ""
    file.write_text(f"{HEAD}{written}{rest}\n")
    assert main(["check", str(file)]) == 4
    told = capsys.readouterr().err
    assert f"{file}:{HEAD.count(chr(10)) + 1}: L105" in told
    assert f"found:    {found}" in told
    assert rewrite in told


def test_a_parameter_of_no_type_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(f"{HEAD}limit: Param = 3\n")
    assert main(["check", str(file)]) == 4
    told = capsys.readouterr().err
    assert "found:    a Param or a Ghost of no type" in told
    assert "rewrite:  say of what: Param[int] or Ghost[int]" in told


def test_where_python_refuses_the_line_is_that_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(f"{HEAD}limit: Param[int] = Param(3)\n")
    assert main(["check", str(file)]) == 5
    told = capsys.readouterr().err
    assert f"in {file}:{HEAD.count(chr(10)) + 1}: limit: Param[int] = Param(3)" in told
