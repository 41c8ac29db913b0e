"""A trace store: recorded events, sorted once, to be replayed many times without a shuffle.

    store.json             the mapping, the columns, and the names of the buckets
    bucket-00000-….parquet the rows of some instances, sorted by instance and number

An instance is in one bucket whole; which one, a hash of its name says. The columns are those of
`layout`: typed, and the line of a row that is not regular. A store can be replayed with every
machine that reads the same columns of the same events, so with another version of the machine, too.
"""

from __future__ import annotations

import dataclasses
import json
import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from lawful.spec.ir import Json

from ..mapping import TraceMapping, mapping_of
from ..parquet import arrow
from ..program import ReplayProgram
from ..rows import plain
from ..sources import ReplayError, Sources
from ..tally import Tallies
from . import kernel
from .blocks import buckets_of
from .layout import INSTANCE, PLACE, Layout, layout_of
from .local import batches_of_files
from .regular import arrow_types
from .row_order import in_order

MANIFEST = "store.json"
VERSION = 1
BUCKET = b"bucket"  # Metadata of a file: the name under which it was written.
NO_COLUMNS = (
    "a store holds typed columns: it needs a mapping without `time` and preparation, and a machine "
    "without a clock, timers, parts and @initial (docs/replay.md, Speed)"
)
PREPARED = (
    "a store holds rows as the files have them, and this mapping prepares them; replay the files "
    "without --store: with --keep and --resume the next replay reads the new rows alone"
)


@dataclass(frozen=True)
class TraceStore:
    """A folder with a store. `columns` says which columns it has, `buckets` are its files."""

    folder: Path
    mapping: TraceMapping
    columns: Json
    buckets: tuple[str, ...]
    rows: int

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of the buckets."""
        return tuple(str(self.folder / name) for name in self.buckets)

    @property
    def mapping_alone(self) -> TraceMapping:
        """The mapping, for a machine of any name."""
        return dataclasses.replace(self.mapping, machine="")

    def layout(self, program: ReplayProgram) -> Layout:
        """The columns as a program reads them. ReplayError where it needs others."""
        layout = stored_layout(program)
        if described(layout) != self.columns:
            raise ReplayError(
                f"{self.folder}: was written for other columns than this machine and mapping read; "
                "write it again from the traces"
            )
        return layout


def stored_layout(program: ReplayProgram) -> Layout:
    """The columns of a program; ReplayError where it has none."""
    layout = layout_of(program)
    if layout is None:
        prepared = program.mapping is not None and program.mapping.preparation is not None
        raise ReplayError(PREPARED if prepared else NO_COLUMNS)
    return layout


def described(layout: Layout) -> Json:
    """What the rows of a store say: the mapping of names, the columns, and who needs them."""
    mapping = dataclasses.replace(layout.mapping, machine="", parameters={})
    needs: dict[str, Json] = {
        name: [each.name, *each.paths] for name, each in layout.events.items()
    }
    out: dict[str, Json] = {
        "mapping": mapping.to_json(),
        "types": dict(layout.types),
        "names": list(layout.names),
        "needs": needs,
    }
    read: Json = json.loads(json.dumps(out))
    return read


def is_store(path: str | Path) -> bool:
    """Whether a folder on this computer has a store."""
    return "://" not in str(path) and (Path(path) / MANIFEST).is_file()


def opened_store(folder: str | Path) -> TraceStore:
    """The store in a folder. ReplayError where there is none, or a bucket is missing."""
    path = Path(folder)
    try:
        data = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        if data["version"] != VERSION:
            raise ReplayError(f"{path}: a store of another version ({data['version']})")
        mapping, buckets = mapping_of(data["mapping"]), tuple(map(str, data["buckets"]))
        found = TraceStore(path, mapping, data["columns"], buckets, int(data["rows"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReplayError(f"{path}: no store of traces: {plain(str(error))}") from error
    for name in found.buckets:
        if Path(name).name != name:
            raise ReplayError(f"{path}: {name}: a bucket outside of the store")
    missing = [each for each in found.paths if not Path(each).is_file()]
    if missing:
        raise ReplayError(f"{missing[0]}: a bucket of the store is missing")
    return found


def fresh_folder(folder: str | Path) -> Path:
    """The folder, made where it is not there. ReplayError where it has files."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise ReplayError(f"{path}: is not empty; a store is written into a new folder")
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error
    return path


