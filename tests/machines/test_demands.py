"""Each demand of a system's document is met at a place that exists, or it is said why not.

`machines/SYSTEM/demands.py` has the numbers and the places; the package's docstring the reasons.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import cast

import pytest

# The letter of a document's demands, and how many there are.
SYSTEMS = {
    "message_scheduler": ("R", 40),
    "object_diffusion": ("O", 43),
    "queue_cluster": ("Q", 58),
    "read_only_windows": ("L", 24),
    "unicast": ("U", 30),
}


def found(system: str, place: str) -> bool:
    """Whether a place exists: in the system's package, or under `tests` in its tests."""
    package = f"lawful.machines.{system}"
    if place.startswith("tests."):
        package, place = f"tests.machines.{system}", place.removeprefix("tests.")
    names = place.split(".")
    thing: object = None
    while names:  # The modules of the path, and then what is in the last one.
        try:
            thing = importlib.import_module(f"{package}.{names[0]}")
        except ModuleNotFoundError:
            break
        package = f"{package}.{names.pop(0)}"
    return thing is not None and all((thing := inside(thing, n)) is not None for n in names)


def inside(thing: object, name: str) -> object | None:
    """What a module or class has under this name; a field that has only a type counts."""
    for each in type.mro(thing) if isinstance(thing, type) else (thing,):
        has = vars(each)
        if name in has:
            return cast(object, has[name])
        if name in has.get("__annotations__", {}):
            return name
    return None


def open_ends(system: str, demands: Mapping[str, tuple[str, ...]], said: str) -> list[str]:
    """What is missing: places that do not exist, demands without a place or a reason."""
    lost = [
        f"{number}: there is no {place}"
        for number, (_, *places) in demands.items()
        for place in places
        if not found(system, place)
    ]
    reasons = set(re.findall(r"\b[A-Z]\d+\b", said))
    silent = [n for n, (_, *places) in demands.items() if not places and n not in reasons]
    return lost + [f"{number}: no place, and no reason" for number in silent]


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_demand_has_its_place_or_a_reason(system: str) -> None:
    letter, count = SYSTEMS[system]
    package = importlib.import_module(f"lawful.machines.{system}")
    demands = importlib.import_module(f"lawful.machines.{system}.demands").DEMANDS
    assert list(demands) == [f"{letter}{i}" for i in range(1, count + 1)]
    assert open_ends(system, demands, package.__doc__ or "") == []


def test_what_is_missing_is_found() -> None:
    demands = {
        "O1": ("one state",),
        "O2": ("no such module", "declarations.InboundPeer"),
        "O3": ("no such class", "declaration.Nobody.name"),
        "O4": ("no such field", "messages.Decision.ids"),
        "O5": ("no such test", "tests.test_peer.test_nothing"),
        "O6": ("one of two", "declaration.Status", "declaration.InboundPeerFixed.gone"),
        "O7": (
            "fields, transitions and tests exist",
            "declaration.InboundPeerFixed.pending",
            "messages.Decision.ids_to_ack",
            "declaration.InboundPeerFixed.decide",
            "tests.test_peer.test_ten_requested_and_seven_received",
        ),
        "O8": ("said to be left out",),
    }
    assert open_ends("object_diffusion", demands, "O8 is left out, and so is O18.") == [
        "O2: there is no declarations.InboundPeer",
        "O3: there is no declaration.Nobody.name",
        "O4: there is no messages.Decision.ids",
        "O5: there is no tests.test_peer.test_nothing",
        "O6: there is no declaration.InboundPeerFixed.gone",
        "O1: no place, and no reason",
    ]
