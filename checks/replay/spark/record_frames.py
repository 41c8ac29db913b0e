"""The records of a stream as data frames of pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..parquet import arrow
from ..problems import FittingInstances
from ..tally import Judged
from .partitions import fitting_records, record_types, records_of

TOLD = "told"  # The record of how many rows of a micro-batch tell an output or a variable.


def frames_of(judged: Iterable[Judged], told: Mapping[str, int]) -> Iterator[Any]:
    """The records of what was judged, and of how many rows tell each output or variable."""
    types = record_types(arrow())
    records: list[dict[str, Any]] = []
    for each in judged:
        if isinstance(each, FittingInstances):
            yield fitting_records(each, types).to_pandas()
        else:
            records.extend(records_of(each))
    for name, count in told.items():
        records.append({"record": TOLD, "name": name, "count": count})
    if records:
        batch = arrow().RecordBatch.from_pylist(records, schema=types)
        yield batch.to_pandas(integer_object_nulls=True)
