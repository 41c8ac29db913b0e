"""The search whose states are in files: the same verdicts, but for what needs all steps at once."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from lawful.spec.verdicts import LIVENESS

from ...verdict import PropertyResult, Verdict
from ..checkpoints import Items, Snapshots
from ..compiled.engine import PackedSearch
from ..compiled.llvm import Native, compiled
from ..expansion.successors import Stepping
from ..layout.forms import FORM, Form
from ..layout.layouts import MOST_ROOM, Crowded
from ..limits import Limits, Progress
from ..liveness.graph import Graph
from ..space import Space
from .spilled import Spilled

REFUSED = frozenset({*LIVENESS, "recoverable", "refines"})
Kept = tuple[Snapshots, Items | None] | None
Made = Callable[[Stepping, Native, Path], Spilled]  # The states of a search in a folder.


class SpilledSearch(PackedSearch):
    """A search in files. It keeps no steps between states."""

    @property
    def graph(self) -> Graph | None:
        """None: the steps are not kept."""
        return None

    def _refine(self) -> None:
        """Refinements need the steps: they are not judged."""

    def _follow(self) -> None:
        """Neither is what can be reached again."""


@contextmanager
def search(
    space: Space,
    limits: Limits,
    progress: Callable[[Progress], None] | None,
    folder: Path,
    snapshots: Kept = None,
    *,
    made: Made = Spilled,
) -> Generator[SpilledSearch]:
    """Search the whole space, or until a limit is met, with the states in a folder of their own in
    this one. It is there while they are asked for, and removed then; where there are snapshots it
    stays, and a search goes on from what they hold.

    A limit is looked at after each level, one of seconds also on the way: a level that was not
    finished is not counted. One of seconds also ends the generating of steps: `OutOfBudget`, as of
    `engine.search`. Raises what that raises, and `OSError` where nothing can be written.
    """
    started = time.perf_counter()
    items = None if snapshots is None else snapshots[1]
    form = FORM if items is None else Form(FORM.dense, items["room"])
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        with _place(folder, space.machine.name, snapshots) as place:
            space.preparation = limits.of_seconds(started)
            steps = Stepping(space.flat, space.world, space, form=form)
            store = made(steps, compiled(steps.text), place)
            found = SpilledSearch(space, steps, limits, store, started=started)
            with closing(store):
                try:
                    found.go(progress, snapshots)
                except Crowded:
                    form = form.roomier()
                    if form.room > MOST_ROOM:
                        raise
                    into = None if snapshots is None else snapshots[0]
                    snapshots = None if into is None else (into, None)
                    continue
                yield found
                return


@contextmanager
def _place(folder: Path, name: str, snapshots: Kept) -> Generator[Path]:
    """The folder of the states, empty unless they are those of a snapshot."""
    if snapshots is None:
        with tempfile.TemporaryDirectory(prefix=f"{name}.", dir=folder) as place:
            yield Path(place)
        return
    stays = folder / f"{name}.states"
    if snapshots[1] is None and stays.exists():
        shutil.rmtree(stays)
    stays.mkdir(exist_ok=True)
    yield stays


def judged(p: PropertyResult, asked: str = "--spill") -> PropertyResult:
    """The verdict; unknown for a property that needs the steps between all states."""
    if p.kind not in REFUSED:
        return p
    why = f"{p.kind} needs the steps between all states, which {asked} does not keep"
    return dataclasses.replace(p, verdict=Verdict.UNKNOWN, why=why, trace=None, notes=())
