"""The documentation is a site, and each link within it leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.root import ROOT

LINK = re.compile(r'(?:href|src)="([^"#?]+)')


def test_every_page_is_in_a_list_of_the_index() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^[a-z_]+$", text, re.M)
    assert sorted(listed) == sorted(
        page.stem for page in (ROOT / "docs").glob("*.md") if page.stem != "index"
    )


@pytest.mark.nightly
def test_it_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-E", "-b", "html", "docs", "site"]
    command[-1] = str(tmp_path / "site")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=ROOT, env=env, text=True, capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    pages = sorted((tmp_path / "site").glob("*.html"))
    assert {page.stem for page in pages} >= {"index", "tutorial", "language", "api", "unicast"}
    for page in pages:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" not in link and not link.startswith(("data:", "mailto:")):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
