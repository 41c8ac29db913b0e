"""Every obligation that Z3 proves is asked of cvc5, from its text in SMT-LIB."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.prove import prove
from lawful.checks.prove.induction import Induction
from lawful.cli import main
from lawful.machines.object_diffusion.attribution import Attribution
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.read_only_windows.transaction import Transaction
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec.lower import sized
from lawful.spec.resolve import resolve
from tests.checks.declarations import provable
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase

cvc5: Any = importlib.import_module("cvc5")


def opinion(text: str, seconds: float = 10.0) -> str:
    """What cvc5 says of a script: `unsat`, `sat`, `unknown`."""
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(int(seconds * 1000)))
    solver.setOption("arrays-exp", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols, said = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, symbols)
    return str(said.split()[0])


def opinions(cls: type[Machine]) -> tuple[Counter[str], Counter[str]]:
    """Of what Z3 proves and of what it does not: what cvc5 says."""
    found = resolve(cls)
    bounds: Mapping[str, Any] = found.scopes["scope"].bounds if "scope" in found.scopes else {}
    sizes = {k: n for k, n in bounds.items() if type(n) is int}
    result = prove(found.machine, sizes=sizes)
    induction = Induction(sized(found.machine, sizes))
    induction.exact.dropped.update(o.property for o in result.obligations if not o.verdict.good)
    proved, left = Counter[str](), Counter[str]()
    for o in result.obligations:
        text = induction.script(o.obligation, o.property)
        if text is not None:
            (proved if o.verdict.good else left)[opinion(text)] += 1
    return proved, left


@pytest.mark.nightly
def test_both_prove_peterson() -> None:
    assert opinions(Peterson) == ({"unsat": 42}, {})


def test_what_is_not_proved_is_not_proved_by_cvc5() -> None:
    proved, left = opinions(provable.Counter)
    assert set(proved) == {"unsat"}
    assert set(left) == {"sat"}


def test_what_is_assumed_of_timers_is_asked_as_well(tmp_path: Path) -> None:
    """Three bodies and `tick` show what holds of `ack_delay`, and each of them is a script."""
    acks = "tests.checks.declarations.acknowledging:Acks"
    assert main(["prove", acks, "--smtlib", str(tmp_path), "--quiet"]) == 0
    texts = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.smt2")}
    assert {name for name in texts if "of-timers" in name} == {
        f"Acks.{case}.of-timers.smt2" for case in ("the-start", "deliver", "send_ack", "tick")
    }
    assert len(texts) == 23 + 4
    assert {opinion(text) for text in texts.values()} == {"unsat"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("cls", "unsat"),
    [
        (SenderEntryFixed, 126),
        (ReceiverEntryFixed, 130),
        (WindowFixed, 419),
        (Transaction, 35),
        (InboundPeerFixed, 252),
        (QueueOwnerFixed, 375),
        (Attribution, 16),
        (TwoPhase, 33),
    ],
    ids=lambda x: x.__name__ if isinstance(x, type) else str(x),
)
def test_cvc5_agrees_on_the_systems(cls: type[Machine], unsat: int) -> None:
    proved, left = opinions(cls)
    assert proved == {"unsat": unsat}
    assert "unsat" not in left


def test_the_command_writes_the_scripts(tmp_path: Path) -> None:
    assert main(["prove", "tests.classics.peterson", "--smtlib", str(tmp_path), "--quiet"]) == 0
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.glob("Peterson.*.smt2")]
    assert len(texts) == 42  # Peterson's own `start` among them, beside the initial state.
    assert {opinion(text) for text in texts} == {"unsat"}
