"""A machine of transitions, and a model for it."""

from __future__ import annotations

import enum
from typing import Any

from transitions import Machine as Theirs

MOST = 100


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Matter:
    """A model, whose conditions are what a test says they are."""

    hot = False
    pressed = False
    temperature: int = 0
    color: Color = Color.BLUE

    def is_hot(self) -> bool:
        return self.hot

    def is_pressed(self) -> bool:
        """An opaque one: it calls something."""
        return bool(self.pressed)

    def boils(self) -> bool:
        """A readable one."""
        return self.temperature > MOST and self.color == Color.RED

    def log(self) -> None: ...


STATES = ["solid", "liquid", "gas"]
ROWS: list[dict[str, Any]] = [
    {
        "trigger": "heat",
        "source": "solid",
        "dest": "gas",
        "conditions": "is_hot",
        "unless": "is_pressed",
    },
    {"trigger": "heat", "source": "solid", "dest": "liquid", "before": "log"},
    {"trigger": "heat", "source": "liquid", "dest": "gas", "conditions": ["is_hot"]},
    {"trigger": "cool", "source": ["gas", "liquid"], "dest": "solid"},
    {"trigger": "look", "source": "*", "dest": None},
    {"trigger": "shake", "source": "*", "dest": "="},
]


def theirs(rows: list[dict[str, Any]], model: Any = None, **options: Any) -> Any:
    return Theirs(model or Matter(), states=STATES, transitions=rows, initial="solid", **options)
