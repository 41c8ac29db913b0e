"""The compiled search establishes what the reference search does: counts, verdicts, traces."""

from __future__ import annotations

import dataclasses
import functools
import random
import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from annotated_types import Interval

from lawful import Machine, Nat, Param, Scope, Serial, invariant, require, transition
from lawful.checks.explore import CheckResult, Engine, Limits, NoEngine, explore
from lawful.checks.explore.compiled import background as waiting
from lawful.checks.explore.compiled import pace, plain
from lawful.checks.explore.compiled.background import Compiler
from lawful.checks.explore.compiled.engine import Tier, search
from lawful.checks.explore.compiled.llvm import Native, compiled, quick
from lawful.checks.explore.compiled.memory import Memory
from lawful.checks.explore.compiled.typed_memory import fill, of_numbers
from lawful.checks.explore.expansion.successors import Stepping
from lawful.checks.explore.layout.packing import pack, unpack
from lawful.checks.explore.search import search as plainly
from lawful.checks.explore.space import Space
from lawful.checks.reference import Done, Fault
from lawful.checks.report.exploration import check_json, check_text
from lawful.machines.message_scheduler.system import MessagingFixed
from lawful.machines.read_only_windows.system import NodeFixed
from lawful.machines.unicast.system import LinkAsSeed, LinkFixed
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations import conformance, encoding, exploration
from tests.checks.explore.compiled.both_engines import flat_of
from tests.classics.alternating_bit import AlternatingBit
from tests.classics.jugs import Jugs
from tests.classics.peterson import Peterson
from tests.classics.table import CLASSICS, Classic
from tests.classics.two_phase import TwoPhase

EVERY = (
    AlternatingBit,
    Jugs,
    Peterson,
    TwoPhase,
    encoding.Cell,
    conformance.Seats,
    exploration.Stuck,
    exploration.Rests,
    exploration.Twice,
    exploration.Pruned,
    exploration.Several,
    exploration.Trap,
    exploration.Lookup,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("steps")


@pytest.fixture(autouse=True)
def cache(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests compile a machine once for all of them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def explored(cls: type[Machine], engine: Engine, **limits: Any) -> CheckResult:
    flat, resolved = flat_of(cls)
    return explore(flat, resolved.world, resolved.expects, engine=engine, limits=Limits(**limits))


def established(result: CheckResult) -> dict[str, Any]:
    """All but the time taken, and which of the shortest traces is shown."""
    rows = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    for name in ("engine", "seconds", "compile_seconds", "properties", "handed_back"):
        del rows[name]
    rows["cut_by"] = dict(result.cut_by)
    rows["transitions"] = {n: row["enabled"] for n, row in result.transitions.items()}
    rows["verdicts"] = [
        (p.name, p.verdict, None if p.trace is None else len(p.trace.steps))
        for p in result.properties
    ]
    return rows


@functools.cache
def by_reference(cls: type[Machine]) -> dict[str, Any]:
    return established(explored(cls, "reference"))


def both_establish_the_same(cls: type[Machine], engine: Engine) -> None:
    mine = explored(cls, engine)
    assert mine.engine == engine
    assert established(mine) == by_reference(cls)


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_both_establish_the_same(cls: type[Machine]) -> None:
    both_establish_the_same(cls, "generated")


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_states_are_found_in_the_same_order(cls: type[Machine]) -> None:
    flat, resolved = flat_of(cls)
    space = Space(flat, resolved.world)
    mine, theirs = search(space, Limits(), tier="generated"), plainly(space, Limits())
    assert list(mine.states) == theirs.states
    assert list(mine.parents) == theirs.parents


@pytest.mark.one_in(3)
@pytest.mark.parametrize("classic", CLASSICS, ids=lambda c: c.machine.__name__)
def test_the_figures_of_classics(classic: Classic) -> None:
    """Without the reference engine for any state."""
    resolved = resolve(classic.machine)
    flat = lower(resolved.machine, resolved.scopes.get("scope", Scope()))
    found = search(Space(flat, resolved.world), Limits(), tier="generated")
    assert (found.count, found.generated, found.depth) == classic.counts
    assert not found.escaped


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "cls",
    [*EVERY, pytest.param(conformance.Faults, marks=pytest.mark.nightly)],
    ids=lambda cls: cls.__name__,
)
def test_both_establish_the_same_compiled(cls: type[Machine]) -> None:
    both_establish_the_same(cls, "compiled")


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ["generated", "compiled"])
@pytest.mark.parametrize(
    "cls", [LinkAsSeed, LinkFixed, NodeFixed, MessagingFixed], ids=lambda cls: cls.__name__
)
def test_both_establish_the_same_of_a_system(cls: type[Machine], engine: Engine) -> None:
    both_establish_the_same(cls, engine)


class Till(Machine):
    coins: Nat = 0
    most: Param[Nat]

    @transition()
    def pay(self) -> None:
        require(self.coins < self.most, "full")
        self.coins += 1


