"""Exploration: published counts, built-in properties, cuts, verdicts, shortest counterexamples."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Engine, Limits, Progress, explore
from lawful.checks.report.exploration import check_json, check_text
from lawful.checks.verdict import PropertyResult, Verdict
from lawful.machines.unicast import as_seed, declaration, system
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations import exploration
from tests.classics import jugs, two_phase
from tests.root import ROOT
from tests.spec import texts


def check(
    cls: type[Machine], scope: Scope | None = None, limits: Limits | None = None
) -> CheckResult:
    resolved = resolve(cls)
    scope = scope or resolved.scopes.get("scope", Scope())
    flat = lower(resolved.machine, scope)
    return explore(flat, resolved.world, resolved.expects, limits=limits)


def found(result: CheckResult, name: str) -> PropertyResult:
    return next(p for p in result.properties if p.name == name)


def test_the_jugs_trace_is_the_known_one() -> None:
    result = found(check(jugs.Jugs), "never_four")
    assert result.why == "big != 4 is false (big = 4)"
    assert result.trace is not None
    assert dict(result.trace.initial) == {"small": 0, "big": 0}
    assert [step.event for step in result.trace.steps] == [
        "fill_big",
        "big_to_small",
        "empty_small",
        "big_to_small",
        "fill_big",
        "big_to_small",
    ]
    assert [dict(step.changed) for step in result.trace.steps] == [
        {"big": 5},
        {"small": 3, "big": 2},
        {"small": 0},
        {"small": 2, "big": 0},
        {"big": 5},
        {"small": 3, "big": 4},
    ]


def test_a_natural_below_zero_is_a_violation_and_no_cut() -> None:
    result = check(exploration.Below)
    assert (result.distinct, result.generated, result.depth) == (3, 7, 2)
    assert dict(result.cut_by) == {"n": 1}
    bounds = found(result, "bounds")
    assert bounds.verdict is Verdict.VIOLATED
    assert bounds.why == "n: -1 is below 0"
    assert bounds.as_expected


def test_faulty_steps_are_generated_and_lead_nowhere() -> None:
    result = check(exploration.Faults)
    assert (result.distinct, result.generated, result.depth) == (1, 4, 1)
    verdicts = {p.name: p.verdict for p in result.properties}
    assert verdicts == {
        "deadlock": Verdict.HOLDS,
        "bounds": Verdict.VIOLATED,
        "asserts": Verdict.VIOLATED,
        "undefined": Verdict.UNDEFINED,
        "ambiguous": Verdict.HOLDS,
    }
    assert result.as_expected


def test_a_deadlock_says_why_each_transition_is_refused() -> None:
    result = found(check(exploration.Stuck), "deadlock")
    assert result.as_expected
    assert result.notes == (
        "count: enough (2 < 2 is false)",
        "leave: state is RED, not GREEN",
    )


def test_a_terminal_state_is_no_deadlock() -> None:
    assert check(exploration.Rests).as_expected


def test_two_enabled_transitions_of_one_event_are_ambiguous() -> None:
    result = check(exploration.Twice)
    assert result.as_expected
    assert (result.distinct, result.generated) == (2, 4)


def test_cuts_weaken_what_is_established() -> None:
    result = check(exploration.Counter)
    assert (result.distinct, result.generated, result.depth) == (6, 8, 4)
    assert result.cuts == 2
    assert found(result, "small").verdict is Verdict.HOLDS_WITHIN_SCOPE
    assert found(result, "three").verdict is Verdict.HOLDS
    assert found(result, "fifty").verdict is Verdict.UNKNOWN
    assert found(result, "even").verdict is Verdict.UNKNOWN


def test_an_assumption_filters_the_scopes_combinations() -> None:
    result = check(exploration.Counter)
    trace = found(result, "three").trace
    assert trace is not None
    assert dict(trace.initial) == {"n": 0, "step": 1}


def test_a_constraint_prunes() -> None:
    result = check(exploration.Pruned)
    assert result.distinct == 5
    assert dict(result.cut_by) == {"below_three": 1, "n": 1}


def test_a_constraint_without_a_value_is_a_fault_of_the_step() -> None:
    result = check(exploration.Unsure)
    assert (result.distinct, result.generated, result.depth) == (4, 17, 3)
    why = found(result, "undefined").why
    assert why.startswith("the constraint low: min() ")
    assert why.endswith(": min(self.keys) in exploration.py:176")
    assert result.as_expected


def test_a_named_scope_reaches_further() -> None:
    resolved = resolve(exploration.Counter)
    result = check(exploration.Counter, resolved.scopes["wide"])
    assert found(result, "fifty").verdict is Verdict.HOLDS


def test_several_initial_states_and_parameters_of_properties() -> None:
    result = check(exploration.Several)
    # nobody; somebody(a), somebody(b); and without owner but marked: a, b, both; with owner: two.
    assert (result.distinct, result.generated, result.depth) == (8, 15, 4)
    assert result.as_expected


def test_what_is_sought_is_undefined_where_it_has_no_value() -> None:
    result = check(exploration.Lookup)
    assert result.distinct == 3 ** len(exploration.Light)
    assert result.as_expected
    no_green = "there is no item <Light.GREEN: 'green'>"
    assert (
        found(result, "green").why
        == f"undefined: {no_green}: self.found[Light.GREEN] in exploration.py:271"
    )
    assert found(result, "green_again").verdict is Verdict.UNDEFINED
    later = found(result, "empty_or_green")
    assert later.trace is not None
    assert [step.args for step in later.trace.steps] == [{"at": "RED", "value": False}]
    assert found(result, "red").verdict is Verdict.HOLDS


def test_no_way_back_is_found() -> None:
    result = check(exploration.Trap)
    trap = found(result, "red_again")
    assert trap.as_expected
    assert trap.trace is not None
    assert [step.event for step in trap.trace.steps] == ["go", "shut"]


def test_nothing_to_check_is_an_error() -> None:
    with pytest.raises(ValueError, match="no initial state is within the scope"):
        check(exploration.Below, Scope(Nat=range(2, 4)))


def test_a_budget_makes_the_verdicts_bounded() -> None:
    result = check(two_phase.TwoPhase, limits=Limits(states=50))
    assert not result.complete
    assert found(result, "consistent").verdict is Verdict.BOUNDED
    assert found(result, "all_committed").verdict is Verdict.UNKNOWN
    assert not result.as_expected


MANY = """
class Many(Machine):
    n: Nat = 0

    @initial
    def any(self, x: Nat, y: Nat) -> None:
        self.n = 8 * x + y

    @transition()
    def stay(self) -> None: ...

    scope = Scope(Nat=range(0, 8), n=range(0, 64))
