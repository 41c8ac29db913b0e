"""What pictures say of a machine, before any format."""

from __future__ import annotations

import pytest

from lawful.diagrams.chart import WIDTH, Control, Edge, chart, lines, words
from lawful.diagrams.transition_labels import PRIME, Label, label_of
from tests.diagrams.examples import Bench, Light, Room, Shelf, Tally

FULL = {
    "press": f"press(m: Press) [m.strength > 2 and presses{PRIME} < limit] / presses{PRIME}",
    "dim": "dim after idle",
    "smash": "smash() [implies(state == Lamp.ON, presses > 2)]",
    "take": (
        "take(by) [owner is None and (presses == 0 or by > presses) and by % 2 == 0"
        " and by not in {7, 9} and by * by != 121 and all(by != n for n in range(13, 16))"
        " and presses * 2 + by < limit * 100 - presses]"
    ),
    "look": "look() / owner",
}


@pytest.mark.parametrize("name", FULL)
def test_a_label_says_the_guards_and_outputs_of_the_body(name: str) -> None:
    m = Light.lawful.ir
    assert label_of(m, m.transition(name)).full == FULL[name]


def test_what_a_helper_or_a_part_gives_is_told_by_its_type() -> None:
    said = list(chart(Shelf.lawful.ir).labels())
    assert [one.full for one in said if one.event == "add(by)"] == ["add(by) / Nat"]
    assert [one.full for one in said if one.event == "up_twice(by)"] == ["up_twice(by) / Nat"]


def test_a_class_is_told_once_and_not_by_those_that_it_is_none_of() -> None:
    m = Bench.lawful.ir
    assert label_of(m, m.transition("handle")).steps == (
        "tally.up(told[0].by) if isinstance(told[0], Up) and told[0].by > 1",
        "tally.up(1) if not (isinstance(told[0], Up) and told[0].by > 1)"
        " and isinstance(told[0], Up)",
        "tally.up(told[0].by + 1) if isinstance(told[0], Down)",
        "tally.up(2) if not (isinstance(told[0], Up) and told[0].by > 1)"
        " and not isinstance(told[0], Up) and not isinstance(told[0], Down)",
    )


def test_the_chart_of_a_machine() -> None:
    shown = chart(Light.lawful.ir)
    said = {one.name: one for one in shown.labels()}
    (region,) = shown.regions
    assert region.states == (
        Control("OFF", initial=True, terminal=False),
        Control("ON", initial=False, terminal=False),
        Control("BROKEN", initial=False, terminal=True),
    )
    assert region.edges == (
        Edge("OFF", "ON", said["press"]),
        Edge("ON", "OFF", said["dim"]),
        Edge(None, "BROKEN", said["smash"]),
    )
    assert [(s.state, s.labels, s.repeated) for s in region.stays] == [
        ("OFF", (said["take"],), ()),
        ("ON", (), (("OFF", (said["take"],)),)),
    ]
    assert region.anywhere == (said["look"],)
    assert shown.ignored == ("press in ON (it is on)",)
    assert shown.always == ()


def test_the_chart_of_a_composed_machine() -> None:
    shown = chart(Room.lawful.ir)
    assert [part.title for part in shown.parts] == ["left: Light", "right: Light"]
    assert [(one.event, one.guards, one.steps) for one in shown.always] == [
        (
            "touch(m: Press)",
            ("queue[m] > 0",),
            ("left.press(m) if m.strength > 3", "right.press(m) if m.strength <= 3"),
        ),
        ("storm()", (), ("left.smash()", "right.smash()")),
    ]


def test_without_control_state_there_are_events_alone() -> None:
    shown = chart(Tally.lawful.ir)
    assert shown.regions == ()
    assert [one.event for one in shown.always] == ["up(by)"]


def test_a_long_label_is_cut_after_five_pieces_of_guards() -> None:
    m = Light.lawful.ir
    shown = [
        " ".join(text for _, text in line) for line in lines(label_of(m, m.transition("take")))
    ]
    assert shown == [
        "take(by) [owner is None",
        "and (presses == 0 or by > presses)",
        "and by % 2 == 0 and by not in {7, 9}",
        "and by * by != 121 …]",
    ]


def test_lines_break_between_words_and_before_operators() -> None:
    text = "all(self.next <= q <= self.highest for q in self.buffer) and self.next in self.buffer"
    broken = words(text, 30)
    assert " ".join(broken) == text
    assert all(len(line) <= 30 for line in broken)
    assert not any(line.split(" ")[-1] in ("and", "<=", "for", "in") for line in broken)
    assert words("short", WIDTH) == ["short"]


def test_a_word_too_long_for_a_line_stays_whole() -> None:
    assert words("a " + "x" * 60 + " b", 30) == ["a", "x" * 60, "b"]


def test_a_timer_and_its_event() -> None:
    assert Label("dim", "dim", "idle", (), (), (), "").head == "dim after idle"
