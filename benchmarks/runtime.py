"""Compares instances with hand-written classes and with peer libraries, in one run.

A line has a name, the time of lawful, the other time, and their ratio; `at most` is the goal. Each
contestant runs in a process of its own, and processor time is measured, which other load on the
machine disturbs least. The environment variable `LAWFUL_PEERS` names a Python that can import the
peers (pip install automat transitions python-statemachine xstate-statemachine sismic); without it,
this Python is used. Missing peers are named.
"""

from __future__ import annotations

import ast
import gc
import importlib
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
SYSTEMS = (
    "unicast.system",
    "message_scheduler.declaration",
    "object_diffusion.declaration",
    "queue_cluster.declaration",
    "read_only_windows.declaration",
    "read_only_windows.transaction",
)
COMPILED = Path(tempfile.gettempdir()) / "lawful-benchmark"
RUNS = 9  # By turns, the best of which is taken: a machine's clock changes.
MANY = 20_000  # Instances whose memory is measured.


def main(argv: list[str]) -> int:
    """Print all lines; with `kinds` only each kind of event. With another name, measure only that,
    for the process that started this one."""
    if argv == ["kinds"]:
        kinds()
        return 0
    if argv:
        print(MEASURED[argv[0]]())
        return 0
    from benchmarks import _peers as peers

    print(f"{'':42}{'ours':>12}{'other':>12}{'ratio':>8}")
    kinds()
    event, hand = best(lambda: alone("event"), lambda: other("by_methods") or 0.0)
    line("an event, a method by hand", (event, hand), "ns", 1.6)
    for peer in (peers.by_cases, *peers.PEERS):
        found = other(peer.__name__)
        if found is None:
            print(f"{f'an event, {peer.__name__}':42}{event:12.0f}  not installed")
        else:
            line(f"an event, {peer.__name__}", (event, found), "ns")
    for name in ("bound", "in its place"):
        if other("transitions") is not None:
            mine = partial(alone, name)
            line(TITLES[name], best(mine, lambda: other("transitions") or 0.0), "ns")
    for name, most in (("holding", 2.0), ("refusal", 0.0), ("making", 3.0), ("bytes", 1.5)):
        unit = "bytes" if name == "bytes" else "ns"
        pair = best(partial(alone, name), partial(alone, f"{name} by hand"))
        line(TITLES[name], pair, unit, most)
    pair = best(partial(alone, "large"), partial(alone, "small"))
    line("10,000 elements held, 10 held", pair, "ns", 1.2)
    pair = best(partial(alone, "told"), partial(alone, "untold"))
    line("an event on an element, told and not", pair, "ns", 1.8)
    line("the first instance, its goal", (alone("first"), 60.0), "ms", 1.0)
    line("a further class, its goal", (alone("further"), 5.0), "ms", 1.0)
    line("the first and each of its events", (alone("first whole"), 60.0), "ms", 1.0)
    line("a further one and each of its events", (alone("further whole"), 5.0), "ms", 1.0)
    line("the largest class; its text compiled", (alone("largest"), alone("its text")), "ms", 2.0)
    line(
        "a stored instance; bare, and 500 bytes",
        (alone("stored"), alone("bytes") + 500),
        "bytes",
        1.0,
    )
    line("import lawful, its goal", (alone("import") * 1e3, 100.0), "ms", 1.0)
    line("classes of five systems, the goal", (alone("classes") * 1e3, 150.0), "ms", 1.0)
    return 0


def kinds() -> None:
    """Each kind of event and a class by hand, by turns in this process."""
    from benchmarks import _pairs as pairs

    for title, (most, make) in pairs.MAKERS.items():
        line(title, _by_turns(*make()), "ns", most)
    more, event = _by_turns(*pairs.observed())
    line("what an observer adds, its goal", (more - event, 1000.0), "ns", 1.0)
    from benchmarks import _rows as kept

    for title, (row, alone, ready) in kept.rows():
        one, bare = _by_turns(row, alone)
        two, plain = _by_turns(row, ready)
        line(f"{title}; and ready bytes", (two, plain), "ns")
        line(
            "  beyond them and the event, its goal", (min(one, two) - bare - plain, 1e4), "ns", 1.0
        )


