"""`lawful freeze`, and the life of a package whose source stays at home."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lawful.spec.errors import DeclarationError
from tests.frozen import (
    MODULE,
    USE,
    compiled,
    freeze,
    imported,
    needs,
    other_pythons,
    package,
    run,
)

OUTPUT = """\
2 ('send', 'ack', 'name') True
ack: 7 was never sent (7 <= 1 is false)
a Sender(state=<Conn.CLOSED: 'closed'>, sent=1, idle=stopped, last=Node('a'), \
key=UUID('00000000-0000-0000-0000-000000000007'), most=2)
send: state is CLOSED, not OPEN
True True True
"""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The package with its source, frozen, and the package as it is shipped."""
    home = package(tmp_path_factory.mktemp("home") / "src")
    freeze(home)
    return home, compiled(home, tmp_path_factory.mktemp("away") / "app")


def told(done: subprocess.CompletedProcess[str]) -> str:
    """What a process printed; it is to end well."""
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(folder: Path) -> str:
    """Why a machine of the package in the folder is refused."""
    with pytest.raises(DeclarationError) as refused, imported(folder) as module:
        module.Sender()
    return str(refused.value)


def without_folder(text: str) -> list[str]:
    return [line for line in text.splitlines() if "mod.py" not in line]


def test_the_file_lies_beside_the_module_and_is_named(tmp_path: Path) -> None:
    home = package(tmp_path / "src")
    said = told(run(home, "-m", "lawful", "freeze", "pkg.mod"))
    path = home / "pkg" / "mod.lawful.json"
    assert said == f"{path}\n  Bare\n  Base\n  Sender\n  Whole\n"
    first = path.read_bytes()
    answer = told(run(home, "-m", "lawful", "freeze", "pkg.mod", "--json", "-", seed="7"))
    assert json.loads(answer) == {
        "version": 1,
        "command": "freeze",
        "path": str(path),
        "machines": ["Bare", "Base", "Sender", "Whole"],
    }
    assert path.read_bytes() == first  # No hash seed, no time, and no folder of this computer.
    assert str(tmp_path).encode() not in first


def test_a_package_without_source_runs_and_replays(shipped: tuple[Path, Path]) -> None:
    home, away = shipped
    here, there = told(run(home, "-c", USE)), told(run(away, "-c", USE))
    assert there.startswith(OUTPUT)
    assert without_folder(there) == without_folder(here)
    assert there.splitlines()[-1] == f"{away / 'pkg' / 'mod.py'} pkg.mod"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    ["show", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("check", "prove"))],
)
def test_the_command_line_answers_as_with_the_source(
    command: str, shipped: tuple[Path, Path]
) -> None:
    home, away = shipped
    target = "pkg.mod" if command != "prove" else "pkg.mod:Sender"
    answers: list[tuple[int, object]] = []
    for folder in (home, away):
        done = run(folder, "-m", "lawful", command, target, "--json", "-")
        assert done.returncode in (0, 1, 3), done.stderr
        answer = json.loads(done.stdout)
        for machine in answer["machines"]:
            for key in ("seconds", "total_seconds", "compile_seconds", "files"):
                machine.pop(key, None)
            for row in machine.get("obligations", ()):
                del row["seconds"], row["known_before"]
        answers.append((done.returncode, answer))
    assert answers[0] == answers[1]


ABSTRACT = """
from lawful import Machine, Nat, Param, Scope, assume, require, transition
from .help import twice
from .kinds import Node


class Counter(Machine):
    n: Nat = 0
    seen: frozenset[Node] = frozenset()
    most: Param[Nat] = 3

    @assume
    def some(self) -> bool:
        return self.most > 0

    @transition()
    def count(self, who: Node) -> None:
        require(twice(self.n) < twice(self.most), "enough")
        self.n += 1
        self.seen = self.seen | {who}

    deadlock_ok = True
    scope = Scope(Nat=range(0, 5), Node=2, most=(2,))
"""
REFINING = """
from lawful import Machine, Nat, Scope, refines, require, transition
from .abstract import Counter
from .kinds import Conn, Node


class Halves(Machine):
    halves: Nat = 0
    told: dict[Node, Conn] = {}

    @transition()
    def half(self, who: Node) -> None:
        require(self.halves < 4, "full")
        self.halves += 2
        self.told[who] = Conn.CLOSED

    @refines(Counter)
    def counts(self) -> Counter:
        return Counter.lawful.state(n=self.halves // 2, seen=frozenset(self.told), most=2)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 5), Node=2)
"""
REFINED = """
from pkg.kinds import Node
from pkg.refining import Halves

halves = Halves()
halves.half(Node("a"))
print(halves.counts(), Halves.lawful.fingerprint)
"""


