"""Elements that a declaration names, and how often a declaration is read for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from lawful.spec import ir
from lawful.spec.analysis import named_elements, walk
from tests.spec import texts

NAMING = """
class Node(Sort):
    pass

FIRST = Node("first")
SPARE = Node("spare")

class M(Machine):
    spare: Param[Node]{default}
    chosen: Node | None = None

    @transition()
    def choose(self, node: Node) -> None:
        self.chosen = {chosen}
"""


def named(
    chosen: str, default: str, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, tuple[str, ...]], int]:
    """What it names, and how often the whole declaration was walked through."""
    machine = texts.resolved(NAMING.format(chosen=chosen, default=default)).machine
    walked, everything = list[None](), walk.everything

    def noted(nodes: Iterable[object]) -> Iterator[ir.Node]:
        walked.append(None)
        return everything(nodes)

    monkeypatch.setattr(named_elements, "everything", noted)
    return named_elements.named_elements(machine, given), len(walked)


def test_a_default_that_nobody_uses_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    both, first = {"Node": ("first", "spare")}, {"Node": ("first",)}
    with monkeypatch.context() as patch:
        assert named("FIRST", " = SPARE", (), patch) == (both, 3)
    with monkeypatch.context() as patch:
        assert named("FIRST", " = SPARE", ("spare",), patch) == (first, 3)


def test_what_names_nothing_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named("node", "", (), monkeypatch) == ({}, 1)
