"""Modules of TLA+: goldens, and what a reader of their own finds in them.

The reader in `tla` knows nothing of the project. That it finds the states that the reference engine
finds, and false what that finds violated, is what shows that a module means the machine; TLC itself
is not at hand. After a change: `TLA=write pytest tests/checks/test_tla.py`, and read the diff.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import explore
from lawful.checks.tla import bodies, operators, places, terms
from lawful.checks.tla.module import CannotWrite, Exported, export
from lawful.checks.tla.properties import LIVE
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.machines.unicast.system import LinkAsSeed, LinkFixed
from lawful.spec import ir, ops
from lawful.spec.flat import Flat
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.classics.fifo import Fifo
from tests.classics.jugs import Jugs
from tests.classics.peterson import Peterson
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.spec import texts

from . import lively, timed
from .tla.checking import check

FOLDER = Path(__file__).parent.parent / "golden" / "tla"
GOLDEN: tuple[type[Machine], ...] = (Jugs, Peterson, TwoPhase, Fifo, LinkFixed)
QUICK = [c.machine for c in CLASSICS if c.counts[0] <= 42]
OTHERS = [c.machine for c in CLASSICS if 42 < c.counts[0] <= 800]
LIVELY: Sequence[type[Machine]] = (
    lively.Unfair, lively.Semaphore, lively.StrongSemaphore, lively.TogetherSemaphore,
    lively.Beyond, lively.Bursts, timed.Patient, timed.Prompt, timed.Stuck,
)


def within(cls: type[Machine], **bounds: object) -> tuple[Flat, Exported]:
    """The machine within its scope, or one with other bounds, and its module."""
    found = resolve(cls)
    scope = found.scopes.get("scope", Scope()).widened(bounds)
    flat = lower(found.machine, scope, abstract_scopes(found))
    return flat, export(flat, found.expects)


@pytest.mark.parametrize("cls", GOLDEN, ids=lambda cls: cls.__name__)
def test_the_text_is_what_is_expected(cls: type[Machine]) -> None:
    _, made = within(cls)
    for suffix, text in (("tla", made.module), ("cfg", made.config)):
        golden = FOLDER / f"{cls.__name__}.{suffix}"
        if os.environ.get("TLA") == "write":
            golden.write_text(text, encoding="utf-8")
        assert text == golden.read_text(encoding="utf-8")


def test_nothing_else_is_in_the_folder() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {cls.__name__ for cls in GOLDEN}


NAMES = {
    "deadlock": "no_deadlock", "bounds": "within_bounds", "asserts": "asserts_hold",
    "undefined": "all_defined", "ambiguous": "unambiguous",
}


def same(cls: type[Machine], **bounds: object) -> None:
    """The module has the states of the machine, and is false where the machine fails."""
    found = resolve(cls)
    flat, made = within(cls, **bounds)
    result = explore(flat, found.world, found.expects, engine="reference")
    read = check(made.module, made.config)
    assert read.distinct == result.distinct
    left_out = {what.split(":")[0].split(" ")[1] for what in made.left_out}
    for p in result.properties:
        if p.kind in LIVE:
            continue  # The reader reads what is said of all time, and does not judge it.
        if p.name in left_out:
            continue
        name = NAMES.get(p.name, p.name.replace(".", "_"))
        if p.kind == "reachable":
            asked = [n for n in read.asked if re.fullmatch(rf"never_{name}(_\d+)?", n)]
            assert asked and read.false.issuperset(asked) is (p.verdict is Verdict.HOLDS), p.name
        else:
            failed = p.verdict in (Verdict.VIOLATED, Verdict.UNDEFINED)
            assert bool({name, f"{name}_at_rest"} & read.false) is failed, p.name


@pytest.mark.parametrize("cls", [*QUICK, *LIVELY], ids=lambda cls: cls.__name__)
def test_a_reader_of_the_module_finds_the_same_states_and_failures(cls: type[Machine]) -> None:
    same(cls)


@pytest.mark.nightly
@pytest.mark.parametrize("cls", [*OTHERS, timed.Fischer], ids=lambda cls: cls.__name__)
def test_a_reader_of_the_module_does_so_of_larger_ones(cls: type[Machine]) -> None:
    same(cls)


@pytest.mark.nightly
def test_a_reader_of_the_module_does_so_of_a_whole_system() -> None:
    same(LinkFixed, messages=(1,), failures=(0,), submitted=1, delivered=1)


@pytest.mark.nightly
def test_a_reader_finds_what_a_design_does_wrong() -> None:
    """The document's receiver delivers a message twice; the invariants of parts are asked, too."""
    same(LinkAsSeed, messages=(1,), network=2)


