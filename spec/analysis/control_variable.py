"""The control variable of a machine: the one whose states are its control states.

Journals (`before`, `after`), telemetry, stays, coverage of states, lint and pictures tell of it.
"""

from __future__ import annotations

from .. import ir
from .. import types as t


def control_variable(machine: ir.Machine) -> ir.Variable | None:
    """The variable `state`, where that is an enum; else the one that `source` and `target` of the
    transitions move. None where they move several, items of a map, or nothing."""
    plain = {v.name: v for v in machine.variables if isinstance(v.type, t.Enum) and not v.ghost}
    if "state" in plain:
        return plain["state"]
    moved = {
        row.control.name
        for row in machine.transitions
        if isinstance(row.control, ir.Field) and isinstance(row.control.of, ir.Self)
    }
    found = [plain[name] for name in sorted(moved) if name in plain]
    return found[0] if len(found) == 1 else None


def control_name(machine: ir.Machine) -> str | None:
    """The name of the control variable; None where there is none."""
    found = control_variable(machine)
    return None if found is None else found.name
