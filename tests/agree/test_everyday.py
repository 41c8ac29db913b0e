"""Machines in everyday Python, in every engine: what each form means is the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from tests.agree.everyday import methods, parts, records
from tests.agree.examine import examine, seeded
from tests.agree.hits import Hits

FOLDER = Path(__file__).parent / "found"


@pytest.mark.one_in(8)
@pytest.mark.parametrize("path", sorted(FOLDER.glob("everyday_*.txt")), ids=lambda path: path.stem)
def test_all_engines_agree(path: Path, tmp_path: Path) -> None:
    hits = Hits()
    text = path.read_text(encoding="utf-8")
    for seed in range(2):
        rng = Random(f"everyday {seed}")
        found = examine(text, rng, hits, tmp_path, solved=seed == 0, packed=12)
        assert not found
    assert hits.rows["total machines"] == 2
    assert not [row for row in hits.rows if row.startswith("not packed")]


@pytest.mark.parametrize("frame", [methods, parts, records], ids=lambda frame: frame.__name__)
@pytest.mark.parametrize("count", [8, pytest.param(500, marks=pytest.mark.nightly)])
def test_all_engines_agree_on_random_methods(frame: ModuleType, count: int, tmp_path: Path) -> None:
    """What stands together in them is random: lookups, loops, `match`, places that locals name.

    A method that the language refuses counts for nothing; more than a third have to be accepted.
    """
    hits = Hits()
    for seed in range(count):
        text = frame.module(f"everyday {seed}")
        rng = Random(f"methods {seed}")
        assert not examine(text, rng, hits, tmp_path, solved=seed % 10 == 0, packed=12)
    assert hits.rows["total machines"] * 3 > count
    assert hits.rows["total refused"] + hits.rows["total machines"] == count


COLOR = "class Color(Enum):\n    RED = 1\n    BLUE = 2\n"


@pytest.mark.nightly
def test_all_engines_agree_on_texts_in_the_place_of_an_enum(tmp_path: Path) -> None:
    """Random machines whose enum is written as a `Literal`, its members as texts."""
    hits = Hits()
    for seed in range(200):
        text = seeded(seed)
        assert text.count(COLOR) == 1
        assert "Color.RED" in text
        text = text.replace(COLOR, 'Color = Literal["RED", "BLUE"]\n')
        text = "from typing import Literal\n" + re.sub(r"\bColor\.(RED|BLUE)\b", r'"\1"', text)
        assert not examine(text, Random(f"texts {seed}"), hits, tmp_path, solved=seed % 10 == 0)
    assert hits.rows["total machines"] > 80
