"""Each guard of object diffusion is true and refuses somewhere, or is listed with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import machines as package
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.object_diffusion.registry import Registry
from lawful.machines.object_diffusion.system import DiffusionFixed
from tests.machines.covering import Guard, exercised, texts

FOLDER = Path(package.__path__[0]) / "object_diffusion"
TYPED = "The state says so, by `decision_until_completed`; without it there would be no value."
REFUSAL = "A refusal has no other side: where it is not reached, the request is of the other kind."
# What is odd about a guard in every scope, and why.
LISTED: dict[Guard, tuple[str, str]] = {
    ("callbacks", "needed(self.decision)"): ("never refuses", TYPED),
    ("callbacks", 'refuse("objects were requested")'): ("never true", REFUSAL),
    ("callbacks", 'refuse("IDs were requested")'): ("never true", REFUSAL),
    ("system", 'refuse("objects were requested")'): ("never true", REFUSAL),
    ("system", 'refuse("IDs were requested")'): ("never true", REFUSAL),
    ("system", "len(ids) <= request.count"): (
        "never refuses",
        "A reply has one ID within the scope, and each request asks for one or more.",
    ),
}


def test_what_is_listed_is_in_the_source() -> None:
    assert set(texts(FOLDER, {guard: odd for guard, (odd, _) in LISTED.items()}).values()) == {True}


@pytest.mark.nightly
def test_everything_else_happens() -> None:
    found = exercised((InboundPeerFixed, "scope"), (Registry, "scope"), (DiffusionFixed, "scope"))
    assert found.odd == {guard: odd for guard, (odd, _) in LISTED.items()}
    assert (found.unreached, found.never) == (frozenset(), frozenset())
