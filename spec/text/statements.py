"""The IR as readable text, close to the Python that the user wrote.

`expr`, `statement` and `machine` are what others use; a machine is shown with the types and the
parts that it needs before it, as a module would have them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from .. import ir
from .. import types as t
from ..analysis.walk import everything, statements, written
from . import wrap as layout
from .expressions import Level, expr, notation, own_name, quoted

__all__ = ["Level", "block", "expr", "machine", "notation", "path", "statement"]

INDENT = "    "


# Statements.


def statement(s: ir.Stmt, indent: int = 0) -> list[str]:
    """The statement as lines of Python, indented so many levels."""
    match s:
        case ir.Branch():
            lines = _branch(s, "if")
        case ir.Loop(names=names, over=over, body=body):
            lines = [f"for {', '.join(names)} in {expr(over)}:", *block(body, 1)]
        case _:
            lines = [_simple(s)]
    return [INDENT * indent + line for line in lines]


def block(body: Sequence[ir.Stmt], indent: int = 0) -> list[str]:
    """The statements of a body; `...` for an empty body."""
    lines = [line for s in _written(body) for line in statement(s, indent)]
    return lines or [INDENT * indent + "..."]


def _written(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements as they were written: what went through a local of ours goes straight."""
    rest = list(body)
    while rest:
        match rest:
            case [
                ir.Update() | ir.Step() | ir.Base() | ir.Do() as first,
                ir.Assign(target=target, value=ir.Local(name=name)),
                *after,
            ] if _ours(name) and _named(first.into) == name:
                yield dataclasses.replace(first, into=target)
            case [ir.Unpack(names=names) as first, *after] if (
                all(map(_ours, names)) and (targets := _unpacked(names, after)) is not None
            ):
                yield dataclasses.replace(first, names=targets)
                after = after[len(names) :]
            case [first, *after]:
                yield first
            case _:
                raise AssertionError("a list with elements has a first one")
        rest = after


def _unpacked(names: tuple[str, ...], after: Sequence[ir.Stmt]) -> tuple[str, ...] | None:
    """The targets of the statements that follow an unpacking, if these only assign its locals."""
    found: list[str] = []
    for name, s in zip(names, after, strict=False):
        match s:
            case ir.Assign(target=target, value=ir.Local(name=given)) if given == name:
                found.append(expr(target))
            case _:
                return None
    return tuple(found) if len(found) == len(names) else None


def _ours(name: str) -> bool:
    """Whether a local is one that no declaration can name."""
    return name[:1] == "_" and name[1:].isdigit()


def _named_anew(lines: Sequence[str]) -> list[str]:
    """The lines of a body with names for locals of our own that a declaration may have."""
    text = "\n".join(lines)
    for own in dict.fromkeys(re.findall(r"(?<![\w.'\"])_\d+\b", text)):
        new = f"it{own}"
        while re.search(rf"\b{new}\b", text):
            new += "_"
        text = re.sub(rf"(?<![\w.'\"]){own}\b", new, text)
    return text.split("\n")


def _named(place: ir.Expr | None) -> str | None:
    return place.name if isinstance(place, ir.Local) else None


def _branch(s: ir.Branch, word: str) -> list[str]:
    lines = [f"{word} {expr(s.test)}:", *block(s.then, 1)]
    match s.other:
        case ():
            return lines
        case (ir.Branch() as other,):
            return lines + _branch(other, "elif")
        case other:
            return [*lines, "else:", *block(other, 1)]


