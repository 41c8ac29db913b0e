"""`lawful draw`: what it writes, and what it refuses to draw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lawful.commands.draw import OF_EACH
from lawful.spec.errors import Unsupported
from tests.lawful.test_cli import SENDER, declared, run

NOWHERE = """
from lawful import Machine, Nat, Scope, invariant, transition

class Nowhere(Machine):
    n: Nat = 9

    @transition()
    def up(self) -> None:
        self.n += 1

    @invariant
    def small(self) -> bool:
        return self.n < 3

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3))
"""
JUGS = "tests.classics.jugs"


def test_draw_writes_where_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("draw", SENDER, "--format", "dot", "--out", str(tmp_path), capsys=capsys)
    assert code == 0
    path = Path(out.strip())
    assert path.parent == tmp_path
    assert path.read_text(encoding="utf-8").startswith("digraph")


def test_control_states_are_drawn_of_a_machine_without_a_scope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = declared(tmp_path, NOWHERE.replace("    scope = Scope(Nat=range(0, 3))\n", ""))
    given = ("draw", target, "--format", "dot", "--out", str(tmp_path))
    assert run(*given, capsys=capsys) == (0, f"{tmp_path / 'Nowhere.dot'}\n", "")
    code, _, err = run(*given, "--what", "graph", capsys=capsys)
    assert (code, "defines no machine that can be checked: Nowhere" in err) == (5, True)


def test_draw_writes_the_reachable_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("draw", JUGS, "--what", "graph", "--out", str(tmp_path))
    code, out, _ = run(*given, "--format", "dot", capsys=capsys)
    assert (code, out) == (0, f"{tmp_path / 'Jugs.graph.dot'}\n")
    text = (tmp_path / "Jugs.graph.dot").read_text(encoding="utf-8")
    assert sum("small = " in line for line in text.splitlines()) == 16
    assert text.count("violates never_four") == 2
    code, _, err = run(*given, "--max-states", "15", capsys=capsys)
    assert code == 5
    assert "Jugs has more than 15 states within its scope; give a smaller --scope" in err
    assert run(*given, "--max-states", "16", "--format", "dot", capsys=capsys)[0] == 0
    code, _, err = run(*given, "--format", "mermaid", capsys=capsys)
    assert (code, err) == (5, "--what graph is drawn as svg, png, pdf or dot, not as mermaid\n")


def test_draw_writes_the_counterexamples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("draw", JUGS, "--what", "trace", "--out", str(tmp_path))
    code, out, _ = run(*given, "--json", "-", capsys=capsys)
    path = tmp_path / "Jugs.never_four.mmd"
    row = {"machine": "Jugs", "property": "never_four", "path": str(path), "format": "mermaid"}
    assert (code, json.loads(out)["machines"]) == (0, [row])
    assert path.read_text(encoding="utf-8").count("Note over M") == 7
    code, out, _ = run("draw", "tests.classics.peterson", *given[2:], capsys=capsys)
    assert (code, out) == (0, "Peterson has no counterexample within its scope\n")


def test_draw_makes_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pictures" / "of machines"
    given = ("draw", SENDER, "--format", "mermaid", "--out")
    assert run(*given, str(folder), capsys=capsys)[0] == 0
    assert [path.name for path in folder.iterdir()] == ["SenderEntryFixed.mmd"]
    (tmp_path / "file").touch()
    code, _, err = run(*given, str(tmp_path / "file"), capsys=capsys)
    assert code == 5
    assert "cannot make the folder" in err


@pytest.mark.parametrize("what", ["graph", "trace"])
def test_without_a_state_within_the_scope_there_is_no_picture(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pictures"
    given = ("draw", declared(tmp_path, NOWHERE), "--what", what, "--out", str(out))
    code, told, err = run(*given, capsys=capsys)
    wrong = "Nowhere: no initial state is within the scope; nothing would be checked\n"
    assert (code, told, err) == (5, "", wrong)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("what", ["graph", "trace"])
def test_what_an_engine_does_not_know_is_named(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(*_args: object, **_options: object) -> None:
        raise Unsupported("Jugs.small: no engine knows it")

    monkeypatch.setattr("lawful.checks.explore.explore", unknown)
    monkeypatch.setattr("lawful.reachable_graph.state_graph", unknown)
    given = ("draw", JUGS, "--what", what, "--out", str(tmp_path))
    assert run(*given, capsys=capsys) == (5, "", "Jugs.small: no engine knows it\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--scope", "Nat=0..3"],
            "--scope has no meaning for --what states: control states are drawn from the "
            "declaration; --what graph and --what trace are drawn within a scope\n",
        ),
        (["--max-states", "3"], "--max-states has no meaning for --what states; use graph\n"),
        (
            ["--max-states", "3", "--what", "trace"],
            "--max-states has no meaning for --what trace; use graph\n",
        ),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("draw", JUGS, "--out", str(tmp_path / "pictures"), *words)
    assert run(*given, capsys=capsys) == (5, "", said)
    assert not (tmp_path / "pictures").exists()


def test_without_graphviz_the_message_names_the_formats_that_need_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    given = ("draw", JUGS, "--out", str(tmp_path), "--what")
    missing = "Graphviz's program `dot` is not installed"
    wrong = f"{missing}; --format dot needs no Graphviz\n"
    assert run(*given, "graph", capsys=capsys) == (5, "", wrong)
    note = (
        f"{missing}, so Jugs.mmd has Mermaid instead of svg; "
        "the formats dot, mermaid and plantuml need no Graphviz"
    )
    assert run(*given, "states", capsys=capsys) == (0, f"{tmp_path / 'Jugs.mmd'}  ({note})\n", "")
    for format in ("dot", "mermaid", "plantuml"):
        assert run(*given, "states", "--format", format, capsys=capsys)[0] == 0
    assert run(*given, "graph", "--format", "dot", capsys=capsys)[0] == 0
    assert run(*given, "trace", capsys=capsys)[0] == 0


def test_a_machine_with_two_names_is_drawn_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = declared(tmp_path, NOWHERE + "\nAgain = Nowhere\n")
    code, told, _ = run("draw", target, "--format", "dot", "--out", str(tmp_path), capsys=capsys)
    assert (code, told) == (0, f"{tmp_path / 'Nowhere.dot'}\n")


def test_only_some_states_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = "lawful.machines.queue_cluster.declaration:QueueOwnerFixed"
    given = ("draw", target, "--format", "mermaid", "--out", str(tmp_path))
    path = tmp_path / "QueueOwnerFixed.mmd"
    assert run(*given, "--only", "STOPPING", capsys=capsys) == (0, f"{path}\n", "")
    text = path.read_text(encoding="utf-8")
    assert "UPDATING -->" not in text
    assert "OWNED --> STOPPING" in text and "STOPPING --> ENDED" in text
    wrong = "QueueOwnerFixed has no state GONE; it has ENDED, OWNED, STOPPED, STOPPING, UPDATING\n"
    assert run(*given, "--only", "GONE", capsys=capsys) == (5, "", wrong)
    assert path.read_text(encoding="utf-8") == text
    useless = "--only has no meaning for --what trace; use states\n"
    assert run("draw", target, "--what", "trace", "--only", "OWNED", capsys=capsys) == (
        5,
        "",
        useless,
    )


def test_one_picture_goes_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The picture alone: what a module prints, and the answer, are on standard error."""
    text = NOWHERE.replace("n: Nat = 9", "n: Nat = 0").replace("n < 3", "n < 2")
    target = declared(tmp_path, "print('hello')\n" + text)
    for what in ("states", "graph", "trace"):
        format = OF_EACH[what][-1]
        given = ("draw", target, "--what", what, "--format", format, "--out")
        code, out, _ = run(*given, str(tmp_path / what), capsys=capsys)
        (path,) = (tmp_path / what).iterdir()
        assert (code, out) == (0, f"hello\n{path}\n")
        before = sorted(tmp_path.iterdir())
        monkeypatch.chdir(tmp_path)
        drawn = path.read_text(encoding="utf-8")
        assert run(*given, "-", capsys=capsys) == (0, drawn, "hello\n")
        assert sorted(tmp_path.iterdir()) == before
    run(*given, "-", "--json", str(tmp_path / "answer.json"), capsys=capsys)
    rows = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["machines"]
    assert [(row["property"], row["path"]) for row in rows] == [("small", "-")]
    both = "--out - and --json - both write to standard output\n"
    assert run(*given, "-", "--json", "-", capsys=capsys)[::2] == (5, f"hello\n{both}")


def test_several_pictures_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    two = NOWHERE + NOWHERE.replace("Nowhere", "Elsewhere")
    given = ("draw", declared(tmp_path, two), "--format", "mermaid", "--out", "-")
    wrong = "--out - takes one picture, and there are 2: Elsewhere.mmd, Nowhere.mmd\n"
    assert run(*given, capsys=capsys) == (5, "", wrong)
    nothing = ("draw", "tests.classics.peterson", "--what", "trace", "--out", "-")
    said = "Peterson has no counterexample within its scope\n"
    assert run(*nothing, capsys=capsys) == (0, "", said)
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert [Path(name).suffix for name in left] == [".py"]


def test_standard_output_has_the_format_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file may have another suffix where Graphviz is missing; `> picture.svg` may not."""
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = "Graphviz's program `dot` is not installed; --format dot needs no Graphviz\n"
    assert run("draw", JUGS, "--out", "-", capsys=capsys) == (5, "", missing)
