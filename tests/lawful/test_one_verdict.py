"""`prove` and `check` say the same of a property, and judge what is expected of it alike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.prove import strategy
from lawful.checks.prove.conclusion import conclude
from lawful.checks.prove.result import PropertyProof
from lawful.checks.verdict import Verdict
from lawful.cli import main
from tests.spec import texts

DOWN = """
class Down(Machine):
    n: Annotated[int, Interval(ge=0, le=5)] = 3
    deadlock_ok = True

    @transition()
    def down(self) -> None:
        require(self.n > 0)
        self.n -= 1
"""
OF_STATES = """
    @invariant
    def fits(self, k: Annotated[int, Interval(ge=0, le=2)]) -> bool:
        return BODY
"""
OF_STEPS = """
    @step_property
    def fits(self, after: Down, k: Annotated[int, Interval(ge=0, le=2)]) -> bool:
        return BODY
"""
BODIES = {
    "violated": "k + self.n > 1",
    "undefined": "k // self.n <= 2",
    "holds": "k + self.n >= 0",
}
STARTS = """
class Starts(Machine):
    n: Annotated[int, Interval(ge=0, le=5)] = 0
    deadlock_ok = True

    @transition()
    def stay(self) -> None: ...

    @invariant
    def fits(self, k: Annotated[int, Interval(ge=0, le=2)]) -> bool:
        return BODY
"""
FIRST = """
class First(Machine):
    n: Annotated[int, Interval(ge=0, le=5)] = 0
    deadlock_ok = True

    @initial
    def begin(self, k: Annotated[int, Interval(ge=0, le=2)]) -> None:
        self.n = 2 // k

    @transition()
    def stay(self) -> None: ...
"""
FAR = """
class Far(Machine):
    n: Annotated[int, Interval(ge=0, le=9)] = 0
    s: set[Nat] = set()
    deadlock_ok = True
    scope = Scope(Nat=range(0, 2))

    @transition()
    def up(self) -> None:
        require(self.n < 9)
        self.n += 1
        self.s.add(0)

    @invariant
    def near(self) -> bool:
        return self.n < 8
"""
EXPECTED = """
    expects = Expect(fits=WANTED)
