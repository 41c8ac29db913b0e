"""Searches in a process of one thread, which a copy of the process may compile for.

    python -m tests.checks.explore.compiled.copied_compiler NAME

runs the function of that name and prints what it returns. A process of pytest may have more than
one thread, and no copy is made of it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from typing import Any, Never
from unittest import mock

from lawful.checks.explore.compiled import background, llvm, plain, threads
from lawful.checks.explore.compiled.background import Compiler, Copy
from lawful.checks.explore.compiled.engine import PackedSearch, search
from lawful.checks.explore.expansion.successors import Text, stepping
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from tests.checks.explore.compiled.both_engines import flat_of
from tests.classics.two_phase import TwoPhase

FLAT, RESOLVED = flat_of(TwoPhase)


def replace(of: object, name: str, by: object) -> None:
    """Until the process ends."""
    mock.patch.object(of, name, by).start()


def space() -> Space:
    return Space(FLAT, RESOLVED.world)


def found_by(s: PackedSearch) -> tuple[Any, ...]:
    """The states in their order, how each was reached, and what was counted."""
    states = [(*s.store.words_of(n), *s.store.parent(n)) for n in range(s.count)]
    return states, s.generated, s.depth, s.enabled, s.new


def is_there(copy: Copy) -> bool:
    """As `ready`, but it waits."""
    return bool(select.select((copy.pipe,), (), ())[0])


def never(text: Text) -> Never:
    del text
    while True:
        signal.pause()


def failing(text: Text) -> Never:
    raise ValueError(text.words)


def no_child() -> bool:
    """Whether this process has no child, not even one that has ended."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def goes_over() -> object:
    """The search takes the machine code of the copy, and keeps it."""
    replace(Copy, "ready", is_there)  # The moment does not vary.
    text = stepping(space()).text
    found, plainly = search(space(), Limits()), search(space(), Limits(), tier="generated")
    kept = llvm.kept(text, llvm.QUICK)
    assert kept is not None
    again = search(space(), Limits())
    return {
        "tiers": (found.tier, plainly.tier),
        "same": found_by(found) == found_by(plainly) == found_by(again),
        "kept": kept.read_bytes()[32:] == llvm.unoptimised(text),
        "seconds": found.compile_seconds > 0.0,
        "no child": no_child(),
    }


def ends_before() -> object:
    """The search ends in plain Python, and the copy with it."""
    replace(llvm, "unoptimised", never)  # As does one that takes long.
    found = search(space(), Limits())
    return {"tier": found.tier, "count": found.count, "no child": no_child()}


def is_interrupted() -> object:
    """Whoever interrupts the search ends the copy."""
    replace(llvm, "unoptimised", never)  # As does one that takes long.

    def interrupted(self: PackedSearch) -> bool:
        if self.expanded:
            raise KeyboardInterrupt
        return False

    replace(PackedSearch, "over", interrupted)  # In the middle of the search.
    try:
        search(space(), Limits())
    except KeyboardInterrupt:
        return {"no child": no_child()}
    return None


def fails() -> object:
    """The copy ends without machine code: the search goes on as it would without a copy."""
    replace(llvm, "unoptimised", failing)  # As does one without memory.
    replace(Copy, "ready", is_there)  # The moment does not vary.
    found = search(space(), Limits())
    return {"tier": found.tier, "count": found.count, "no child": no_child()}


def is_reaped() -> object:
    """Where SIGCHLD is ignored, the system forgets a copy that has ended, and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    replace(llvm, "unoptimised", never)  # As does one that takes long.
    ended = search(space(), Limits())
    mock.patch.stopall()
    prepare()
    replace(Copy, "ready", is_there)  # The moment does not vary.
    found = search(space(), Limits())
    return {"counts": (ended.count, found.count), "tier": found.tier, "no child": no_child()}


def is_not_made() -> object:
    """Where it would be of no use, or where locks of other threads would be copied."""
    text = stepping(space()).text
    made: dict[str, bool] = {}

    def note(name: str, copy: Copy | None) -> None:
        made[name] = copy is not None
        if copy is not None:
            copy.end()

    note("two processors", background.copied(text, 2))
    note("one processor", background.copied(text, 1))
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    note("another thread", background.copied(text, 2))
    over.set()
    other.join()
    replace(background, "LONG", len(text.steps) + 1)
    compiler = Compiler(text, Limits(workers=2))
    compiler.compile_ahead()
    made["short steps"] = vars(compiler)["_copy"] is not None
    return made


def is_killed() -> object:
    """This process is killed; its copy holds standard output open as long as it lives."""
    replace(llvm, "unoptimised", never)  # As does one that takes long.
    assert background.copied(stepping(space()).text, 2) is not None
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def prepare() -> None:
    """Every search may have a copy, and goes over to machine code by it alone."""
    replace(background, "LONG", 0)
    replace(background, "PATIENCE", 1e9)
    replace(threads, "processors", lambda: 2)  # As on a machine with several.
    replace(plain, "SLICE", 7)


if __name__ == "__main__":
    prepare()
    print(globals()[sys.argv[1]]())
