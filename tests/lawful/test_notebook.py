"""What a notebook shows: tables that are escaped, and diagrams."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest

from lawful import (
    Machine,
    Nat,
    Opaque,
    Scope,
    State,
    Timer,
    invariant,
    notebook,
    require,
    transition,
)
from lawful.checks.replay import ReplayError
from lawful.checks.replay.program import ReplayProgram
from lawful.checks.replay.validation import replay
from lawful.notebook import Diagram, check, diagram, load_ipython_extension
from lawful.runtime.journal import Journal
from lawful.spec.resolve import resolve

EVIL = "<img src=x onerror=alert(1)>"


REPLAYED = (
    "<div><b>Replay of Gate</b></div><div>"
    "1 instances, 0 events, local engine, 0 rows rejected</div><div>"
    "no verdict: no event was judged, of 0</div><table><thead><tr><th>verdict</th><th>"
    "instances</th></tr></thead><tbody><tr><td>fits</td><td>0</td></tr><tr><td>open</td>"
    "<td>0</td></tr><tr><td>deviates</td><td>0</td></tr><tr><td>inconclusive</td><td>"
    "0</td></tr><tr><td>quarantined</td><td>1</td></tr><tr><td>empty</td><td>0</td></tr>"
    "</tbody></table><table><thead><tr><th>first of each kind: instance</th><th>row</th>"
    "<th>event</th><th>verdict</th><th>clause</th></tr></thead><tbody><tr><td>"
    "&lt;img src=x onerror=alert(1)&gt;</td><td>0</td><td></td><td>quarantined</td><td>"
    "a row without transition</td></tr></tbody></table>"
)


class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Gate(Machine):
    state: Door = Door.OPEN
    n: Nat = 0
    last: Annotated[str, Opaque("Name")] | None = None
    wait: Timer = Timer()

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self, who: Annotated[str, Opaque("Name")]) -> None:
        require(self.n < 3, "<img src=x onerror=alert(1)>")
        self.n += 1
        self.last = who

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self) -> None:
        pass

    @invariant
    def below_two(self) -> bool:
        return self.n < 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 4), Name=1)


class Lamp(Machine):
    uses: Nat = 0

    @transition
    def use(self) -> None:
        self.uses += 1

    deadlock_ok = True
    scope = Scope(Nat=range(0, 4))


def no_picture(_machine: object) -> str:
    return "<p>No diagram: x.</p>"


def half_a_picture(machine: Any) -> str:
    return f"<svg {machine.name}"


def html(shown: Any) -> Any:
    """What Jupyter asks for."""
    return shown._repr_html_()


def svg(shown: Any) -> Any:
    """What Jupyter asks for first."""
    return shown._repr_svg_()


def test_an_instance_is_a_table_of_its_variables() -> None:
    gate = Gate()
    gate.shut(EVIL)
    assert html(gate) == (
        "<table><caption>Gate</caption>"
        "<tr><th>state</th><td>&lt;Door.SHUT: &#x27;shut&#x27;&gt;</td></tr>"
        "<tr><th>n</th><td>1</td></tr>"
        "<tr><th>last</th><td>&#x27;&lt;img src=x onerror=alert(1)&gt;&#x27;</td></tr>"
        "<tr><th>wait</th><td>stopped</td></tr></table>"
    )


def test_a_result_shows_how_many_steps_the_scope_cuts() -> None:
    assert "4 states, 5 generated, depth 4, 1 step cut by the scope</div>" in html(check(Lamp))


def test_a_result_shows_counts_verdicts_and_counterexamples() -> None:
    good = '<td style="color:#1a7f37"><b>holds</b></td><td>holds</td><td></td></tr>'
    names = ("deadlock", "bounds", "asserts", "undefined", "ambiguous")
    assert html(check(Gate)) == (
        "<div><b>Gate</b></div>"
        "<div>scope Nat=0..3, Name=1: 7 states, 7 generated, depth 7</div>"
        "<table><thead><tr><th>property</th><th>kind</th><th>verdict</th><th>expected</th>"
        "<th>why</th></tr></thead><tbody>"
        + "".join(f"<tr><td>{name}</td><td>built-in</td>{good}" for name in names)
        + '<tr><td>below_two</td><td>invariant</td><td style="color:#cf222e"><b>violated</b></td>'
        "<td>holds</td><td>n &lt; 2 is false (n = 2)</td></tr></tbody></table>"
        "<details><summary>below_two is violated after 3 events</summary>"
        "<table><thead><tr><th></th><th>event</th><th>changed</th></tr></thead><tbody>"
        "<tr><td></td><td>start</td>"
        "<td>state = OPEN; n = 0; last = None; wait = False</td></tr>"
        "<tr><td>1</td><td>shut(who=Name(0))</td><td>state = SHUT; n = 1; last = Name(0)</td></tr>"
        "<tr><td>2</td><td>open()</td><td>state = OPEN</td></tr>"
        "<tr><td>3</td><td>shut(who=Name(0))</td><td>state = SHUT; n = 2</td></tr>"
        "</tbody></table></details>"
    )


def test_a_replay_shows_verdicts_and_problems(tmp_path: Path) -> None:
    head: dict[str, Any] = {"v": 1, "machine": "Gate", "fingerprint": "any", "instance": EVIL}
    rows: list[Any] = [
        {**head, "seq": n, "time": 0.0, "event": "open", "args": {}} for n in range(2)
    ]
    journal = tmp_path / "journal.jsonl"
    journal.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = replay([journal], ReplayProgram((resolve(Gate).machine,), any_version=True))
    assert html(shown) == REPLAYED


def test_a_cell_replays_a_journal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with Journal(journal) as rows:
        gate = Gate()
        rows.attach(gate, "g-1")
        gate.shut("Ann")
        gate.open()
    shown = notebook.replay(Gate, journal)
    assert "1 instances, 2 events, local engine, 0 rows rejected" in html(shown)
    assert "<td>fits</td><td>1</td>" in html(shown)
    with pytest.raises(ReplayError, match="no mapping"):
        notebook.replay(Gate, journal, mapping=tmp_path / "no mapping.toml")


@pytest.mark.parametrize("given", [Door, Gate(), Machine, int, None])
def test_what_is_no_machine_is_named(given: Any) -> None:
    for function in (check, diagram, notebook.replay):
        with pytest.raises(TypeError, match="expected a class that is declared as a Machine"):
            function(given)


def test_a_check_that_stops_says_so() -> None:
    shown = html(check(Gate, max_seconds=1e-9))
    assert "stopped before everything was explored" in shown


def test_a_diagram_is_svg_where_graphviz_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("dot") is not None:
        drawn = svg(diagram(Gate))
        assert drawn is not None
        assert drawn.startswith("<svg")
        assert EVIL not in drawn
        assert html(diagram(Gate)) is None
    monkeypatch.setattr("lawful.notebook.picture", no_picture)
    assert svg(Diagram(Gate)) is None
    assert html(Diagram(Gate)) == "<p>No diagram: x.</p>"


class Formatter:
    """Looks up what shows a value by its type, as IPython's does."""

    def __init__(self) -> None:
        self.printers: dict[type, Callable[[Any], str | None]] = {}

    def for_type(self, typ: type, func: Callable[[Any], str | None]) -> object:
        self.printers[typ] = func
        return None


class Shell:
    """The part of IPython's shell that the extension uses."""

    def __init__(self) -> None:
        self.formatters: dict[str, Any] = {"image/svg+xml": Formatter(), "text/html": Formatter()}
        self.display_formatter: Any = self


def test_the_extension_shows_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lawful.notebook.picture", half_a_picture)
    shell = Shell()
    load_ipython_extension(shell)
    svg, html = (shell.formatters[kind].printers for kind in ("image/svg+xml", "text/html"))
    assert list(svg) == list(html) == [type(Gate)]
    assert (svg[type(Gate)](Gate), html[type(Gate)](Gate)) == ("<svg Gate", None)
    assert (svg[type(Gate)](Machine), html[type(Gate)](Machine)) == (None, None)
