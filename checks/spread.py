"""Obligations answered by several processes, where one takes long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from . import remembered
from .induction import Induction
from .obligation import Obligation

ALONE_SECONDS = 3.0  # Another process begins with an encoding of its own, which takes about one.

Make = Callable[[], Induction]


def spread(
    own: Induction, make: Make, asked: Sequence[tuple[str, str]], workers: int
) -> Iterator[Obligation]:
    """Each (case, property) answered, in any order; other processes begin with what `make` makes,
    which is as `own`."""
    began, left = time.perf_counter(), list(asked)
    while left and (workers < 2 or time.perf_counter() - began < ALONE_SECONDS):
        yield own.answer(*left.pop(0))
    if not left:
        return
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), _begin, (make, remembered.folder())
    )
    try:
        for each in as_completed([pool.submit(_answered, *one) for one in left]):
            yield each.result()
    finally:
        pool.shutdown(cancel_futures=True)


_begun: list[Induction] = []  # What this process of a pool has begun with.


_kept: list[Path | None] = []  # Where it keeps what it shows.


def _begin(make: Make, kept: Path | None) -> None:
    _begun.append(make())
    _kept.append(kept)


def _answered(case: str, property: str) -> Obligation:
    with remembered.kept_in(_kept[0]):
        return _begun[0].answer(case, property)
