"""The targets of transitions whose headers name none, and whose bodies assign the control state.

    @transition(source=Job.RUNNING)
    def fail(self) -> None:
        self.state = Job.DEAD if self.tries > 2 else Job.WAITING

has the targets DEAD and WAITING. Where a path through the body assigns nothing, the control state
stays, so the sources are targets, too. What is assigned otherwise than by name may be any state.
Every engine reads the targets as if they were written out, and the body never leaves them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ... import ir
from ... import types as t
from ...analysis.walk import statements, written

Functions = Mapping[str, ir.Function]
Values = Mapping[str, Sequence[ir.Expr | None]]  # By local, what is assigned; None is anything.


def with_targets(machine: ir.Machine) -> ir.Machine:
    """The machine with a target in each header that needs one."""
    rows = (*machine.transitions, *machine.bases)
    controls = [row.control for row in rows if row.control is not None and _is_own(row.control)]
    # A control state that no header names is a variable like any other.
    own = tuple(dict.fromkeys(controls))
    functions = {f.name: f for f in machine.functions}
    return replace(
        machine,
        transitions=tuple(_targeted(row, own, functions) for row in machine.transitions),
        bases=tuple(_targeted(row, own, functions) for row in machine.bases),
    )


def _is_own(control: ir.Expr | None) -> bool:
    return isinstance(control, ir.Field) and isinstance(control.of, ir.Self)


def _targeted(row: ir.Transition, own: Sequence[ir.Expr], functions: Functions) -> ir.Transition:
    """The row with the targets that its body names; `own` are the variables that headers move."""
    if row.target is not None or row.control not in (None, *own):
        return row
    within = list(_with_helpers(row.function, functions))
    places = {place for stmt, _ in within for place in written(stmt)}
    mine = own if row.control is None else (row.control,)
    control = next((each for each in mine if each in places), None)
    if control is None:
        return row
    every = control.type.members if isinstance(control.type, t.Enum) else ()
    found = set[str]()
    for stmt, values in within:
        if isinstance(stmt, ir.Base):
            found.update(every)  # The ancestor's transition may move it, too.
        elif control in written(stmt):
            value = stmt.value if isinstance(stmt, ir.Assign) else None
            found.update(every if (named := _named(value, values)) is None else named)
    if _may_stay(row.function.body, control, functions):
        found.update(row.source or every)
    return replace(row, control=control, target=tuple(s for s in every if s in found))


def _with_helpers(function: ir.Function, functions: Functions) -> Iterator[tuple[ir.Stmt, Values]]:
    """The statements of a function and of the helpers that it calls, each with what its function
    assigns to locals."""
    values: defaultdict[str, list[ir.Expr | None]] = defaultdict(list)
    values.update((name, [None]) for name, _ in function.params)
    for stmt in statements(function.body):
        for place in written(stmt):
            if isinstance(place, ir.Local):
                values[place.name].append(stmt.value if isinstance(stmt, ir.Assign) else None)
        match stmt:
            case ir.Unpack(names=names, value=ir.Op(op="tuple", args=args)):
                for name, value in zip(names, args, strict=True):
                    values[name].append(value)
            case ir.Unpack(names=names) | ir.Loop(names=names):
                for name in names:
                    values[name].append(None)
            case _:
                pass
    for stmt in statements(function.body):
        yield stmt, values
        if isinstance(stmt, ir.Do) and stmt.call.function in functions:
            yield from _with_helpers(functions[stmt.call.function], functions)


def _named(value: ir.Expr | None, values: Values) -> set[str] | None:
    """The states that a value may be, where the text names them; else None."""
    match value:
        case ir.Const(value=str(name)):
            return {name}
        case ir.If(then=then, other=other):
            return _all_named((then, other), values)
        case ir.Local(name=name):
            # A local may take another local's value, in a circle of rounds: look once at each.
            others = {key: given for key, given in values.items() if key != name}
            return _all_named(values.get(name, (None,)), others)
        case _:
            return None


def _all_named(given: Iterable[ir.Expr | None], values: Values) -> set[str] | None:
    found = set[str]()
    for each in given:
        named = _named(each, values)
        if named is None:
            return None
        found |= named
    return found


def _may_stay(body: Iterable[ir.Stmt], control: ir.Expr, functions: Functions) -> bool:
    """Whether the body may come to an end without an assignment."""
    ends, leaves = _unassigned(body, control, functions)
    return ends or leaves


def _unassigned(
    body: Iterable[ir.Stmt], control: ir.Expr, functions: Functions
) -> tuple[bool, bool]:
    """Whether control may come to the end of these statements without an assignment, and whether
    it may leave the function so."""
    leaves = False
    for stmt in body:
        match stmt:
            case ir.Return():
                return False, True
            case ir.Refuse() | ir.Break() | ir.Continue():
                return False, leaves  # After a loop nothing counts as assigned.
            case ir.Branch(then=then, other=other):
                first = _unassigned(then, control, functions)
                second = _unassigned(other, control, functions)
                leaves = leaves or first[1] or second[1]
                if not (first[0] or second[0]):
                    return False, leaves
            case ir.Loop(body=inside):
                leaves = leaves or _unassigned(inside, control, functions)[1]
            case _ if control in written(stmt) or _assigns(stmt, control, functions):
                return False, leaves
            case _:
                pass
    return True, leaves


def _assigns(stmt: ir.Stmt, control: ir.Expr, functions: Functions) -> bool:
    """Whether the statement calls a helper that assigns on every path."""
    if not isinstance(stmt, ir.Do) or stmt.call.function not in functions:
        return False
    return not _may_stay(functions[stmt.call.function].body, control, functions)
