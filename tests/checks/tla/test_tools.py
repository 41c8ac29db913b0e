"""Exported modules in the hands of the TLA+ tools themselves: SANY parses them, TLC explores them.

Each start of Java takes a second or more, so that `make test` asks little: one call of SANY with
many modules, and TLC for a few small machines.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from lawful import Machine
from lawful.checks.explore import explore
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.tla.module import CannotWrite, Exported, export
from lawful.checks.tla.properties import LIVE
from lawful.checks.verdict import Verdict
from lawful.machines.read_only_windows.system import NodeFixed
from lawful.machines.unicast.system import LinkFixed
from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve
from tests.agree import planning
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.test_telling import COMPILED
from tests.checks.declarations import liveness, shadowing, timed
from tests.checks.tla.test_export import LIVELY, NAMES, within
from tests.checks.tla.tools import ask, asking, refused
from tests.classics.peterson import Peterson
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.spec import texts

SMALL: tuple[type[Machine], ...] = (Peterson,)
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
            found[name] = Exported(
                name,
                made.module.replace(f"MODULE {made.name} ", f"MODULE {name} ", 1),
                made.config,
                made.safety,
                made.left_out,
            )
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


def agrees(cls: type[Machine], folder: Path) -> None:
    """TLC finds as many states, as deep, and false what is violated: each asked alone."""
    found = resolve(cls)
    flat, made = within(cls)
    result = explore(flat, found.world, found.expects)
    failed = (Verdict.VIOLATED, Verdict.UNDEFINED)
    answer = ask(made, made.safety, folder)
    assert (answer.distinct, answer.depth, answer.wrong) == (result.distinct, result.depth, None)
    left_out = {what.split(":")[0].split(" ")[1] for what in made.left_out}
    for p in result.properties:
        name = NAMES.get(p.name, p.name.replace(".", "_"))
        if p.name in left_out or p.kind == "reachable":
            continue
        if p.kind in LIVE:
            if p.verdict is not Verdict.UNDEFINED:  # Of which an invariant is false.
                config = asking(made, [name], "PROPERTIES", live=True)
                wrong = ask(made, config, folder).wrong
                assert wrong == ("liveness" if p.verdict in failed else None), p.name
        elif p.verdict in failed:
            kinds = [(name, "PROPERTIES"), (f"{name}_at_rest", "INVARIANTS")]
            if p.kind != "step_property":
                kinds = [(name, "INVARIANTS")]
            answers = [ask(made, asking(made, [n], kind), folder).wrong for n, kind in kinds]
            assert any(answers) and set(answers) <= {None, *(n for n, _ in kinds)}, p.name


@pytest.mark.parametrize("cls", SMALL, ids=lambda cls: cls.__name__)
def test_tlc_agrees(cls: type[Machine], tmp_path: Path) -> None:
    agrees(cls, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("cls", MORE, ids=lambda cls: cls.__name__)
def test_tlc_agrees_on_more_machines(cls: type[Machine], tmp_path: Path) -> None:
    agrees(cls, tmp_path)


@pytest.mark.nightly
def test_tlc_explores_the_page_s_example_with_the_configuration_of_safety(tmp_path: Path) -> None:
    _, made = within(LinkFixed)
    answer = ask(made, made.safety, tmp_path)
    assert (answer.distinct, answer.depth, answer.wrong) == (15_665, 26, None)
