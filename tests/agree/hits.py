"""What a run met: counts by kind, and what must not be zero at its end."""

from __future__ import annotations

import inspect
import json
import typing
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from lawful.runtime.compile.in_place import COUNTS
from lawful.runtime.kernel.plan import Plan
from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.errors import RULES
from lawful.spec.verdicts import PropertyKind
from tests.agree.kinds import NESTINGS, constructor, nestings

ALONE = {"Timer", "Clock", "Part", "Param", "Ghost"}
CONSTRUCTORS = sorted({name for row in NESTINGS for name in row} | ALONE)
OUTCOMES = ("done", "refused", "undefined", "bounds", "asserts", "ambiguous", "ignored")
BY_IGNORES = ("refused by ignores", "undefined by ignores")
# What the methods of events use, as names of globals, and how their locals begin.
METHODS = {
    "judge": "a part's bounds are judged",
    "judge_variable": "a variable's bounds are judged",
    "judge_suspect": "a container's bounds are judged",
    "judge_output": "the output's bounds are judged",
    "refusal": "one transition is refused",
    "turned_away": "one transition is refused, or ignored under a condition",
    "unserved": "several transitions are refused",
    "choose": "the step is left to the runtime",
    "last_transition": "the control state says that the event is ignored",
    "FALSE_GUARDS": "a guard may have no value",
    "getrefcount": "a container is updated in place",
    "step": "a part's event of several transitions is called",
    "is_": "guards of several transitions may hold at once",
    "inner_": "a container in a map is updated in place",
    "undo": "a helper updates a container in place",
    "part0": "a part's event is called",
    "item": "an argument's elements are tested",
}
IN_PLACE = ("getrefcount", "inner_", "undo")
ABSTRACT = ("Node", "Expr", "Stmt")
KINDS = (*typing.get_args(PropertyKind),)


def nodes() -> list[str]:
    """Every class of the IR that a machine can have in it."""
    found = [c for c in vars(ir).values() if isinstance(c, type) and issubclass(c, ir.Node)]
    return sorted(c.__name__ for c in found if c.__name__ not in ABSTRACT)


def wanted() -> dict[str, list[str]]:
    """What must be met at least once, by group."""
    return {
        "node": nodes(),
        "operator": sorted({*ops.TABLE, "map"}),
        "update": sorted(f"{kind}.{op}" for kind, rows in ops.UPDATES.items() for op in rows),
        "type": CONSTRUCTORS,
        "nesting": [f"{outer}[{inner}]" for outer, inner in NESTINGS],
        "property": list(KINDS),
        "outcome": [*OUTCOMES, *BY_IGNORES],
        "method": sorted(METHODS[key] for key in METHODS if COUNTS or key not in IN_PLACE),
        "refusal": sorted(RULES),
    }


class Hits:
    """Counts by group and name; `total` counts what the run did."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()

    def add(self, group: str, name: str, times: int = 1) -> None:
        """Count something."""
        self.rows[f"{group} {name}"] += times

    def machine(self, machine: ir.Machine) -> None:
        """Count what stands in a machine."""
        kinds: dict[t.Type, None] = {}
        for node in everything((machine,)):
            self.add("node", type(node).__name__)
            match node:
                case ir.Op(op=op):
                    self.add("operator", op)
                case ir.Update(target=target, op=op):
                    self.add("update", f"{type(target.type).__name__}.{op}")
                case _:
                    pass
            if isinstance(node, ir.Expr | ir.Variable | ir.Parameter):
                kinds[node.type] = None
            if isinstance(node, ir.Parameter):
                self.add("type", "Param")
            if isinstance(node, ir.Variable):
                self.add("type", "Ghost", node.ghost)
        for kind in kinds:
            self.add("type", constructor(kind))
            for outer, inner in nestings(kind):
                self.add("nesting", f"{outer}[{inner}]")

    def methods(self, plan: Plan) -> None:
        """Count what the methods of a machine's events do."""
        for way in plan.ways.values():
            code = inspect.unwrap(plan.method(way)).__code__
            for key, what in METHODS.items():
                local = any(each.startswith(key) for each in code.co_varnames)
                self.add("method", what, key in code.co_names or local)

    def take(self, rows: Iterable[tuple[str, int]]) -> None:
        """Add the counts of another."""
        self.rows.update(dict(rows))

    def missing(self) -> list[str]:
        """What was never met."""
        return [
            f"{group} {name}"
            for group, names in wanted().items()
            for name in names
            if not self.rows[f"{group} {name}"]
        ]

    def write(self, path: Path) -> None:
        """Keep the counts for whoever sums them, who sees all of them or none."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(dict(self.rows)), encoding="utf-8")
        part.replace(path)

    def table(self) -> list[str]:
        """The counts as lines of text: totals first, then each group."""
        lines: list[str] = []
        beside = ("kept aside", "not encoded", "not packed", "not sparse packed")
        for group in ("total", *wanted(), *beside):
            rows = {
                key.removeprefix(f"{group} "): n
                for key, n in self.rows.items()
                if key.startswith(f"{group} ")
            }
            if group in wanted():
                rows = {name: rows.get(name, 0) for name in wanted()[group]}
            text = ", ".join(f"{name} {n}" for name, n in rows.items())
            lines.append(f"{group}: {text}")
        return lines
