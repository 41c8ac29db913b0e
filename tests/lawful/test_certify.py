"""`lawful certify`: what is written is found again, and what somebody changed is noticed."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.certificate.second_solvers import NoSolver, second_solver
from lawful.checks.certificate.state_sets import state_set
from lawful.checks.explore import Engine, Limits
from lawful.cli import main
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.words import Scope
from tests.classics.peterson import Peterson

TARGET = "tests.checks.declarations.turns:Turns"
NAME = "Turns.certificate.json"
SCRIPT = "Turns.go.known.smt2"
GROWING = """\
from lawful import Expect, Machine, Nat, Scope, invariant, transition


class Growing(Machine):
    n: Nat = 0

    @transition
    def grow(self) -> None:
        self.n += 1

    @invariant
    def small(self) -> bool:
        return self.n < 2

    scope = Scope(Nat=range(0, 4))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    assert main(["certify", TARGET, "--out", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "copy"))


def verified(folder: Path, *more: str) -> tuple[int, Any]:
    """The exit code of `--verify`, and its answer for the one machine."""
    answer = folder / "answer.json"
    words = ["certify", TARGET, "--out", str(folder), "--verify", "--json", str(answer), *more]
    code = main(words)
    return code, json.loads(answer.read_text())["machines"][0]


def test_what_is_written(written: Path) -> None:
    made = json.loads((written / NAME).read_text())
    states, proofs = made["states"], made["proofs"]
    counts = {name: states[name] for name in ("complete", "distinct", "generated", "depth", "cuts")}
    assert counts == {"complete": True, "distinct": 2, "generated": 3, "depth": 2, "cuts": 0}
    assert proofs["properties"]["known"]["verdict"] == "proved"
    assert len(proofs["scripts"]) == 12
    assert {row["answer"] for row in proofs["scripts"]} == {"unsat"}
    assert {row["file"] for row in proofs["scripts"]} == {p.name for p in written.glob("*.smt2")}


def test_it_is_found_again(copy: Path) -> None:
    assert verified(copy) == (0, {"machine": "Turns", "differences": [], "open": []})


