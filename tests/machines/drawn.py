"""Committed pictures of the systems, compared with what is drawn of them now.

`DRAWN=write` writes them anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lawful import Machine
from lawful.checks.explore import CheckResult
from lawful.diagrams import dot, sequence
from lawful.runtime.journal import read

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


def same_journal(path: Path) -> None:
    """The picture of a journal of one instance is the one that is committed.

    It shows the rows in which something happened: each event with its arguments, and its output.
    """
    rows = [row for row in read(path) if row["event"] and (row["changed"] or _is_news(row))]
    (machine,) = {row["machine"] for row in rows}
    lines = ["sequenceDiagram", "    participant C as service", f"    participant M as {machine}"]
    for row in rows:
        inside = ", ".join(f"{name}={_short(value)}" for name, value in row["args"].items())
        lines.append("    C->>M: " + _escaped(f"{row['event']}({inside})"))
        if row["output"] is not None:
            lines.append("    M-->>C: " + _escaped(_short(row["output"])))
    _same(f"journal_{machine}.mmd", "\n".join(lines) + "\n")


def _is_news(row: Mapping[str, Any]) -> bool:
    """Whether its output says something; an empty set does not."""
    return bool(row["output"]) and row["output"] != {"$set": []}


def _short(value: Any) -> str:
    """A value of a journal's row as a reader would say it."""
    match value:
        case {"$opaque": str(name)}:
            return name
        case {"$tuple": held}:
            return f"({', '.join(map(_short, held))})"
        case {"$set": held}:
            return "{" + ", ".join(sorted(_short(each) for each in held)) + "}"
        case {"$map": rows}:
            return "{" + ", ".join(f"{_short(k)}: {_short(v)}" for k, v in rows) + "}"
        case {"$": str(name), **fields}:
            of = [f"{k}={_short(v)}" for k, v in fields.items()]
            return f"{name}({', '.join(of)})"
        case [*held]:
            return f"[{', '.join(map(_short, held))}]"
        case _:
            return str(value)


def _escaped(text: str) -> str:
    return "".join({"#": "#35;", ";": "#59;"}.get(x, x) for x in text)


def _kept(machine: str) -> list[str]:
    """The properties of which a sequence diagram of the machine is committed."""
    paths = FOLDER.glob(f"{machine}.*.mmd")
    return [path.name.removeprefix(f"{machine}.").removesuffix(".mmd") for path in paths]


def _same(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("DRAWN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, name