class Market(Machine):
    tills: dict[Nat, Till] = {}

    @transition()
    def open(self, n: Nat) -> None:
        require(n not in self.tills, "open")
        self.tills[n] = Till(most=2)

    @transition()
    def pay(self, n: Nat) -> None:
        require(n in self.tills, "closed")
        self.tills[n].pay()

    scope = Scope(Nat=range(0, 3))


def test_a_parameter_without_a_default_is_what_parts_are_made_with() -> None:
    both_establish_the_same(Market, "generated")


def at_once(compiler: Compiler, expanded: int, count: int) -> Native | None:
    """Code that is not optimised after the first look, optimised code after the second."""
    assert 0 < expanded <= count
    looks.append(compiler)
    if len(looks) == 1:
        return quick(compiler.text)
    return compiled(compiler.text) if len(looks) == 2 else None


looks: list[Compiler] = []


def test_going_over_to_machine_code_shows_in_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a level, as soon as somebody asks; and to better machine code, too."""
    monkeypatch.setattr(plain, "SLICE", 7)
    monkeypatch.setattr(pace, "FIRST", 20)
    monkeypatch.setattr(Compiler, "better", at_once)
    looks.clear()
    mine = explored(TwoPhase, "auto")
    assert len(looks) > 2
    assert mine.engine == "compiled"
    assert established(mine) == by_reference(TwoPhase)


@pytest.mark.parametrize("moment", [2, 9, 23, 40])
def test_no_answer_depends_on_when_machine_code_is_there(
    moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice looks at processor time. At whatever look it is made, all else is the same: the
    states and their order, counts, parents, verdicts and traces."""
    asked = list[int]()

    def then(compiler: Compiler, expanded: int, count: int) -> Native | None:
        asked.append(count)
        assert expanded <= count
        return quick(compiler.text) if len(asked) == moment else None

    monkeypatch.setattr(plain, "SLICE", 7)
    monkeypatch.setattr(Compiler, "better", then)
    flat, resolved = flat_of(TwoPhase)
    space = Space(flat, resolved.world)
    found, slow = search(space, Limits()), search(space, Limits(), tier="generated")
    assert len(asked) >= moment
    assert (found.tier, slow.tier) == ("compiled", "generated")
    mine, theirs = (dict(each.kept()) for each in (found, slow))
    mine["seconds"] = theirs["seconds"]
    assert {**mine, **{name: bytes(mine[name]) for name in plain.ARRAYS}} == theirs
    asked.clear()
    assert established(explored(TwoPhase, "auto")) == by_reference(TwoPhase)


def test_what_is_done_soon_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 1e6)
    assert Compiler(flat_steps(Jugs).text).better(1, 9) is None
    assert explored(TwoPhase, "auto").engine == "generated"


def test_seconds_of_compiling_are_counted_once(alone: Path) -> None:
    """Where machine code is made, and where it was kept, plain, or of no use."""
    assert alone.is_dir()
    first, second = explored(Jugs, "compiled"), explored(Jugs, "compiled")
    assert first.compile_seconds > 0.0
    seconds = [second.compile_seconds]
    seconds += [explored(Jugs, engine).compile_seconds for engine in ("generated", "reference")]
    assert seconds == [0.0, 0.0, 0.0]


def flat_steps(cls: type[Machine]) -> Stepping:
    flat, resolved = flat_of(cls)
    return Stepping(flat, resolved.world, Space(flat, resolved.world))


