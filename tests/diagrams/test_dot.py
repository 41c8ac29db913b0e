"""DOT text: the same for the same machine, accepted by Graphviz, and as it was looked at."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import lawful
from lawful import Machine
from lawful.diagrams import dot
from lawful.machines.message_scheduler.declaration import Scheduler
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.dispatching import DispatchingFixed, DispatchingTorn
from lawful.machines.read_only_windows.closing import PoolFixed
from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec import types as t
from tests.diagrams.examples import GOLDEN, Light, Room, Tally, agrees

DRAWN = Path(lawful.__file__).parent / "diagrams" / "drawn"
SMALL: list[type[Machine]] = [Light, Room, Tally]
COMMITTED: list[type[Machine]] = [
    SenderEntryFixed,
    ReceiverEntryFixed,
    InboundPeerFixed,
    QueueOwnerFixed,
    WindowFixed,
    Scheduler,
]


@pytest.mark.parametrize("machine", SMALL)
def test_golden(machine: type[Machine]) -> None:
    name = f"{machine.__name__.lower()}.dot"
    assert agrees(GOLDEN / name, dot.text(machine.lawful.ir))


@pytest.mark.parametrize("machine", COMMITTED)
def test_the_committed_picture_is_of_the_machine_as_it_is(machine: type[Machine]) -> None:
    assert agrees(DRAWN / f"{machine.__name__}.dot", dot.text(machine.lawful.ir))
    # The lines of a drawing depend on the version of Graphviz; what it says does not.
    svg = (DRAWN / f"{machine.__name__}.svg").read_text(encoding="utf-8")
    control = next(v.type for v in machine.lawful.ir.variables if v.name == "state")
    assert isinstance(control, t.Enum)
    for state in control.members:
        assert f">{state}</text>" in svg


@pytest.mark.parametrize("machine", SMALL)
def test_graphviz_accepts_it(machine: type[Machine]) -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz's dot is not installed")
    text = dot.text(machine.lawful.ir)
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    assert b"<svg" in done.stdout


def test_what_is_cut_stands_whole_in_the_tooltip() -> None:
    text = dot.text(Light.lawful.ir)
    assert "range(13, 16)" not in text.split('tooltip="')[0]
    assert "for n in range(13, 16)) and presses * 2 + by < limit * 100 - presses]" in text


def test_a_terminal_state_has_two_rims_and_others_one() -> None:
    rims = [line for line in dot.text(Light.lawful.ir).splitlines() if "peripheries=2" in line]
    assert [line.split()[0] for line in rims] == ['"state.BROKEN"']


def test_pixels_are_asked_for_only_where_there_are_any() -> None:
    assert "dpi" not in dot.text(Light.lawful.ir)
    assert " dpi=144" in dot.text(Light.lawful.ir, 144)


def test_a_state_that_only_a_variant_has_is_drawn_there() -> None:
    """What is assigned in a body alone is a machine's own, too: a waiting thread is woken so."""
    assert [
        '"doing[t].CHECKED"' in dot.text(m.lawful.ir)
        for m in (
            DispatchingFixed,
            DispatchingTorn,
        )
    ] == [False, True]
    assert all(
        f'"threads[w].{name}"' in dot.text(PoolFixed.lawful.ir)
        for name in (
            "AWAKE",
            "LOOKING",
            "EMPTY",
            "WAITING",
            "EXECUTING",
            "EXITED",
        )
    )
