"""Small machines that have everything a picture can show, and the comparison with golden files."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    State,
    Timer,
    ignore,
    refuse,
    require,
    terminal,
    transition,
)

GOLDEN = Path(__file__).parent / "golden"


def agrees(path: Path, text: str) -> bool:
    """Whether the file holds the text; with LAWFUL_REDRAW=1 in the environment it is written."""
    if os.environ.get("LAWFUL_REDRAW") == "1":
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8") == text


class Lamp(State):
    OFF = "off"
    ON = "on"
    BROKEN = "broken"


class Press(Record):
    strength: Nat


class Light(Machine):
    """A lamp with a button."""

    state: Lamp = Lamp.OFF
    presses: Nat = 0
    owner: Nat | None = None
    limit: Param[int] = 3
    idle: Timer = Timer()

    @transition(source=Lamp.OFF, target=Lamp.ON)
    def press(self, m: Press) -> Nat | None:
        require(m.strength > 2, "too soft")
        self.presses += 1
        require(self.presses < self.limit, "worn out")
        self.idle.start(3.0)
        return self.presses

    @transition(source=Lamp.ON, target=Lamp.OFF, timer="idle")
    def dim(self) -> None: ...

    @transition(target=Lamp.BROKEN)
    def smash(self) -> None:
        if self.state == Lamp.ON:
            require(self.presses > 2, "still too new")

    @transition(source=(Lamp.OFF, Lamp.ON))
    def take(self, by: Nat) -> None:
        if self.owner is not None:
            refuse("it has an owner")
        first = self.presses == 0 or by > self.presses
        require(first and self.even(by), "others were here before, or were about to be")
        require(by not in {7, 9} and by * by != 121, "these are never to own anything")
        require(all(by != n for n in range(13, 16)), "nor are these")
        require(self.presses * 2 + by < self.limit * 100 - self.presses, "too much of it")
        self.owner = by

    @transition()
    def look(self) -> Nat | None:
        return self.owner

    again = ignore("press", source=Lamp.ON, because="it is on")

    def even(self, n: Nat) -> bool:
        return n % 2 == 0

    @terminal
    def over(self) -> bool:
        return self.state == Lamp.BROKEN


class Room(Machine):
    """Two lamps and a storm."""

    left: Light = Light()
    right: Light = Light()
    queue: Counter[Press] = Counter()

    @transition()
    def touch(self, m: Press) -> None:
        require(self.queue[m] > 0, "no such press")
        self.queue[m] -= 1
        if m.strength > 3:
            self.left.press(m)
        else:
            self.right.press(m)

    @transition()
    def storm(self) -> None:
        self.left.smash()
        self.right.smash()


class Tally(Machine):
    """Nothing but a number: no control state."""

    count: Nat = 0

    @transition()
    def up(self, by: Nat) -> Nat:
        require(by > 0, "by nothing")
        self.count += by
        return self.count


class Shelf(Machine):
    """What its events return, a part or a helper gives."""

    tally: Tally = Tally()
    last: Nat = 0

    @transition()
    def add(self, by: Nat) -> Nat:
        return self.tally.up(by)

    @transition()
    def up_twice(self, by: Nat) -> Nat:
        return self.noted(by + by)

    def noted(self, by: Nat) -> Nat:
        self.last = by
        return self.last


class Up(Record):
    by: Nat


class Down(Record):
    by: Nat


class Still(Record):
    pass


class Bench(Machine):
    """Which step its part takes depends on the class of what it is told."""

    tally: Tally = Tally()
    told: list[Up | Down | Still] = []

    @transition()
    def handle(self) -> None:
        require(len(self.told) > 0, "nothing is told")
        m = self.told[0]
        match m:
            case Up(by=by) if by > 1:
                self.tally.up(by)
            case Up():
                self.tally.up(1)
            case Down(by=by):
                self.tally.up(by + 1)
            case Still():
                self.tally.up(2)
