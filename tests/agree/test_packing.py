"""Machine code does what the same steps do as plain Python, on machines with every operator.

The plain steps are compared with the reference engine in the run over all random machines. What
integers at the ends of a cell do as machine code stands in tests/checks/packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawful.checks.explore.compiled.llvm import compiled
from lawful.checks.explore.compiled.memory import Memory
from lawful.checks.explore.compiled.plain import interpreted
from lawful.checks.explore.compiled.typed_memory import fill, of_numbers
from lawful.checks.explore.expansion.successors import Stepping
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.layout.packing import pack
from lawful.spec import ir
from lawful.spec.analysis.walk import everything
from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve
from tests.agree import packing, planning
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.hits import wanted
from tests.spec import texts

FOUND = Path(__file__).parent / "found"
COMPILED = Path(__file__).parent / "compiled"  # The smallest of random machines, all operators.
# Together these have every operator; `make nightly` takes the others, too.
FEW = {
    *("abs", "add", "before", "count", "dict_of", "difference", "format", "intersection", "join"),
    *("max_of", "proper_subset", "set_of", "small_22", "small_34", "small_35"),
    *("symmetric_difference", "tuple_of"),
}
ALL = [
    pytest.param(path, id=path.stem, marks=() if path.stem in FEW else pytest.mark.nightly)
    for path in sorted(COMPILED.glob("*.txt"))
]
SHARDS = 16
SEEDS = 3_000
ENOUGH = 250  # Seeds among whose machines the smallest one is taken.


def machines() -> Iterator[Stepping]:
    """The steps of the machines that once differed and of random ones, as far as they are done."""
    found = (path.read_text(encoding="utf-8") for path in sorted(FOUND.glob("*.txt")))
    for text in chain(found, map(seeded, range(SEEDS))):
        try:
            space = planning.space(resolve(texts.machine(text, HEAD)))
            if space is not None:
                yield packing.stepping(space)
        except (DeclarationError, NotGenerated, ValueError):
            continue  # A ValueError where a part's default breaks what it assumes.
        finally:
            forget()


def operators(steps: Stepping) -> set[str]:
    """The operators in the transitions and properties of a machine."""
    nodes = everything((steps.machine,))
    return {node.op for node in nodes if isinstance(node, ir.Op)}


def smallest(wanted: list[str]) -> dict[str, Stepping]:
    """A small machine with each of these operators."""
    found: dict[str, Stepping] = {}
    for number, steps in enumerate(machines()):
        if number > ENOUGH and len(found) == len(wanted):
            break
        for op in operators(steps) & set(wanted):
            if op not in found or _size(steps) < _size(found[op]):
                found[op] = steps
    return found


def _size(steps: Stepping) -> int:
    return len(steps.program.source)


def steps_of(text: str) -> Stepping:
    """The steps of a machine that the compiled engine does."""
    space = planning.space(resolve(texts.machine(text, HEAD)))
    assert space is not None
    return packing.stepping(space)


@pytest.mark.one_in(18)
@pytest.mark.optimised
@pytest.mark.parametrize("path", ALL)
def test_machine_code_does_what_plain_steps_do(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    same(steps_of(path.read_text(encoding="utf-8")))
    forget()


def test_the_compiled_machines_are_enough_and_the_few_have_every_operator() -> None:
    found = {path.stem: path.read_text(encoding="utf-8") for path in COMPILED.glob("*.txt")}
    assert len(found) == len(set(found.values())) >= 60
    met: set[str] = set()
    for name in FEW:
        met |= operators(steps_of(found[name]))
        forget()
    assert met >= set(wanted()["operator"])


@pytest.mark.nightly
@pytest.mark.parametrize("shard", range(SHARDS))
def test_machine_code_does_the_same_on_machines_drawn_anew(
    shard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine for each operator, drawn anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mine = wanted()["operator"][shard::SHARDS]
    found = smallest(mine)
    assert sorted(found) == mine
    for steps in found.values():
        same(steps)


class Row(list[Any]):
    """Cells that do not count from their end: machine code would look before their beginning."""

    def __init__(self, size: int) -> None:
        super().__init__([0] * size)

    def __getitem__(self, at: Any) -> Any:
        assert first(at) >= 0
        return super().__getitem__(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        assert first(at) >= 0
        super().__setitem__(at, value)


def first(at: Any) -> int:
    found: int = at.start if type(at) is slice else at
    return found


def same(steps: Stepping) -> None:
    """Both make the same of the same states, cell by cell."""
    source = steps.program.source
    code, plain = compiled(steps.text), interpreted(source)
    memory = Memory(steps, code)
    rng = Random(source)
    for _ in range(20):
        a, room = memory.arrays, memory.room
        words = list(pack(steps.slots, packing.random(steps.whole, rng)))
        a.store[: memory.words] = of_numbers(words)
        fill(a.info)
        memory.allow_rounds(a)
        out, info = Row(len(a.out)), Row(len(a.info))
        count = plain(Row(steps.program.cells), words, 0, out, info, room)
        assert code("expand", a.w, a.store, 0, a.out, a.info, room) == count, source
        assert a.info.tolist() == info, source
        made = range(count) if count > 0 else range(0)
        for e in made:
            at = e * memory.words
            assert a.out[at : at + memory.words].tolist() == out[at : at + memory.words], source
            rule = room * memory.words + e
            assert a.out[rule] == out[rule], source
