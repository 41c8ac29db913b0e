"""JSON lines as the columns of a layout, parsed by Arrow where it surely reads them as Python does.

Arrow parses a block of lines at once, or says that it cannot. Where it cannot, or where it might
read the block otherwise than `rows.parse`, each line is parsed by Python.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lawful.spec.codec.as_json import is_object

from ..parquet import arrow
from ..preparation.instance_names import QUOTED_TEXT
from ..preparation.path_templates import Record, value_at
from ..preparation.record_paths import names_in
from ..rows import LARGEST, Row, decoded, encodable, loads
from ..sources import BLANK
from .layout import BOOLEAN, EVENT, INSTANCE, LONG, PLACE, RAW, SEQ, STRING, Layout
from .regular import arrow_types, marked

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # Python reads lone ones.
DEEP = 100  # So many opening brackets in a line may be too many for Python's parser.
DIGITS = re.compile(rb"[0-9]{4000}")  # Python reads no whole numbers of so many digits.


Place = Callable[[int], str | None]


def nowhere(_: int) -> None:
    """The place of a line of which nobody knows where it is."""


class LineDecoder:
    """Makes batches of columns of blocks of lines."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.schema = arrow_types(layout)
        # Instances are texts or numbers; a block is tried as the last one was.
        self.instances = [STRING, LONG]

    def batch(self, lines: Sequence[bytes], place: Place = nowhere) -> Any:
        """The columns of these lines, a row each, blank ones left out; `place(i)` is where line `i`
        is."""
        block = b"\n".join(lines)
        if _framed(block, len(lines)):
            return self._of(block, lines, place, framed=True)
        at = [i for i, line in enumerate(lines) if line.strip(BLANK)]
        kept = [lines[i] for i in at]
        if not kept:
            return self.schema.empty_table()

        def told(i: int) -> str | None:
            return place(at[i])

        return self._of(b"\n".join(kept), kept, told, framed=False)

    def _of(self, block: bytes, lines: Sequence[bytes], place: Place, *, framed: bool) -> Any:
        """The columns of lines of which none is blank; `block` has them all."""
        pa = arrow()
        if _sure(block, lines, framed):
            for kind in list(self.instances):
                found = self._parsed(block, len(lines), kind)
                if found is not None:
                    self.instances.sort(key=lambda each: each != kind)
                    return marked(self.layout, found, lambda: pa.array(lines, pa.binary()), place)
        return self._one_by_one(lines, place)

    def _parsed(self, block: bytes, rows: int, kind: str) -> Any:
        """The columns as Arrow reads them, without `raw`; None where it refuses the block."""
        pa = arrow()
        reader = pa.json

        schema = self._nested(kind)
        # Fields that the mapping does not read are read, too: a key twice is an error.
        parse = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer")
        read = reader.ReadOptions(use_threads=False, block_size=len(block) + 1)
        try:
            table = reader.read_json(io.BytesIO(block), read, parse)
        except pa.ArrowException:
            return None
        if table.num_rows != rows:
            return None
        m = self.layout.mapping
        keys = {m.instance: INSTANCE, m.seq: SEQ, m.event: EVENT}
        columns = {keys.get(path, path): _at(table, path) for path in self._kinds(kind)}
        columns[INSTANCE] = _names(columns[INSTANCE])
        return columns

    def _kinds(self, instance: str) -> dict[str, str]:
        m = self.layout.mapping
        return {m.instance: instance, m.seq: LONG, m.event: STRING, **self.layout.types}

    def _nested(self, instance: str) -> Any:
        """The schema of a line: an object of objects, as deep as the paths go."""
        pa = arrow()
        kinds = {LONG: pa.int64(), STRING: pa.string(), BOOLEAN: pa.bool_()}
        tree: dict[str, Any] = {}
        for path, kind in self._kinds(instance).items():
            *outer, last = names_in(path)
            inside = tree
            for name in outer:
                inside = inside.setdefault(name, {})
            inside[last] = kinds[kind]
        return pa.schema(_fields(tree))

    def _one_by_one(self, lines: Sequence[bytes], place: Place) -> Any:
        """The same, each line parsed by Python."""
        pa = arrow()
        columns: dict[str, list[Any]] = {name: [] for name in self.schema.names}
        for i, line in enumerate(lines):
            found = decoded(line, self.layout.mapping.row_of)
            if found is None:
                continue
            row = None
            if isinstance(found, Row):
                row = regular_columns(self.layout, loads(line.decode()), found)
            if row is None:
                row = dict[str, Any]({RAW: line})
                if isinstance(found, Row):
                    row.update({INSTANCE: found.instance, SEQ: found.seq})
                else:
                    row[PLACE] = place(i)
            for name, column in columns.items():
                column.append(row.get(name))
        return pa.Table.from_pydict(columns, schema=self.schema)


