"""Modules of TLA+: goldens, and what a reader of their own finds in them.

The reader in `tla` knows nothing of the project. That it finds the states that the reference engine
finds, and false what that finds violated, is what shows that a module means the machine; TLC itself
is asked in test_tools.py. After a change: `TLA=write pytest tests/checks/tla/test_export.py`, and
read the diff.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import explore
from lawful.checks.tla import bodies, terms
from lawful.checks.tla.module import ASKED_ALONE, CannotWrite, Exported, export
from lawful.checks.tla.properties import LIVE
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.machines.unicast.system import LinkAsSeed, LinkFixed
from lawful.spec import ir
from lawful.spec.flat import Flat
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.checks.declarations import liveness, shadowing, timed
from tests.checks.tla.checking import check
from tests.classics.fifo import Fifo
from tests.classics.jugs import Jugs
from tests.classics.peterson import Peterson
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.root import ROOT
from tests.spec import texts

FOLDER = ROOT / "tests" / "golden" / "tla"
GOLDEN: tuple[type[Machine], ...] = (Jugs, Peterson, TwoPhase, Fifo, LinkFixed)
QUICK = [c.machine for c in CLASSICS if c.counts[0] <= 42]
OTHERS = [c.machine for c in CLASSICS if 42 < c.counts[0] <= 800]
LIVELY: Sequence[type[Machine]] = (
    liveness.Unfair,
    liveness.Semaphore,
    liveness.StrongSemaphore,
    liveness.TogetherSemaphore,
    liveness.Beyond,
    liveness.Bursts,
    liveness.Crew,
    liveness.Staff,
    liveness.Passers,
    timed.Patient,
    timed.Prompt,
    timed.Stuck,
    timed.House,
    shadowing.Narrow,
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
    texts = {".tla": made.module, ".cfg": made.config, "_safety.cfg": made.safety}
    for suffix, text in texts.items():
        golden = FOLDER / f"{cls.__name__}{suffix}"
        if os.environ.get("TLA") == "write":
            golden.write_text(text, encoding="utf-8")
        assert text == golden.read_text(encoding="utf-8")


def test_nothing_else_is_in_the_folder() -> None:
    suffixes = (".tla", ".cfg", "_safety.cfg")
    expected = {f"{cls.__name__}{suffix}" for cls in GOLDEN for suffix in suffixes}
    assert {path.name for path in FOLDER.iterdir()} == expected


NAMES = {
    "deadlock": "no_deadlock",
    "bounds": "within_bounds",
    "asserts": "asserts_hold",
    "undefined": "all_defined",
    "ambiguous": "unambiguous",
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


@pytest.mark.one_in(4)
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
    """What stands in `Spec` beside `Safety`, the initial states and the steps."""
    _, made = within(cls)
    rows = made.module[made.module.index("Spec ==") :].splitlines()[2:]
    return [row.removeprefix("  /\\ ") for row in rows if row.startswith("  /\\ ")]


def test_fairness_is_that_of_actions_for_each_value() -> None:
    assert conjuncts(liveness.Unfair) == []
    leaves = "(\\A each_p \\in Lock : WF_vars(leave(each_p)))"
    enters = "(\\A each_p \\in Lock : {0}_vars(enter(each_p)))"
    assert conjuncts(liveness.Semaphore) == [enters.format("WF"), leaves]
    assert conjuncts(liveness.StrongSemaphore) == [enters.format("SF"), leaves]
    together = "SF_vars((\\E p \\in Lock : enter(p)))"
    assert conjuncts(liveness.TogetherSemaphore) == [together, leaves]


def test_a_step_that_the_scope_cuts_counts_as_enabled() -> None:
    assert conjuncts(liveness.Beyond) == ["WF_vars(more_or_leaves)"]
    _, made = within(liveness.Beyond)
    assert "more_or_leaves ==\n  Leaves(more_gives)\n" in made.module
    leaves = 'Leaves(r) ==\n  /\\ r.out \\in {"done", "cut"}\n  /\\ count\' = r.to.count\n'
    assert leaves in made.module


def test_fairness_for_each_value_narrows_the_other_parameters_by_that_value() -> None:
    """Its name is bound around them all: SANY found an unknown `p` in the set of another."""
    narrowed = "{each_q \\in {now.held[each_p]} : each_q \\in Lock}"
    assert conjuncts(texts.machine(NARROWED)) == [
        "(\\A each_p \\in Lock : WF_vars((\\E each_q_1 \\in "
        + narrowed
        + " : give(each_p, each_q_1))))"
    ]


NARROWED = """
class Lock(Sort): ...

