"""Counterexamples to induction: whether they are reachable, and clauses that exclude them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.prove import prove
from lawful.checks.prove.result import ProofResult
from lawful.checks.prove.strengthening import Seen, looked_up, proposed
from lawful.checks.smt.solver.budget import Effort
from lawful.cli import main
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.text import statements
from tests.checks.prove.proofs import verdicts
from tests.classics.two_phase import TwoPhase
from tests.spec import texts


def strengthened(cls: type[Machine], sizes: dict[str, int]) -> tuple[ProofResult, list[str]]:
    """The proofs with clauses, and how these are written."""
    found = resolve(cls)
    seen = Seen(lower(found.machine, found.scopes["scope"]), found.world, found.machine)
    result = prove(found.machine, sizes=sizes)
    result = proposed(found.machine, seen, (sizes, Effort(), 1), looked_up(result, seen))
    clauses = () if result.proposal is None else result.proposal.clauses
    return result, ["\n".join(statements.property(clause)) for clause in clauses]


IMPORTS = """
from tests.classics.commit import RM
from tests.classics.two_phase import *
"""


@pytest.mark.nightly
def test_two_phase_commit_is_proved_for_any_number_of_managers() -> None:
    """What is found is pasted into the declaration, which then is proved as it stands."""
    result, clauses = strengthened(TwoPhase, {})
    assert verdicts(result)["consistent"] == "unknown"
    assert result.proposal is not None
    assert all(o.verdict.good for o in result.proposal.obligations)
    body = "".join(f"    {line}\n" for text in clauses for line in text.splitlines())
    text = f"class Strong(TwoPhase):\n{body}"
    whole = texts.last_machine(texts.module(text, texts.HEAD + IMPORTS))
    pasted = prove(resolve(whole).machine, sizes={})
    assert set(verdicts(pasted).values()) == {"proved"}
    assert pasted.properties[0].covers == "any RM"


REACHED = """
class Up(Machine):
    n: Annotated[int, Interval(ge=0, le=9)] = 0
    far: bool = False

    @transition()
    def up(self) -> None:
        require(self.n < 9)
        self.n += 1
        self.far = self.n > 6

    @invariant
    def near(self) -> bool:
        return not self.far

    deadlock_ok = True
    scope = Scope()
"""


def test_a_state_that_is_reached_is_a_bug() -> None:
    result, clauses = strengthened(texts.last_machine(texts.module(REACHED)), {})
    rows = {o.property: o.counterexample for o in result.obligations if o.counterexample}
    example: Any = rows["near"]
    assert (
        example["reachable"] == f"is reached after {example['state']['n']} events within the "
        "scope: a bug"
    )
    assert clauses == []


COPIED = """
class Copied(Machine):
    first: bool = False
    second: bool = False

    @transition()
    def copy(self) -> None:
        self.second = self.first

    @transition()
    def keep(self) -> None:
        self.first = self.first and self.second

    @invariant
    def never(self) -> bool:
        return not self.second

    scope = Scope()
"""


@pytest.mark.nightly
def test_the_command_prints_what_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "copied.py"
    path.write_text(texts.HEAD + COPIED, encoding="utf-8")
    asked = ["prove", str(path), "--method", "induction"]
    assert main(asked) == 3
    said = "its state keeps all invariants, and is not the 1 state there is: strengthen"
    out = capsys.readouterr().out
    assert said in out and "reference engine" not in out
    assert main([*asked, "--strengthen"]) == 3
    out = capsys.readouterr().out
    lines = ["@invariant", "def clause_1(self) -> bool:", "    return not self.first"]
    assert "slow       by the reference engine: candidates\n" in out
    assert "with these 12 of 12 obligations are proved" in out
    assert "\n".join(f"    {line}" for line in lines) in out
    assert main([*asked, "--strengthen", "--json", "-"]) == 3
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    assert row["proposal"] == {"clauses": ["\n".join(lines)], "proved": 12}
    assert row["by_reference"] == ["candidates"]
