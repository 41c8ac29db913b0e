"""What a fault did: how often it was injected and seen, what was lost, what was torn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FAULT = "fault"  # The property of a test that has its counts.


@dataclass
class Count:
    """`injected`: faults. `observed`: those after which somebody got an error, or was told.
    `lost`: events that had returned and are gone. `torn`: half a step or half a row that nobody
    reports, an instance that hangs or goes on wrong."""

    injected: int = 0
    observed: int = 0
    lost: int = 0
    torn: int = 0

    def took(self, seen: bool, lost: bool, torn: bool) -> None:
        """Count one fault."""
        self.injected += 1
        self.observed += seen
        self.lost += lost
        self.torn += torn


def table(rows: Mapping[str, Count]) -> str:
    """The counts of a campaign as text, one line for each kind of fault."""
    width = max(map(len, rows))
    lines = [f"{'fault':{width}} {'injected':>9} {'observed':>9} {'lost':>6} {'torn':>6}"]
    lines += [
        f"{name:{width}} {c.injected:>9,} {c.observed:>9,} {c.lost:>6,} {c.torn:>6,}"
        for name, c in rows.items()
    ]
    return "\n".join(lines)
