"""Containers changed where they stand: only while nobody else holds them, and undone whole."""

from __future__ import annotations

import copy
from typing import Annotated, Any

import pytest
from annotated_types import Interval, MaxLen
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Opaque, PropertyViolated, Refused, Undefined, require, transition
from lawful.runtime.compile import in_place
from lawful.spec.syntax.declare import slot
from tests.spec import texts

Few = Annotated[int, Interval(ge=0, le=9)]
# Elsewhere, as without CPython's lock, a step copies what it changes.
counted = pytest.mark.skipif(not in_place.COUNTS, reason="reference counts are not known")


class Store(Machine):
    """Each event touches one place of its containers, and may then fail."""

    known: set[int] = set()
    counts: dict[int, Nat] = {}
    queue: Annotated[list[int], MaxLen(3)] = []
    total: Few = 0
    shelves: dict[int, set[int]] = {}
    tables: dict[int, dict[int, Nat]] = {}

    @transition()
    def put(self, key: int, by: int) -> None:
        require(key != 5, "five is not wanted")
        self.known.add(key)
        self.counts[key] = self.counts.get(key, 0) + by
        self.queue.append(key)
        self.total += by

    @transition()
    def drop(self, key: int, by: int) -> int:
        self.known.remove(key)
        del self.counts[key]
        self.total -= by
        return 6 // by

    @transition()
    def serve(self, by: int) -> int:
        first = self.queue.pop(0)
        self.known.discard(first)
        return first // by

    @transition()
    def shelve(self, key: int, by: int) -> int:
        if key not in self.shelves:
            self.shelves[key] = {by}
        else:
            self.shelves[key].add(by)
            self.known.add(by)
        self.known.discard(key)
        return 6 // by

    @transition()
    def note(self, key: int, by: int) -> None:
        if key in self.tables:
            self.tables[key][by] = key
            self.counts[key] = 7
        else:
            self.tables[key] = {key: 0}
        self.counts[by] = key
        require(by != key, "both are the same")
        self.total += by

    @transition()
    def pack(self, key: int, by: int) -> None:
        self.stamp(key)
        self.known.add(by)
        self.tables = {k: {by: 1} for k in (key, by)}
        self.tables[key][key] = by
        self.total += by

    @transition()
    def take(self, key: int, by: int) -> int:
        self.total += by
        there = self.counts.pop(key, 0)
        if by in self.counts:
            there += self.counts.pop(by)
        return there // by

    def stamp(self, key: int) -> None:
        """A helper that changes the same set."""
        self.known.add(key)


FAULTS = (Refused, Undefined, PropertyViolated)


def held(store: Store) -> tuple[Any, ...]:
    """What the store has, in values of its own."""
    kept = set(store.known), dict(store.counts), list(store.queue), store.total
    tables = {key: dict(table) for key, table in store.tables.items()}
    return copy.deepcopy((*kept, dict(store.shelves), tables, [*tables, *tables.get(3, ())]))


CONTAINERS = ("known", "counts", "queue", "shelves", "tables")


def inside(store: Store) -> list[int]:
    return [id(getattr(store, slot(name))) for name in CONTAINERS]


@counted
def test_what_nobody_else_holds_is_changed_where_it_stands() -> None:
    store: Any = Store()
    before = inside(store)
    store.put(1, 2)
    store.put(2, 1)
    store.drop(1, 1)
    assert store.serve(1) == 1
    assert inside(store) == before
    assert held(store)[:4] == ({2}, {2: 1}, [2], 2)


def test_what_somebody_holds_stays_as_it_was() -> None:
    store = Store()
    store.put(1, 2)
    view, other, before = store.counts, copy.copy(store), inside(store)
    store.put(2, 1)
    assert dict(view) == {1: 2}
    assert held(other)[:4] == ({1}, {1: 2}, [1], 2)
    # The copy and the store each have their own now; the view holds the old map alone.
    assert not set(before[:3]) & set(inside(store)[:3])
    other.put(3, 1)
    assert held(store)[:4] == ({1, 2}, {1: 2, 2: 1}, [1, 2], 3)
    assert held(other)[:4] == ({1, 3}, {1: 2, 3: 1}, [1, 3], 3)