class Narrowed(Machine):
    held: dict[Lock, Lock] = total(Lock("Lock1"))

    @transition()
    def give(self, p: Lock, each_q: Lock) -> None:
        require(each_q == self.held[p])

    fairness = Fairness(Weak("give", each=("p",)))
    scope = Scope(Lock=2)
"""


def test_liveness_of_parts_is_asked_of_the_parts() -> None:
    _, made = within(liveness.Crew)
    assert "one_green ==\n  []<>Worker_green(now.one)\n" in made.module
    _, made = within(liveness.Staff)
    always = "workers_green ==\n  (\\A key_1 \\in Lock : []<>Worker_green(now.workers[key_1]))\n"
    assert always in made.module
    _, made = within(liveness.Passers)
    come_and_go = "the members of workers come and go"
    assert made.left_out == (
        f"infinitely_often workers.green: {come_and_go}",
        f"leads_to workers.comes_back: {come_and_go}",
    )


UNDEFINED = """
class Limited(Machine):
    most: Param[int] = 1
    count: Nat = 0

    @assume
    def some(self) -> bool:
        return self.most > 0

    @transition()
    def more(self) -> None:
        require(self.count < self.most)
        self.count += 1

class Holder(Machine):
    limited: Limited = Limited(most={0})

    @transition()
    def more(self) -> None:
        self.limited.more()

    deadlock_ok = True
    scope = Scope(Nat=range(0, 4), int=range(0, 4))
"""


def test_a_default_that_may_be_undefined_is_an_initial_state_or_a_false_assumption() -> None:
    same(texts.machine(UNDEFINED.replace("{0}", "2")))
    _, made = within(texts.machine(UNDEFINED.replace("{0}", "0")))
    assert 'IF ~(Limited_some(Limited_fresh(0))) THEN Stop("undefined") ELSE' in made.module
    with pytest.raises(AssertionError):
        check(made.module, made.config)


def test_two_names_that_would_be_one_are_refused() -> None:
    text = """
class Two(Machine):
    ä: int = 0
    ue4: int = 0

    @transition()
    def go(self) -> None:
        self.ä = 1

    scope = Scope(int=range(0, 2))
"""
    with pytest.raises(CannotWrite, match=r"^Two: several names would be ue4 in TLA\+$"):
        within(texts.machine(text))


def test_the_configuration_names_as_false_only_what_is_expected_to_be() -> None:
    """Of a property that is violated TLC finds that it has a value; of one that has none, not."""
    _, made = within(texts.machine(VALUES))
    held, _, false = made.config.partition("\\*")
    assert "  fails_has_a_value\n" in held and "PROPERTY fails\n" in false
    assert "  never\n" not in held and "INVARIANT never_never_there\n" in false
    _, made = within(liveness.Bursts)
    assert "INVARIANT gone_has_a_value\n" in made.config.partition("\\*")[2]


VALUES = """
class Values(Machine):
    left: dict[int, int] = {1: 1}

    @transition()
    def go(self) -> None:
        self.left[1] = 1

    @eventually
    def fails(self) -> bool:
        return self.left[1] == 0

    @reachable
    def never_there(self) -> bool:
        return self.left[1] == 2

    scope = Scope(int=range(0, 3))
    expects = Expect(fails=("violated", 0), never_there=("violated", 0))