def _simple(s: ir.Stmt) -> str:
    """A statement that fits on one line."""
    match s:
        case ir.Assign(target=target, value=value):
            return _augmented(s) or f"{expr(target)} = {expr(value)}"
        case ir.Update():
            return _update(s)
        case ir.Unpack(names=names, value=value):
            return f"{', '.join(names)} = {expr(value)}"
        case ir.Break():
            return "break"
        case ir.Continue():
            return "continue"
        case ir.Return(value=None):
            return "return"
        case ir.Return(value=ir.Expr() as value):
            return f"return {expr(value)}"
        case ir.Require(test=test, why=None):
            return f"require({expr(test)})"
        case ir.Require(test=test, why=ir.Expr() as why):
            return f"require({expr(test)}, {expr(why)})"
        case ir.Refuse(why=why):
            return f"refuse({expr(why)})"
        case ir.Assert(test=test):
            return f"assert {expr(test)}"
        case ir.Step(part=part, name=name, args=args, into=into):
            return f"{_into(into)}{expr(part)}.{name}({_list(args)})"
        case ir.Base(name=name, args=args, into=into):
            return f"{_into(into)}super().{own_name(name)}({_list(args)})"
        case ir.Do(call=call, into=into):
            return f"{_into(into)}{expr(call)}"
        case ir.Tick(clock=clock):
            return f"{expr(clock)}.tick()"
        case _:
            raise TypeError(f"no text for {s!r}")


def _list(args: Iterable[ir.Expr]) -> str:
    return ", ".join(map(expr, args))


def _into(into: ir.Expr | None) -> str:
    return "" if into is None else f"{expr(into)} = "


def _augmented(s: ir.Assign) -> str:
    """`x += 1` where it was written so: the operand is the target, at the same place."""
    match s.value:
        case ir.Op(op=op, args=(first, second)) if (
            first == s.target and first.place == s.target.place
        ):
            row = notation(op, 2)
            if Level.BITOR <= row.level < Level.UNARY:
                return f"{expr(s.target)} {row.filled(['', '']).strip()}= {expr(second)}"
        case _:
            pass
    return ""


def _update(s: ir.Update) -> str:
    target = expr(s.target)
    if s.op == "delete":
        return f"del {target}[{_list(s.args)}]"
    return f"{_into(s.into)}{target}.{s.op}({_list(s.args)})"


# Machines.


def machine(m: ir.Machine, settings: Sequence[Sequence[str]] = ()) -> str:
    """The machine as a module's text: its types, functions and parts, and the class.

    `settings` are further groups of lines for the class: the settings for checking.
    """
    from .free_names import with_own_names  # A machine that runs shows no declaration.

    m = with_own_names(m)
    texts = _classes(m, set())
    texts[m.name] += ["", *_separated(settings)] if settings else []
    wrap = layout.wrapped
    return (
        "\n\n\n".join(
            "\n".join(line for given in lines for line in wrap(given)) for lines in texts.values()
        )
        + "\n"
    )


def _classes(m: ir.Machine, seen: set[str]) -> dict[str, list[str]]:
    """Class statements and functions by name, each after those that it needs."""
    out = {str(kind): lines for kind in m.types if (lines := _type(kind, m))}
    for part in (*m.parts, *m.abstracts):
        if part.name not in seen:
            seen.add(part.name)
            out |= _classes(part, seen)
    free = _free(m)
    out |= {f.name: _function(f, own=False) for f in m.functions if f.name in free}
    out[m.name] = _class(m, free)
    return out


def _type(kind: t.Type, m: ir.Machine) -> list[str]:
    match kind:
        case t.Literal():
            return []  # It is written where it is used.
        case t.Enum(name=name, members=members):
            controls = {tr.control.type for tr in m.transitions if tr.control is not None}
            if any(row.source for row in m.ignores):
                controls.update(v.type for v in m.variables if v.name == "state")
            base = "State" if kind in controls else "Enum"
            return [f"class {name}({base}):", *(f"{INDENT}{member} = auto()" for member in members)]
        case t.Record(name=name, fields=fields):
            rows = [f"{INDENT}{field}: {annotation(type)}" for field, type in fields]
            return [f"class {name}(Record):", *(rows or [INDENT + "..."])]
        case t.Sort(name=name, ordered=ordered, growing=growing):
            base = "OrderedSort" if ordered else "Sort"
            return [f"class {name}({base}{', growing=True' * growing}):", INDENT + "..."]
        case t.Opaque(name=name):
            return [f"{name} = Annotated[object, Opaque({quoted(name)})]"]
        case _:
            return []