def changed(edit: Callable[[Any], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        made = json.loads((folder / NAME).read_text())
        edit(made)
        (folder / NAME).write_text(json.dumps(made))

    return change


def _weakened(folder: Path) -> None:
    path = folder / SCRIPT
    path.write_text(path.read_text().replace("(check-sat)", "(assert false)(check-sat)"))


def _left_out(made: Any) -> None:
    made["proofs"]["scripts"] = [r for r in made["proofs"]["scripts"] if r["file"] != SCRIPT]


def _claims_more(made: Any) -> None:
    made["proofs"]["properties"]["more"] = {"verdict": "proved", "method": "spacer", "covers": ""}


CHANGES: dict[str, tuple[Callable[[Path], None], int, str]] = {
    "a count": (changed(lambda m: m["states"].update(distinct=1)), 1, "distinct: 1"),
    "a hash": (changed(lambda m: m["states"].update(sha256="0")), 1, "sha256: 0"),
    "a verdict": (
        changed(lambda m: m["states"]["verdicts"].update(deadlock="proved")),
        1,
        "deadlock: proved",
    ),
    "another declaration": (changed(lambda m: m.update(fingerprint="x")), 1, "is of another"),
    "a script": (_weakened, 1, f"{SCRIPT} is not what the declaration gives"),
    "a file less": (lambda f: (f / SCRIPT).unlink(), 1, f"{SCRIPT} is not what"),
    "a row less": (changed(_left_out), 1, f"{SCRIPT} is missing"),
    "more than is shown": (changed(_claims_more), 3, "more is proved by spacer"),
    "a property less": (
        changed(lambda m: m["proofs"]["properties"].pop("bounds")),
        1,
        "bounds is a property of the machine",
    ),
    "no property": (changed(lambda m: m["proofs"].update(properties={}, scripts=[])), 1, "bounds"),
    "no proofs": (changed(lambda m: m.pop("proofs")), 3, "the certificate has no proofs"),
    "no states": (changed(lambda m: m.pop("states")), 3, "the certificate has no states"),
    "a verdict less": (changed(lambda m: m["states"]["verdicts"].pop("bounds")), 1, "bounds: None"),
    "a proof less": (
        changed(lambda m: m["proofs"]["properties"]["bounds"].update(verdict="unknown")),
        1,
        "bounds.smt2 belongs to no proof",
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("change", "code", "says"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_noticed(
    change: Callable[[Path], None], code: int, says: str, copy: Path
) -> None:
    change(copy)
    found, row = verified(copy)
    assert found == code
    assert [line for line in (*row["differences"], *row.get("open", ())) if says in line]


def solver(folder: Path, says: str) -> tuple[str, str]:
    """The option that names a program which answers this to every script."""
    program = folder / "solver.py"
    program.write_text(f"print({says!r})")
    return "--second-solver", f"{sys.executable} {program}"


def test_a_violation_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "growing.py").write_text(GROWING)
    words = ["certify", f"{tmp_path}/growing.py", "--out", str(tmp_path), "--parts", "states"]
    for more in ([], ["--verify"]):
        assert main([*words, *more]) == 1
        assert capsys.readouterr().out.splitlines()[-1] == "  not as expected  small: violated"
    expected = GROWING + '    expects = Expect(small="violated")\n'
    (tmp_path / "expected.py").write_text(expected)
    words[1] = f"{tmp_path}/expected.py"
    assert [main(words), main([*words, "--verify"])] == [0, 0]


def test_a_proof_that_nothing_shows_stays_open(copy: Path) -> None:
    made = json.loads((copy / NAME).read_text())
    made["proofs"]["properties"]["no_loss"] = made["proofs"]["properties"]["known"]
    (copy / NAME).write_text(json.dumps(made))
    code, answer = verified(copy)
    assert (code, answer["differences"]) == (3, [])
    assert answer["open"] == ["no_loss is proved by induction, but nothing had to be shown for it"]


def test_a_second_solver_that_disagrees_is_told(copy: Path, tmp_path: Path) -> None:
    code, row = verified(copy, *solver(tmp_path, "sat"))
    assert (code, len(row["differences"])) == (1, 12)
    assert all("finds a counterexample" in line for line in row["differences"])


def test_a_second_solver_that_says_nothing_leaves_it_open(copy: Path, tmp_path: Path) -> None:
    code, row = verified(copy, *solver(tmp_path, "(error)"))
    assert (code, row["differences"], len(row["open"])) == (3, [], 12)


def test_a_limit_leaves_the_states_open(copy: Path) -> None:
    code, row = verified(copy, "--max-seconds", "0.000001")
    assert (code, row["differences"], len(row["open"])) == (3, [], 1)


OTHER_TYPES: tuple[Callable[[Any], object], ...] = (
    lambda m: m.update(given=3),
    lambda m: m.update(given=[3]),
    lambda m: m.update(states=[]),
    lambda m: m["states"].update(verdicts="x"),
    lambda m: m["proofs"].update(scripts={}),
    lambda m: m["proofs"]["scripts"].append({}),
    lambda m: m["proofs"]["properties"].update(more="proved"),
)


@pytest.mark.parametrize("edit", OTHER_TYPES)
def test_fields_of_another_type_are_refused(
    edit: Callable[[Any], object], copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(edit)(copy)
    assert main(["certify", TARGET, "--out", str(copy), "--verify"]) == 5
    assert "a field is missing or has another type" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2}', '{"version": 1, "machine": "x"}'])
def test_what_is_no_certificate_is_refused(text: str, copy: Path) -> None:
    (copy / NAME).write_text(text)
    assert main(["certify", TARGET, "--out", str(copy), "--verify", "--quiet"]) == 5


def test_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    with pytest.raises(NoSolver, match="pip install cvc5"):
        second_solver(None, 1.0)
    with pytest.raises(NoSolver, match="cannot be started"):
        second_solver("/nowhere/solver", 1.0).answer("")


ENGINES: tuple[Engine, ...] = ("reference", "generated", "compiled")


@pytest.mark.parametrize("cls", [Peterson], ids=lambda cls: cls.__name__)
def test_engines_have_one_hash_and_fewer_states_another(cls: Any) -> None:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    rows = [state_set(flat, found.world, {}, engine, Limits()) for engine in ENGINES]
    assert len({(row.digest, row.distinct) for row in rows}) == 1
    fewer = state_set(flat, found.world, {}, "reference", Limits(states=5))
    assert fewer.digest != rows[0].digest and not fewer.complete