@pytest.mark.parametrize(
    ("event", "args", "error"),
    [
        ("put", (5, 1), Refused),
        ("put", (1, -3), PropertyViolated),  # A count below 0.
        ("put", (8, 9), PropertyViolated),  # The total above 9.
        ("drop", (7, 1), Undefined),
        ("drop", (1, 0), Undefined),
        ("drop", (1, 6), PropertyViolated),
        ("serve", (0,), Undefined),
    ],
)
def test_a_step_that_fails_undoes_what_it_changed_where_it_stands(
    event: str, args: tuple[int, ...], error: type[Exception]
) -> None:
    store = Store()
    store.put(1, 2)
    store.put(2, 1)
    before, places = held(store), inside(store)
    with pytest.raises(error):
        store.lawful.take(event, *args)
    assert (held(store), inside(store)) == (before, places)


def test_a_list_that_got_too_long_has_its_old_items_again() -> None:
    store = Store()
    for key in (1, 2, 3):
        store.put(key, 1)
    with pytest.raises(PropertyViolated):
        store.put(4, 1)
    assert held(store)[:4] == ({1, 2, 3}, {1: 1, 2: 1, 3: 1}, [1, 2, 3], 3)


def test_an_exception_that_is_kept_holds_nothing_that_changes() -> None:
    store = Store()
    store.put(1, 2)
    with pytest.raises(Undefined) as caught:
        store.drop(7, 1)
    store.put(2, 1)
    frames = [found.frame for found in caught.traceback]
    olds = [f.f_locals["old_known"] for f in frames if "old_known" in f.f_locals]
    assert olds
    assert all(old == {1} for old in olds)


ACTS = st.lists(
    st.tuples(
        st.sampled_from(("put", "drop", "serve", "shelve", "note", "pack", "take")),
        st.integers(0, 5),
        st.integers(-2, 4),
        st.booleans(),
    ),
    max_size=12,
)


def taken(store: Store, event: str, key: int, by: int) -> Any:
    """What an event gives, or the class of what it raises."""
    try:
        return store.lawful.take(event, *((by,) if event == "serve" else (key, by)))
    except FAULTS as error:
        return type(error)


def copied(seen: Any) -> Any:
    """What views show, in containers of its own."""
    known, counts, queue, shelves, tables = seen
    inner = {key: dict(table) for key, table in tables.items()}
    return set(known), dict(counts), list(queue), copy.deepcopy(dict(shelves)), inner


@settings(max_examples=80, deadline=None)
@given(ACTS)
def test_light_steps_do_what_copying_ones_do(acts: list[tuple[str, int, int, bool]]) -> None:
    store, copying = Store(), Store()
    views: list[tuple[Any, Any]] = []
    for event, key, by, look in acts:
        if look:
            seen = store.known, store.counts, store.queue, store.shelves, store.tables
            views.append((seen, copied(seen)))
        held_too = copy.copy(copying)  # So that nothing of it may be changed where it stands.
        assert taken(store, event, key, by) == taken(copying, event, key, by)
        assert held(store) == held(copying)
        del held_too
    for seen, was in views:
        assert copied(seen) == was


@counted
def test_what_changes_under_an_if_or_inside_a_map_changes_where_it_stands() -> None:
    store: Any = Store()
    store.put(1, 1)
    store.shelve(1, 2)
    store.note(3, 1)
    before, shelf = inside(store), id(store._shelves_[1])
    table = id(store._tables_[3])
    store.shelve(1, 3)
    store.note(3, 2)
    assert (inside(store), id(store._shelves_[1]), id(store._tables_[3])) == (before, shelf, table)
    assert held(store)[4:6] == ({1: {2, 3}}, {3: {3: 0, 2: 3}})


