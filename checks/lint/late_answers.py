"""A heuristic for late answers: handlers that ignore the request number of a message.

Many machines count their requests (`self.epoch += 1`), send the number, and get it back in the
answer. Only that number distinguishes a current answer from a late one, so a handler that does not
read it may take a late answer for a current one. The linter reports a transition if

- it has no `timer=`, and a parameter is a number or a record with a number,
- its body does not read that number (membership and class tests do not count as reading),
- it does more than remove the message from a collection, as a lossy network does,
- a variable of the same type is a counter: it is only assigned itself plus a constant, and is sent
  in an output or a record,
- and the names of the number and the counter, or of the field it is sent in, have a word in common.

Transitions of timers are not reported: a timer that is restarted or stopped does not fire at its
earlier deadline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import children, everything, statements, written

MEMBERSHIP = ("in", "not_in")
REMOVALS = ("remove", "discard")
# Words in names that are too general to show what is counted.
COMMON = frozenset({"next", "last", "first", "highest", "lowest", "current", "new", "old"})


@dataclass
class _Counter:
    """A variable that only counts up; `names` are its own and those of fields it is sent in.

    `out`: whether it is sent at all.
    """

    name: str
    type: t.Type
    names: set[str] = field(default_factory=set[str])
    out: bool = False

    def meets(self, name: str, kind: t.Type) -> bool:
        """Whether a number of that name and type may be a value of this counter."""
        if kind.__class__ is not self.type.__class__:
            return False
        if isinstance(kind, t.Sort | t.Serial):
            return kind == self.type
        return any(_alike(name, mine) for mine in self.names)


def _alike(one: str, other: str) -> bool:
    words = set(one.lower().split("_")) & set(other.lower().split("_"))
    return one == other or any(len(word) > 2 for word in words - COMMON)


def late_answers(machine: ir.Machine) -> Iterator[tuple[ir.Transition, str, str]]:
    """Each suspicious transition, also of parts, the number that it ignores, and the counter."""
    for m in (machine, *machine.parts):
        found = [each for each in _counters(m) if each.out]
        for row in m.transitions if found else ():
            if row.timer is None and not _loses(row):
                yield from dict.fromkeys(_unread(row, found))


def _loses(row: ir.Transition) -> bool:
    """Whether the transition does nothing but remove its message."""
    rows = list(statements(row.function.body))
    taken = [s for s in rows if isinstance(s, ir.Update) and s.op in REMOVALS]
    return bool(taken) and all(s in taken or not written(s) for s in rows)


def _unread(
    row: ir.Transition, counters: Sequence[_Counter]
) -> Iterator[tuple[ir.Transition, str, str]]:
    read = set(_read(row.function.body))
    for name, kind in row.function.params:
        if (name, "") in read:
            continue
        for path, inner in _numbers(name, kind):
            given = next((c for c in counters if c.meets(path or name, inner)), None)
            if given is not None and (name, path) not in read:
                yield row, f"{name}.{path}" if path else name, given.name


def _numbers(name: str, kind: t.Type) -> Iterator[tuple[str, t.Type]]:
    """The numbers in a parameter: (field, type), or ("", type) for the parameter itself."""
    for option in t.options(kind):
        if isinstance(option, t.Record):
            yield from ((n, of) for n, of in option.fields if _is_number(of))
        elif _is_number(option):
            yield "", option


def _is_number(kind: t.Type) -> bool:
    return isinstance(kind, t.Int | t.Serial) or (isinstance(kind, t.Sort) and kind.ordered)


def _read(nodes: Sequence[ir.Node]) -> Iterator[tuple[str, str]]:
    """What a body reads: (local, "") for a whole local, (local, field) for a field of it."""
    for node in nodes:
        match node:
            case ir.Field(of=of, name=name) if isinstance(local := _whole(of), ir.Local):
                yield local.name, name
            case ir.Local(name=name):
                yield name, ""
            case ir.IsA(of=of) if isinstance(_whole(of), ir.Local):
                pass
            case ir.Op(op=op, args=(member, of)) if op in MEMBERSHIP and _is_record(member):
                yield from _read((of,))
            case ir.Update(target=target, op=op, args=(member,)) if op in REMOVALS:
                yield from _read((target,) if _is_record(member) else (target, member))
            case _:
                yield from _read(tuple(children(node)))


def _whole(e: ir.Expr) -> ir.Expr:
    while isinstance(e, ir.Narrow):
        e = e.of
    return e


def _is_record(e: ir.Expr) -> bool:
    records = any(isinstance(option, t.Record) for option in t.options(e.type))
    return records and isinstance(_whole(e), ir.Local)


# Counters.


def _counters(machine: ir.Machine) -> Iterator[_Counter]:
    functions = [
        *(row.function for row in machine.transitions),
        *machine.functions,
        *machine.initials,
        *(row.function for row in machine.bases),
    ]
    for v in machine.variables:
        kind = v.type.value if isinstance(v.type, t.Map) else v.type
        if _is_number(kind) and _only_grows(v.name, functions):
            counter = _Counter(v.name, kind, {v.name})
            for function in functions:
                _give_out(counter, function)
            yield counter


def _only_grows(name: str, functions: Sequence[ir.Function]) -> bool:
    """Whether the variable is assigned, and only itself plus a constant."""
    grows = False
    for stmt in (s for f in functions for s in statements(f.body)):
        if isinstance(stmt, ir.Assign) and _is_of(stmt.target, name):
            if not _next(stmt.target, stmt.value):
                return False
            grows = True
    return grows


def _is_of(place: ir.Node, name: str) -> bool:
    """Whether this is the variable or an item of it."""
    match place:
        case ir.Field(of=ir.Self(), name=mine):
            return mine == name
        case ir.Item(of=of):
            return _is_of(of, name)
        case _:
            return False


def _next(target: ir.Expr, value: ir.Expr) -> bool:
    match value:
        case ir.Op(op="add" | "serial_add", args=(one, ir.Const(value=int() as more), *_)):
            return one == target and more > 0
        case ir.Op(op="successor", args=(one,)):
            return one == target
        case _:
            return False


def _give_out(counter: _Counter, function: ir.Function) -> None:
    """Record whether a function sends the counter, and the names of the fields it is sent in."""
    held = {
        stmt.target.name
        for stmt in statements(function.body)
        if isinstance(stmt, ir.Assign)
        and isinstance(stmt.target, ir.Local)
        and _is_of(stmt.value, counter.name)
    }

    def is_it(e: ir.Node) -> bool:
        return _is_of(e, counter.name) or (isinstance(e, ir.Local) and e.name in held)

    for node in everything((function,)):
        match node:
            case ir.Return(value=ir.Expr() as value) if any(map(is_it, everything((value,)))):
                counter.out = True
            case ir.Make(type=t.Record(fields=fields), args=args):
                names = [n for (n, _), arg in zip(fields, args, strict=True) if is_it(arg)]
                counter.out = counter.out or bool(names)
                counter.names.update(names)
            case _:
                pass
