"""What ends the process that searches costs the answer to one question, whatever the search is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import get_all_start_methods
from typing import Any

import pytest

from lawful.checks.prove import How, Method, migration, prove, timer_invariants
from lawful.checks.prove.bounded import Bounded
from lawful.checks.prove.horn import HornProver
from lawful.checks.prove.induction import Induction
from lawful.checks.prove.k_induction import KInduction
from lawful.checks.prove.migration import Versions, evolve
from lawful.checks.prove.result import ENDED, ProofResult
from lawful.checks.prove.schedule import in_turn
from lawful.spec.lower import sized
from lawful.spec.resolve import resolve
from tests.checks.declarations.acknowledging import Acks
from tests.spec import texts

pytestmark = pytest.mark.skipif(
    "fork" not in get_all_start_methods(), reason="this system forks no process"
)
HOW = f"{ENDED} (SIGKILL)"
MACHINE = resolve(
    texts.last_machine(
        texts.module("""
    class Two(Machine):
        n: int = 0
        m: int = 0

        @transition()
        def go(self) -> None:
            if self.n in (7, 8):
                self.n += 1
            elif self.n == 0:
                self.m = 1 - self.m if self.m in (0, 1) else self.m + 1

        @invariant
        def n_is_small(self) -> bool:
            return self.n != 9

        @invariant
        def m_is_small(self) -> bool:
            return self.m in (0, 1)
""")
    )
).machine


def dies(
    patch: pytest.MonkeyPatch, owner: Any, name: str, where: Callable[[tuple[Any, ...]], bool]
) -> None:
    """From now on this function ends its process where it is called so, unless it is this one."""
    whole, pid = getattr(owner, name), os.getpid()

    def work(*args: Any, **named: Any) -> Any:
        if where(args):
            assert os.getpid() != pid
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*args, **named)

    patch.setattr(owner, name, work)


def proof(method: Method, depth: int | None = None) -> dict[str, tuple[str, str, str]]:
    result = prove(MACHINE, sizes={}, how=How(method, depth=depth, workers=2))
    return told(result)


def told(result: ProofResult) -> dict[str, tuple[str, str, str]]:
    rows = [p for p in result.properties if p.name in ("n_is_small", "m_is_small")]
    return {p.name: (p.verdict.value, p.method, p.note) for p in rows}


def test_a_search_through_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    dies(monkeypatch, Bounded, "_look", lambda args: "n_is_small" in {*args[2]} & {*args[0].names})
    assert proof("bounded", 2) == {
        "n_is_small": ("unknown", "bounded", HOW),
        "m_is_small": ("bounded", "bounded", ""),
    }


def test_a_search_for_invariants(monkeypatch: pytest.MonkeyPatch) -> None:
    dies(monkeypatch, HornProver, "_of", lambda args: args[1] == "n_is_small")
    assert proof("spacer") == {
        "n_is_small": ("unknown", "spacer", HOW),
        "m_is_small": ("proved", "spacer", ""),
    }


@pytest.mark.nightly
def test_induction_over_several_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proof("k-induction", 3) == {
        "n_is_small": ("proved", "k-induction", ""),
        "m_is_small": ("proved", "induction", ""),
    }
    dies(monkeypatch, KInduction, "_ask", lambda args: args[1].property == "n_is_small")
    left = proof("k-induction", 3)
    assert left["n_is_small"][:2] == ("unknown", "induction")
    assert left["m_is_small"] == ("proved", "induction", "")


@pytest.mark.nightly
def test_what_is_known_of_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it less is proved, and the proof comes to its end."""
    how = How("induction", workers=2)
    machine = resolve(Acks).machine
    known = {p.name: p.verdict.value for p in prove(machine, sizes={}, how=how).properties}
    dies(monkeypatch, timer_invariants, "_kept", lambda _: True)
    found = {p.name: p.verdict.value for p in prove(machine, sizes={}, how=how).properties}
    assert known["acked_in_time"] == "proved"
    assert found == {**known, "acked_in_time": "unknown", "acks_are_apart": "unknown"}


def test_clauses_that_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    dies(monkeypatch, Induction, "answer", lambda args: args[2] == "n_is_small")
    induction = Induction(sized(MACHINE, {}), workers=2)
    asked = [("go", "bounds"), ("go", "n_is_small"), ("go", "m_is_small")]
    found = in_turn(induction, asked)
    assert [(o.obligation, o.property, o.note) for o in found] == [
        ("go", "bounds", ""),
        ("go", "n_is_small", HOW),
        ("go", "m_is_small", ""),
    ]


def test_one_version_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    dies(
        monkeypatch,
        vars(migration)["_Taking"],
        "answer",
        lambda args: args[1].property == "n_is_small",
    )
    found = evolve(Versions(MACHINE, MACHINE, {}), {}, workers=2)
    assert [(o.property, o.verdict.value, o.note) for o in found] == [
        ("bounds", "proved", ""),
        ("n_is_small", "unknown", HOW),
        ("m_is_small", "proved", ""),
    ]
