"""Personal data in records: hashed, or dropped, by the process that reads them.

That is before a row is sorted, sent to another process or shown. A hash has a secret key, the salt,
because names and numbers of customers are few enough to try them all.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from lawful.spec.codec.as_json import is_object

from .path_templates import MissingPath, Record, put, value_at
from .preparation_table import Preparation
from .record_paths import names_in

DIGITS = 32  # Hexadecimal ones of a hash: 128 bits.
WITHHELD = "(withheld)"  # In place of the text of a rejected row.


def mask(how: Preparation, record: Record) -> None:
    """Put hashes in the place of some values of a record, and remove others."""
    for path in how.hash:
        try:
            put(path, record, hashed(value_at(path, record), how.salt))
        except MissingPath:
            continue
    for path in how.drop:
        _remove(path, record)


def hashed(value: Any, salt: str) -> str:
    """The hash of a JSON value: `h` and 32 digits of HMAC-SHA256 (RFC 2104)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return "h" + hmac.new(salt.encode(), text.encode(), hashlib.sha256).hexdigest()[:DIGITS]


def _remove(path: str, record: Record) -> None:
    """Remove the value at a path, if there is one."""
    *outer, last = names_in(path)
    inside: Any = record
    for name in outer:
        if not is_object(inside.get(name)):
            return
        inside[name] = dict(inside[name])  # Other records may share it.
        inside = inside[name]
    inside.pop(last, None)