"""


def test_a_budget_bounds_the_initial_states_too() -> None:
    found = resolve(texts.last_machine(texts.module(MANY)))
    flat = lower(found.machine, found.scopes["scope"])
    result = explore(flat, found.world, {}, limits=Limits(states=10), engine="reference")
    assert (result.complete, result.distinct, result.generated) == (False, 10, 10)
    assert explore(flat, found.world, {}, engine="reference").distinct == 64


@pytest.mark.parametrize("engine", ["reference", "generated", "compiled"])
def test_progress_is_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here each time is late enough for it."""
    told: list[Progress] = []
    resolved = resolve(jugs.Jugs)
    flat = lower(resolved.machine, Scope())
    times = itertools.count(time.perf_counter())
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    explore(flat, resolved.world, {}, progress=told.append, engine=engine)
    assert told
    assert (told[-1].distinct, told[-1].generated, told[-1].frontier) == (16, 97, 0)
    assert [p.depth for p in told] == sorted(p.depth for p in told)


@pytest.mark.parametrize(
    ("cls", "counts"),
    [
        (declaration.ReceiverEntryFixed, (590, 11_770, 7)),
        (as_seed.SenderEntryAsSeed, (596, 41_009, 14)),
        (as_seed.ReceiverEntryAsSeed, (788, 25_784, 7)),
    ],
)
def test_the_entries_are_as_expected(cls: type[Machine], counts: tuple[int, int, int]) -> None:
    result = check(cls)
    assert (result.distinct, result.generated, result.depth) == counts
    assert result.as_expected, check_text(result)


@pytest.mark.nightly
def test_the_composed_system_as_written_loses_and_repeats() -> None:
    result = check(system.LinkAsSeed, limits=Limits(states=4_000))
    lost, twice = found(result, "no_loss"), found(result, "no_duplicate")
    assert lost.trace is not None and twice.trace is not None
    assert [step.event for step in lost.trace.steps] == [
        "submit",
        "lose",
        "expire_sender",
        "remove_sender",
    ]
    assert [step.event for step in twice.trace.steps] == [
        "submit",
        "duplicate",
        "receive_data",
        "expire_receiver",
        "remove_receiver",
        "receive_data",
    ]
    assert lost.as_expected and twice.as_expected


def test_the_json_is_that_of_the_command_lines_page() -> None:
    result = check(jugs.Jugs)
    answer = check_json(result, "f", 0.5)
    assert isinstance(answer, dict)
    assert answer["machine"] == "Jugs"
    assert (answer["distinct"], answer["generated"], answer["depth"]) == (16, 97, 8)
    assert answer["verdict"] == "violated"
    assert answer["as_expected"] is True
    properties = answer["properties"]
    assert isinstance(properties, list)
    named = {p["name"]: p for p in properties if isinstance(p, dict)}
    four = named["never_four"]
    assert four["why"] == "big != 4 is false (big = 4)"
    trace = four["trace"]
    assert isinstance(trace, list)
    assert trace[:2] == [
        {"state": {"small": 0, "big": 0}},
        {"event": "fill_big", "args": {}, "changed": {"big": 5}},
    ]
    assert json.loads(json.dumps(answer)) == answer


@pytest.mark.nightly
def test_nothing_depends_on_the_hash_seed() -> None:
    command = [sys.executable, "-m", "lawful", "check", "tests.classics.two_phase", "--json", "-"]
    outputs: list[object] = []
    for seed in ("1", "2"):
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        )
        answer = json.loads(done.stdout)
        for machine in answer["machines"]:
            machine["seconds"] = machine["total_seconds"] = 0
        outputs.append(answer)
    assert outputs[0] == outputs[1]