@pytest.mark.nightly
def test_a_machine_that_refines_another_is_shipped_with_it(tmp_path: Path) -> None:
    home = package(tmp_path / "src")
    for module, text in (("abstract", ABSTRACT), ("refining", REFINING)):
        (home / "pkg" / f"{module}.py").write_text(text, encoding="utf-8")
        told(run(home, "-m", "lawful", "freeze", f"pkg.{module}"))
    away = compiled(home, tmp_path / "app")
    here, there = told(run(home, "-c", REFINED)), told(run(away, "-c", REFINED))
    assert here == there and here.startswith("Counter(n=1, seen=frozenset({Node('a')}), most=2) ")
    check = json.loads(told(run(away, "-m", "lawful", "check", "pkg.refining", "--json", "-")))
    rows = [(row["name"], row["verdict"]) for row in check["machines"][0]["properties"]]
    assert ("counts", "holds") in rows and check["machines"][0]["distinct"] == 6
    path = home / "pkg" / "abstract.py"
    path.write_text(ABSTRACT.replace("self.n += 1", "self.n += 2"), encoding="utf-8")
    stale = run(compiled(home, tmp_path / "stale"), "-c", REFINED)
    assert (
        stale.returncode == 1
        and "L110 the frozen file does not belong to this code" in stale.stderr
    )


@pytest.mark.nightly
def test_a_zip_holds_it_too(shipped: tuple[Path, Path], tmp_path: Path) -> None:
    _, away = shipped
    archive = Path(shutil.make_archive(str(tmp_path / "app"), "zip", away))
    done = run(tmp_path, "-c", USE, paths=[archive])
    assert told(done).startswith(OUTPUT)


@pytest.mark.parametrize("option", [pytest.param("-O", marks=pytest.mark.nightly), "-OO"])
def test_code_without_asserts_or_docstrings_is_the_same_code(
    option: str, shipped: tuple[Path, Path], tmp_path: Path
) -> None:
    away = compiled(shipped[0], tmp_path / "app", option)
    assert told(run(away, option, "-c", USE)).startswith(OUTPUT)


def test_comments_and_places_do_not_make_it_stale(
    shipped: tuple[Path, Path], tmp_path: Path
) -> None:
    home = tmp_path / "src"
    shutil.copytree(shipped[0], home)
    text = MODULE.replace("LIMIT = 3", "# How many.\n\n\nLIMIT   =   3")
    text = text.replace('"""What was received."""', '"""Another text."""')
    (home / "pkg" / "mod.py").write_text(text.replace("A sender.", "Sends."), encoding="utf-8")
    assert told(run(compiled(home, tmp_path / "app"), "-c", USE)).startswith(OUTPUT)


CHANGES = [
    ("mod", "LIMIT = 3", "LIMIT = 4"),
    ("mod", "m.seqno <= self.sent", "m.seqno < self.sent"),
    ("mod", "self.last = who", "self.last = None"),
    ("help", "2 * n", "3 * n"),
    ("kinds", "seqno: Nat", "seqno: Nat\n    more: Nat"),
    ("kinds", 'OPEN = "open"', 'OPEN = "ajar"'),
]


@pytest.mark.parametrize(("module", "old", "new"), CHANGES)
def test_other_code_is_refused(
    module: str, old: str, new: str, shipped: tuple[Path, Path], tmp_path: Path
) -> None:
    home = tmp_path / "src"
    shutil.copytree(shipped[0], home)
    path = home / "pkg" / f"{module}.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    why = refusal(compiled(home, tmp_path / "app"))
    assert "L110 the frozen file does not belong to this code" in why
    assert "rewrite:  run `lawful freeze pkg.mod` where its source is" in why


