"""Rows of events that change one container several times lead to the state after them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, Undefined, transition
from lawful.runtime.instances.container_changes import Teller
from lawful.runtime.instances.journal_rows import former, variables
from lawful.runtime.instances.merging import Merging
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.store import Store
from lawful.spec.syntax.declare import slot
from tests.runtime.compile.test_in_place import counted
from tests.runtime.kernel.test_before_images import plainly


class Desk(Machine):
    queue: list[Nat] = []
    seen: set[Nat] = set()
    counts: dict[Nat, Nat] = {}
    queues: dict[Nat, list[Nat]] = {}
    sets: dict[Nat, set[Nat]] = {}
    maps: dict[Nat, dict[Nat, Nat]] = {}

    @transition()
    def fill(self) -> None:
        self.queue = [k for k in range(20, 32)]
        self.seen = {k for k in range(20, 32)}
        self.counts = {k: 0 for k in range(20, 32)}
        self.queues = {0: [k for k in range(20, 32)], 1: [k for k in range(20, 32)]}
        self.sets = {0: {k for k in range(20, 32)}, 1: {k for k in range(20, 32)}}
        self.maps = {k: {j: 0 for j in range(20, 32)} for k in range(2)}

    @transition()
    def outer(self, k: Nat, n: Nat, bits: Nat) -> None:
        if bits % 2 == 1 and len(self.queue) > 0:
            self.queue.pop(0)
            self.seen.add(k)
        if bits // 2 % 2 == 1:
            self.queue.append(n)
            self.counts[k] = n
        if bits // 4 % 2 == 1 and len(self.queue) > 0:
            self.queue.pop(0)
            self.seen.discard(n)
        if bits // 8 % 2 == 1:
            self.queue.append(k)
            self.seen.add(n)
            self.counts[n] = k
        if bits // 16 % 2 == 1:
            self.queue = [k, *self.queue]
            self.seen = self.seen | {30}
            self.queue.append(30)

    @transition()
    def inner(self, k: Nat, n: Nat, bits: Nat) -> None:
        if k in self.queues:
            if bits % 2 == 1 and len(self.queues[k]) > 0:
                self.queues[k].pop(0)
                self.sets[k].add(n)
            if bits // 2 % 2 == 1:
                self.queues[k].append(n)
                self.maps[k][n] = bits
            if bits // 4 % 2 == 1 and len(self.queues[k]) > 0:
                self.queues[k].pop(0)
                self.sets[k].discard(n + 1)
            if bits // 8 % 2 == 1:
                self.queues[k].append(k)
                self.sets[k].add(n + 1)
                self.maps[k][n + 1] = k
            if bits // 16 % 2 == 1:
                self.queues[1 - k] = self.queues[k] + [n]
                self.queues[1 - k].append(k)
                self.sets[1 - k] = {n}
                self.sets[1 - k].add(n + 2)

    @transition()
    def both(self, n: Nat) -> None:
        self.queues[0].append(n)
        self.queues[1].append(n)
        self.queues[0].append(n)

    @transition()
    def fails(self, k: Nat, n: Nat, bits: Nat) -> Nat:
        """The same, and then there is no value."""
        if k in self.queues:
            if bits % 2 == 1 and len(self.queues[k]) > 0:
                self.queues[k].pop(0)
                self.sets[k].add(n)
            if bits // 2 % 2 == 1:
                self.queues[k].append(n)
                self.maps[k][n] = bits
            if bits // 4 % 2 == 1 and len(self.queues[k]) > 0:
                self.queues[k].pop(0)
                self.sets[k].discard(n + 1)
            if bits // 8 % 2 == 1:
                self.queues[k].append(k)
                self.sets[k].add(n + 1)
                self.maps[k][n + 1] = k
            if bits // 16 % 2 == 1:
                self.queues[1 - k] = self.queues[k] + [n]
                self.queues[1 - k].append(k)
                self.sets[1 - k] = {n}
                self.sets[1 - k].add(n + 2)
        return n // (n - n)


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["outer", "inner"]),
        st.integers(0, 1),
        st.integers(19, 32),
        st.integers(0, 31),
    ),
    max_size=8,
)


def filled() -> Desk:
    desk = Desk()
    desk.fill()
    return desk


@given(ACTS, st.integers(0, 255))
def test_what_is_told_leads_to_the_state(acts: list[tuple[Any, ...]], kept: int) -> None:
    """The bits of `kept` say before which events the state is copied, so that it copies."""
    desk, teller, heard = filled(), Teller(Desk.lawful.plan, former), list[Stepped]()
    desk.lawful.observe(heard.append)
    copies: list[Desk] = []
    for number, (event, *args) in enumerate(acts):
        rows = [Merging(variables(desk)) for _ in range(2)]
        if kept >> number & 1:
            copies.append(copy.copy(desk))
        desk.lawful.take(event, *args)
        for row, change in zip(
            rows, (teller.changes(heard[-1]), json.loads(teller.text(heard[-1]))), strict=True
        ):
            row.take(change)
            assert plainly(row.result()) == plainly(variables(desk))


@given(ACTS)
def test_a_store_gives_the_state_back(acts: list[tuple[Any, ...]]) -> None:
    with Store(":memory:", snapshot_every=5) as store:
        desk, twin = store.add(filled(), "a"), filled()
        for event, *args in acts:
            desk.lawful.take(event, *args)
            twin.lawful.take(event, *args)
            assert variables(desk) == variables(twin)
        assert variables(store.restore(Desk, "a")) == variables(twin)


def test_a_journal_of_a_list_that_turns_leads_to_the_state(tmp_path: Path) -> None:
    desk = filled()
    with Journal(tmp_path / "desk.jsonl") as journal:
        journal.attach(desk, "a")
        for n in range(9):
            desk.inner(0, n, 15)
            desk.outer(0, n, 15)
    rows = [*read(tmp_path / "desk.jsonl")]
    merging = Merging(rows[0]["changed"])
    for row in rows[1:]:
        merging.take(row["changed"])
    assert plainly(merging.result()) == plainly(variables(desk))
    assert len(rows) == 19


def looked_at(done: Stepped) -> None:
    """An observer that reads all of a record."""
    done.fields()


def standing(desk: Any) -> list[int]:
    """Where the containers stand that are inside its maps."""
    maps = (getattr(desk, slot(each)) for each in ("queues", "sets", "maps"))
    return [id(each) for of in maps for each in of.values()]


@counted
@pytest.mark.parametrize("how", ["alone", "observed", "stored"])
def test_a_container_that_is_changed_again_is_not_copied(how: str) -> None:
    desk: Any = filled()
    with Store(":memory:") as store:
        if how == "observed":
            desk.lawful.observe(looked_at)
        elif how == "stored":
            store.add(desk, "a")
        desk.inner(0, 3, 15)
        places = standing(desk)
        desk.inner(0, 5, 15)
        assert standing(desk) == places


@counted
def test_what_another_holds_is_copied_once_and_keeps_its_value() -> None:
    desk = filled()
    twin, before = copy.copy(desk), variables(desk)
    desk.inner(0, 5, 15)
    assert variables(twin) == before != variables(desk)
    places = standing(desk)
    desk.inner(0, 6, 15)
    assert standing(desk) == places


@counted
def test_two_that_another_holds_are_both_copied() -> None:
    desk = filled()
    twin, before = copy.copy(desk), variables(desk)
    desk.both(3)
    assert variables(twin) == before
    assert [each[-2:] for each in desk.queues.values()] == [[3, 3], [31, 3]]


@given(st.integers(0, 31), st.integers(0, 1), st.booleans())
def test_a_failed_event_leaves_everything_as_it_was(bits: int, k: int, held: bool) -> None:
    desk = filled()
    before = variables(desk)
    twin = copy.copy(desk) if held else None
    with pytest.raises(Undefined):
        desk.fails(k, 5, bits)
    assert variables(desk) == before
    assert twin is None or variables(twin) == before
