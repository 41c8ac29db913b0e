"""Exported modules in the hands of the TLA+ tools themselves: SANY parses them, TLC explores them.

Each start of Java takes a second or more, so that `make test` asks little: one call of SANY with
many modules, and TLC for a few small machines.
"""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path

import pytest

from lawful import Machine
from lawful.checks.explore import explore
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.tla.agreement import Told, compare
from lawful.checks.tla.module import CannotWrite, Exported, export
from lawful.checks.tla.tlc import Answer
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.machines.read_only_windows.system import NodeFixed
from lawful.machines.unicast.system import LinkFixed
from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve
from tests.agree import planning
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.test_telling import COMPILED
from tests.checks.declarations import liveness, shadowing, timed
from tests.checks.tla.test_export import LIVELY, within
from tests.checks.tla.tools import refused, tlc
from tests.classics.peterson import Peterson
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.spec import texts

MORE: tuple[type[Machine], ...] = (
    liveness.StrongSemaphore,
    TwoPhase,
    liveness.Crew,
    timed.House,
    shadowing.Sequences,
    timed.Rooms,
    *LIVELY,
    *(c.machine for c in CLASSICS if c.counts[0] <= 400),
)


def random(texts_: list[str]) -> dict[str, Exported]:
    """The modules of machines given as texts, as far as they are written."""
    found: dict[str, Exported] = {}
    for number, text in enumerate(texts_):
        try:
            space = planning.space(resolve(texts.machine(text, HEAD)))
            made = None if space is None else export(space.flat, {})
        except (DeclarationError, NotGenerated, CannotWrite, ValueError):
            continue
        finally:
            forget()
        if made is not None:
            # All are called alike, and a file has the name of its module.
            name = f"Random{number}"
            renamed = made.module.replace(f"MODULE {made.name} ", f"MODULE {name} ", 1)
            found[name] = dataclasses.replace(made, name=name, module=renamed)
    return found


def modules(*classes: type[Machine]) -> dict[str, Exported]:
    return {made.name: made for _, made in map(within, classes)}


@pytest.mark.nightly
def test_sany_takes_every_module(tmp_path: Path) -> None:
    every = modules(
        shadowing.Sequences, shadowing.Narrow, timed.House, liveness.Crew, NodeFixed, LinkFixed
    )
    some = random([path.read_text(encoding="utf-8") for path in COMPILED[::4]])
    assert len(some) > len(COMPILED) / 10
    given = {name: made.module for name, made in {**every, **some}.items()}
    assert refused(given, tmp_path) == []


@pytest.mark.nightly
def test_sany_takes_every_classic_every_system_and_random_machines(tmp_path: Path) -> None:
    names = (
        "unicast.system",
        "unicast.declaration",
        "object_diffusion.system",
        "queue_cluster.system",
        "read_only_windows.system",
        "message_scheduler.system",
    )
    systems = [
        cls
        for name in names
        for cls in vars(importlib.import_module(f"lawful.machines.{name}")).values()
        if isinstance(cls, type) and issubclass(cls, Machine) and cls.__name__.endswith("Fixed")
    ]
    every = modules(*(c.machine for c in CLASSICS), *LIVELY, *systems)
    some = random([path.read_text(encoding="utf-8") for path in COMPILED])
    more = random([seeded(seed) for seed in range(200)])
    given = {name: made.module for name, made in {**every, **some}.items()}
    given |= {
        f"More{name}": made.module.replace("MODULE ", "MODULE More", 1)
        for name, made in more.items()
    }
    assert refused(given, tmp_path) == []


def told(cls: type[Machine]) -> tuple[Exported, Told]:
    """The module of a machine, and what lawful finds."""
    found = resolve(cls)
    flat, made = within(cls)
    result = explore(flat, found.world, found.expects)
    return made, Told(result.distinct, result.depth, {p.name: p.verdict for p in result.properties})


@pytest.mark.nightly
@pytest.mark.parametrize("cls", MORE, ids=lambda cls: cls.__name__)
def test_tlc_agrees_on_more_machines(cls: type[Machine]) -> None:
    found = compare(*told(cls), tlc())
    assert (found.outcome, found.differences, found.troubles) == ("agrees", [], [])
    assert found.rows


COUNTER = """
from lawful import Machine, Nat, Scope, invariant, transition


class Counter(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n += 1

    @invariant
    def small(self) -> bool:
        return self.n < 5

    scope = Scope(Nat=range(0, 4))
"""


def test_tlc_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tlc()
    target = tmp_path / "counter.py"
    target.write_text(COUNTER, encoding="utf-8")
    assert main(["export", str(target), "--tla", "--check", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[3:] == [
        "  TLC: 4 distinct states, depth 4; of its 6 definitions 6 true and 0 false, as lawful says"
    ]


@pytest.mark.nightly
def test_tlc_differs_from_what_lawful_did_not_find() -> None:
    made, right = told(Peterson)
    verdicts = {**right.verdicts, "mutual_exclusion": Verdict.VIOLATED}
    wrong = Told(right.distinct + 1, right.depth, verdicts)
    found = compare(made, wrong, tlc())
    assert found.outcome == "differs"
    assert found.differences == [
        "distinct states: lawful 43, TLC 42",
        "mutual_exclusion: lawful false, TLC true",
    ]


@pytest.mark.nightly
def test_tlc_explores_the_page_s_example_with_the_configuration_of_safety() -> None:
    _, made = within(LinkFixed)
    config = made.safety.replace("CHECK_DEADLOCK FALSE\n", "")
    assert tlc().ask(made.name, made.module, config) == Answer(15_665, 26)
