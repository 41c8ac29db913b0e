"""How long a search goes on in plain Python, and what depends on it."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.explore.compiled import background, forecast
from lawful.checks.explore.compiled.background import Compiler
from lawful.checks.explore.compiled.forecast import Forecast
from lawful.checks.explore.limits import Limits
from tests.checks.explore.compiled.test_kept_code import steps_of_jugs


def after(*notes: tuple[int, int]) -> Forecast:
    """A forecast, after numbers of expanded and of known states."""
    made = Forecast(*notes[0])
    for note in notes[1:]:
        made.note(*note)
    return made


@given(first=st.integers(4, 12), levels=st.integers(3, 4), earlier=st.integers(0, 1000))
def test_levels_that_halve_end_as_a_geometric_series_does(
    first: int, levels: int, earlier: int
) -> None:
    """Of 2^n states, and half of them, and so on, one is missing to twice as many."""
    sizes = [1 << first - i for i in range(first + 1)]
    ends = [earlier + sum(sizes[:i]) for i in range(first + 2)]
    noted = list(itertools.pairwise(ends))[: levels + 1]
    left = after(*noted).left(float(noted[-1][0] - earlier))
    assert ends[-1] - noted[-1][0] == left - 1


def test_no_end_is_seen_while_there_is_growth_or_nothing_was_expanded() -> None:
    assert after((0, 10)).left(1.0) == math.inf
    assert after((0, 10), (10, 20)).left(1.0) == math.inf
    assert after((0, 10), (10, 200), (100, 300)).left(1.0) == math.inf


def test_growth_is_that_of_the_latest_states_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that grew for long, and nears its end now."""
    noted = (0, 1), (1, 100), (600, 940), (800, 980), (900, 1000)
    assert after(*noted).left(9.0) == pytest.approx(1.0 / (1 - 60 / 300))
    monkeypatch.setattr(forecast, "LATEST", 0.0)
    assert after(*noted).left(9.0) == math.inf  # All of them led to more than one new state.


def test_after_the_last_state_nothing_is_left() -> None:
    assert after((0, 0)).left(1.0) == 0.0
    assert after((0, 10), (10, 10)).left(1.0) == 0.0


def test_a_limit_on_states_is_an_end() -> None:
    """Two new states for each that is expanded: until there are 400 it expands 50 others."""
    growing = after((0, 100), (100, 300))
    assert growing.left(2.0, 400) == 1.0
    assert growing.left(2.0, 300) == growing.left(2.0, 200) == 0.0
    ending = after((0, 100), (50, 125))  # Half a new state for each: 75 wait, and lead to 75 more.
    assert ending.left(1.0) == ending.left(1.0, 10_000) == 3.0
    assert ending.left(1.0, 130) == 0.2
    assert after((0, 100), (100, 100)).left(1.0, 50) == 0.0  # Nothing is new: the end is near.
    assert after((0, 100), (50, 100)).left(1.0, 50) == 1.0  # Likewise; what is known is expanded.


def test_machine_code_is_not_made_for_the_little_that_a_limit_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "PATIENCE", -1.0)
    text = steps_of_jugs()

    def asked(limits: Limits, passed: float = 0.0) -> bool:
        made = Compiler(text, limits)
        made.begin(0, 1, passed)
        return made.better(1, 100) is not None

    assert asked(Limits()) and asked(Limits(seconds=1e6)) and asked(Limits(states=1 << 60))
    assert not asked(Limits(states=100))
    assert not asked(Limits(seconds=0.1))
    assert not asked(Limits(seconds=1e6), passed=1e6)


def test_machine_code_is_made_where_plain_steps_would_take_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However dear it is, where no end is seen; never at the end, however cheap it is."""
    monkeypatch.setattr(background, "PATIENCE", 0.0)
    monkeypatch.setattr(background, "COMPILER", 1e9)
    made = Compiler(steps_of_jugs())
    made.begin(0, 1)
    assert made.better(1, 3) is not None
    made = Compiler(steps_of_jugs())
    made.begin(0, 100)
    assert made.better(100, 150) is None
    monkeypatch.setattr(background, "COMPILER", 0.0)
    monkeypatch.setattr(background, "CHARACTER", 1e-12)
    made = Compiler(steps_of_jugs())
    assert made.better(100, 100) is None
