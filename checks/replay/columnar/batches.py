"""A sorted batch of columns as Python values: the step of each row, and its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..parquet import arrow
from ..rows import Rejected, Row
from .layout import EVENT, INSTANCE, PLACE, RAW, SEQ, EventColumns, Layout
from .regular import Keys
from .steps import Steps

NONE: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of a sorted batch.

    `bad`: the indices of the rows that only the row fold takes, in order. For the others: `seqs`,
    `codes` (of events), `steps`, `arguments`, and `outputs` where these are compared.
    """

    columns: Any
    layout: Layout
    seqs: Any
    codes: Any
    bad: Any
    steps: list[Any]
    arguments: list[tuple[Any, ...]]
    outputs: list[Any]

    def rows(self, start: int, end: int) -> Iterator[Row | Rejected]:
        """The rows as the row fold takes them, blank lines left out."""
        return rows_in(self.columns.slice(start, end - start), self.layout)


def rows_in(columns: Any, layout: Layout) -> Iterator[Row | Rejected]:
    """The rows of columns as the row fold takes them, blank lines left out."""
    for row in columns.to_pylist():
        line = row[RAW]
        if line is None:
            data = layout.data(row[INSTANCE], row[SEQ], row[EVENT], row)
            found = layout.mapping.row_of(data, "")
        else:
            found = layout.row_of_line(line)
        if found is not None:
            yield found if isinstance(found, Row) else found.at(row[PLACE] or "", 0)


def nothing(state: Any) -> None:
    """The step of a row that is not replayed."""


def batch_of(columns: Any, keys: Keys, layout: Layout, steps: Steps) -> Batch:
    """The rows of a batch with these keys."""
    import numpy as np

    rows, seqs, codes, bad = columns.num_rows, keys.seqs, keys.codes, keys.bad
    run = np.full(rows, nothing, dtype=object)
    arguments = np.full(rows, None, dtype=object)
    outputs = np.full(rows, None, dtype=object)
    arguments[:] = _empties(rows)
    for code, name in enumerate(layout.names):
        if name in layout.skipped:
            continue
        event = layout.events[name]
        at = np.flatnonzero((codes == code) & ~bad)
        run[at] = steps.by_event[event.name]
        _filled(at, columns, event, (arguments, outputs, bad))
    return Batch(
        columns,
        layout,
        seqs,
        codes,
        np.flatnonzero(bad),
        run.tolist(),
        arguments.tolist(),
        outputs.tolist() if layout.mapping.output is not None else [],
    )


def _empties(rows: int) -> Any:
    import numpy as np

    return np.fromiter((NONE for _ in range(rows)), dtype=object, count=rows)


def _filled(rows: Any, columns: Any, event: EventColumns, into: tuple[Any, Any, Any]) -> None:
    """Fill in the arguments and outputs of an event's rows; those that have none are `bad`."""
    import numpy as np

    at, (arguments, outputs, bad) = rows, into
    if event.output is None and not event.arguments:
        return
    values = {path: listed(columns.column(path).take(_index(at))) for path in event.paths}
    try:
        made = _made(event, values, len(at))
    except KeyError:  # Some text is no member of its enum.
        whole = [_whole(event, values, i) for i in range(len(at))]
        bad[at[[not each for each in whole]]] = True
        at = at[whole]
        values = {
            path: [v for v, ok in zip(column, whole, strict=True) if ok]
            for path, column in values.items()
        }
        made = _made(event, values, len(at))
    if event.arguments:
        arguments[at] = np.fromiter(zip(*made[0], strict=True), dtype=object, count=len(at))
    if event.output is not None:
        outputs[at] = np.fromiter(made[1], dtype=object, count=len(at))


def _made(event: EventColumns, values: Mapping[str, list[Any]], rows: int) -> tuple[Any, Any]:
    output: Any = () if event.output is None else event.output(values, rows)
    return [make(values, rows) for make in event.arguments], output


def _whole(event: EventColumns, values: Mapping[str, list[Any]], row: int) -> bool:
    """Whether this row has all values."""
    try:
        _made(event, {path: [column[row]] for path, column in values.items()}, 1)
    except KeyError:
        return False
    return True


def _index(at: Any) -> Any:
    pa = arrow()

    return pa.array(at)


def listed(column: Any) -> list[Any]:
    """The values of a column; equal texts are made once."""
    import numpy as np

    pa = arrow()

    if pa.types.is_string(column.type):
        encoded = column.dictionary_encode()
        texts = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
        out: list[Any] = texts[
            encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        ].tolist()
        return out
    if column.null_count:  # NumPy would make floats of integers.
        some: list[Any] = column.to_pylist()
        return some
    whole: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
    return whole
