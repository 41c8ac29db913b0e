"""What SECURITY.md says: text of others stays text, and pickles are read in two places."""

from __future__ import annotations

import ast
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lawful.cli import main
from tests.root import ROOT

PRODUCT = ("lawful", "spec", "runtime", "checks", "machines", "diagrams")
# Ends a tag, a script, a note of Mermaid or PlantUML; then a statement of each.
EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>&\\\"'"
    '\n!include /etc/passwd\nend note\nclick OPEN href "javascript:alert(1)"\x1b[31m'
)
DECLARED = f"""
from lawful import Machine, Nat, Scope, State, ignore, invariant, require, transition

class Door(State):
    OPEN = {EVIL!r}
    SHUT = "shut"

class Evil(Machine):
    state: Door = Door.OPEN
    n: Nat = 0

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> str | None:
        require(self.n < 2, {EVIL!r})
        self.n += 1
        return {EVIL!r}

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self) -> None:
        pass

    again = ignore("shut", source=Door.SHUT, because={EVIL!r})

    @invariant
    def below(self) -> bool:
        return self.n < 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3))
"""
# The modules that read pickles. A search reads what it wrote, and no class but its own; a job of
# Spark reads, in one process, what it wrote in another. Rows that wait for a sort are in memory.
# Bytecode is in the folder of the user's caches, as machine code is.
UNPICKLING = {
    "checks/explore/checkpoints.py",
    "checks/explore/compiled/bytecode.py",
    "checks/explore/spark/check_frames.py",
    "checks/mutation/mutant_frames.py",
    "checks/replay/columnar/layout.py",
    "checks/replay/spark/long_instances.py",
    "checks/replay/spark/partitions.py",
}
# The modules that run text: of a target, of an annotation, or that lawful itself made.
RUNNING = {
    "checks/explore/compiled/plain.py",
    "lawful/targets.py",
    "runtime/compile/generated_code.py",
    "runtime/instances/row_code.py",
    "runtime/interop/text.py",
    "spec/ops.py",
    "spec/quick_dataclass.py",
    "spec/syntax/declare.py",
}
READERS = {"load", "loads", "Unpickler", "open"}
SUSPECT = re.compile(r"pickle|marshal|shelve|dill|joblib|\beval\(|\bexec\(")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("evil") / "evil.py"
    path.write_text(DECLARED, encoding="utf-8")
    return str(path)


class Tags(HTMLParser):
    """The names of the tags of a page and of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}
        self.scripts += tag == "script"


def picture(target: str, format: str, folder: Path, *more: str) -> str:
    """The one file that `lawful draw` writes."""
    out = folder / "_".join((format, *more))
    assert main(["draw", target, "--format", format, "--out", str(out), "--quiet", *more]) == 0
    (file,) = out.iterdir()
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("format", ["mermaid", "plantuml"])
def test_text_of_a_declaration_is_no_statement_of_a_diagram(
    format: str, evil: str, tmp_path: Path
) -> None:
    lines = picture(evil, format, tmp_path).splitlines()
    assert sum("alert" in line for line in lines) == 1
    assert not [line for line in lines if re.match(r"\s*(!include|click|<)", line)]
    assert "\x1b" not in "".join(lines)


def test_text_of_a_counterexample_is_no_statement_of_a_diagram(evil: str, tmp_path: Path) -> None:
    text = picture(evil, "mermaid", tmp_path, "--what", "trace")
    assert not re.search(r"^\s*(!include|click)|<(?!br/>|<)", text, re.MULTILINE)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("what", ["states", "graph"])
def test_text_of_a_declaration_is_no_tag_of_a_picture(what: str, evil: str, tmp_path: Path) -> None:
    found = Tags(picture(evil, "svg", tmp_path, "--what", what)).found
    assert not found & {"script", "img", "onerror", "href", "xlink:href", "foreignobject"}


def test_text_of_a_declaration_is_no_tag_of_the_explorer(evil: str, tmp_path: Path) -> None:
    file = tmp_path / "evil.html"
    assert main(["explore", evil, "--html", str(file)]) == 0
    tags = Tags(file.read_text(encoding="utf-8"))
    assert tags.scripts == 2  # Its data, and its own script.
    assert not tags.found & {"img", "onerror", "src", "href"}


def test_an_answer_has_no_commands_for_a_terminal(
    evil: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "j.jsonl"
    name = "a\x1b]0;owned\x07\x1b[2J\x9b31m"
    journal.write_text(json.dumps({"instance": name, "machine": "Evil", "seq": 0, "v": 1}))
    assert main(["replay", str(journal), evil, "--engine", "local"]) == 3
    said = capsys.readouterr().out
    assert "a\\x1b]0;owned\\x07\\x1b[2J\\x9b31m" in said
    assert main(["check", evil]) == 1
    said += capsys.readouterr().out
    assert main(["check", f"{evil}:\x1b[31m"]) == 5
    said += capsys.readouterr().err
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", said)


def calls(path: Path) -> set[str]:
    """What a module calls or inherits that reads pickles, or runs text."""
    found: set[str] = set()
    text = path.read_text(encoding="utf-8")
    if not SUSPECT.search(text):  # To parse every module takes seconds.
        return found
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name(id="pickle" | "marshal" | "shelve"), attr=name):
                found |= {"unpickle"} if name in READERS else set[str]()
            case ast.ImportFrom(module="marshal" | "shelve" | "dill" | "cloudpickle" | "joblib"):
                found.add("unpickle")
            case ast.ImportFrom(module="pickle", names=names):
                found |= {"unpickle" for each in names if each.name in READERS}
            case ast.keyword(arg="allow_pickle"):
                found.add("unpickle")
            case ast.Call(func=ast.Name(id="eval" | "exec")):
                found.add("run")
            case _:
                pass
    return found


def test_pickles_are_read_and_text_is_run_in_known_modules_alone() -> None:
    paths = [path for top in PRODUCT for path in (ROOT / top).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): calls(path) for path in paths}
    real = {name: each for name, each in found.items() if (ROOT / name).resolve() == ROOT / name}
    assert {name for name, each in real.items() if "unpickle" in each} == UNPICKLING
    assert {name for name, each in real.items() if "run" in each} == RUNNING


def test_the_tests_that_the_page_names_exist() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page)
    assert len(named) > 12
    for file, name in named:
        assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), name
