"""An enum that a class declares inside itself is read through the machine and through the class."""

from __future__ import annotations

from enum import Enum

import pytest

from lawful import Machine, Refused, Scope, require, transition
from lawful.checks.explore import explore
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve


class Lamp(Machine):
    class Mode(Enum):
        ON = 1
        OFF = 2

    mode: Mode = Mode.OFF

    @transition
    def flip(self) -> None:
        self.mode = self.Mode.ON if self.mode is self.Mode.OFF else self.Mode.OFF

    @transition(source=Mode.ON, target=Mode.OFF, of="mode")
    def off(self) -> None: ...

    @transition
    def on(self) -> None:
        require(self.mode is Lamp.Mode.OFF, "it is on")
        self.mode = Lamp.Mode.ON

    scope = Scope()


def test_it_is_read_through_the_machine_and_through_the_class() -> None:
    lamp = Lamp()
    lamp.flip()
    assert lamp.mode is Lamp.Mode.ON
    with pytest.raises(Refused, match="it is on"):
        lamp.on()
    lamp.off()
    lamp.on()
    assert lamp.mode is Lamp.Mode.ON
    resolved = resolve(Lamp)
    found = explore(lower(resolved.machine, resolved.scopes["scope"]), resolved.world, {})
    assert (found.distinct, found.generated) == (2, 5)
