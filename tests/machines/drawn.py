"""Committed pictures of the systems, compared with what is drawn of them now.

`DRAWN=write` writes them anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

from lawful import Machine
from lawful.checks.explore import CheckResult
from lawful.diagrams import dot, sequence

FOLDER = Path(__file__).resolve().parents[2] / "diagrams" / "drawn"


def same_states(*classes: type[Machine]) -> None:
    """The state diagram of each class is the one that is committed."""
    for cls in classes:
        _same(f"{cls.__name__}.dot", dot.text(cls.lawful.ir))


def same_sequences(result: CheckResult) -> list[str]:
    """The sequence diagram of each counterexample is the one committed; gives what they show."""
    shown: list[str] = []
    for p in result.properties:
        if p.trace is not None and p.verdict.value in ("violated", "undefined"):
            why = f"{p.name} is {p.verdict.value}"
            text = sequence.text(result.machine, p.trace.steps, p.trace.loop, why)
            _same(f"{result.machine}.{p.name}.mmd", text)
            shown.append(p.name)
    assert sorted(_kept(result.machine)) == sorted(shown)
    return shown


def _kept(machine: str) -> list[str]:
    """The properties of which a sequence diagram of the machine is committed."""
    paths = FOLDER.glob(f"{machine}.*.mmd")
    return [path.name.removeprefix(f"{machine}.").removesuffix(".mmd") for path in paths]


def _same(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("DRAWN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, name