def annotation(kind: t.Type) -> str:
    """A type as an annotation of Python."""
    match kind:
        case t.Serial():
            return f"Annotated[int, {kind}]"
        case t.Int(low=low, high=high) if "[" in str(kind):
            limits = (("ge", low), ("le", high))
            given = ", ".join(f"{word}={limit}" for word, limit in limits if limit is not None)
            return f"Annotated[int, Interval({given})]"
        case t.Seq(most=int() as most):
            return f"Annotated[{annotation(dataclasses.replace(kind, most=None))}, MaxLen({most})]"
        case t.Bag(most=int() as most):
            return f"Annotated[{annotation(dataclasses.replace(kind, most=None))}, MaxLen({most})]"
        case t.Seq(item=item, mutable=mutable):
            return f"list[{annotation(item)}]" if mutable else f"tuple[{annotation(item)}, ...]"
        case t.Set(item=item, mutable=mutable):
            return f"{'set' if mutable else 'frozenset'}[{annotation(item)}]"
        case t.Map(key=key, value=value, mutable=mutable):
            return f"{'dict' if mutable else 'Mapping'}[{annotation(key)}, {annotation(value)}]"
        case t.Bag(item=item):
            return f"Counter[{annotation(item)}]"
        case t.Tuple(items=items):
            return f"tuple[{', '.join(map(annotation, items)) or '()'}]"
        case _:
            return str(kind)


def _class(m: ir.Machine, free: Collection[str]) -> list[str]:
    groups = [
        _doc(m.doc),
        [_variable(v) for v in m.variables],
        [_parameter(p) for p in m.parameters],
        ["deadlock_ok = True"] if m.deadlock_ok else [],
        *(["@initial", *_function(f)] for f in m.initials),
        *(_event(e) for e in m.events if _worth_saying(e, m)),
        *(_transition(tr, m) for tr in m.transitions),
        [_ignore(row, m) for row in m.ignores],
        *(_helper(f) for f in m.functions if f.name not in free),
        *([_reached(base.name), *_transition(base, m)] for base in m.bases),
        *(map(property, m.properties)),
    ]
    body = list(_separated(group for group in groups if group))
    return [f"class {m.name}(Machine):", *(body or [INDENT + "..."])]


def property(p: ir.Property) -> list[str]:
    """A property as source text."""
    head = f"@refines({p.function.output})" if p.kind == "refines" else f"@{p.kind}"
    return [head, *_function(p.function, p.doc)]


def _separated(groups: Iterable[Sequence[str]]) -> Iterator[str]:
    for i, group in enumerate(groups):
        if i:
            yield ""
        yield from (INDENT + line for line in group)


def _doc(doc: str) -> list[str]:
    """The first line of a docstring; the rest is in the source."""
    first = doc.strip().split("\n")[0].replace("\\", "\\\\").replace('"""', '\\"""')
    return [f'"""{first}"""'] if first else []


def _variable(v: ir.Variable) -> str:
    kind = f"Ghost[{annotation(v.type)}]" if v.ghost else annotation(v.type)
    return f"{v.name}: {kind}" + ("" if v.initial is None else f" = {expr(v.initial)}")


def _parameter(p: ir.Parameter) -> str:
    default = "" if p.default is None else f" = {expr(p.default)}"
    return f"{p.name}: Param[{annotation(p.type)}]{default}"


def _free(m: ir.Machine) -> set[str]:
    """The functions of a module: they are called without a machine, so they have no `self`."""
    calls = (node for node in everything([m]) if isinstance(node, ir.Call))
    return {call.function for call in calls if call.of is None}


def _reached(key: str) -> str:
    return f"# Reached by super() as {key}."


def _helper(f: ir.Function) -> list[str]:
    return [*([_reached(f.name)] if "." in f.name else []), *_function(f)]


