"""`lawful prove`: what it exits with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lawful.checks.smt.solver.budget import PER_SECOND, Effort
from lawful.cli import main
from lawful.commands.options import SolverBudget
from tests.root import ROOT


def test_a_run_that_violates_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "lawful.machines.unicast.as_seed:SenderEntryAsSeed"]) == 0  # Expected.
    out = capsys.readouterr().out
    assert "no_silent_loss is violated after 3 events" in out
    assert "counterexample to induction" not in out


TWO = """
from lawful import Machine, Nat, Scope, invariant, transition

class Wrong(Machine):
    n: Nat = 0
    deadlock_ok = True

    @transition()
    def stay(self) -> None: ...

    @invariant
    def positive(self) -> bool:
        return self.n > 0

    scope = Scope(Nat=range(0, 2))

class Open(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n = self.n + 2 if self.n < 90 else self.n % 2

    @invariant
    def even(self) -> bool:
        return self.n != 77

    scope = Scope(Nat=range(0, 100))
"""


def test_what_is_open_hides_no_violation(tmp_path: Path) -> None:
    """The first machine starts wrong (1), of the second nothing is proved (3)."""
    path = tmp_path / "two.py"
    path.write_text(TWO, encoding="utf-8")
    # Induction alone: with invariants that are found for it the second would be proved.
    how = ["--method", "induction", "--quiet"]
    assert main(["prove", f"{path}:Wrong", *how]) == 1
    assert main(["prove", f"{path}:Open", *how]) == 3
    assert main(["prove", str(path), *how]) == 1


WITHOUT_Z3 = """
import sys
sys.modules["z3"] = None  # As where it is not installed.
from lawful.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("words", ["prove {0}", "lock {0}", "diff {0}:Open {0}:Open"])
def test_a_command_that_needs_z3_says_so(words: str, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(TWO, encoding="utf-8")
    command = words.format("two.py").split()
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{WITHOUT_Z3}"
    done = subprocess.run(
        [sys.executable, "-c", script, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr == f"{command[0]} needs Z3: pip install 'lawful[check]'\n"
    assert [path.name for path in tmp_path.glob("*.lock")] == []


@pytest.mark.parametrize(
    ("budget", "timeout", "expected"),
    [
        (None, None, Effort()),
        (7, None, Effort(7)),
        (None, 2.0, Effort(seconds=2.0)),
        (None, 60.0, Effort(60 * PER_SECOND, 60.0)),
        (7, 60.0, Effort(7, 60.0)),
    ],
)
def test_seconds_alone_may_raise_the_budget_and_never_lower_it(
    budget: int | None, timeout: float | None, expected: Effort
) -> None:
    assert SolverBudget(budget, timeout).effort == expected
