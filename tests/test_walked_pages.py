"""Pages that a reader walks: their files are saved, their commands run, the output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.root import ROOT

# What is compared on each page, and some files that are there at its end.
PAGES = {
    "tutorial": (10, {"Order.svg", "report.html", "lawful.lock"}),
    "proofs": (2, {"tickets.py"}),
    "state_space": (5, {"tickets.py", "window.py"}),
    "ci": (3, {"check.xml", "check.sarif", "prove.xml", "lawful.lock", "certificates"}),
}
# A file that the reader saves, commands, or what they print.
BLOCK = re.compile(r"(?:[Ss]ave\sthis\sas\s`(.+?)`:\n\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)
SECONDS = re.compile(r"\d+\.\d+(?=\s|$)", re.M)


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The name of the file or "", the kind, and the text of each block of the page."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return [(m.group(1) or "", m.group(2), m.group(3)) for m in BLOCK.finditer(text)]


def printed(command: str, folder: Path) -> str:
    """What a command prints in the folder of the reader."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        command, shell=True, cwd=folder, env=env, text=True, capture_output=True, check=False
    )
    assert run.returncode in (0, 1, 2, 3), run.stderr
    return run.stdout


def differs(shown: str, found: str) -> str | None:
    """The first shown line that was not printed in its place; `...` stands for any text."""
    lines = [SECONDS.sub("0.0", line) for line in found.splitlines()]
    at, anywhere = 0, False
    for line in shown.splitlines():
        if line == "...":
            anywhere = True
            continue
        parts = (re.escape(part) for part in SECONDS.sub("0.0", line).split("..."))
        wanted = re.compile(".*".join(parts))
        places = range(at, len(lines) if anywhere else min(at + 1, len(lines)))
        place = next((i for i in places if wanted.fullmatch(lines[i])), None)
        if place is None:
            return line
        at, anywhere = place + 1, False
    return None


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES)
def test_the_page_can_be_walked(page: str, tmp_path: Path) -> None:
    found, compared, (shown, left) = "", 0, PAGES[page]
    for name, kind, text in blocks(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif kind == "sh":
            commands = [c for c in text.splitlines() if not c.startswith("python -m pip")]
            found = "".join(printed(command, tmp_path) for command in commands)
        elif kind == "text":
            assert differs(text, found) is None, f"{differs(text, found)}\n\n{found}"
            compared += 1
    assert compared == shown
    assert {path.name for path in tmp_path.iterdir()} >= left


@pytest.mark.parametrize(
    ("shown", "found", "differing"),
    [
        ("a\nb\n", "a\nb\nc\n", None),
        ("a\n...\nc\n", "a\nb\nc\n", None),
        ("a\nc\n", "a\nb\nc\n", "c"),
        ("...\nc\na\n", "a\nb\nc\n", "a"),
        ("it took 1.5 s\n", "it took 0.25 s\n", None),
        ("Order ...: 3 fit\n", "Order 12ab: 3 fit\n", None),
        ("Order ...: 3 fit\n", "Order 12ab: 2 fit\n", "Order ...: 3 fit"),
    ],
)
def test_what_is_shown_is_compared(shown: str, found: str, differing: str | None) -> None:
    assert differs(shown, found) == differing