"""


@pytest.mark.parametrize("cls", [liveness.Beyond, LinkFixed], ids=lambda cls: cls.__name__)
def test_the_configuration_of_safety_has_no_liveness(cls: type[Machine]) -> None:
    flat, made = within(cls)
    live = {p.name for p in flat.machine.properties if p.kind in LIVE}
    assert made.safety.startswith("SPECIFICATION Safety\n")
    # The last word of a line: a property, or what the section is.
    safety, whole = (
        {row.split()[-1] for row in text.splitlines() if row not in ASKED_ALONE}
        for text in (made.safety, made.config)
    )
    assert whole - safety - {"PROPERTIES"} == {"Spec"} | live
    assert safety - whole == {"Safety"}


# What is not written.


def test_every_statement_and_expression_has_a_row() -> None:
    kinds = [kind for kind in vars(ir).values() if isinstance(kind, type)]
    assert {*bodies.STATEMENTS} == {k for k in kinds if issubclass(k, ir.Stmt)} - {ir.Stmt}
    written = {*terms.WRITE} | {*terms.REFUSED}
    assert written == {k for k in kinds if issubclass(k, ir.Expr)} - {ir.Expr}


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


def test_the_command_writes_both_files_and_says_what_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "tests.classics.channel:Channel"
    assert main(["export", target, "--tla", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(tmp_path / "Channel.tla"),
        str(tmp_path / "Channel.cfg"),
        str(tmp_path / "Channel_safety.cfg"),
        "  left out: recoverable empty: no formula of TLA+ says it",
    ]
    assert (tmp_path / "Channel.cfg").read_text(encoding="utf-8").startswith("SPECIFICATION Spec")
    assert "\\* Left out: recoverable empty" in (tmp_path / "Channel.tla").read_text("utf-8")
    with pytest.raises(SystemExit, match="5"):
        main(["export", target])


SMALL = """
class Small(Machine):
    at: int = 0

    @transition()
    def go(self) -> None:
        self.at = 1

    scope = Scope(int=range(0, 5))
"""


def test_the_command_writes_the_others_where_one_machine_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "both.py", tmp_path / "out"
    path.write_text(texts.HEAD + LARGE + SMALL, encoding="utf-8")
    assert main(["export", str(path), "--tla", "--out", str(out), "--json", "-"]) == 5
    said = capsys.readouterr()
    why = "the integer 4000000000: those of TLC have 32 bits"
    assert json.loads(said.out)["machines"] == [
        {
            "machine": "Small",
            "module": str(out / "Small.tla"),
            "config": str(out / "Small.cfg"),
            "safety": str(out / "Small_safety.cfg"),
            "left_out": [],
        },
        {"machine": "Large", "refused": why},
    ]
    assert said.err == f"Large: {why}\n"
    names = {"Small.tla", "Small.cfg", "Small_safety.cfg"}
    assert {path.name for path in out.iterdir()} == names


UNBOUNDED = """
class Unbounded(Machine):
    seen: list[bool] = []

    @transition()
    def go(self) -> None:
        self.seen.append(True)

    scope = Scope(int=range(0, 5))
"""


def test_the_command_writes_the_others_where_one_scope_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "all.py", tmp_path / "out"
    path.write_text(texts.HEAD + UNBOUNDED + LARGE + SMALL, encoding="utf-8")
    assert main(["export", str(path), "--tla", "--out", str(out), "--json", "-"]) == 4
    said = capsys.readouterr()
    rows = json.loads(said.out)["machines"]
    assert [row["machine"] for row in rows] == ["Small", "Unbounded", "Large"]
    assert "L301 the scope gives no bound" in rows[1]["refused"]
    large, unbounded = said.err.split("\n", 1)
    assert large == "Large: the integer 4000000000: those of TLC have 32 bits"
    assert unbounded == f"{rows[1]['refused']}\n"
    names = {"Small.tla", "Small.cfg", "Small_safety.cfg"}
    assert {path.name for path in out.iterdir()} == names


def test_the_command_leaves_no_folder_where_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "large.py", tmp_path / "out"
    path.write_text(texts.HEAD + LARGE, encoding="utf-8")
    assert main(["export", str(path), "--tla", "--out", str(out)]) == 5
    assert not out.exists()
    assert capsys.readouterr().out == "nothing is written\n"
