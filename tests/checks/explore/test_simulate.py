"""Random walks: what they find is real and small, what they do not find is called sampled."""

from __future__ import annotations

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, explore
from lawful.checks.explore.retrace import again
from lawful.checks.explore.simulate import Walks, simulate
from lawful.checks.explore.space import Space
from lawful.checks.explore.traces import trace_json
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.machines.unicast.system import LinkAsSeed
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.classics.broken import (
    AlternatingBitWithoutBit,
    PetersonWithoutFlags,
    PetersonWithoutTurn,
)
from tests.classics.jugs import Jugs
from tests.spec import texts


def walked(cls: type[Machine], walks: Walks) -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    return simulate(flat, found.world, found.expects, walks)


BROKEN = [AlternatingBitWithoutBit, PetersonWithoutFlags, PetersonWithoutTurn, Jugs]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("cls", BROKEN, ids=lambda cls: cls.__name__)
def test_violations_are_real_and_no_shorter_than_the_shortest(cls: type[Machine]) -> None:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    space = Space(flat, found.world)
    shortest = {p.name: p for p in explore(flat, found.world, found.expects).properties}
    result = walked(cls, Walks(runs=60, seed=1))
    failed = [p for p in result.properties if p.verdict is Verdict.VIOLATED]
    assert failed
    for p in failed:
        exact = shortest[p.name]
        assert exact.verdict is Verdict.VIOLATED
        assert p.trace is not None and exact.trace is not None
        assert len(exact.trace) <= len(p.trace) <= len(exact.trace) + 4
        rows = trace_json(p.trace)
        assert isinstance(rows, list)
        assert again(space, p.name, rows) == p.why  # type: ignore[arg-type]  # rows are objects


def test_what_is_not_found_is_sampled_and_what_needs_all_states_unknown() -> None:
    result = walked(LinkAsSeed, Walks(runs=3, steps=4))
    verdicts = {p.name: p.verdict for p in result.properties}
    assert verdicts["bounds"] is verdicts["acks_are_true"] is Verdict.SAMPLED
    assert verdicts["settled"] is Verdict.UNKNOWN
    assert not result.complete and result.engine == "simulation"
    assert 1 < result.depth <= 5


@pytest.mark.nightly
def test_equal_seeds_walk_equally() -> None:
    one, other, third = (walked(LinkAsSeed, Walks(runs=2, steps=60, seed=s)) for s in (7, 7, 8))
    assert (one.distinct, one.generated, one.depth) == (
        other.distinct,
        other.generated,
        other.depth,
    )
    assert one.properties == other.properties
    assert (third.distinct, third.generated) != (one.distinct, one.generated)


FAULTY = """
class Faulty(Machine):
    n: int = 0

    @transition()
    def other(self) -> None: ...

    @transition()
    def up(self) -> None:
        assert self.n < 2
        self.n += 1

    scope = Scope({"n": range(0, 9)})
    expects = Expect(asserts=("violated", 3))
"""


def test_what_a_walk_needs_not_is_left_out() -> None:
    result = walked(texts.last_machine(texts.module(FAULTY)), Walks(runs=1, steps=200))
    (found,) = [p for p in result.properties if p.name == "asserts"]
    assert found.trace is not None
    assert [step.event for step in found.trace.steps] == ["up", "up", "up"]
    assert found.as_expected and found.why == "n < 2 is false (n = 2)"


def test_the_command_says_sampled_and_exits_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    target = "lawful.machines.unicast.declaration:SenderEntryFixed"
    assert main(["simulate", target, "--runs", "2", "--steps", "5"]) == 3
    out = capsys.readouterr().out
    assert (
        "(simulation, generated)" in out
        and "sampled" in out
        and " holds " not in out.split("deadlock")[1]
    )
    with pytest.raises(SystemExit, match="5"):
        main(["simulate", target, "--runs", "0"])
