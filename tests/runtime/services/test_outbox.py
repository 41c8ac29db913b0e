"""Outputs that wait in the database: each is delivered at least once, in order, whatever dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, require, transition
from lawful.runtime.outbox import Outbox, Outgoing, doubled
from lawful.runtime.store import Store, StoreError
from tests.runtime.services.conftest import Place, store


class Till(Machine):
    total: Nat = 0

    @transition()
    def pay(self, amount: Nat) -> Nat | None:
        require(amount < 100, "too much")
        self.total += amount
        return None if amount == 0 else self.total


class Post:
    """A handler that fails as it is told, and what it got."""

    def __init__(self) -> None:
        self.got: list[tuple[str, int, Any]] = []
        self.fails: Callable[[Outgoing], bool] = lambda each: False

    def __call__(self, each: Outgoing) -> None:
        self.got.append((each.name, each.seq, each.output))
        if self.fails(each):
            raise ConnectionError(f"try {each.tries}")


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_000.0]
    monkeypatch.setattr("lawful.runtime.store.clocks.time", lambda: now[0])
    return now


def quiet(*_: object) -> None:
    pass


def test_outputs_are_delivered_once_in_order_and_gone(place: Place, wall: list[float]) -> None:
    post = Post()
    with store(place, outbox=[Till]) as kept:
        tills = {name: kept.add(Till(), name) for name in "ab"}
        for amount in (1, 0, 2, 3):
            for name in "ba":
                tills[name].pay(amount)
        with pytest.raises(Exception, match="too much"):
            tills["a"].pay(100)
        with pytest.raises(StoreError, match="a has outputs that were neither delivered"):
            kept.remove("a")
    with store(place, outbox=[Till]) as kept:
        outbox = Outbox(kept, Till, post)
        assert outbox.next_due() == 1_000.0
        assert outbox.deliver() == 6
        assert sorted(post.got) == [(n, *row) for n in "ab" for row in ((1, 1), (3, 3), (4, 6))]
        assert [row for row in post.got if row[0] == "a"] == sorted(post.got)[:3]
        assert (outbox.deliver(), outbox.next_due(), outbox.dead()) == (0, None, [])
        kept.remove("a")
        with pytest.raises(ValueError, match="the store keeps no outputs of Till"):
            Outbox(Store(":memory:"), Till, post)


def test_what_fails_is_tried_again_and_then_a_dead_letter(place: Place, wall: list[float]) -> None:
    post, told = Post(), list[str]()
    post.fails = lambda each: (each.name, each.seq) == ("a", 1) or each.tries < 2
    with store(place, outbox=[Till]) as kept:
        for name in "ab":
            till = kept.add(Till(), name)
            till.pay(1)
            till.pay(2)
        outbox = Outbox(
            kept, Till, post, tries=3, failed=lambda each, why: told.append(f"{each.name} {why}")
        )
        assert (outbox.deliver(), outbox.next_due()) == (0, 1_001.0)
        assert (outbox.deliver(), len(post.got)) == (0, 2)  # The second waits for the first.
        wall[0] += 1
        assert outbox.deliver() == 1
        wall[0] += 1
        assert outbox.deliver() == 1
        assert [row[:2] for row in post.got if row[0] == "b"] == [("b", n) for n in (1, 1, 2, 2)]
        wall[0] += 10
        outbox.deliver()
        (dead,) = outbox.dead()
        assert (dead.name, dead.seq, dead.output, dead.tries) == ("a", 1, 1, 3)
        assert dead.error == "ConnectionError('try 3')"
        wall[0] += 10
        assert (outbox.deliver(), outbox.next_due()) == (1, None)
        assert (post.got[-1], told[-1]) == (("a", 2, 3), "a try 1")
        post.fails = lambda each: False
        outbox.revive(dead)
        assert (outbox.deliver(), outbox.dead(), post.got[-1][:2]) == (1, [], ("a", 1))
        for act in (outbox.revive, outbox.discard):
            with pytest.raises(StoreError, match="a: output 1 is no dead letter"):
                act(dead)
    assert [doubled(n) for n in (1, 2, 3, 20)] == [1, 2, 4, 3600]


class Odd(Exception):
    def __repr__(self) -> str:
        return str(self.args[0])


class Mute(Exception):
    def __repr__(self) -> str:
        raise LookupError


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Odd("a\0b\ud800c"), "a\\0b\\ud800c"),
        (Mute(), "Mute, of which repr raises LookupError"),
    ],
)
def test_an_exception_without_a_text_is_kept_all_the_same(
    place: Place, error: Exception, told: str
) -> None:
    def handler(_: Outgoing) -> None:
        raise error

    with store(place, outbox=[Till]) as kept:
        kept.add(Till(), "a").pay(1)
        outbox = Outbox(kept, Till, handler, tries=1, failed=quiet)
        assert outbox.deliver() == 0
        assert [(each.tries, each.error) for each in outbox.dead()] == [(1, told)]


def test_a_second_process_does_not_deliver_what_a_first_one_does(
    place: Place, wall: list[float]
) -> None:
    with store(place, outbox=[Till]) as kept, store(place, outbox=[Till]) as elsewhere:
        till = kept.add(Till(), "a")
        till.pay(1)
        till.pay(2)
        other, got = Outbox(elsewhere, Till, Post()), Post()
        late = list[int]()

        def handler(each: Outgoing) -> None:
            got(each)
            assert other.deliver() == 0
            if len(got.got) == 1:  # It takes longer than its lease.
                wall[0] += 61
                late.append(other.deliver())

        assert (Outbox(kept, Till, handler).deliver(), late) == (0, [2])
        assert got.got == [("a", 1, 1)]
        with pytest.raises(RuntimeError, match="a transaction of the store is not over"):
            kept.together(lambda _: other.store and Outbox(kept, Till, got).deliver())


def test_what_was_changed_is_no_output(place: Place) -> None:
    with store(place, outbox=[Till]) as kept:
        kept.add(Till(), "a").pay(1)
        other = place.other()
        other.execute(f"UPDATE {place.prefix}output SET data = '2'")
        other.close()
        post = Post()
        with pytest.raises(StoreError, match="a: output 1 is not as it was written: its checksum"):
            Outbox(kept, Till, post).deliver()
        assert post.got == []


def test_a_damaged_output_keeps_none_of_other_instances(place: Place, wall: list[float]) -> None:
    with store(place, outbox=[Till]) as kept:
        for name in "abcd":
            till = kept.add(Till(), name)
            till.pay(1)
            till.pay(2)
        other = place.other()
        put = f"UPDATE {place.prefix}output SET"
        other.execute(f"{put} data = '9' WHERE name = 'a' AND seq = 1")
        other.execute(f"{put} tries = 9 WHERE name = 'c' AND seq = 2")
        post = Post()
        outbox = Outbox(kept, Till, post)
        for _ in range(2):
            with pytest.raises(StoreError, match="a: output 1 is not as it was written: its check"):
                outbox.deliver()
            wanted = [(n, *row) for n in "bd" for row in ((1, 1), (2, 3))]
            assert sorted(post.got) == sorted([*wanted, ("c", 1, 1)])
        with pytest.raises(StoreError, match="a: output 1 is not as it was written: its checksum"):
            outbox.next_due()
        other.execute(f"DELETE FROM {place.prefix}output WHERE name = 'a' AND seq = 1")
        other.execute(f"{put} tries = 0 WHERE name = 'c' AND seq = 2")
        other.close()
        assert (outbox.next_due(), outbox.deliver(), outbox.next_due()) == (1_000.0, 2, None)
        assert post.got[-2:] == [("a", 2, 3), ("c", 2, 3)]


Step = tuple[int, int]


def _every_fourth(number: int, each: Outgoing) -> bool:
    return each.seq % 4 == number


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20))
def test_each_output_is_delivered_or_dead_in_the_order_of_events(steps: list[Step]) -> None:
    post, wanted, now = Post(), dict[str, list[int]](a=[], b=[]), [0.0]
    with Store(":memory:", outbox=[Till]) as kept:
        tills = {name: kept.add(Till(), name) for name in wanted}
        outbox = Outbox(kept, Till, post, tries=2, failed=quiet)
        for act, number in steps:
            name = "ab"[number % 2]
            if act < 2:
                if tills[name].pay(number) is not None:
                    wanted[name].append(len(kept.events(name)))
            elif act == 2:
                post.fails = partial(_every_fourth, number)
            else:
                now[0] += 5e9
                outbox.deliver(now[0])
        post.fails = lambda each: False
        outbox.deliver(now[0] + 1e10)
        dead = {(each.name, each.seq) for each in outbox.dead()}
    for name, seqs in wanted.items():
        first = list(dict.fromkeys(seq for of, seq, _ in post.got if of == name))
        assert first == seqs
        assert {seq for of, seq in dead if of == name} <= set(seqs)


# A process that is killed.


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def note(path: Path, line: object) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def _work(place: Place, folder: Path, left: int) -> None:
    """Pay and deliver, until so many statements and deliveries have begun; then it is dead."""
    kept = store(place, outbox=[Till])
    database: Any = kept.transactions.database
    execute, count = database.execute, [left]

    def live() -> None:
        count[0] -= 1
        if count[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def dying(statement: str, values: Any = ()) -> Any:
        live()
        return execute(statement, values)

    def handler(letter: Outgoing) -> None:
        live()
        note(folder / "delivered", letter.seq)
        live()

    database.execute = dying
    till = kept.restore(Till, "a") if "a" in kept else kept.add(Till(), "a")
    outbox = Outbox(kept, Till, handler, lease=0.0)
    for _ in range(2):
        till.pay(1)
        note(folder / "paid", len(kept.events("a")))
    outbox.deliver()
    os._exit(0)


def killed(place: Place, folder: Path, lefts: list[int]) -> None:
    fork = multiprocessing.get_context("fork")
    for left in lefts:
        child = fork.Process(target=_work, args=(place, folder, left))
        child.start()
        child.join()
        assert child.exitcode in (0, -signal.SIGKILL)
    with store(place, outbox=[Till]) as kept:
        Outbox(kept, Till, lambda each: note(folder / "delivered", each.seq)).deliver(1e12)
        happened = [str(row["seq"]) for row in kept.events("a")]
    delivered = list(dict.fromkeys(lines(folder / "delivered")))
    assert delivered == happened
    assert set(lines(folder / "paid")) <= set(happened)
    assert len(happened) > 2


SOME = [50, *range(18, 30), 9]


@pytest.mark.nightly
@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_killed_process_loses_no_output(place: Place, tmp_path: Path) -> None:
    killed(place, tmp_path, SOME)


@pytest.mark.nightly
@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_process_that_is_killed_at_each_statement_loses_no_output(
    place: Place, tmp_path: Path
) -> None:
    killed(place, tmp_path, [60, *range(60), 60])


def test_an_output_that_is_found_and_cannot_be_taken_is_damage_and_no_endless_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an index and its table differ."""
    post, asked = Post(), list[float]()
    found: Callable[..., Any] = vars(Outbox)["_row"]

    def row(outbox: Outbox, until: float, damaged: list[Any]) -> Any:
        asked.append(until)
        assert len(asked) < 9
        return found(outbox, until, damaged)

    monkeypatch.setattr(Outbox, "_row", row)
    with Store(tmp_path / "s.db", synchronous="NORMAL", outbox=[Till]) as kept:
        kept.add(Till(), "a").pay(5)
        never = "CREATE TRIGGER never BEFORE UPDATE ON output BEGIN SELECT RAISE(IGNORE); END"
        kept.transactions.database.execute(never, ())
        outbox = Outbox(kept, Till, post)
        with pytest.raises(StoreError, match=r"^a: output 1 is found and cannot be taken: the"):
            outbox.deliver()
        kept.transactions.database.execute("DROP TRIGGER never", ())
        kept.transactions.database.execute("UPDATE output SET tries = 'x'", ())
        with pytest.raises(StoreError, match=r"^a: output 1 is not as it was written: its checks"):
            outbox.deliver()
        kept.transactions.database.execute("UPDATE output SET tries = 0", ())
        assert (outbox.deliver(), post.got) == (1, [("a", 1, 5)])
