"""Names of instances: an instance of a foreign trace has a key, a text or a whole number.

A text that another instance might be shown as stands in quotes, so `7` and `"7"` are two instances.
"""

from __future__ import annotations

import re
from typing import Any

QUOTED_TEXT = r'(?s)\A(?:0|-?[1-9][0-9]*|".*)\z'  # The same pattern, as Arrow has it.
QUOTED = re.compile(r'0|-?[1-9][0-9]*|".*', re.DOTALL)


def shown(key: Any) -> Any:
    """The name of the instance with this key; any other value comes back as it is."""
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    return f'"{key}"' if isinstance(key, str) and QUOTED.fullmatch(key) else key


def key_of(name: str) -> str | int:
    """The key of the instance with this name."""
    if not QUOTED.fullmatch(name):
        return name
    return name[1:-1] if name.startswith('"') else int(name)