def _function(f: ir.Function, doc: str = "", own: bool = True) -> list[str]:
    body = [*_doc(doc), *_named_anew(block(f.body))]
    given = [f"{name}: {annotation(type)}" for name, type in f.params]
    params = ", ".join(["self", *given] if own else given)
    head = f"def {own_name(f.name)}({params}) -> {annotation(f.output)}:"
    return [head, *(INDENT + line for line in body)]


def _worth_saying(e: ir.Event, m: ir.Machine) -> bool:
    return e.choice or e.name not in {tr.name for tr in m.transitions}


def _event(e: ir.Event) -> list[str]:
    params = ", ".join(["self", *(f"{name}: {annotation(type)}" for name, type in e.params)])
    decorator = "@event(choice=True)" if e.choice else "@event"
    return [decorator, f"def {e.name}({params}) -> {annotation(e.output)}: ..."]


def _transition(tr: ir.Transition, m: ir.Machine) -> list[str]:
    header = ", ".join(f"{key}={value}" for key, value in _header(tr, m))
    own = dataclasses.replace(tr.function, name=own_name(tr.name))
    return [f"@transition({header})", *_function(own, tr.doc)]


def _header(tr: ir.Transition, m: ir.Machine) -> Iterator[tuple[str, str]]:
    """The arguments of the decorator."""
    kind = "" if tr.control is None else str(tr.control.type)
    if tr.source is not None:
        yield "source", _states(kind, tr.source)
    # A body that assigns the one target says itself where the state goes.
    if tr.target is not None and not (len(tr.target) == 1 and _moves(tr.function, tr, m)):
        yield "target", _states(kind, tr.target)
    if tr.event != own_name(tr.name):
        yield "event", quoted(tr.event)
    if tr.control is not None and not _said_by_states(tr, m):
        yield "of", quoted(path(tr.control))
    if tr.timer is not None:
        yield "timer", quoted(path(tr.timer))


def _said_by_states(tr: ir.Transition, m: ir.Machine) -> bool:
    """Whether the class of its states says which variable a transition moves: it is `state`, or no
    other variable holds one of them."""
    match tr.control:
        case ir.Field(of=ir.Self(), name=name, type=t.Enum() as kind):
            holding = [v.name for v in m.variables if not v.ghost and t.contains(v.type, t.Enum)]
            kinds = {v.name: set(t.inside(v.type)) for v in m.variables if v.name in holding}
            return name == "state" or [n for n in holding if kind in kinds[n]] == [name]
        case _:
            return False


def _moves(f: ir.Function, tr: ir.Transition, m: ir.Machine) -> bool:
    """Whether the function, or a helper that it calls, assigns the transition's control state."""
    helpers = {each.name: each for each in m.functions}
    for stmt in statements(f.body):
        if tr.control in written(stmt):
            return True
        called = helpers.get(stmt.call.function) if isinstance(stmt, ir.Do) else None
        if called is not None and _moves(called, tr, m):
            return True
    return False


def _states(kind: str, names: tuple[str, ...]) -> str:
    texts = [f"{kind}.{name}" if kind else name for name in names]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def path(place: ir.Expr) -> str:
    """A place of the machine as headers name it: `peers[p].idle`, without `self`."""
    return re.sub(r"\bself\.", "", expr(place))


def _ignore(row: ir.Ignore, m: ir.Machine) -> str:
    kind = next((str(v.type) for v in m.variables if v.name == "state"), "")
    given = [quoted(row.event)]
    if row.source is not None:
        given.append(f"source={_states(kind, row.source)}")
    if row.when is not None:
        given.append(f"when={_lambda(row.when)}")
    if row.otherwise:
        given.append("otherwise=True")
    given.append(f"because={quoted(row.because)}")
    return f"{row.name} = ignore({', '.join(given)})"


def _lambda(f: ir.Function) -> str:
    names = ["self", *(name for name, _ in f.params)]
    match f.body:
        case (ir.Return(value=ir.Expr() as value),):
            return f"lambda {', '.join(names)}: {expr(value)}"
        case _:
            return own_name(f.name)
