"""Machine code does what the same steps do as plain Python, on machines with every operator.

The plain steps are compared with the reference engine in the run over all random machines. What
integers at the ends of a cell do as machine code stands in tests/checks/packed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from lawful.checks.packed import core
from lawful.checks.packed.kinds import Unsupported
from lawful.checks.packed.memory import Memory
from lawful.checks.packed.slots import pack
from lawful.checks.packed.stepping import Stepping
from lawful.spec import ir
from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve
from lawful.spec.walk import everything
from tests.spec import texts

from . import packing, planning
from .examine import HEAD, forget, seeded
from .hits import wanted

SHARDS = 16
EACH = 6  # Machines of a shard, at least.
# Not in what a machine of few arguments says, and asked of others in tests/checks/packed.
ELSEWHERE: frozenset[str] = frozenset()


def machines(seeds: range) -> Iterator[Stepping]:
    """The steps of the random machines that the compiled engine does."""
    for seed in seeds:
        try:
            found = planning.space(resolve(texts.machine(seeded(seed), HEAD)))
            if found is not None:
                yield packing.stepping(found)
        except (DeclarationError, Unsupported):
            continue
        finally:
            forget()


def operators(steps: Stepping) -> set[str]:
    """The operators in the transitions and properties of a machine."""
    nodes = everything((steps.machine,))
    return {node.op for node in nodes if isinstance(node, ir.Op)}


@pytest.mark.nightly
@pytest.mark.parametrize("shard", range(SHARDS))
def test_machine_code_does_the_same(
    shard: int, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    met: set[str] = set()
    count = 0
    for steps in machines(range(shard, 1600, SHARDS)):
        new = operators(steps) - met
        if new or count < EACH:
            met |= new
            count += 1
            same(steps)
    assert count >= EACH
    (shared / f"operators {shard}.json").write_text(json.dumps(sorted(met)), encoding="utf-8")
    rows = sorted(shared.glob("operators *.json"))
    if len(rows) == SHARDS:
        whole = {op for row in rows for op in json.loads(row.read_text(encoding="utf-8"))}
        assert set(wanted()["operator"]) - whole <= ELSEWHERE


def same(steps: Stepping) -> None:
    """Both make the same of the same states, cell by cell."""
    source, memory = steps.program.source, Memory(steps)
    expand, plain = core.compiled(source), core.interpreted(source)
    rng = Random(source)
    for _ in range(20):
        a, room = memory.arrays, memory.room
        words = list(pack(steps.slots, packing.random(steps.whole, rng)))
        a.store[: memory.words] = words
        a.info[:] = 0
        out, info = [0] * len(a.out), [0] * len(a.info)
        count = plain([0] * steps.program.cells, words, 0, out, info, room)
        assert expand(a.w, a.store, 0, a.out, a.info, room) == count, source
        assert a.info.tolist() == info, source
        made = range(count) if count > 0 else range(0)
        for e in made:
            at = e * memory.words
            assert a.out[at : at + memory.words].tolist() == out[at : at + memory.words], source
            rule = room * memory.words + e
            assert a.out[rule] == out[rule], source
