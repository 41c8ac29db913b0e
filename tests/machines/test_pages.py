"""The pages about the systems show what is committed, and the counts that the lock file has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lawful.locking import read

ROOT = Path(__file__).resolve().parents[2]
KEPT = read(ROOT / "machines" / "lawful.lock")
SYSTEMS = sorted(path.parent.name for path in (ROOT / "machines").glob("*/declaration.py"))
PAGES = [page for page in (ROOT / "docs" / f"{name}.md" for name in SYSTEMS) if page.exists()]
COUNTS = re.compile(r"^\| `(\w+)` \| ([\d,]+) / ([\d,]+) / (\d+) \|", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_pictures_are_those_that_are_committed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    drawn = {path.read_text(encoding="utf-8") for path in (ROOT / "diagrams/drawn").glob("*.mmd")}
    shown = re.findall(r"^```mermaid\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert shown
    assert [block for block in shown if block not in drawn] == []
    links = re.findall(r"\]\(([^):#]+)\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_counts_are_those_that_are_kept(page: Path) -> None:
    """Those of the few modules that are not kept are compared in the tests of their system."""
    said = COUNTS.findall(page.read_text(encoding="utf-8"))
    kept = {
        name.partition(":")[2]: row["check"]
        for name, row in KEPT.items()
        if name.split(".")[1] == page.stem
    }
    assert any(name in kept for name, *_ in said)
    for name, *figures in [row for row in said if row[0] in kept]:
        row = kept[name]
        assert [int(f.replace(",", "")) for f in figures] == [
            row["distinct"], row["generated"], row["depth"]
        ], name
