"""What an instance remembers of the rows that were judged: numbers and digests of the last ones.

A row that is delivered again in a later increment is known by them. They are as many as
`ReplayProgram.remembered` says, so a state does not grow with the log. Nobody knows whether an
older row came before.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from itertools import accumulate, chain, groupby, pairwise, repeat
from typing import Any

from lawful.spec.sha256 import digest

from ..rows import Row, content

BYTES = 6  # Of a digest: it tells rows of one number apart, and no others.


class Known(Enum):
    """What is remembered of a row."""

    SAME = auto()  # A row that says the same was judged.
    OTHER = auto()  # Rows with its number were judged, and say something else.
    NEW = auto()  # No row with its number was judged.
    FORGOTTEN = auto()  # Rows with such a number are not remembered any more.


class JudgedRows:
    """The numbers and digests of the last `most` rows; numbers up to `forgotten` are not known."""

    def __init__(self, most: int, forgotten: int = -1) -> None:
        self.most = most
        self.forgotten = forgotten
        self.rows: deque[tuple[int, bytes]] = deque()

    def add(self, row: Row) -> None:
        """Remember a row, whose number is that of the last one or a later one."""
        made = row.seq, _digest(row)
        for each in reversed(self.rows):
            if each == made:
                return
            if each[0] != row.seq:
                break
        self.rows.append(made)
        self._forget()

    def _forget(self) -> None:
        while len(self.rows) > self.most:
            self.forgotten, _ = self.rows.popleft()

    def known(self, row: Row) -> Known:
        """What is remembered of a row."""
        same = [each for number, each in self.rows if number == row.seq]
        if same and _digest(row) in same:
            return Known.SAME
        if row.seq <= self.forgotten:
            return Known.FORGOTTEN
        return Known.OTHER if same else Known.NEW

    def to_json(self) -> dict[str, Any]:
        """The rows as JSON: how far apart their numbers are, and the digests."""
        numbers = [self.forgotten, *(number for number, _ in self.rows)]
        apart = groupby(b - a for a, b in pairwise(numbers))
        return {
            "forgotten": self.forgotten,
            "apart": [[step, len([*same])] for step, same in apart],
            "sums": base64.b64encode(b"".join(each for _, each in self.rows)).decode(),
        }

    @classmethod
    def of_json(cls, data: Mapping[str, Any], most: int) -> JudgedRows:
        """The rows in JSON, of which at most so many stay."""
        out = cls(most, data["forgotten"])
        steps = chain.from_iterable(repeat(step, count) for step, count in data["apart"])
        numbers = [*accumulate(steps, initial=out.forgotten)][1:]
        out.rows.extend(zip(numbers, _parts(base64.b64decode(data["sums"])), strict=True))
        out._forget()
        return out


def _parts(sums: bytes) -> Iterator[bytes]:
    for begin in range(0, len(sums), BYTES):
        yield sums[begin : begin + BYTES]


def _digest(row: Row) -> bytes:
    return digest(content(row).encode(errors="surrogatepass"))[:BYTES]
