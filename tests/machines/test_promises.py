"""What is promised: each promise has its property, and a break that the property notices."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import pytest

from lawful.spec.resolve import resolve
from tests.root import ROOT

from .promises import BREAKS, PROMISES, Broken, Promise
from .repairs import REPAIRED, VARIANTS, Variant
from .test_demands import found

PAGE = ROOT / "docs" / "promises.md"
BEGIN = "| promised | checked by | broken by |\n| --- | --- | --- |\n"
REPAIRS = """\
## What was wrong once

The machine that is checked is the one that a service embeds, with its outputs and timers. Each row
names what a service's class does, and who would notice if it did not any more.

"""
DEFECTS = """
## Defects of the documents, one by one

Each variant has one defect of a document and no other, so that nothing masks it. Its scope expects
the property to fail.

| defect | what goes wrong | variant | fails |
| --- | --- | --- | --- |
"""
TITLES = {
    "unicast": "Reliable unicast",
    "object_diffusion": "Object diffusion",
    "queue_cluster": "Queues in a cluster",
    "read_only_windows": "Read-only windows",
    "message_scheduler": "The message scheduler",
}


def open_ends(
    system: str, promises: tuple[Promise, ...], breaks: Mapping[str, Broken]
) -> list[str]:
    """Promises whose property or break is not there, or whose break another property notices."""
    lost: list[str] = []
    for each in promises:
        if not found(system, each.property):
            lost.append(f"{each.promised}: there is no {each.property}")
        broken = breaks.get(each.broken_by)
        name = each.property.rpartition(".")[2]
        by = "" if broken is None else broken.noticed.rpartition(".")[2]
        if broken is None and not (
            each.broken_by.startswith("tests.") and found(system, each.broken_by)
        ):
            lost.append(f"{each.promised}: nothing is called {each.broken_by!r}")
        if broken is not None and by not in (name, "asserts"):
            lost.append(f"{each.promised}: its break is noticed by {broken.noticed}")
    return lost


def table() -> str:
    """The part of the page that is made of the promises, the repairs and the variants."""
    promised = "\n".join(
        f"## {TITLES[system]}\n\n{BEGIN}{''.join(row(system, each) for each in promises)}"
        for system, promises in PROMISES.items()
    )
    repaired = "\n".join(
        f"### {TITLES[system]}\n\n{BEGIN}{''.join(row(system, each) for each in rows)}"
        for system, rows in REPAIRED.items()
    ).replace("| promised |", "| repaired |")
    variants = "".join(
        f"| {each.defect} | {each.what} | `{each.machine}` | `{each.fails}` |\n"
        for rows in VARIANTS.values()
        for each in rows
    )
    return f"{promised}\n{REPAIRS}{repaired}{DEFECTS}{variants}"


def row(system: str, each: Promise) -> str:
    broken = BREAKS[system].get(each.broken_by)
    what = f"`{each.broken_by}`" if broken is None else broken.what
    return f"| {each.promised} | `{each.property}` | {what} |\n"


@pytest.mark.parametrize("system", PROMISES)
def test_every_promise_has_its_property_and_a_break(system: str) -> None:
    rows = PROMISES[system] + REPAIRED[system]
    assert open_ends(system, rows, BREAKS[system]) == []


def not_failing(system: str, each: Variant) -> bool:
    """Whether the variant is not there, or does not expect this to fail."""
    name, _, cls = each.machine.partition(".")
    module = importlib.import_module(f"lawful.machines.{system}.{name}")
    expected: Any = resolve(getattr(module, cls)).expects.get(each.fails)
    return "violated" not in (expected, *(expected if isinstance(expected, tuple) else ()))


def test_every_variant_expects_what_fails() -> None:
    """That it fails indeed, and in how many events, is tested with its system."""
    every = [(system, each) for system, rows in VARIANTS.items() for each in rows]
    assert [each for system, each in every if not_failing(system, each)] == []
    other = Variant("L-B8", "", "in_time.NodeNarrow", "shutdown_ends_in_time")
    assert not_failing("read_only_windows", other)


def test_what_is_missing_is_found() -> None:
    promises = (
        Promise("kept", "system.Link.no_loss", "it is lost"),
        Promise("no such property", "system.Link.nothing", "it is lost"),
        Promise("no such break", "system.Link.no_loss", "it is found"),
        Promise("no such test", "system.Link.no_loss", "tests.test_system.test_nothing"),
        Promise("another one notices it", "system.Link.no_loss", "it comes late"),
    )
    breaks = {
        "it is lost": Broken("it is lost", "no_loss"),
        "it comes late": Broken("", "in_order"),
    }
    assert open_ends("unicast", promises, breaks) == [
        "no such property: there is no system.Link.nothing",
        "no such property: its break is noticed by no_loss",
        "no such break: nothing is called 'it is found'",
        "no such test: nothing is called 'tests.test_system.test_nothing'",
        "another one notices it: its break is noticed by in_order",
    ]


def test_the_page_says_the_same() -> None:
    """`PROMISES=write` writes it."""
    head, begin, _ = PAGE.read_text(encoding="utf-8").partition("## ")
    if os.environ.get("PROMISES") == "write":
        PAGE.write_text(head + table(), encoding="utf-8")
    assert begin
    assert PAGE.read_text(encoding="utf-8") == head + table()
