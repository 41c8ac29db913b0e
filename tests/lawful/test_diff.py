"""`lawful diff`: what was lost and won, in words, in a diagram, and as an exit code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lawful.cli import main

OLD = """
from lawful import Machine, Nat, Scope, State, invariant, require, transition

class Phase(State):
    OPEN = "open"
    SHUT = "shut"
    STUCK = "stuck"

class Door(Machine):
    state: Phase = Phase.OPEN
    n: Nat = 0
    deadlock_ok = True

    def _most(self) -> int:
        return 9

    @transition(source=Phase.OPEN, target=Phase.SHUT)
    def shut(self) -> None:
        require(self.n < 2)

    @transition(source=Phase.SHUT, target=Phase.OPEN)
    def open(self) -> None:
        pass

    @transition(source=Phase.OPEN, target=Phase.STUCK)
    def jam(self) -> None:
        pass

    @invariant
    def few(self) -> bool:
        return self.n < self._most()

    scope = Scope(Nat=range(0, 3))
"""
EDITS = (
    ('    STUCK = "stuck"', '    LOCKED = "locked"'),
    ("target=Phase.STUCK", "target=Phase.LOCKED"),
    ("def jam", "def lock"),
    ("self.n < 2", "self.n < 1"),
    ("def few", "def some"),
    ("return 9", "return 8"),
)
LOST = ["jam", "Phase.STUCK", "few"]
APPROVED = [word for name in LOST for word in ("--approve", name)]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """An older version, and a newer one in a file of the same name."""
    new = OLD
    for was, now in EDITS:
        assert was in new
        new = new.replace(was, now)
    paths = [tmp_path / each / "door.py" for each in ("old", "new")]
    for path, text in zip(paths, (OLD, new), strict=True):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    return str(paths[0]), str(paths[1])


def test_what_changed_is_told_in_words(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["diff", *pair])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("  lost", "  won", "  changed"))] == [
        "  changed transition shut",
        "  lost transition jam",
        "  won transition lock",
        "  lost state Phase.STUCK",
        "  won state Phase.LOCKED",
        "  lost property few (invariant)",
        "  won property some (invariant)",
        "  changed helper _most",
    ]


def test_a_loss_fails_until_it_is_approved(pair: tuple[str, str], tmp_path: Path) -> None:
    same = ["diff", pair[0], pair[0], "--no-loss", "--quiet"]
    assert main(same) == 0
    assert main([*same, "--approve", "jam"]) == 5
    file = tmp_path / "diff.json"
    found: dict[int, list[str]] = {}
    for count in (0, 2, 4, 6):
        more = ["--no-loss", "--quiet", "--json", str(file), *APPROVED[:count]]
        code = main(["diff", *pair, *more])
        (row,) = json.loads(file.read_text(encoding="utf-8"))["machines"]
        found[count] = row["unapproved"]
        assert code == (1 if row["unapproved"] else main(["diff", *pair, "--quiet"]))
    assert found == {0: LOST, 2: LOST[1:], 4: LOST[2:], 6: []}


def test_a_property_of_another_kind_is_lost(tmp_path: Path, pair: tuple[str, str]) -> None:
    weaker = tmp_path / "weaker.py"
    weaker.write_text(OLD.replace("invariant", "reachable"), encoding="utf-8")
    assert main(["diff", pair[0], str(weaker), "--no-loss", "--quiet"]) == 1
    assert main(["diff", pair[0], str(weaker), "--no-loss", "--approve", "few", "--quiet"]) == 0


def test_both_versions_are_one_diagram(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--quiet", "--out", str(tmp_path / "pictures")]
    main(["diff", *pair, "--format", "mermaid", *out])
    text = (tmp_path / "pictures" / "Door.diff.mmd").read_text(encoding="utf-8")
    assert [line.strip() for line in text.splitlines() if "-->" in line] == [
        "[*] --> OPEN",
        "OPEN --> SHUT : + shut() [n #60; 1]",
        "SHUT --> OPEN : open()",
        "OPEN --> LOCKED : + lock()",
        "OPEN --> SHUT : \N{MINUS SIGN} shut() [n #60; 2]",
        "OPEN --> STUCK : \N{MINUS SIGN} jam()",
    ]
    assert 'state "+ LOCKED" as LOCKED' in text
    assert 'state "\N{MINUS SIGN} STUCK" as STUCK' in text
    capsys.readouterr()
    main(["diff", *pair, "--format", "mermaid", "--out", "-"])
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()[0]) == (text, "Door -> Door")
    main(["diff", *pair, "--format", "dot", *out])
    lines = (tmp_path / "pictures" / "Door.diff.dot").read_text(encoding="utf-8").splitlines()
    coloured = {
        line.split("[")[0].strip(): "lost" if "#b42318" in line else "won"
        for line in lines
        if "#b42318" in line or "#1a7f37" in line
    }
    assert coloured == {
        '"state.STUCK"': "lost",
        '"state.LOCKED"': "won",
        '"state.OPEN" -> "state.SHUT"': "lost",
        '"state.OPEN" -> "state.LOCKED"': "won",
        '"state.OPEN" -> "state.STUCK"': "lost",
    }
    (jam,) = (line for line in lines if '-> "state.STUCK"' in line)
    assert '<FONT COLOR="#b42318"><B>\N{MINUS SIGN} jam</B>()</FONT>' in jam
    assert " style=dashed" in jam


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_a_version_is_no_different_from_itself(pair: tuple[str, str], tmp_path: Path) -> None:
    for words in (["diff", pair[0], pair[0]], ["draw", pair[0]]):
        main([*words, "--format", "svg", "--out", str(tmp_path), "--quiet"])
    one, two = (tmp_path / f"Door{kind}.svg" for kind in (".diff", ""))
    assert one.read_bytes() == two.read_bytes()


KEPT = """
from lawful import Machine, Nat, State, invariant, require, transition

class Order(Machine):
    paid: Nat = 0
    refunded: Nat = 0

    @transition
    def pay(self, cents: Nat) -> None:
        self.paid += cents

    @transition
    def refund(self, cents: Nat) -> None:
        require(self.refunded + cents <= self.paid)
        self.refunded += cents

    @invariant
    def never_too_much(self) -> bool:
        return self.refunded <= self.paid
"""


def test_what_is_assumed_of_the_older_version_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The older version breaks its invariant, so it may leave a state that restore refuses."""
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    old.write_text(KEPT.replace("self.refunded + cents <= self.paid", "cents <= self.paid"))
    new.write_text(KEPT)
    assert main(["diff", f"{old}", f"{new}"]) == 0
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "states of the older version taken over: 2 of 2 proved",
        "  covers     all integers",
        "  assumes    the older version's invariants and assumptions (1); `lawful prove OLD` says"
        " whether it keeps them",
        "  bounds: proved",
        "  never_too_much: proved",
    ]
    assert main(["diff", f"{old}", f"{new}", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["machines"][0]["assumed"] == ["never_too_much"]
    assert main(["prove", f"{old}"]) == 1
    for path in (old, new):
        path.write_text(path.read_text().partition("    @invariant")[0])
    capsys.readouterr()
    main(["diff", f"{old}", f"{new}"])
    assert "assumes" not in capsys.readouterr().out