def test_a_search_stops_at_the_same_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is in use, and when the other was gone over to."""
    limits, (flat, resolved) = Limits(states=100), flat_of(TwoPhase)
    space = Space(flat, resolved.world)
    monkeypatch.setattr(Compiler, "better", at_once)
    tiers: tuple[Tier | None, ...] = ("generated", "compiled", None)
    rows: list[Any] = []
    for tier in tiers:
        looks.clear()
        found = search(space, limits, tier=tier)
        rows.append((found.count, found.generated, found.depth, found.enabled, found.new))
    theirs = plainly(space, limits)
    counts = len(theirs.states), theirs.generated, theirs.depth, theirs.enabled, theirs.new
    assert rows == [counts] * 3


def test_a_search_can_be_stopped() -> None:
    found = explored(Jugs, "generated", states=10)
    assert not found.complete
    assert 10 <= found.distinct < 16


class ManyValues(Machine):
    """A set that gets more elements than a state has room for."""

    seen: set[Annotated[int, Serial(bits=16)]] = set()
    at: Annotated[int, Serial(bits=16)] = 0

    @transition()
    def see(self) -> None:
        self.seen.add(self.at)
        self.at += 1

    scope = Scope(Serial=16)


def test_what_it_does_not_know_is_named() -> None:
    flat, resolved = flat_of(ManyValues)
    crowded = r"more than 128 elements of set\[Serial\(bits=16\)\] in a state"
    with pytest.raises(NoEngine, match=f"does not know {crowded}"):
        explore(flat, resolved.world, {}, engine="generated", limits=Limits(states=200))
    found = explore(flat, resolved.world, {}, limits=Limits(states=20))
    assert (found.engine, found.distinct) == ("generated", 20)
    found = explore(flat, resolved.world, {}, limits=Limits(states=200))
    assert (found.engine, found.distinct) == ("reference", 200)
    assert re.fullmatch(crowded, found.not_generated)


class Squares(Machine):
    at: Nat = 1  # Once it is large, its products do not fit a cell.

    @transition()
    def further(self) -> None:
        require(self.at // 1024 * (self.at // 1024) < 600_000_000_000_000)
        self.at *= 131072

    scope = Scope(Nat=range(0, 2**60))


def test_states_that_are_handed_back_are_counted() -> None:
    found, slow = explored(Squares, "generated"), explored(Squares, "reference")
    assert (found.handed_back, slow.handed_back) == (2, 0)
    assert established(found) == established(slow)
    assert "slow      the reference engine expanded 2 of 4 states" in check_text(found)
    fast_entry, slow_entry = check_json(found, "", 0), check_json(slow, "", 0)
    assert isinstance(fast_entry, dict) and fast_entry["handed_back"] == 2
    assert isinstance(slow_entry, dict) and "handed_back" not in slow_entry


def test_compiled_steps_are_kept(alone: Path) -> None:
    first, again = explored(Jugs, "compiled"), explored(Jugs, "compiled")
    assert established(first) == established(again)
    (file,) = (alone / "lawful" / "steps").iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-1], b"", bytes(len(whole))):
        file.write_bytes(damaged)
        assert established(explored(Jugs, "compiled")) == established(first)
        assert file.read_bytes() == whole


def test_without_a_place_to_keep_them(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (alone / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(alone / "file"))
    assert explored(Jugs, "compiled").distinct == 16


LARGEST = 2**61
Wide = Annotated[int, Interval(ge=-(2**61), le=2**61)]
EDGES = (0, 1, -1, 2**31, -(2**31), 2**32 + 5, 2**61, -(2**61), 2**60 - 1)


class Edges(Machine):
    """Integers at the ends of what a cell holds."""

    a: Wide = 0
    b: Wide = 0
    c: Wide = 0

    @transition()
    def add(self) -> None:
        self.c = self.a + self.b

    @transition()
    def double(self) -> None:
        self.c = self.a + self.a + self.a + self.a - self.b

    @transition()
    def subtract(self) -> None:
        self.c = self.a - self.b

    @transition()
    def multiply(self) -> None:
        self.c = self.a * self.b

    @transition()
    def divide(self) -> None:
        self.c = self.a // self.b

    @transition()
    def remain(self) -> None:
        self.c = self.a % self.b

    @transition()
    def turn(self) -> None:
        self.c = abs(self.a) + -self.b

    @transition()
    def least(self) -> None:
        self.c = min(self.a, self.b, max(self.a, 3))

    @invariant
    def near(self) -> bool:
        return self.c < LARGEST


def test_integers_at_the_ends_of_a_cell() -> None:
    """Through machine code: what does not fit is the reference's, what fits is right."""
    resolved = resolve(Edges)
    flat = lower(resolved.machine, Scope())
    space = Space(flat, resolved.world)
    stepping = Stepping(flat, resolved.world, space)
    code = compiled(stepping.text)
    memory = Memory(stepping, code)
    pairs = [(a, b) for a in EDGES for b in EDGES]
    random.Random(1).shuffle(pairs)
    left = 0
    for a, b in pairs:
        state = (a, b, 0)
        arrays = memory.arrays
        cells = stepping.codec.encode(stepping.whole, state)
        arrays.store[: memory.words] = of_numbers(pack(stepping.slots, cells))
        fill(arrays.info)
        count = code("expand", arrays.w, arrays.store, 0, arrays.out, arrays.info, memory.room)
        if arrays.info[stepping.notes["escaped"]]:
            left += 1
            continue
        made = {
            (
                int(arrays.out[memory.room * memory.words + e]),
                *unpack(stepping.slots, arrays.out[e * memory.words : (e + 1) * memory.words]),
            )
            for e in range(count)
        }
        edges = list(space.edges(state))
        wanted = {
            (e.rule, *e.outcome.state)
            for e in edges
            if isinstance(e.outcome, Done) and e.cut is None
        }
        assert made == wanted
        faults = {e.outcome.name for e in edges if isinstance(e.outcome, Fault)}
        assert bool(arrays.info[stepping.notes["fault"] + 4]) == ("bounds" in faults)
    assert 0 < left < len(pairs)


class Counted(Machine):
    """A machine of many states and one step between them."""

    n: Nat = 0

    @transition()
    def go(self, by: Nat) -> None:
        require(by > 0, "forward")
        self.n += by

    scope = Scope(Nat=range(0, 4), n=range(0, 20_000))


@pytest.mark.nightly
def test_cuts_are_counted_by_the_variable() -> None:
    mine, theirs = explored(Counted, "compiled"), explored(Counted, "reference")
    assert established(mine) == established(theirs)
    assert (mine.distinct, mine.cuts, dict(mine.cut_by)) == (20_000, 6, {"n": 6})
