"""Generated code of the parts of a machine: their steps, `can`, and new parts."""

from __future__ import annotations

from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import One, Several, Start, callee

from ..layout.layouts import (
    BOOL,
    Containers,
    Index,
    Layout,
    MachineLayout,
    NotGenerated,
    Number,
    Sum,
    offsets,
    width,
)
from .body import Body, begun
from .bounds import broken, outside
from .conversions import to_layout
from .expressions import Expressions, Owner
from .functions import Function, general, plain, states
from .prelude import ESCAPE
from .text import AMBIGUOUS, REFUSED, Target, Value, plus
from .time import set_clocks


def arguments(
    f: Expressions, owner: ir.Machine, name: str, args: tuple[ir.Expr, ...]
) -> list[Value]:
    """The arguments of a part's event, each in the layout that all its transitions take."""
    params = callee(owner, name).params
    made: list[Value] = []
    for arg, (_, kind) in zip(args, params, strict=True):
        value = f.value(arg)
        if isinstance(kind, t.Union) or not isinstance(value.layout, Number):
            value = to_layout(f, value, _given(f.module, kind, value.layout))
        made.append(f.passed(f.own(value)))
    return made


def _given(m: Owner, kind: t.Type, found: Layout) -> Layout:
    """The layout of a parameter; for a container, that of the argument."""
    if isinstance(found, Containers):
        return found
    return m.layout_of(kind)


def take(f: Expressions, owner: ir.Machine, name: str, at: str, args: list[Value]) -> Function:
    """A part's transition or event at a place, within the caller's step."""
    made = _taking(f.module, owner, name, tuple(v.layout for v in args))
    f.calls(made.rounds)
    f.passing(f"{made.name}({', '.join(('w', at, *(v.text for v in args)))})")
    return made


def _taking(m: Owner, owner: ir.Machine, name: str, layouts: tuple[Layout, ...]) -> Function:
    match callee(owner, name):
        case Start(function=start):
            return m.helper(owner, start, layouts)
        case One(transition=row):
            return m.transition(owner, row, layouts)
        case Several() as event:
            return _dispatch(m, owner, event, tuple(map(general, layouts)))


def _dispatch(m: Owner, owner: ir.Machine, event: Several, layouts: tuple[Layout, ...]) -> Function:
    """An event that several transitions serve, or that may be ignored: each is tried."""
    name = event.event
    key = ("event", owner.name, name, layouts)
    if key in m.made:
        return m.made[key]
    names = [n for n, _ in event.params]
    f = begun(m, owner, zip(names, layouts, strict=True))
    made = Function(m.program.name("e_" + plain(name)))
    params = ", ".join(("w", "b", *(f"a_{n}" for n in names)))
    f.lines.append(f"def {made.name}({params}):")
    whole = m.codec.machine(owner.name)
    kept, size = f.region(whole), width(whole)
    f.line("taken = 0")
    f.line("said = 0")
    for row in event.serving:
        _try(f, m.transition(owner, row, layouts), made, kept)
    f.stop_if("taken > 1", AMBIGUOUS)
    with f.block("if taken == 1:"):
        f.line("if said != 0: return said")
        f.line(f"copy(w, b, {kept}, {size})")
        f.line("return 0")
    _ignoring(f, owner, event, made)
    f.line(f"return {REFUSED}")
    made.rounds = f.longest
    m.program.names[key] = made.name
    m.program.add(f.lines)
    m.made[key] = made
    return made


def _try(f: Body, inner: Function, made: Function, kept: str) -> None:
    """One transition on a copy of the machine; the first enabled one is kept."""
    whole = f.module.codec.machine(f.machine.name)
    size, trial = width(whole), f.region(whole)
    f.line(f"copy(w, {trial}, b, {size})")
    f.calls(inner.rounds)
    status = f.hold(f"{inner.name}({', '.join(('w', trial, *(v.text for v in f.given)))})")
    with f.block(f"if {status} != {REFUSED}:"):
        f.escape_if(f"{status} == {ESCAPE}")
        f.line("taken += 1")
        with f.block("if taken == 1:"):
            f.line(f"said = {status}")
            f.line(f"copy(w, {kept}, {trial}, {size})")
            _keep_output(f, made, inner)


def _keep_output(f: Body, made: Function, inner: Function) -> None:
    if inner.output is None or not inner.output_at:
        return
    if made.output is None:
        made.output = inner.output
        made.output_at = f.region(inner.output)
    f.store(made.output_at, to_layout(f, f.load(inner.output, inner.output_at), made.output))


