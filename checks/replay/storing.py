"""Trace stores as a replay uses them: recorded events sorted once, replayed here or on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lawful.runtime.instance import Machine

from .columnar import trace_store
from .columnar.trace_store import TraceStore
from .engine_choice import Engine, EngineChoice, chosen, large
from .parquet import has_arrow
from .program import ReplayProgram
from .sources import ReplayError, Sources
from .spark.places import located
from .tally import Tallies

BUCKET = 64 << 20  # Bytes of lines in a bucket, about; there are at least FEWEST.
FEWEST = 8
SMALL = 10_000_000  # Rows of a store that this process replays.


def write_store(
    paths: Iterable[str | Path],
    program: ReplayProgram,
    folder: str | Path,
    engine: EngineChoice = "auto",
    *,
    buckets: int | None = None,
    master: str | None = None,
) -> TraceStore:
    """Write the traces into a new folder as a store: sorted, in typed columns.

    An instance is in one bucket whole; without `buckets` there is one for 64 MB of lines, and at
    least 8. Spark's workers have to see the folder under its path. In this process all columns are
    in memory, some 50 bytes a row. Raises ReplayError where the program has no typed columns, a
    trace cannot be read, or the folder is not empty.
    """
    if not has_arrow():
        raise ReplayError("a store needs pyarrow and NumPy: pip install 'lawful[spark]'")
    given = [*paths]
    if any(map(trace_store.is_store, given)):
        raise ReplayError("the traces are in a store already")
    files = program.sources(given)
    trace_store.stored_layout(program)
    target = trace_store.fresh_folder(folder)
    count = buckets or max(FEWEST, files.size // BUCKET)
    if engine == "auto":
        engine = chosen(files, master)
    if engine == "spark":
        from .spark.bucket_tasks import write_on_spark

        return write_on_spark(files, program, target, count, master)
    return trace_store.write_here(files, program, target, count)


def only_store(paths: Sequence[str | Path]) -> TraceStore | None:
    """The store at the path, if there is one; ReplayError where there is more beside it."""
    if not any(map(trace_store.is_store, paths)):
        return None
    if len(paths) > 1:
        raise ReplayError(f"a store is replayed alone, not with {len(paths) - 1} more")
    return trace_store.opened_store(paths[0])


def program_of_store(folder: str | Path, machines: type[Machine] | ReplayProgram) -> ReplayProgram:
    """The program that replays a store: a class with its mapping. ReplayError if it is no store."""
    mapping = trace_store.opened_store(folder).mapping_alone
    if isinstance(machines, ReplayProgram):
        return machines
    return ReplayProgram((machines.lawful.ir,), mapping=mapping)


def tally_of_store(
    store: TraceStore, program: ReplayProgram, engine: EngineChoice, master: str | None
) -> tuple[Engine, Tallies]:
    """The engine that was used, and what it found."""
    if not has_arrow():
        raise ReplayError("a store needs pyarrow and NumPy: pip install 'lawful[spark]'")
    if engine == "auto":
        engine = "spark" if master is not None else "local" if store.rows <= SMALL else large()
    if engine == "spark":
        from .spark.bucket_tasks import tally_store_on_spark

        tallies = tally_store_on_spark(store, program, master)
    else:
        tallies = trace_store.tally_store(store, program)
    tallies.rejected = located(tallies.rejected, Sources((), ()))
    return engine, tallies