def regular_columns(layout: Layout, data: Record, row: Row) -> dict[str, Any] | None:
    """The columns of a row that was made of this record; None where they cannot hold what is in
    it."""
    if row.flaw or row.seq < 0:
        return None
    event = value_at(layout.mapping.event, data)
    code = layout.codes.get(event)
    if code is None:
        return None
    out: dict[str, Any] = {INSTANCE: row.instance, SEQ: row.seq, EVENT: code}
    if event in layout.skipped:
        return out
    known = layout.events[event]
    for path in known.needs:
        value = value_at(path, data)
        if not _holds(layout.types[path], value):
            return None
        out[path] = value
    told = known.told
    if told is not None and told.path and row.output is not None:
        if told.origin is None or not _holds(layout.types[told.path], row.output):
            return None
        out[told.path] = row.output
    return out


def _names(keys: Any) -> Any:
    """The names of the instances with these keys, texts or whole numbers: see `mapping.shown`."""
    pa = arrow()
    if pa.types.is_integer(keys.type):
        return keys.cast(pa.string())
    alike = pa.compute.match_substring_regex(keys, QUOTED_TEXT)
    if not pa.compute.any(alike).as_py():
        return keys
    quote = pa.scalar('"')
    return pa.compute.if_else(
        alike, pa.compute.binary_join_element_wise(quote, keys, quote, ""), keys
    )


def _framed(block: bytes, lines: int) -> bool:
    """Whether each of so many lines begins with "{" and ends with "}"; so none is blank.

    It looks at the block and not at each line, which takes Python longer than Arrow parses it.
    """
    between = lines - 1
    if not (block.startswith(b"{") and block.endswith(b"}")):
        return False
    return block.count(b"\n") == between and block.count(b"}\n{") == between


def _sure(block: bytes, lines: Iterable[bytes], framed: bool) -> bool:
    """Whether Arrow, if it reads the block, reads it as Python does. `framed`: see `_framed`.

    Where each line begins and ends like an object, no object goes over the end of a line. So as
    many objects as lines are one in each.
    """
    if b"\\u" in block and SURROGATE.search(block) is not None:
        return False
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    if not framed and not all(map(_is_framed, lines)):
        return False
    return all(_plain(line) for line in lines if len(line) > 2 * DEEP)


def _is_framed(line: bytes) -> bool:
    """Whether a line begins and ends as an object does."""
    inside = line.strip(BLANK)
    return inside.startswith(b"{") and inside.endswith(b"}")


def _plain(line: bytes) -> bool:
    """Whether a line is not deep and has no vast number."""
    return line.count(b"[") + line.count(b"{") <= DEEP and DIGITS.search(line) is None


def _holds(kind: str, value: Any) -> bool:
    """Whether a column of this type holds a value of JSON."""
    if kind == LONG:
        return type(value) is int and -LARGEST <= value < LARGEST
    if kind == STRING:
        return isinstance(value, str) and encodable(value)
    return isinstance(value, bool)


def _fields(tree: Mapping[str, Any]) -> list[Any]:
    """The fields of a tree of types."""
    pa = arrow()
    return [
        pa.field(name, pa.struct(_fields(of)) if is_object(of) else of) for name, of in tree.items()
    ]


def _at(table: Any, path: str) -> Any:
    """The column at a path: null where an object on the way is."""
    pc = arrow().compute

    outer, *inner = names_in(path)
    column = table.column(outer).combine_chunks()
    return pc.struct_field(column, inner) if inner else column
