"""Machines in everyday Python, in every engine: what each form means is the same everywhere."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.agree.examine import examine
from tests.agree.hits import Hits

FOLDER = Path(__file__).parent / "found"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("everyday_*.txt")), ids=lambda path: path.stem)
def test_all_engines_agree(path: Path, tmp_path: Path) -> None:
    hits = Hits()
    text = path.read_text(encoding="utf-8")
    for seed in range(3):
        found = examine(text, Random(f"everyday {seed}"), hits, tmp_path, solved=seed == 0)
        assert not found
    assert hits.rows["total machines"] == 3