"""


def written(folder: Path, text: str) -> str:
    path = folder / "declared.py"
    path.write_text(texts.HEAD + text, encoding="utf-8")
    return str(path)


def unbounded(text: str) -> str:
    """The machine with a variable that has no bound: it cannot be explored."""
    return text.replace("    deadlock_ok", "    free: int = 0\n    deadlock_ok")


def asked(
    command: str, target: str, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, dict[str, Any]]:
    """The exit code, and the properties by name."""
    code = main([command, target, *more, "--json", "-"])
    (machine,) = json.loads(capsys.readouterr().out)["machines"]
    return code, {p["name"]: p for p in machine["properties"]}


MACHINES = {
    "fits": (DOWN + OF_STATES, 3),
    "steps": (DOWN + OF_STEPS, 3),
    "starts": (STARTS, 0),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("method", ["auto", "bounded"])
@pytest.mark.parametrize("verdict", ["violated", "undefined"])
@pytest.mark.parametrize("machine", MACHINES)
def test_what_exploration_refutes_is_refuted_by_prove(
    machine: str, verdict: str, method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, events = MACHINES[machine]
    body = BODIES[verdict].replace("self.n", "after.n" if machine == "steps" else "self.n")
    target = written(tmp_path, text.replace("BODY", body))
    code, checked = asked("check", target, capsys)
    mine = checked["fits"]
    # Of what is below two, the first state is met one event earlier than the last.
    assert (code, mine["verdict"]) == (1, verdict)
    assert len(mine["trace"]) - 1 == events - (verdict == "violated" and events > 0)
    code, proved = asked("prove", target, capsys, "--method", method)
    row = proved["fits"]
    assert (code, row["verdict"], row["method"]) == (1, verdict, "exploration")
    assert row["trace"] == mine["trace"]
    assert {p["verdict"] for name, p in proved.items() if name != "fits"} <= {
        "proved",
        "bounded",
        "unknown",
    }


@pytest.mark.one_in(12)
@pytest.mark.parametrize("method", ["auto", "induction", "spacer"])
@pytest.mark.parametrize("verdict", ["violated", "undefined"])
@pytest.mark.parametrize("machine", MACHINES)
def test_z3_says_the_same_where_nothing_is_explored(
    machine: str, verdict: str, method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, events = MACHINES[machine]
    body = BODIES[verdict].replace("self.n", "after.n" if machine == "steps" else "self.n")
    target = written(tmp_path, unbounded(text.replace("BODY", body)))
    by_runs = method in ("auto", "bounded", "spacer")
    code, proved = asked("prove", target, capsys, "--method", method)
    row = proved["fits"]
    unknown_to_spacer = method == "spacer" and verdict == "undefined"  # It knows no division.
    if unknown_to_spacer or (machine != "starts" and not by_runs):
        assert (code, row["verdict"], row["trace"]) == (3, "unknown", None)
        return
    assert (code, row["verdict"]) == (1, verdict)
    assert len(row["trace"]) - 1 == events - (verdict == "violated" and events > 0)


def test_a_start_without_a_value_is_undefined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (FIRST, unbounded(FIRST)):
        code, proved = asked("prove", written(tmp_path, text), capsys)
        assert (code, proved["undefined"]["verdict"]) == (1, "undefined")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("wanted", ["holds", "violated", "undefined"])
@pytest.mark.parametrize("verdict", BODIES)
def test_both_commands_judge_what_is_expected_alike(
    verdict: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DOWN + EXPECTED.replace("WANTED", repr(wanted)) + OF_STATES
    target = written(tmp_path, text.replace("BODY", BODIES[verdict]))
    for command in ("check", "prove"):
        assert main([command, target]) == (verdict != wanted), command
        said = capsys.readouterr().out
        assert ("EXPECTED" in said) == (verdict != wanted)
        assert ("as expected" in said) == (verdict == wanted != "holds")


@pytest.mark.parametrize(("events", "code"), [(3, 0), (2, 1)])
def test_both_commands_count_the_events_that_are_expected(
    events: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DOWN + EXPECTED.replace("WANTED", repr(("undefined", events))) + OF_STATES
    target = written(tmp_path, text.replace("BODY", BODIES["undefined"]))
    for command in ("check", "prove"):
        assert main([command, target, "--quiet"]) == code
    capsys.readouterr()


def test_prove_knows_what_a_named_scope_expects(tmp_path: Path) -> None:
    named = '    low = Scope(expects=Expect(fits="undefined"))\n    scope = Scope()\n'
    text = DOWN + named + OF_STATES.replace("BODY", BODIES["undefined"])
    target = written(tmp_path, text)
    for command in ("check", "prove"):
        assert main([command, target, "--quiet"]) == 1
        assert main([command, target, "--quiet", "--scope", "low"]) == 0


def test_an_expected_violation_that_is_not_found_is_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So it is to `check` that stops too early."""
    text = unbounded(FAR).replace("    scope", '    expects = Expect(near="violated")\n    scope')
    target = written(tmp_path, text)
    assert main(["prove", target, "--method", "induction"]) == 3
    assert "EXPECTED violated" in capsys.readouterr().out
    assert main(["prove", target, "--method", "bounded", "--depth", "8"]) == 3
    (row,) = (r.split() for r in capsys.readouterr().out.splitlines() if r.startswith("  near "))
    assert " ".join(row) == "near violated after 8 events bounded as expected"


def test_what_fails_within_ten_states_has_a_trace_and_no_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", written(tmp_path, FAR)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "  induction  6 of 6 obligations proved" in lines[1]
    rows = [line.split() for line in lines[4:9]]
    assert rows[0] == ["property", "verdict", "method", "obligations", "seconds"]
    assert [row[:-1] for row in rows[1:4]] == [
        [name, "proved", "induction", "2/2"] for name in ("bounds", "asserts", "undefined")
    ]
    assert " ".join(rows[4]) == "near violated after 8 events exploration EXPECTED to hold"
    assert lines[10] == "near is violated after 8 events: n < 8 is false (n = 8)"
    told = "\n".join(lines)
    assert "induction:" not in told and "strengthen" not in told and "runs of at most" not in told


ROUND = """
class Round(Machine):
    n: int = 0
    m: int = 0

    @transition()
    def step(self) -> None:
        self.n = self.n + 1 if self.n < 4 else 0
        self.m = self.m + 1 if self.m < 4 else 0

    @transition()
    def far(self) -> None:
        require(self.n + 1 == self.m, "elsewhere")
        self.m = -1

    @invariant
    def together(self) -> bool:
        return self.m >= 0
"""


