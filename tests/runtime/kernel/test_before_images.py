"""What an observer is told of a container that its event changed in place."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, transition
from lawful.runtime.instances.container_changes import Teller
from lawful.runtime.instances.journal_rows import former, variables
from lawful.runtime.instances.merging import Merging
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel.before_images import BeforeImage, whole
from lawful.runtime.kernel.event_record import Stepped
from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json
from tests.runtime.compile.test_in_place import FAULTS, Store, counted, held, inside


class Shelves(Store):
    """The same, with events that change a place and then more, and lists in a map."""

    lists: dict[int, list[int]] = {}

    @transition()
    def begin(self, key: int, by: int) -> None:
        """What was changed in place is replaced."""
        self.known.add(key)
        self.known = {by}
        self.counts[key] = 1
        for each in (key, by):
            self.counts[each] = 2
        self.counts[by] = 3

    @transition()
    def renew(self, key: int, by: int) -> None:
        """The container inside is replaced, or the one around it."""
        if key in self.tables:
            self.tables[key][by] = 1
            self.tables[key] = {by: 2}
            self.tables[key][key] = 3
        if by > 2:
            self.tables = {by: {key: 4}}
            self.tables[by][key + 1] = 5

    @transition()
    def line(self, key: int, by: int) -> None:
        if key not in self.lists:
            self.lists[key] = [by]
        else:
            self.lists[key].append(by)
            self.lists[key].append(key)
            if by > 2:
                self.lists[key].pop(0)

    @transition()
    def move(self, key: int, by: int) -> None:
        if len(self.queue) > by:
            self.queue.append(key)
            first = self.queue.pop(0)
            self.counts[first] = by
            self.counts[first] = by + 1


EVENTS = (
    "begin",
    "renew",
    "line",
    "move",
    "put",
    "drop",
    "serve",
    "shelve",
    "note",
    "pack",
    "take",
)
acts = st.lists(
    st.tuples(st.sampled_from(EVENTS), st.integers(0, 5), st.integers(-1, 4), st.booleans()),
    max_size=14,
)


def everything(machine: Machine) -> dict[str, Any]:
    """The values inside, in containers of their own."""
    plan = machine.lawful.plan
    return {name: copy.deepcopy(getattr(machine, f"_{name}_")) for name in plan.variables}


def both(done: Stepped) -> dict[str, tuple[Any, Any]]:
    """The values of what has changed, before and after."""
    return {
        name: (copy.deepcopy(whole(a)), copy.deepcopy(b)) for name, (a, b) in done.inside.items()
    }


def run(machine: Any, event: str, key: int, by: int) -> None:
    try:
        machine.lawful.take(event, *((by,) if event == "serve" else (key, by)))
    except FAULTS:
        return


@settings(max_examples=80, deadline=None)
@given(acts)
def test_a_record_tells_the_state_before_and_after(
    acts: list[tuple[str, int, int, bool]],
) -> None:
    machine = Shelves()
    teller = Teller(Shelves.lawful.plan, former)
    kept: list[tuple[Stepped, dict[str, tuple[Any, Any]]]] = []
    heard: list[tuple[dict[str, tuple[Any, Any]], dict[str, Json]]] = []
    keeps = [False]

    def hear(done: Stepped) -> None:
        heard.append((both(done), teller.changes(done)))
        if keeps[0]:
            kept.append((done, heard[-1][0]))

    machine.lawful.observe(hear)
    for event, key, by, keeps[0] in acts:
        before, rows = everything(machine), Merging(variables(machine))
        heard.clear()
        run(machine, event, key, by)
        after = everything(machine)
        told, changes = heard[0] if heard else ({}, {})
        assert told == {n: (before[n], after[n]) for n in before if before[n] != after[n]}
        rows.take(changes)
        assert plainly(rows.result()) == plainly(variables(machine))
    for done, said in kept:  # Later events have not changed what they hold.
        assert both(done) == said


def plainly(data: Json) -> Any:
    """JSON in which the order of entries is no difference."""
    if is_list(data):
        return [plainly(each) for each in data]
    if not is_object(data):
        return data
    if data.keys() <= {"$set", "$map"}:
        return {key: sorted(map(repr, map(plainly, each))) for key, each in data.items()}
    return {key: plainly(each) for key, each in data.items()}


def filled() -> Any:
    machine: Any = Shelves()
    for key in (1, 3):
        for event in ("put", "shelve", "note", "line"):
            getattr(machine, event)(key, 2)
    return machine


@counted
def test_an_observed_event_changes_where_it_stands() -> None:
    machine, images = filled(), list[str]()

    def hear(done: Stepped) -> None:
        images.extend(n for n, (was, _) in done.moved.items() if type(was) is not int)

    machine.lawful.observe(hear)
    places = inside(machine)
    machine.shelve(1, 3)
    machine.note(3, 1)
    assert sorted(images) == ["counts", "known", "shelves", "tables"]
    assert inside(machine) == places


@pytest.mark.parametrize(
    ("event", "args"), [("put", (1, 9)), ("drop", (1, 0)), ("serve", (0,)), ("note", (3, 3))]
)
def test_an_observed_event_that_fails_is_undone(event: str, args: tuple[int, ...]) -> None:
    machine, heard = filled(), list[Stepped]()
    machine.lawful.observe(heard.append)
    before, places = held(machine), inside(machine)
    with pytest.raises(FAULTS):
        machine.lawful.take(event, *args)
    assert (held(machine), inside(machine)) == (before, places)
    assert [done.outcome for done in heard] == ["refused"] * (event == "note")


@counted
def test_a_journalled_event_changes_where_it_stands(tmp_path: Path) -> None:
    machine: Any = Shelves.lawful.state(counts={key: 0 for key in range(20)})
    with Journal(tmp_path / "rows.jsonl") as journal:
        journal.attach(machine, "a")
        places = inside(machine)
        machine.note(7, 3)
        machine.note(7, 4)
        assert inside(machine) == places
    rows = [*read(tmp_path / "rows.jsonl")]
    changes = [row["changed"]["counts"] for row in rows[1:]]
    assert changes == [
        {"$changed": {"set": [[3, 7]], "removed": []}},
        {"$changed": {"set": [[4, 7], [7, 7]], "removed": []}},
    ]


def test_an_image_is_as_large_as_what_it_shows() -> None:
    now = {1: "one", 2: "two"}
    image = BeforeImage(now)
    image.put(1, "was")
    image.put(3, "gone")
    assert (len(image), 3 in image, image.get(1), image.get(2)) == (3, True, "was", "two")
    assert (image == {1: "was", 2: "two", 3: "gone"}, image == now) == (True, False)
    assert image.whole() == {1: "was", 2: "two", 3: "gone"}
    assert now == {1: "one", 2: "two"}
