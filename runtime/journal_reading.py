"""Reading a journal: its rows in their order, and an error where the file is not as it was written.

`runtime.journal` has the form of a row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from lawful.spec.integer_texts import beyond, is_beyond

from .instances.journal_rows import KEYS, UNIVERSE, VERSION, WALL
from .instances.row_checksums import SUM, seal_of
from .journal_numbers import Numbers

OPTIONAL = {UNIVERSE, WALL, SUM}
BEGINNINGS = (b'{"v":', b'{"instance":')  # Of a row; the later one in journals of version 1.
Torn = Callable[[int, str], None]


class JournalError(Exception):
    """A journal that cannot be read; `path` and `line` (from 1) say where."""

    def __init__(self, path: str, line: int, what: str) -> None:
        self.path = path
        self.line = line
        super().__init__(f"{path}:{line}: {what}")


def read(path: str | os.PathLike[str], *, on_torn: Torn | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a journal, in its order, without their checksums.

    An incomplete last line is no row: `on_torn(line, text)` is called with it. Without `on_torn` it
    raises JournalError, as does any other line that is no row or not as it was written, and a row
    out of its instance's sequence or the file's. An instance's first row may have any `seq`. Rows
    without a checksum are of older journals, and one that follows no other begins a file: journals
    may be put together in one. Errors: OSError.
    """
    return Reading(path, on_torn).rows()


class Reading:
    """One reading of a file. `last`: the checksum of the line that was read last, 0 for none;
    `next`: the next number of each instance."""

    def __init__(self, path: str | os.PathLike[str], on_torn: Torn | None) -> None:
        self.path = path
        self.on_torn = on_torn
        self.last = 0
        self._line = 0
        self.next = Numbers()

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, as `read` gives them."""
        with open(self.path, "rb") as file:
            for self._line, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self._torn(line)
                    return
                row = self._row(line)
                self._in_sequence(row)
                self._in_chain(row, line)
                yield row

    def _error(self, what: str) -> JournalError:
        return JournalError(str(self.path), self._line, what)

    def _torn(self, line: bytes) -> None:
        """Tell of a last line that was not written whole."""
        if self._line == 1 and not any(map(partial(_begins, line), BEGINNINGS)):
            raise self._error(f"not a row of a journal: {line[:60]!r}")
        if not isinstance(
            _parsed(line[:-1]) or "", str
        ):  # No beginning of a row is an object, but the whole row.
            raise self._error(f"a row that does not end as it was written: {line[-30:]!r}")
        text = line.decode(errors="replace")
        if self.on_torn is None:
            raise self._error(f"a torn last line: {text[:60]!r}")
        self.on_torn(self._line, text)

    def _row(self, line: bytes) -> dict[str, Any]:
        found = _parsed(line)
        if isinstance(found, str):
            raise self._error(f"{found}: {line[:60]!r}")
        version = found.get("v", 1)
        if version not in range(1, VERSION + 1):
            raise self._error(f"a row of version {version}; this lawful reads 1 to {VERSION}")
        named = isinstance(found.get("instance"), str) and type(found.get("seq")) is int
        if set(found) | OPTIONAL != set(KEYS) | OPTIONAL or not named:
            raise self._error(f"not a row of a journal: {line[:60]!r}")
        return found

    def _in_sequence(self, row: Mapping[str, Any]) -> None:
        name, seq = row["instance"], row["seq"]
        wanted = self.next.get(name)
        if wanted is not None and seq != wanted:
            raise self._error(f"row {seq} of {name}, where {wanted} is the next")
        self.next.put(name, seq + 1)

    def _in_chain(self, row: dict[str, Any], line: bytes) -> None:
        """Take the checksums off the row; JournalError where they do not fit."""
        if SUM not in row:
            self.last = 0
            return
        seal = seal_of(line)
        if seal is None or not seal.kept:
            told = f"its checksum is {row[SUM]!r}"
            raise self._error(f"a row that is not as it was written: {told}")
        if seal.before not in (self.last, 0):
            raise self._error("the row before is missing, or is not as it was written")
        self.last = seal.own
        del row[SUM]


def _begins(line: bytes, row: bytes) -> bool:
    """Whether a torn line may be one that begins so."""
    return line.startswith(row) or row.startswith(line)


def _parsed(line: bytes) -> dict[str, Any] | str:
    """The JSON object in a line, empty for other JSON; a text that says why there is none."""
    try:
        data: Any = json.loads(line)
    except ValueError as error:
        return beyond() if is_beyond(error) else "not JSON"
    except RecursionError:
        return "not JSON"
    return data if data.__class__ is dict else {}