def test_what_spacer_proves_has_one_verdict_and_no_counterexample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, xml, log = written(tmp_path, ROUND), tmp_path / "junit.xml", tmp_path / "sarif.json"
    assert main(["prove", target, "--junit", str(xml), "--sarif", str(log)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "9 of 9 obligations proved" in lines[1]
    assert lines[8].split() == ["together", "proved", "spacer"]
    assert lines[9:] == ["for check, not for prove: deadlock"]
    said = xml.read_text(encoding="utf-8")
    assert "counterexample" not in said and "<failure" not in said
    # What is for check is skipped there, and nothing that a review is told of.
    assert said.count("<skipped") == 1
    (sarif_run,) = json.loads(log.read_text(encoding="utf-8"))["runs"]
    assert (sarif_run["results"], sarif_run["tool"]["driver"]["rules"]) == ([], [])


BEYOND = """
class Beyond(Machine):
    n: Nat = 0
    deadlock_ok = True
    scope = Scope(n=range(0, 9), k=range(0, 2), Nat=range(0, 9))

    @transition()
    def put(self, k: Nat) -> None:
        require(self.n < 6 and (k < 7 or self.n == 5))
        self.n += 1 if k < 7 else 3

    @invariant
    def low(self) -> bool:
        return self.n < 7
"""


def test_a_step_from_a_state_that_is_reached_is_a_violation_whatever_the_scope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exploration tries no argument that violates; a counterexample to induction names one."""
    target = written(tmp_path, BEYOND)
    code, checked = asked("check", target, capsys)
    assert (code, checked["low"]["verdict"]) == (0, "holds-within-scope")
    code, proved = asked("prove", target, capsys)
    row = proved["low"]
    assert (code, row["verdict"], row["method"]) == (1, "violated", "exploration")
    assert [step["event"] for step in row["trace"][1:]] == ["put"] * 6
    assert row["trace"][-1]["args"]["k"] >= 7
    assert row["trace"][-1]["changed"]["n"] == 8


NARROW = """
class Window(Machine):
    sent: Annotated[int, Serial(bits=8)] = 0
    acked: Annotated[int, Serial(bits=8)] = 0
    open: Annotated[int, Interval(ge=0, le=6)] = 0
    deadlock_ok = True
    scope = Scope(Serial=3)

    @transition()
    def send(self) -> None:
        require(self.open < 6)
        self.sent = self.sent + 1
        self.open += 1

    @transition()
    def ack(self) -> None:
        require(self.open > 0)
        self.acked = self.acked + 1
        self.open -= 1

    @invariant
    def in_order(self) -> bool:
        return not before(self.sent, self.acked)
"""


def test_what_comes_of_fewer_bits_alone_is_no_violation_to_prove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = written(tmp_path, NARROW)
    code, checked = asked("prove", target, capsys, "--method", "induction")
    assert (code, checked["in_order"]["verdict"]) == (3, "unknown")


UNTOLD = """
class Part(Machine):
    x: int = 0
    c: Param[tuple[int, ...]] = (2,)

    @transition()
    def touch(self) -> None:
        self.x = 1

class UnknownPart(Machine):
    n: int = 0
    part: Part = Part()

    @transition()
    def up(self, k: int) -> None:
        self.n = k

    @invariant
    def small(self) -> bool:
        return self.n != 7
"""


def test_a_part_without_an_encoding_is_no_fault_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, proved = asked("prove", f"{written(tmp_path, UNTOLD)}:UnknownPart", capsys)
    assert (code, proved["small"]["verdict"]) == (1, "violated")


def test_proofs_go_without_exploration_where_no_state_is_within_the_scope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FAR.replace("= 0\n    s", "= 5\n    s").replace("Scope(", "Scope(n=range(0, 3), ")
    target = written(tmp_path, text)
    assert main(["check", target]) == 5
    capsys.readouterr()
    code, proved = asked("prove", target, capsys, "--method", "induction")
    assert (code, proved["near"]["verdict"]) == (3, "unknown")


NESTED = """
class Nested(Machine):
    x: frozenset[frozenset[bool]] = frozenset({frozenset({True})})
    n: int = 0
    deadlock_ok = True

    @transition()
    def up(self) -> None:
        self.n += 1

    @invariant
    def low(self) -> bool:
        return self.n < 1
"""


def test_a_run_shows_the_sets_in_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = written(tmp_path, NESTED)
    code, proved = asked("prove", target, capsys, "--method", "bounded")
    row = proved["low"]
    assert (code, row["verdict"], len(row["trace"])) == (1, "violated", 2)
    assert row["trace"][0]["state"] == {"x": {"$set": [{"$set": [True]}]}, "n": 0}


def test_a_proof_against_a_run_of_the_machine_is_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were an engine to prove what exploration refutes, nothing would be said to be proved."""
    text = DOWN + OF_STATES + OF_STATES.replace("fits", "other")
    target = written(tmp_path, text.replace("BODY", BODIES["violated"]))

    def wrongly(induction: Any, obligations: Any) -> list[PropertyProof]:
        rows = conclude(induction, obligations)
        return [replace(p, verdict=Verdict.PROVED) if p.name == "fits" else p for p in rows]

    monkeypatch.setattr(strategy, "conclude", wrongly)
    assert main(["prove", target]) == 70
    assert "fits is proved by induction, but violated after 2 events" in capsys.readouterr().err
