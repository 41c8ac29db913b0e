"""Large diagrams: one edge for several events, edges that go down, and excerpts."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import pytest

from lawful.diagrams import dot, mermaid, plantuml
from lawful.diagrams.chart import Chart, Control, Edge, Region, Stay
from lawful.diagrams.chart_excerpt import excerpt
from lawful.diagrams.render import render_chart
from lawful.diagrams.transition_labels import Label

DRAWN = Path(__file__).parents[2] / "diagrams" / "drawn"
NAMES = tuple(f"STATE_{number}" for number in range(12))


def label(name: str) -> Label:
    guards = ("size <= window", "tries < 5")
    return Label(name, f"{name}(size)", "", guards, (), ("window",), "window")


def ring(states: int, edges: int) -> Chart:
    """A ring of states; further edges go elsewhere, and the last two have equal ends."""
    names = NAMES[:states]
    ends = [(i % states, (i + 1 + i // states * 3) % states) for i in range(edges - 1)]
    ends.append(ends[-1])
    moves = [Edge(names[a], names[b], label(f"event_{i}")) for i, (a, b) in enumerate(ends)]
    controls = tuple(Control(name, name == "STATE_0", False) for name in names)
    long = label("a_stay_with_a_name_that_is_long_enough_to_be_said_once")
    stays = (Stay("STATE_0", (long,), ()), Stay("STATE_1", (), (("STATE_0", (long,)),)))
    return Chart("Ring", (Region("state", controls, tuple(moves), stays, ()),), (), (), ())


def test_transitions_with_the_same_ends_are_one_edge() -> None:
    text = dot.chart_text(ring(12, 40))
    drawn = re.findall(r'^ *"state\.(\w+)" -> "state\.(\w+)" \[', text, re.M)
    assert len(drawn) == len(set(drawn)) == 39
    assert {f"event_{i}" for i in range(40)} <= set(re.findall(r"<B>(\w+)</B>", text))
    for other in (mermaid.chart_text(ring(12, 40)), plantuml.chart_text(ring(12, 40))):
        arrows = re.findall(r"^ *(STATE_\d+ --> STATE_\d+) : ", other, re.M)
        assert len(arrows) == len(set(arrows)) == 39


@pytest.mark.parametrize(("states", "edges", "down"), [(4, 7, False), (5, 6, True), (4, 9, True)])
def test_the_edges_of_a_large_diagram_go_down(states: int, edges: int, down: bool) -> None:
    shown = ring(states, edges)
    assert (f"rankdir={'TB' if down else 'LR'}" in dot.chart_text(shown)) is True
    assert (f"direction {'TB' if down else 'LR'}" in mermaid.chart_text(shown)) is True
    said = f"{'top to bottom' if down else 'left to right'} direction"
    assert said in plantuml.chart_text(shown)


def test_twelve_states_and_forty_transitions_fit_a_screen(tmp_path: Path) -> None:
    """With edges to the right and an edge for each transition it was 8,000 pixels wide."""
    path = tmp_path / "ring.png"
    if render_chart(ring(12, 40), path, "png").format != "png":
        pytest.skip("Graphviz's dot is not installed")
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    assert width < 4_000 and height < 4_000


def places(text: str) -> dict[str, tuple[float, float]]:
    """Where Graphviz puts the nodes, by name: from the left and from the top, in inches."""
    if shutil.which("dot") is None:
        pytest.skip("Graphviz's dot is not installed")
    done = subprocess.run(
        ["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True
    )
    rows = re.findall(r'^node "?([^" ]+)"? (\S+) (\S+) ', done.stdout, re.M)
    return {name: (float(x), -float(y)) for name, x, y in rows}


def test_control_variables_and_parts_stand_below_each_other() -> None:
    """Beside each other, the machine of connections was 4,235 pixels wide."""
    first, second = ring(4, 4).regions[0], ring(3, 3).regions[0]
    inner = Chart("b: Part", (first, replace(second, name="pc")), (label("any"),), (), ())
    # A ring that begins in its middle, and a variable whose events have a node of their own.
    last = replace(first, states=first.states[::-1], anywhere=(label("any"),))
    outer = Chart("c: Last", (last,), (), (), ())
    shown = Chart("Whole", (first, replace(second, name="mode")), (), (), (inner, outer))
    assert shown.downwards
    found = places(dot.chart_text(shown))
    frames = ["state.", "mode.", "b.state.", "b.pc.", "c.state."]
    rows = [[y for name, (_, y) in found.items() if name.startswith(at)] for at in frames]
    # Each state, its start, and the node for events in every state.
    assert [len(row) for row in rows] == [5, 4, 5, 4, 6]
    for above, below in pairwise(rows):
        assert max(above) < min(below)


def test_small_control_variables_together_are_a_large_diagram() -> None:
    part = Chart("b: Part", ring(3, 3).regions, (), (), ())
    assert not Chart("Whole", ring(3, 3).regions, (), (), (part,)).downwards
    assert Chart("Seven states", ring(4, 4).regions, (), (), (part,)).downwards
    both = tuple(Edge(a, b, label("to")) for a, b in permutations(NAMES[:3], 2))
    more = replace(ring(3, 3).regions[0], edges=both)
    assert Chart("Eight edges", (more,), (), (), (part,)).downwards


def test_a_small_diagram_has_no_gaps() -> None:
    small = ring(3, 3).regions[0]
    text = dot.chart_text(Chart("Two", (small, replace(small, name="pc")), (), (), ()))
    assert "newrank" not in text and "invis" not in text


def test_the_committed_pictures_fit_a_screen() -> None:
    """In points; a PNG has twice as many pixels."""
    widths = {
        path.stem: int(re.findall(r'<svg width="(\d+)pt"', path.read_text(encoding="utf-8"))[0])
        for path in DRAWN.glob("*.svg")
    }
    assert len(widths) == 13
    assert {name: width for name, width in widths.items() if width > 1_400} == {}


@pytest.mark.parametrize("path", sorted(DRAWN.glob("*.svg")), ids=lambda path: path.stem)
def test_a_committed_picture_has_the_events_of_its_text(path: Path) -> None:
    text, svg = (path.with_suffix(end).read_text(encoding="utf-8") for end in (".dot", ".svg"))
    bold = re.findall(r"<text[^>]* font-weight=\"bold\"[^>]*>(\w+)</text>", svg)
    assert sorted(bold) == sorted(re.findall(r"<B>(\w+)</B>", text))


def test_an_excerpt_has_the_states_and_their_neighbours() -> None:
    whole = ring(12, 12)
    shown = excerpt(whole, ["STATE_1"])
    (region,) = shown.regions
    assert [state.name for state in region.states] == ["STATE_0", "STATE_1", "STATE_2"]
    assert [(e.source, e.target) for e in region.edges] == [
        ("STATE_0", "STATE_1"),
        ("STATE_1", "STATE_2"),
    ]
    # STATE_0 says nothing of itself here, so what was "as in STATE_0" is said of STATE_1.
    (stay,) = region.stays
    assert (stay.state, stay.labels, stay.repeated) == (
        "STATE_1",
        whole.regions[0].stays[0].labels,
        (),
    )
    both = excerpt(whole, ["STATE_1", "STATE_0"]).regions[0]
    assert both.stays == whole.regions[0].stays
    assert not shown.downwards and whole.downwards


def test_an_excerpt_leaves_out_the_parts_that_have_none_of_the_states() -> None:
    other = Chart(
        "b: Other", (Region("pc", (Control("ELSE", True, False),), (), (), ()),), (), (), ()
    )
    whole = Chart("Whole", ring(3, 3).regions, (), (), (other,))
    assert excerpt(whole, ["ELSE"]).regions == ()
    assert [part.title for part in excerpt(whole, ["ELSE"]).parts] == ["b: Other"]
    assert excerpt(whole, ["STATE_0"]).parts == ()
    with pytest.raises(ValueError, match="Whole has no state NO; it has ELSE, STATE_0"):
        excerpt(whole, ["NO"])
