"""The pages about the systems show what is committed, and the counts that the lock file has."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from lawful.commands.lock import read

ROOT = Path(__file__).resolve().parents[2]
KEPT = read(ROOT / "machines" / "lawful.lock")
SYSTEMS = sorted(path.parent.name for path in (ROOT / "machines").glob("*/declaration.py"))
PAGES = [page for page in (ROOT / "docs" / f"{name}.md" for name in SYSTEMS) if page.exists()]
IMAGES = sorted((ROOT / "diagrams" / "drawn").glob("*.svg"))
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


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: str(image.name))
def test_images_say_what_is_drawn(image: Path) -> None:
    """An image is made of the text beside it, which is compared with its machine."""
    lines = image.with_suffix(".dot").read_text(encoding="utf-8").splitlines()
    labels = [line.partition("label=<")[2].partition(">>")[0] + ">" for line in lines]
    drawn = re.findall(r">([^<>]+)(?=<)", "\n".join(f"{label}<" for label in labels))
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", image.read_text(encoding="utf-8"))
    assert words(shown) == words(drawn)


def words(texts: list[str]) -> list[str]:
    """In their order of the alphabet, without what is there for its width alone."""
    return sorted(text for each in texts if (text := html.unescape(each).strip()))


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
            row["distinct"],
            row["generated"],
            row["depth"],
        ], name