def _ignoring(f: Body, owner: ir.Machine, event: Several, made: Function) -> None:
    for row in event.ignores:
        test = ["True"]
        if row.source is not None:
            kind = next(v.type for v in owner.variables if v.name == "state")
            me = ir.Self(owner.place, t.Part(owner.name))
            now = f.value(ir.Field(owner.place, kind, me, "state")).text
            numbers = states(kind, row.source)
            test.append("(" + " or ".join(f"{now} == {n}" for n in numbers) + ")")
        with f.block(f"if {' and '.join(test)}:"):
            if row.when is not None:
                args = tuple(ir.Local(owner.place, k, n) for n, k in event.params)
                value = f.module.call(f, owner, row.when, f.me, args)
                f.line(f"if not {value.text}: said = 1")
                f.line("else: said = 0")
            else:
                f.line("said = 0")
            with f.block("if said == 0:"):
                if made.output is not None and made.output_at:
                    none = f.constant(f.module.layout_of(t.NOTHING), None)
                    f.store(made.output_at, to_layout(f, none, made.output))
                f.line("return 0")


def can(f: Expressions, e: ir.Can) -> Value:
    """Whether a part's step would not be refused, tried on a copy."""
    assert isinstance(e.part.type, t.Part)
    owner = f.module.machines[e.part.type.machine]
    _, at = f.place(e.part)
    args = arguments(f, owner, e.name, e.args)
    whole = f.module.codec.machine(owner.name)
    trial = f.region(whole)
    f.line(f"copy(w, {trial}, {at}, {width(whole)})")
    made = _taking(f.module, owner, e.name, tuple(v.layout for v in args))
    f.calls(made.rounds)
    with f.uncounted():
        status = f.hold(f"{made.name}({', '.join(('w', trial, *(v.text for v in args)))})")
    f.escape_if(f"{status} == {ESCAPE}")
    return Value(BOOL, f.hold(f"{status} != {REFUSED}"))


def enabled(f: Expressions, e: ir.Enabled) -> Value:
    """Whether a transition of the machine takes the event, each tried on a copy."""
    owner = f.machine
    args = arguments(f, owner, e.event, e.args)
    whole = f.module.codec.machine(owner.name)
    trial, taken = f.region(whole), f.temporary()
    f.line(f"{taken} = 0")
    for row in owner.serving(e.event):
        made = f.module.transition(owner, row, tuple(v.layout for v in args))
        f.line(f"copy(w, {trial}, {f.me}, {width(whole)})")
        f.calls(made.rounds)
        status = f.hold(f"{made.name}({', '.join(('w', trial, *(v.text for v in args)))})")
        f.escape_if(f"{status} == {ESCAPE}")
        f.line(f"if {status} != {REFUSED}: {taken} = 1")
    return Value(BOOL, f.hold(f"{taken} != 0"))


def fresh(f: Expressions, e: ir.New) -> Value:
    """A part in its initial state, with these parameters."""
    assert isinstance(e.type, t.Part)
    whole = f.module.codec.machine(e.type.machine)
    defaults: Any = f.module.reference.fresh(e.type.machine, {})
    at = f.region(whole)
    try:
        for i, cell in enumerate(_filled(f.module, whole, defaults)):
            f.line(f"w[{plus(at, i)}] = {cell}")
    except NotGenerated:  # Its declaration gives it what is outside the scope.
        f.escape_if("True")
    set_clocks(f, f.module.machines[e.type.machine], at)
    names = [n for n, _ in whole.fields]
    places = offsets(k for _, k in whole.fields)
    for name, arg in e.args:
        layout = whole.fields[names.index(name)][1]
        if isinstance(arg, ir.Const) and isinstance(layout, Index) and layout.values:
            value = f.constant(layout, arg.value)
        else:
            value = to_layout(f, f.value(arg, Target(layout)), layout)
        place = plus(at, places[names.index(name)])
        f.store(place, value)
        beyond = broken(f.program, layout, place)
        if not isinstance(arg, ir.Const):
            beyond += outside(f.program, layout, place)
        if beyond:
            f.escape_if(" or ".join(beyond))
    owner = f.module.machines[e.type.machine]
    for p in owner.of_kind("assume"):
        f.fail_if(f"not {f.module.call(f, owner, p.function, at, ()).text}")
    return Value(whole, at)


def _filled(m: Owner, whole: MachineLayout, state: Any) -> list[int]:
    """The cells of a fresh part; a variable without a value is blank."""
    made: list[int] = []
    for (_, layout), value in zip(whole.fields, state, strict=True):
        if isinstance(layout, MachineLayout):
            made += _filled(m, layout, value)
        elif value is None and not isinstance(layout, Sum):
            made += [0] * width(layout)
        else:
            made += m.codec.encode(layout, value)
    return made