def test_what_was_never_frozen_is_refused(shipped: tuple[Path, Path], tmp_path: Path) -> None:
    away = tmp_path / "app"
    shutil.copytree(shipped[1], away)
    (away / "pkg" / "mod.lawful.json").unlink()
    done = run(away, "-c", USE)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "L101 the source of the declaration is not readable\n"
        "  found:    class Bare, with no readable source text\n"
        "  expected: a declaration in a file that Python can read, or what was frozen of it\n"
        "  rewrite:  run `lawful freeze pkg.mod` where its source is, and ship what it writes\n"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "with no JSON"),
        ("[]", 'with no "format": "lawful-frozen"'),
        ('{"format": "lawful-frozen", "version": 1}', "with format version 1; this lawful reads 2"),
        ('{"format": "lawful-frozen", "version": 2}', "with too little in it"),
        (
            '{"format": "lawful-frozen", "version": 2, "codes": {"": []}, "machines": {"M": {}}}',
            "with a machine of another form",
        ),
    ],
)
def test_another_file_is_refused(
    text: str, found: str, shipped: tuple[Path, Path], tmp_path: Path
) -> None:
    away = tmp_path / "app"
    shutil.copytree(shipped[1], away)
    (away / "pkg" / "mod.lawful.json").write_text(text, encoding="utf-8")
    why = refusal(away)
    assert "L110" in why and found in why


def test_source_that_is_there_counts(shipped: tuple[Path, Path], tmp_path: Path) -> None:
    home = tmp_path / "src"
    shutil.copytree(shipped[0], home)
    path = home / "pkg" / "mod.py"
    path.write_text(MODULE.replace("twice(self.sent)", "self.sent"), encoding="utf-8")
    assert told(run(home, "-c", USE)).startswith("1 ")


INHERITS = """
from lawful import Machine, Nat, transition
from pkg.mod import Base, Sender


class Uses(Machine):
    part: Sender = Sender()

    @transition()
    def go(self) -> Nat:
        return self.part.send()


print(Uses().go())


class Late(Base):
    more: Nat = 0


Late()
"""


def test_a_machine_with_source_has_parts_without(
    shipped: tuple[Path, Path], tmp_path: Path
) -> None:
    away = tmp_path / "app"
    shutil.copytree(shipped[1], away)
    (away / "own.py").write_text(INHERITS, encoding="utf-8")
    done = run(away, "own.py")
    assert done.stdout == "2\n"
    assert "L101" in done.stderr and "Base, an ancestor, with no readable source" in done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("python", other_pythons())
def test_another_version_of_python_reads_it(
    python: str, shipped: tuple[Path, Path], tmp_path: Path
) -> None:
    needed = [needs(tmp_path / "needs")]
    home, app = shipped[0], compiled(shipped[0], tmp_path / "app", python=python)
    there = told(run(app, "-c", USE, python=python, paths=needed))
    assert without_folder(there) == without_folder(told(run(home, "-c", USE)))
    # There code cannot be compared; what Python tells of the classes can.
    source = tmp_path / "src"
    shutil.copytree(home, source)
    path = source / "pkg" / "kinds.py"
    path.write_text(path.read_text("utf-8").replace("CLOSED", "SHUT"), encoding="utf-8")
    module = source / "pkg" / "mod.py"
    module.write_text(MODULE.replace("CLOSED", "SHUT"), encoding="utf-8")
    stale = run(
        compiled(source, tmp_path / "stale", python=python), "-c", USE, python=python, paths=needed
    )
    assert "L110" in stale.stderr and "Sender.close: kind='transition'" in stale.stderr


def test_one_machine_and_a_module_without_any_are_no_modules_to_freeze(tmp_path: Path) -> None:
    home = package(tmp_path / "src")
    for target, why in (
        ("pkg.mod:Sender", "pkg.mod:Sender names a machine; freeze takes a whole module"),
        ("pkg.kinds", "pkg.kinds defines no machine"),
    ):
        done = run(home, "-m", "lawful", "freeze", target)
        assert (done.returncode, done.stderr) == (5, f"{why}\n")
