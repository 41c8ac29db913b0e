"""Generated code stands in the user's file: breakpoints, tracebacks and coverage find it there."""

from __future__ import annotations

import bdb
import sys
import traceback
from types import FrameType
from typing import Any

import coverage
import pytest

from lawful import Machine, Nat, Refused, State, Undefined, require, transition


class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Gate(Machine):
    state: Door = Door.OPEN
    passed: Nat = 0
    last: Nat = 0
    log: dict[Nat, Nat] = {}

    @transition(source=Door.OPEN)
    def enter(self, who: Nat) -> Nat:
        require(who > 0, "nobody")
        self.passed += 1  # enter's body
        self.keep(who)
        self.note(who)
        return self.log[who]

    def keep(self, whom: Nat) -> None:
        self.last = whom  # keep's body

    def note(self, who: Nat) -> None:
        """Remember."""
        self.log[who] = self.passed  # note's body

    @transition()
    def look(self, who: Nat) -> Nat:
        return self.log[who]  # look's body

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None: ...


def line_of(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith(text))


def lines_hit(run: Any) -> dict[int, str]:
    """The lines of this file that a debugger would stop at, with the function's name."""
    hit: dict[int, str] = {}

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            hit[frame.f_lineno] = frame.f_code.co_name
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return hit


def test_a_breakpoint_on_a_bodys_line_is_hit() -> None:
    gate = Gate()
    hit = lines_hit(lambda: gate.enter(3))
    assert hit[line_of("# enter's body")] == "enter"
    assert hit[line_of("# keep's body")] == "keep"
    assert hit[line_of("# note's body")] == "enter"  # A short helper that changes a container.
    assert line_of("# look's body") not in hit


class Stops(bdb.Bdb):
    """A debugger that notes where it stops at its breakpoints, and goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.stops: list[tuple[str, int]] = []

    def user_line(self, frame: FrameType) -> None:
        if self.break_here(frame):
            self.stops.append((frame.f_code.co_name, frame.f_lineno))
        self.set_continue()


def service() -> None:
    gate = Gate()
    gate.enter(3)
    with pytest.raises(Refused):
        gate.enter(0)


def test_a_debugger_stops_and_coverage_marks_what_a_service_runs() -> None:
    kept, ran, never = (line_of(f"# {name}'s body") for name in ("keep", "note", "look"))
    debugger, before = Stops(), sys.gettrace()
    for line in (kept, ran, never):
        assert debugger.set_break(__file__, line) is None
    try:
        debugger.runcall(service)
    finally:
        debugger.clear_all_breaks()
        sys.settrace(before)
    assert debugger.stops == [("keep", kept), ("enter", ran)]
    measured = coverage.Coverage(data_file=None, config_file=False, include=[__file__])
    measured.set_option("run:core", "ctrace")  # One that can be nested in another's measuring.
    measured.start()
    try:
        service()
    finally:
        measured.stop()
        sys.settrace(before)
    marked = set(measured.get_data().lines(__file__) or ())
    assert {line_of("# enter's body"), kept, ran, line_of('"nobody")')} <= marked
    assert never not in marked


def test_at_a_breakpoint_self_is_the_machine() -> None:
    seen: list[int] = []
    at = line_of("# keep's body")

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and frame.f_lineno == at and frame.f_code.co_name == "keep":
            seen.append(frame.f_locals["self"].passed)
            seen.append(frame.f_locals["whom"])
        return trace

    gate, before = Gate(), sys.gettrace()
    sys.settrace(trace)
    try:
        gate.enter(3)
    finally:
        sys.settrace(before)
    assert seen == [1, 3]


def test_a_traceback_names_the_line() -> None:
    with pytest.raises(Undefined) as caught:
        Gate().look(8)
    assert f"return self.log[who]  # look's body ({__file__}:" in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert f'File "{__file__}", line {line_of("# look" + chr(39) + "s body")}, in look' in shown
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_refusal_comes_from_its_guard() -> None:
    with pytest.raises(Refused) as caught:
        Gate().enter(0)
    places = traceback.extract_tb(caught.value.__traceback__)
    assert (__file__, line_of('"nobody")')) in [(p.filename, p.lineno) for p in places]


def test_the_generated_code_is_readable() -> None:
    text = Gate.lawful.generated()
    assert f"# enter ({__file__}:{line_of('def enter(self, who: Nat) -> Nat:')})" in text
    assert "if not who > 0:\n" in text
    compile(text, "generated", "exec")


def test_methods_are_what_the_user_wrote() -> None:
    Gate()
    assert Gate.enter.__qualname__ == "Gate.enter"
    assert Gate.note.__doc__ == "Remember."
    assert Gate.enter.__annotations__["who"] == "Nat"
