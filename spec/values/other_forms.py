"""How data differ from the JSON form of a value: texts of errors."""

from __future__ import annotations

from typing import Any


def other_fields(data: Any, name: str, fields: list[str]) -> str:
    """How a record of another declaration differs."""
    missing = ", ".join(field for field in fields if field not in data)
    more = ", ".join(field for field in data if field not in ("$", *fields))
    wrong = [f"without {missing}"] * bool(missing) + [f"with {more}"] * bool(more)
    return (
        f"expected a {name} of {', '.join(fields) or 'no fields'}, found one {' and '.join(wrong)}"
    )
