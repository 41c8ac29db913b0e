"""Generated functions as their callers see them: the name, and where the output is."""

from __future__ import annotations

from lawful.spec import types as t
from lawful.spec.quick_dataclass import dataclass

from ..layout.layouts import INTEGER, Layout, Number
from .text import Value, Writer


@dataclass
class Function:
    """A generated function: its name, and where its output is when it is done."""

    name: str
    output: Layout | None = None
    output_at: str = ""
    rounds: int = 1  # At most so many rounds have the loops inside, one inside another.

    def given(self, f: Writer) -> Value | None:
        """Its output in cells of the caller's, None where it gives nothing."""
        if self.output is None:
            return None
        if not self.output_at:  # It never comes to its end.
            return Value(self.output, f.region(self.output))
        return f.own(f.load(self.output, self.output_at))


def general(layout: Layout) -> Layout:
    """The layout for which a function is written: integers of any size."""
    return INTEGER if isinstance(layout, Number) else layout


def plain(name: str) -> str:
    """A name that is valid in Python text."""
    return "".join(c if c.isalnum() else "_" for c in name)


def states(kind: t.Type, names: tuple[str, ...]) -> list[int]:
    """The positions of control states in their enum."""
    assert isinstance(kind, t.Enum)
    return [kind.members.index(name) for name in names]