def completed(folder: Path, layout: Layout, buckets: Iterable[tuple[str, int]]) -> TraceStore:
    """Write the manifest, last of all: without it there is no store."""
    rows = sorted(buckets)
    data: dict[str, Json] = {
        "version": VERSION,
        "mapping": layout.mapping.to_json(),
        "columns": described(layout),
        "buckets": [name for name, _ in rows],
        "rows": sum(count for _, count in rows),
    }
    draft = folder / f".{MANIFEST}"
    draft.write_text(json.dumps(data, indent=1), encoding="utf-8")
    os.replace(draft, folder / MANIFEST)
    return opened_store(folder)


class BucketWriter:
    """Writes one bucket, sorted batches one after another, under a name that no other has."""

    def __init__(self, folder: Path, number: int, layout: Layout) -> None:
        self.name = f"bucket-{number:05}-{uuid.uuid4().hex}.parquet"
        self.rows = 0
        # A file that was put in the place of another is noticed by the name, damage by checksums.
        self.schema = stored_types(layout).with_metadata({BUCKET: self.name})
        self.writer = arrow().parquet.ParquetWriter(
            folder / self.name,
            self.schema,
            compression="lz4",
            write_statistics=False,
            write_page_checksum=True,
        )

    def write(self, batch: Any) -> None:
        """Write the rows of a batch of the layout's columns."""
        self.rows += batch.num_rows
        named = arrow().Table.from_arrays(batch.columns, schema=self.schema)
        self.writer.write_table(named, row_group_size=kernel.ROWS)

    def close(self) -> tuple[str, int]:
        """End the file; its name and how many rows it has."""
        self.writer.close()
        return self.name, self.rows


def stored_types(layout: Layout) -> Any:
    """The schema of a bucket: paths have dots, so their columns are numbered."""
    pa = arrow()
    types = arrow_types(layout)
    keys = len(types) - len(layout.paths)
    names = [*types.names[:keys], *(f"c{i}" for i in range(len(layout.paths)))]
    return pa.schema([(name, field.type) for name, field in zip(names, types, strict=True)])


def batches_of_bucket(path: str, layout: Layout) -> Iterator[Any]:
    """The rows of a bucket as the kernel takes them. ReplayError where it cannot be read."""
    pa = arrow()
    types = arrow_types(layout)
    try:
        with pa.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            if not file.schema_arrow.equals(stored_types(layout)):
                raise ReplayError(f"{path}: has other columns than the store says")
            told: dict[bytes, bytes] = file.schema_arrow.metadata or {}
            name = told.get(BUCKET, b"").decode(errors="replace")
            if name != Path(path).name:
                raise ReplayError(f"{path}: is another bucket ({name or 'without a name'})")
            for batch in file.iter_batches(kernel.ROWS, use_threads=False):
                yield pa.RecordBatch.from_arrays(batch.columns, schema=types)
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def write_here(files: Sources, program: ReplayProgram, folder: Path, buckets: int) -> TraceStore:
    """Write a store in this process, all columns in memory."""
    import numpy as np

    layout = stored_layout(program)
    pa = arrow()
    table = pa.concat_tables(batches_of_files(files, layout)).combine_chunks()
    table = _absolute(table)
    numbers = buckets_of(table.column(INSTANCE).combine_chunks(), buckets)
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(buckets + 1)).tolist()
    done: list[tuple[str, int]] = []
    for number, (start, end) in enumerate(pairwise(ends)):
        writer = BucketWriter(folder, number, layout)
        for batch in in_order(table.take(pa.array(order[start:end])), kernel.ROWS):
            writer.write(batch)
        done.append(writer.close())
    return completed(folder, layout, done)


def _absolute(table: Any) -> Any:
    """Places as Spark writes them: the number in the part of a file from byte 0, and a URL."""
    places: list[str | None] = table.column(PLACE).to_pylist()
    if not any(places):
        return table
    told: list[str | None] = []
    for each in places:
        number, _, file = (each or "").partition(" ")
        told.append(None if each is None else f"0+{number} {Path(file).resolve().as_uri()}")
    at = table.schema.get_field_index(PLACE)
    return table.set_column(at, PLACE, arrow().array(told, arrow().string()))


def tally_store(store: TraceStore, program: ReplayProgram) -> Tallies:
    """Replay a store in this process, one bucket after another."""
    layout = store.layout(program)
    tallies = Tallies(program.every)
    for path in store.paths:
        for each in kernel.Kernel(program, layout).judge(batches_of_bucket(path, layout)):
            tallies.add(each)
    return tallies
