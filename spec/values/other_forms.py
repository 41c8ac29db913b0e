"""How data differ from the JSON form of a value: the errors."""

from __future__ import annotations

import json
from typing import Any

from .. import types as t
from .text import shown


def another_form(data: Any, type: t.Type) -> ValueError:
    """The error for data that are not a value of this type."""
    return ValueError(f"expected a {type}, found {text_of(data)}")


def text_of(data: Any) -> str:
    """The beginning of the text of data from outside, which may be no JSON."""
    try:
        return json.dumps(data)[:80]
    except RecursionError:
        return "data that are nested too deeply"
    except (TypeError, ValueError):  # No JSON, or an integer of more digits than Python writes.
        return shown(data)[:80]


def other_fields(data: Any, record: t.Record) -> ValueError:
    """The error for a record of another declaration: how it differs."""
    fields = [field for field, _ in record.fields]
    missing = ", ".join(field for field in fields if field not in data)
    more = ", ".join(field for field in data if field not in ("$", *fields))
    wrong = [f"without {missing}"] * bool(missing) + [f"with {more}"] * bool(more)
    wanted = f"{record.name} of {', '.join(fields) or 'no fields'}"
    return ValueError(f"expected a {wanted}, found one {' and '.join(wrong)}")