def _by_turns(mine: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Nanoseconds of each call; the least of several short runs, taken alternately."""
    times: list[int] = []
    for call in (mine, theirs):
        call()  # It may compile.
        some = 10
        while (taken := _run(call, some)) < 0.005:
            some *= 2
        times.append(max(1, int(some * 0.02 / taken)))
    return best(
        lambda: _run(mine, times[0]) / times[0] * 1e9,
        lambda: _run(theirs, times[1]) / times[1] * 1e9,
    )


def _run(call: Callable[[], Any], times: int) -> float:
    """Seconds of processor time of so many calls."""
    began = time.process_time()
    for _ in range(times):
        call()
    return time.process_time() - began


TITLES = {
    "bound": "an event of a bound model, transitions",
    "in its place": "an event of a LawfulMachine, transitions",
    "holding": "an event on a set, a map and a record",
    "refusal": "a refusal with its reason",
    "making": "making an instance",
    "bytes": "an instance",
}


def line(name: str, both: tuple[float, float], unit: str, most: float = 0.0) -> None:
    """One comparison, and whether it meets its goal."""
    ratio = both[0] / both[1]
    wanted = f"  at most {most}{'' if ratio <= most else ': MISSED'}" if most else ""
    print(f"{name:42}{both[0]:12,.0f}{both[1]:12,.0f}{ratio:8.3f}  {unit}{wanted}")


def best(mine: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float]:
    """The least of several measurements of each, taken alternately."""
    both = [(mine(), theirs()) for _ in range(RUNS)]
    return min(row[0] for row in both), min(row[1] for row in both)


def alone(name: str) -> float:
    """The result of one measurement in a process of its own; the second run, which need not
    compile."""
    command = [sys.executable, str(HERE / "runtime.py"), name]
    if name in ("import", "classes", "first", "first whole"):
        _said(command)
    return float(_said(command) or "nan")


def other(name: str) -> float | None:
    """Nanoseconds per event of a contestant; None if it cannot be imported."""
    hand = name.startswith("by_")
    python = sys.executable if hand else os.environ.get("LAWFUL_PEERS", sys.executable)
    found = _said([python, str(HERE / "_peers.py"), name])
    return None if found is None else float(found)


def _said(command: list[str]) -> str | None:
    """The output of a process; None if it lacks a module."""
    kept = {**os.environ, "PYTHONPYCACHEPREFIX": str(COMPILED)}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=kept)
    if made.returncode and "ModuleNotFoundError" not in made.stderr:
        raise RuntimeError(made.stderr)
    return None if made.returncode else made.stdout


# What is measured, each in its own process.


def _event() -> float:
    from benchmarks import _jobs as jobs
    from benchmarks import _peers as peers

    return peers.nanoseconds(peers.calls_of(jobs.Job()))


def _bound() -> float:
    from benchmarks import _jobs as jobs
    from benchmarks import _peers as peers
    from lawful.runtime.interop.bound import bind

    class Model:
        pass

    model = Model()
    bind(model, jobs.Job)
    return peers.nanoseconds(peers.calls_of(model))


def _in_its_place() -> float:
    from benchmarks import _peers as peers
    from lawful.runtime.interop.drop_in import LawfulMachine

    library: Any = importlib.import_module("transitions")
    library.Machine = LawfulMachine
    return peers.nanoseconds(peers.transitions())


def _each(call: Callable[[], Any], times: int = 50_000) -> float:
    """Nanoseconds per call; the best of some runs."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - began) / times)
    return best * 1e9


def _holding(job: Any, key: Any = 7) -> float:
    def both() -> None:
        job.put(key, 1)
        job.drop(key)

    return _each(both) / 2


def _held(size: int) -> float:
    from benchmarks import _jobs as jobs

    held = jobs.Held()
    for i in range(size):
        held.put(10 + i, 1)
    return _holding(held)


def _present(elements: list[str] | None) -> float:
    """An event on an element of a sort, of an instance whose universe has ten elements, or none."""
    from benchmarks import _jobs as jobs

    told = None if elements is None else {jobs.Node: elements}
    return _holding(jobs.Present(universe=told), jobs.Node("n3"))


def _refusing(job: Any) -> float:
    def call() -> None:
        try:
            job.finish()
        except Exception as error:
            str(error)

    return _each(call)


def _bytes(make: Callable[[], Any], many: int = MANY) -> float:
    make()
    tracemalloc.start()
    kept = [make() for _ in range(many)]
    used = tracemalloc.get_traced_memory()[0]
    return (used - sys.getsizeof(kept)) / many


def _importing() -> float:
    """Seconds of processor time for the import."""
    began = time.process_time()
    importlib.import_module("lawful")
    return time.process_time() - began


def _classes() -> float:
    importlib.import_module("lawful")
    began = time.process_time()
    for name in SYSTEMS:
        importlib.import_module(f"lawful.machines.{name}")
    return time.process_time() - began


def _making(name: str, before: str = "", *, whole: bool = False) -> float:
    """Milliseconds that the first instance of a class takes, after one of another class; `whole`:
    and each of its events compiled."""
    kinds: Any = importlib.import_module("benchmarks._kinds")
    if before:
        _compiled(getattr(kinds, before)(), whole)
    began = time.process_time()
    _compiled(getattr(kinds, name)(), whole)
    return (time.process_time() - began) * 1e3


def _compiled(made: Any, whole: bool) -> None:
    for way in made.lawful.plan.ways if whole else ():
        getattr(made, way)


def _largest() -> tuple[float, float]:
    """Milliseconds that the class with the longest code takes to compile, and its text alone."""
    owners: Any = importlib.import_module("lawful.machines.queue_cluster.declaration")
    make: Any = importlib.import_module("lawful.runtime.instances.make")
    make.plan_of(owners.QueueOwnerFixed.__base__)  # It shares the modules and nothing else.
    importlib.import_module("lawful.runtime.compile.short_helpers")  # Of these it uses one more.
    make.resolve(owners.QueueOwnerFixed)
    gc.disable()
    began = time.process_time()
    plan = make.plan_of(owners.QueueOwnerFixed)
    for way in plan.ways.values():
        plan.method(way)
    taken, text = time.process_time() - began, plan.text()
    began = time.process_time()
    compile(ast.parse(text), "text", "exec")
    return taken * 1e3, (time.process_time() - began) * 1e3


def _stored() -> float:
    """Bytes of memory of an instance in a store."""
    kinds: Any = importlib.import_module("benchmarks._kinds")
    stores: Any = importlib.import_module("lawful.runtime.store")
    with tempfile.TemporaryDirectory() as folder, stores.Store(f"{folder}/s.db") as store:
        # CPython keeps up to 2,000 freed tuples of a length: so many more are measured.
        names = [f"name{i}" for i in range(10_001)]
        return _bytes(lambda: store.add(kinds.Sender(), names.pop()), 10_000)


def _jobs() -> Any:
    from benchmarks import _jobs

    return _jobs


def _peers() -> Any:
    from benchmarks import _peers

    return _peers


MEASURED: dict[str, Callable[[], float]] = {
    "event": _event,
    "bound": _bound,
    "in its place": _in_its_place,
    "holding": lambda: _holding(_jobs().Held()),
    "holding by hand": lambda: _holding(_jobs().HeldByHand()),
    "small": lambda: _held(10),
    "large": lambda: _held(10_000),
    "told": lambda: _present([f"n{i}" for i in range(10)]),
    "untold": lambda: _present(None),
    "refusal": lambda: _refusing(_jobs().Job()),
    "refusal by hand": lambda: _refusing(_peers().Methods()),
    "making": lambda: _each(_jobs().Job),
    "making by hand": lambda: _each(_peers().Methods),
    "bytes": lambda: _bytes(_jobs().Job),
    "bytes by hand": lambda: _bytes(_peers().Methods),
    "first": lambda: _making("Sender"),
    "further": lambda: _making("Sender", "Lamp"),
    "first whole": lambda: _making("Sender", whole=True),
    "further whole": lambda: _making("Sender", "Lamp", whole=True),
    "largest": lambda: _largest()[0],
    "its text": lambda: _largest()[1],
    "stored": _stored,
    "import": _importing,
    "classes": _classes,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