def test_a_set_that_a_helper_changes_before_keeps_both_changes() -> None:
    store = Store()
    views = copy.copy(store), copy.copy(store)
    store.pack(1, 2)
    assert (store.known, {*views[0].known, *views[1].known}) == ({1, 2}, set())


@pytest.mark.parametrize(
    ("event", "args"),
    [("shelve", (1, 0)), ("shelve", (7, 0)), ("note", (3, 9)), ("note", (3, 3)), ("pack", (1, 9))],
)
def test_what_changed_in_several_places_is_undone(event: str, args: tuple[int, ...]) -> None:
    store = Store()
    for key in (1, 3):
        store.put(key, 1)
        store.shelve(key, 2)
        store.note(key, 2)
    before, places = held(store), inside(store)
    with pytest.raises(FAULTS):
        store.lawful.take(event, *args)
    assert (held(store), inside(store)) == (before, places)


class Shelf(Machine):
    """Each event adds a book, and is refused because of a container that has it then."""

    books: list[int] = []
    rows: dict[int, set[int]] = {0: {0}}

    @transition()
    def put(self, book: int) -> None:
        self.books.append(book)
        require(4 not in self.books, "not this one")

    @transition()
    def sort(self, book: int) -> None:
        self.rows[0].add(book)
        require(4 not in self.rows[0], "not this one")

    @transition()
    def lend(self, book: int) -> None:
        self.add(book)
        self.check()

    def add(self, book: int) -> None:
        self.books.append(book)

    def check(self) -> None:
        require(4 not in self.books, "not this one")


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize(
    ("event", "values", "text"),
    [
        ("put", {"books": [1, 2, 4]}, "4 not in books is false: books = [1, 2, 4]"),
        (
            "sort",
            {"rows[0]": {"$set": [0, 1, 2, 4]}},
            "4 not in rows[0] is false: rows[0] = {0, 1, 2, 4}",
        ),
        ("lend", {"books": [1, 2, 4]}, "4 not in books is false: books = [1, 2, 4]"),
    ],
)
def test_a_refusal_shows_what_its_guard_has_read(
    event: str, values: dict[str, Any], text: str, watched: bool
) -> None:
    """What the guard has read is changed back before somebody reads the refusal."""
    shelf = Shelf()
    if watched:
        shelf.lawful.observe(lambda _: None)
    for book in (1, 2):
        shelf.lawful.take(event, book)
    before = copy.deepcopy((shelf.books, dict(shelf.rows)))
    with pytest.raises(Refused) as caught:
        shelf.lawful.take(event, 4)
    assert (shelf.books, shelf.rows) == before
    [reason] = caught.value.reasons
    assert (reason.clause, reason.why, reason.values) == (text, "not this one", values)
    assert shelf.lawful.explain(event, 4) == (reason,)


class Untold:
    """It has no text."""

    def __repr__(self) -> str:
        raise ValueError("no text")


class Pile(Machine):
    things: list[Annotated[Untold, Opaque("Untold")]] = []

    @transition()
    def put(self, thing: Annotated[Untold, Opaque("Untold")]) -> None:
        self.things.append(thing)
        require(self.things[0] == thing or self.things == [], "not on another thing")


def test_what_has_no_text_makes_of_a_refusal_no_fault() -> None:
    pile, thing = Pile(), Untold()
    pile.put(thing)
    pile.put(thing)
    with pytest.raises(Refused) as caught:
        pile.put(Untold())
    assert [*map(id, pile.things)] == [id(thing)] * 2
    with pytest.raises(ValueError, match="no text"):
        _ = caught.value.reasons


TEXT = """
class Pond(Machine):
    fish: set[int] = set()

    @transition()
    def put(self, n: int) -> None:
        self.fish.add(n)
"""


def test_where_nobody_counts_every_container_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place, "COUNTS", False)
    pond: Any = texts.last_machine(texts.module(TEXT))()
    before = pond._fish_
    pond.put(1)
    assert (before, pond.fish) == (set(), {1})
    assert "getrefcount" not in pond.lawful.generated()