# Fairness, which the reader does not judge.


def conjuncts(cls: type[Machine]) -> list[str]:
    """What stands in `Spec` beside the initial states and the steps."""
    _, made = within(cls)
    rows = made.module[made.module.index("Spec ==") :].splitlines()[3:]
    return [row.removeprefix("  /\\ ") for row in rows if row.startswith("  /\\ ")]


def test_fairness_is_that_of_actions_for_each_value() -> None:
    assert conjuncts(lively.Unfair) == []
    leaves = "(\\A each_p \\in Lock : WF_vars(leave(each_p)))"
    enters = "(\\A each_p \\in Lock : {0}_vars(enter(each_p)))"
    assert conjuncts(lively.Semaphore) == [enters.format("WF"), leaves]
    assert conjuncts(lively.StrongSemaphore) == [enters.format("SF"), leaves]
    together = "SF_vars((\\E p \\in Lock : enter(p)))"
    assert conjuncts(lively.TogetherSemaphore) == [together, leaves]


def test_a_step_that_the_scope_cuts_counts_as_enabled() -> None:
    enabled = '(more_gives.out = "cut" \\/ (more_gives.out = "done" /\\ more_gives.to # now))'
    assert conjuncts(lively.Beyond) == [f"(<>[]{enabled} => []<><<more>>_vars)"]


# What is not written.


def test_every_operator_statement_and_expression_has_a_row() -> None:
    assert {*operators.TEMPLATES, *operators.ROWS} == {*ops.TABLE, "map"}
    assert not {*operators.TEMPLATES} & {*operators.ROWS}
    kinds = [kind for kind in vars(ir).values() if isinstance(kind, type)]
    assert {*bodies.STATEMENTS} == {k for k in kinds if issubclass(k, ir.Stmt)} - {ir.Stmt}
    written = {*terms.WRITE} | {*terms.REFUSED}
    assert written == {k for k in kinds if issubclass(k, ir.Expr)} - {ir.Expr}
    updates = {(kind, op) for kind, names in ops.UPDATES.items() for op in names}
    asked = {("Set", "remove"), ("Seq", "pop"), ("Seq", "remove"), ("Map", "pop")}
    asked |= {("Map", "delete"), ("Timer", "start"), ("Timer", "stop")}
    assert {*places.PLAIN} | asked == updates


LARGE = """
class Large(Machine):
    at: int = 0

    @transition()
    def go(self) -> None:
        self.at = 4_000_000_000

    scope = Scope(int=range(0, 5))
"""


def test_what_tlc_would_not_take_is_refused_with_its_place() -> None:
    with pytest.raises(CannotWrite, match=r"^the integer 4000000000: those of TLC have 32 bits$"):
        within(texts.machine(LARGE))
    with pytest.raises(CannotWrite, match=r"^timed.py:\d+: the clock of a part is not written"):
        within(timed.House)


def test_the_command_writes_both_files_and_says_what_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "tests.classics.channel:Channel"
    assert main(["export", target, "--tla", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(tmp_path / "Channel.tla"), str(tmp_path / "Channel.cfg"),
        "  left out: recoverable empty: no formula of TLA+ says it",
    ]
    assert (tmp_path / "Channel.cfg").read_text(encoding="utf-8").startswith("SPECIFICATION Spec")
    assert "\\* Left out: recoverable empty" in (tmp_path / "Channel.tla").read_text("utf-8")
    assert main(["export", "tests.checks.timed:House", "--tla", "--out", str(tmp_path)]) == 5
    with pytest.raises(SystemExit, match="5"):
        main(["export", target])
