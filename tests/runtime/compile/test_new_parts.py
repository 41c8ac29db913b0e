"""Parts that a step makes: their values, their bounds, and what is undone."""

from __future__ import annotations

from typing import Any

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Refused,
    Sort,
    Undefined,
    assume,
    require,
    total,
    transition,
)
from lawful.runtime.compile import in_place
from lawful.runtime.timers import SimulatedClock


class Node(Sort):
    pass


class Lamp(Machine):
    """Its parameters have names that generated code uses, too."""

    type: Param[Nat]
    id: Param[int] = 3
    whole: Nat = 1

    @transition()
    def flip(self, by: Nat) -> None:
        require(by < 100, "too many")
        self.whole += by


class Wanted(Machine):
    id: Param[int] = 3

    @assume
    def lucky(self) -> bool:
        return self.id != 13


class Votes(Machine):
    """A part whose initial values depend on the universe."""

    cast: dict[Node, bool] = total(False)

    @transition()
    def vote(self, node: Node) -> None:
        self.cast[node] = True


class Panel(Machine):
    lamps: dict[int, Lamp] = {}
    votes: dict[int, Votes] = {}
    wanted: dict[int, Wanted] = {}
    made: Nat = 0

    @transition()
    def put(self, key: int, type: int, id: int) -> None:
        self.lamps[key] = Lamp(type=type, id=id)
        self.made += 1
        require(self.made < 4, "enough")

    @transition()
    def renew(self, key: int) -> None:
        self.lamps[key] = Lamp(type=1)
        self.lamps[key].flip(self.made)

    @transition()
    def drop(self, key: int) -> None:
        del self.lamps[key]

    @transition()
    def want(self, id: int) -> None:
        self.wanted[id] = Wanted(id=id)

    @transition()
    def ask(self, key: int) -> None:
        self.votes[key] = Votes()


def _values(panel: Any) -> dict[int, tuple[int, int, int]]:
    return {key: (lamp.type, lamp.id, lamp.whole) for key, lamp in panel.lamps.items()}


def test_a_part_has_its_parameters_and_initial_values() -> None:
    panel = Panel()
    panel.put(1, 7, 5)
    panel.put(2, 0, 3)
    panel.renew(2)
    assert _values(panel) == {1: (7, 5, 1), 2: (1, 3, 3)}


def test_a_part_out_of_bounds_or_assumptions_is_undone() -> None:
    panel = Panel()
    panel.put(1, 7, 5)
    panel.put(2, 2, 2)
    with pytest.raises(PropertyViolated, match="type"):
        panel.put(1, -1, 5)
    panel.want(1)
    with pytest.raises(Undefined, match=r"Wanted\(id=id\) .*: the assumption lucky is false"):
        panel.want(13)
    panel.put(3, 3, 3)
    for key in (1, 4):
        with pytest.raises(Refused, match="enough"):
            panel.put(key, 1, 1)
    assert _values(panel) == {1: (7, 5, 1), 2: (2, 2, 1), 3: (3, 3, 1)}
    assert ([*panel.lamps], [*panel.wanted], panel.made) == ([1, 2, 3], [1], 3)


def test_each_whole_has_its_own_environment() -> None:
    clocks = [SimulatedClock(), SimulatedClock()]
    elements = [[Node("a")], [Node("b"), Node("c")]]
    panels = [
        Panel(clock=clock, universe={Node: each})
        for clock, each in zip(clocks, elements, strict=True)
    ]
    for panel in panels:
        panel.ask(1)
        panel.put(1, 1, 1)
    assert [dict(panel.votes[1].cast) for panel in panels] == [
        {Node("a"): False},
        {Node("b"): False, Node("c"): False},
    ]
    inside: list[Any] = [panel.lamps[1] for panel in panels]
    assert [each.__environment__.clock for each in inside] == clocks


@pytest.mark.skipif(not in_place.COUNTS, reason="reference counts are not known")
def test_a_family_changes_where_it_stands_if_nobody_else_holds_it() -> None:
    panel: Any = Panel()
    panel.put(1, 1, 1)
    family = id(panel._lamps_)
    panel.put(2, 2, 2)
    panel.drop(1)
    assert (id(panel._lamps_), _values(panel)) == (family, {2: (2, 2, 1)})


def test_who_reads_a_family_keeps_what_was_read() -> None:
    panel: Any = Panel()
    panel.put(1, 1, 1)
    before = panel.lamps
    panel.put(2, 2, 2)
    panel.drop(1)
    assert ([*before], [*panel.lamps]) == ([1], [2])


def test_the_text_says_how_a_part_is_made() -> None:
    Panel().put(1, 1, 1)
    assert "self._lamps_[key] = new_Lamp(self, type=type, id=id)\n" in Panel.lawful.generated()
    text = Lamp.lawful.generated()
    made = text[text.index("def new_Lamp(") :]
    assert made.partition("\n\n\n")[0] + "\n" == NEW_LAMP


NEW_LAMP = """\
def new_Lamp(whole, *, type, id=default_id):
    self = create(Lamp)
    self.__environment__ = whole.__environment__
    self.__watch__ = PART
    if type < 0:
        suspect(whole)
    self._type_ = type
    self._id_ = id
    self._whole_ = 1
    return self
"""
