"""Observers, journals and stores of events whose helpers change containers in place."""

from __future__ import annotations

import contextlib
import copy
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Refused, Undefined
from lawful.runtime import store as stores
from lawful.runtime import store_transactions, stored_instance
from lawful.runtime.instances import observers
from lawful.runtime.instances.container_changes import Teller
from lawful.runtime.instances.journal_rows import former, variables
from lawful.runtime.instances.merging import Merging
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel import write_log
from lawful.runtime.kernel.before_images import whole
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.store import Store
from lawful.spec.syntax.declare import slot
from tests.runtime.compile import test_helper_losses, test_helper_writes
from tests.runtime.compile.test_helper_losses import Heir, Ledger
from tests.runtime.compile.test_helper_writes import Shelves, Stocked, X, Y, Z
from tests.runtime.compile.test_in_place import counted
from tests.runtime.kernel.test_before_images import plainly
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_recursion import at_every_depth
from tests.runtime.services.test_stored_in_place import ERRORS, Failing

Act = tuple[str, tuple[Any, ...]]


def acts(events: Iterable[str], *args: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Act]]:
    return st.lists(st.tuples(st.sampled_from([*events]), st.tuples(*args)), max_size=10)


SHELVED = acts(
    test_helper_writes.EVENTS, st.integers(0, 2), st.sampled_from((X, Y, Z)), st.integers(0, 2)
)
LEDGED = acts(test_helper_losses.EVENTS, st.integers(0, 3), st.integers(0, 3))
RUNS = st.one_of(
    st.tuples(st.sampled_from((Shelves, Stocked)), SHELVED),
    st.tuples(st.sampled_from((Ledger, Heir)), LEDGED),
)


def run(machine: Any, act: Act) -> Any:
    """The output, or the class of what was raised."""
    try:
        return machine.lawful.take(act[0], *act[1])
    except (Refused, Undefined) as error:
        return type(error)


def own(value: Any) -> Any:
    """A value in containers of its own."""
    found: Any = whole(value)
    if issubclass(found.__class__, Mapping):
        return {key: own(each) for key, each in found.items()}
    if issubclass(found.__class__, Set):
        return frozenset(found)
    if issubclass(found.__class__, list | tuple):
        return [own(each) for each in found]
    return found


def looked_at(done: Stepped) -> None:
    """An observer that reads all of a record."""
    done.fields()


def state(machine: Machine) -> dict[str, Any]:
    """The values inside."""
    return {name: own(getattr(machine, slot(name))) for name in machine.lawful.plan.variables}


def told(done: Stepped) -> Any:
    """What a record says, but of whom and when."""
    _, *fields, _ = done.fields()
    return own(fields), {name: own(values) for name, values in done.inside.items()}


@given(RUNS, st.integers(0, 1023))
def test_a_record_is_the_same_as_of_an_event_that_copies(
    of: tuple[type[Machine], list[Act]], keeps: int
) -> None:
    """The bits of `keeps` say which records are kept, and so the containers in them."""
    cls, several = of
    machine, copying = cls(), cls()
    teller = Teller(cls.lawful.plan, former)
    heard, twin, kept = list[Any](), list[Any](), list[tuple[Stepped, Any]]()

    def hear(done: Stepped) -> None:
        heard.append((told(done), teller.changes(done), json.loads(teller.text(done))))
        if keeps >> len(heard) & 1:
            kept.append((done, heard[-1][0]))

    machine.lawful.observe(hear)
    copying.lawful.observe(lambda done: twin.append(told(done)))
    for act in several:
        before, rows = state(machine), [Merging(variables(machine)) for _ in range(2)]
        held = copy.copy(copying)  # So that nothing of it may be changed in place.
        answer = run(copying, act)
        del held
        count = len(heard)
        assert run(machine, act) == answer
        assert state(machine) == state(copying)
        assert [each[0] for each in heard] == twin
        for _, *changes in heard[count:]:
            for row, change in zip(rows, changes, strict=True):
                row.take(change)
        assert answer not in (Refused, Undefined) or state(machine) == before
        for row in rows:
            assert plainly(row.result()) == plainly(variables(machine))
    for done, said in kept:  # Later events have not changed what they hold.
        assert told(done) == said


def inside(machine: Any) -> list[int]:
    """Where its containers stand, and those inside them."""
    held = [getattr(machine, at) for at in machine.__plan__.slots]
    held += [each for of in held if type(of) is dict for each in of.values()]
    return [id(each) for each in held if type(each) in (dict, set, list)]


CHANGES: list[tuple[type[Machine], Act, list[Act]]] = [
    (Shelves, ("add", (1, X, 1)), [("add", (1, Z, 1)), ("take", (1, X, 1))]),
    (Stocked, ("add", (1, X, 1)), [("add", (1, Z, 1)), ("take", (1, X, 1))]),
    (Ledger, ("put", (1, 1)), [("put", (1, 2)), ("serve", (1, 2))]),
    (Heir, ("put", (1, 1)), [("put", (1, 2)), ("drop", (1, 1))]),
]


