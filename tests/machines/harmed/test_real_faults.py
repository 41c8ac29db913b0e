"""A small fault campaign on the real thing, and what it is made of."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from lawful.machines.services.jumping_clock import JumpingClock
from lawful.runtime.timers import SteadyClock
from tests.machines.harmed.processes import Outcome, counted
from tests.machines.harmed.real_faults import SERVICES, harmed, report
from tests.machines.harmed.wall_clock import WallClock


@pytest.mark.nightly
@pytest.mark.parametrize("name", SERVICES)
def test_every_promise_is_kept_by_processes(name: str) -> None:
    outcome = harmed(name, 100)
    assert outcome.problems == []
    assert all(outcome.injected[what] for what in ("clock forward", "clock back", "stopped"))


@pytest.mark.parametrize("name", SERVICES)
def test_the_committed_report_has_no_broken_promise(name: str) -> None:
    text = (Path(__file__).parent.parent / name / "faults.txt").read_text(encoding="utf-8")
    assert text.startswith(f"The programs of {name} as processes, with faults.\n")
    assert "\npromises broken: 0\n" in text


def test_signals_set_the_clock_of_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGUSR2)]
    monkeypatch.setattr(time, "monotonic", lambda: 50.0)
    try:
        clock = JumpingClock(20.0)
        steady = SteadyClock(clock)
        told = [(clock.now(), steady.now())]
        for number in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGUSR1):
            signal.raise_signal(number)
            told.append((clock.now(), steady.now()))
    finally:
        signal.signal(signal.SIGUSR1, kept[0])
        signal.signal(signal.SIGUSR2, kept[1])
    assert told == [(50.0, 50.0), (30.0, 50.0), (50.0, 70.0), (70.0, 90.0)]
    assert str(clock) == "clock jumps: forward 2, back 1"


def test_the_wall_clock_goes_forward_and_back_and_is_right_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 10**18)
    clock = WallClock()
    told = [clock.now()]
    for _ in range(3):
        clock.jump()
        told.append(clock.now())
    assert [(each - 10**18) // 10**9 for each in told] == [0, 3_600, -3_600, 0]


def test_what_programs_say_is_counted() -> None:
    said = "to B: 5 acknowledged, 0 in doubt\nclock jumps: forward 2, back 1\nadded 3, silent 1\nx"
    assert counted(said) == Counter(
        {"acknowledged": 5, "in doubt": 0, "forward": 2, "back": 1, "added": 3, "silent": 1}
    )


def test_a_report_tells_what_was_broken() -> None:
    outcome = Outcome(Counter({"killed": 2}), Counter({"delivered": 3}), ["it was lost"])
    assert report("unicast", range(7, 9), [outcome, outcome], 1.4) == (
        "The programs of unicast as processes, with faults.\n"
        "seeds 7 to 8, 1 s\n"
        "promises broken: 2\n"
        "  it was lost\n"
        "  it was lost\n"
        "\ninjected\n"
        "  killed                           4\n"
        "\nobserved\n"
        "  delivered                        6\n"
    )
