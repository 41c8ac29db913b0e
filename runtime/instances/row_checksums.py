"""Checksums of the lines of a journal.

    {...,"wall":1.5,"sum":"00000000a1b2c3d4"}

The first eight hexadecimal digits are the checksum of the line before in the file, zeros at the
start of the file and after a line without one. The last eight are the line's own: the CRC-32 of its
bytes up to there. So one line alone shows whether it is as it was written, and all together show
that none is missing between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

SUM = "sum"
_END = re.compile(rb',"sum":"([0-9a-f]{8})([0-9a-f]{8})"\}\n?\Z')


class Seal(NamedTuple):
    """The checksums in a line: `before`, that of the line before, and `own`. `kept`: whether the
    line is as it was written."""

    before: int
    own: int
    kept: bool


def sealed(lines: Iterable[str], before: int) -> tuple[bytes, int]:
    """The bytes of these lines, each given without its last brace, and the checksum of the last;
    `before` is that of the line before them."""
    out: list[bytes] = []
    for line in lines:
        head = f'{line},"sum":"{before:08x}'.encode()
        before = crc32(head)
        out.append(b'%b%08x"}\n' % (head, before))
    return b"".join(out), before


def seal_of(line: bytes) -> Seal | None:
    """The checksums at the end of a line; None where it has none as `sealed` writes them."""
    found = _END.search(line, max(0, len(line) - 28))
    if found is None:
        return None
    before, own = (int(each, 16) for each in found.groups())
    return Seal(before, own, crc32(line[: found.start(2)]) == own)
