"""Records in files of JSON that are no lines: documents over several lines, one after another.

A document is a record, or a list of records. So are the exports of many programs: `{"Records":
[...]}` of AWS CloudTrail, `{"items": [...]}` of kubectl, `{"data": [...]}` of Jaeger.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lawful.spec.codec.as_json import is_list
from lawful.spec.integer_texts import beyond, is_beyond

from ..rows import Twice, unique

BLANK = re.compile(r"[ \t\r\n]*")


def records(data: bytes) -> Iterator[Any]:
    """The documents in a file, of a list its elements. Raises ValueError, which says at which line,
    where a text is no JSON."""
    text = data.decode()
    read = json.JSONDecoder(object_pairs_hook=unique).raw_decode
    at = _after_blanks(text, 0)
    while at < len(text):
        begun = at
        try:
            document, at = read(text, at)
        except Twice as error:
            line = text.count("\n", 0, begun) + 1
            raise ValueError(f"a key twice, in the document that begins in line {line}") from error
        except ValueError as error:
            if not is_beyond(error):
                raise
            line = text.count("\n", 0, begun) + 1
            what = f"{beyond()}; in the document that begins in line {line}"
            raise ValueError(what) from error
        yield from document if is_list(document) else [document]
        at = _after_blanks(text, at)


def _after_blanks(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return at if match is None else match.end()