@counted
@pytest.mark.parametrize("how", ["observed", "journalled", "stored"])
@pytest.mark.parametrize(("cls", "first", "several"), CHANGES)
def test_nothing_is_copied_that_nobody_holds(
    cls: type[Machine], first: Act, several: list[Act], how: str, tmp_path: Path
) -> None:
    machine = cls()
    run(machine, first)
    with Store(":memory:") as store, Journal(tmp_path / "j.jsonl") as journal:
        if how == "observed":
            machine.lawful.observe(looked_at)
        elif how == "journalled":
            journal.attach(machine, "a")
        else:
            store.add(machine, "a")
        for act in several:
            before = inside(machine)
            run(machine, act)
            assert set(inside(machine)) <= set(before)


@given(RUNS)
def test_a_journal_and_a_store_have_what_changed(of: tuple[type[Machine], list[Act]]) -> None:
    cls, several = of
    with Store(":memory:", snapshot_every=5) as store:
        machine, twin = store.add(cls(), "a"), cls()
        for number, act in enumerate(several):
            if number % 3 == 2:  # The transaction is rolled back with it.

                def undone(_: Any, act: Act = act) -> None:
                    run(machine, act)
                    run(machine, several[0])
                    raise EOFError

                with pytest.raises(EOFError):
                    store.together(undone)
            else:
                assert run(machine, act) == run(twin, act)
            assert state(machine) == state(twin)
        assert state(store.restore(cls, "a")) == state(twin)


def test_the_rows_of_a_journal_lead_to_the_state(tmp_path: Path) -> None:
    for cls, first, several in CHANGES:
        path = tmp_path / f"{cls.__name__}.jsonl"
        machine = cls()
        with Journal(path) as journal:
            journal.attach(machine, "a")
            for act in (first, *several * 9):
                run(machine, act)
        rows = [*read(path)]
        merging = Merging(rows[0]["changed"])
        for row in rows[1:]:
            merging.take(row["changed"])
        assert plainly(merging.result()) == plainly(variables(machine))
        assert len(rows) == 2 + 9 * len(several)


ACTS: list[tuple[type[Machine], Act]] = [
    (Stocked, ("add", (1, Z, 1))),
    (Stocked, ("empty", (1, Z, 1))),
    (Ledger, ("serve", (1, 1))),
    (Heir, ("drop", (1, 2))),
]


def filled(cls: Any) -> Any:
    of: Any = test_helper_losses if issubclass(cls, Ledger) else test_helper_writes
    return of.filled(cls)


@pytest.mark.parametrize(("cls", "act"), ACTS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_what_the_log_does_not_have_is_undone(
    cls: type[Machine], act: Act, error: BaseException
) -> None:
    machine, heard, places = filled(cls), list[Stepped](), list[int]()
    machine.lawful.observe(heard.append)
    machine.__watch__.log = log = Failing(error, tuple)
    places = inside(machine)
    with pytest.raises(type(error)):
        machine.lawful.take(act[0], *act[1])
    assert (state(machine), heard, log.at) == (state(filled(cls)), [], "before")
    assert sorted(inside(machine)) == sorted(places) or not places
    machine.__watch__.log = None
    run(machine, act)
    assert [done.event for done in heard] == [act[0]]


FILES = (
    *(str(each.__file__) for each in (stores, store_transactions, stored_instance, observers)),
    *(str(each.__file__) for each in (test_helper_writes, test_helper_losses, write_log)),
)


@pytest.mark.parametrize("every", [31, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("cls", "act"), ACTS)
def test_an_interrupted_stored_event_is_kept_and_done_or_neither(
    cls: type[Machine], act: Act, every: int
) -> None:
    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:") as store:
            machine, heard = store.add(filled(cls), "a"), list[Stepped]()
            machine.lawful.observe(heard.append)
            before = state(machine)
            attempt(lambda: run(machine, act))
            happened = state(machine) != before
            assert state(store.restore(cls, "a")) == state(machine)
            assert len(heard) <= happened

    assert at_every_place(FILES, play, every) > 30


@pytest.mark.parametrize("stored", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_a_step_is_undone_at_every_depth(stored: bool) -> None:
    """An observer may run out of stack once its event is done."""

    def play(attempt: Callable[..., bool]) -> None:
        for cls, act in ACTS if stored else ACTS[1::2]:
            with Store(":memory:") if stored else contextlib.nullcontext() as store:
                machine = filled(cls)
                if store is None:
                    machine.lawful.observe(looked_at)
                else:
                    store.add(machine, "a")
                before, after = state(machine), filled(cls)
                run(after, act)
                ran_out = attempt(lambda: run(machine, act))  # noqa: B023  # called at once
                assert state(machine) in ([before] * ran_out + [state(after)])

    out, done = at_every_depth(play)
    assert out > 9 < done


@counted
@pytest.mark.parametrize("how", ["bare", "observed", "stored"])
def test_an_event_does_not_depend_on_what_a_container_holds(how: str) -> None:
    """Memory is counted: a copy of 20,000 entries takes more than a step."""
    machine: Any = Ledger.lawful.state(
        names={k: k for k in range(20_000)}, pages={1: {k: k for k in range(20_000)}}, rows={1: []}
    )
    with Store(":memory:") as store:
        if how == "observed":
            machine.lawful.observe(looked_at)
        elif how == "stored":
            store.add(machine, "a")
        for _ in range(3):
            machine.put(1, 2)
            machine.drop(1, 2)
            machine.put(1, 2)
        tracemalloc.start()
        machine.put(1, 2)
        machine.drop(1, 2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < sys.getsizeof({k: k for k in range(20_000)}) / 4
