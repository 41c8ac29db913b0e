"""Reads of a loop's value, of an argument or of a local after a change of the container that it is,
and loops that go on after a change of what they go through.

`for row in self.table:` names a container of the state by `row`. In Python a later change of
`self.table[0]` is seen through `row`; in the IR `row` is the value that was there when the loop
began. The two agree where no read of `row` follows such a change, in this round or a later one.
The same holds of the parameter of a helper that is given `self.table[0]`, of `row` after
`row = self.table.get(k, [])`, and of the container that a loop goes through: Python takes each next
element from the container as it is then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from .. import ir, ops
from .. import types as t
from ..errors import Place
from ..quick_dataclass import dataclass
from .callee import bind
from .changed_places import Change, changes, helper
from .different_keys import NONE, Pairs, different_if, without
from .effects import assigned
from .iterated import disturbs, iterated
from .places import in_state, local_of, may_pass, steps
from .walk import free_locals, own_expressions

Read = tuple[str, Place]


@dataclass(frozen=True, slots=True)
class _Value:
    """Where the container may be that a loop's variable names; no two rounds have one `key`."""

    places: tuple[ir.Expr, ...]
    key: str | None


@dataclass(frozen=True, slots=True)
class _Rounds:
    """A loop that runs, where the containers may be that it goes through, and the locals that may
    have another value than when it began."""

    loop: ir.Loop
    places: tuple[ir.Expr, ...]
    mark: str
    assigned: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outdated:
    """The first read of a loop's value that may be a container changed since, and the first change
    of what a loop goes through after which the loop may go on."""

    read: Read | None
    changed: Place | None


def outdated(body: Sequence[ir.Stmt], functions: Sequence[ir.Function]) -> Outdated:
    """What of the body has another meaning in Python, which sees a change of a container through
    each name of it."""
    walk = _Walk(functions, body)
    walk.block(body, set())
    return Outdated(walk.found, walk.disturbed)


class _Walk:
    """A walk through a body, with the loops' variables that are outdated at each statement.

    A variable whose value in a later round is changed has a second mark, `_later`. A loop has a
    mark from the first change of what it goes through.
    """

    def __init__(self, functions: Sequence[ir.Function], body: Sequence[ir.Stmt]) -> None:
        self.functions = functions
        # A value is where these led when it was named, whatever a later test says of them.
        self.assigned = frozenset(assigned(body))
        self.values: dict[str, _Value] = {}
        self.found: Read | None = None
        self.rounds: list[_Rounds] = []
        self.disturbing: dict[str, Place] = {}
        self.disturbed: Place | None = None
        self.different: Pairs = NONE
        self.continued: list[set[str]] = []
        self.broken: list[set[str]] = []

    def block(self, body: Sequence[ir.Stmt], old: set[str]) -> set[str] | None:
        """What is outdated after the statements; None where nothing comes after them."""
        reached: set[str] | None = old
        different = self.different
        for stmt in body:
            if reached is None:
                break
            for name, place in free_locals(own_expressions(stmt)):
                if name in reached and self.found is None:
                    self.found = name, place
            reached = self._after(stmt, reached)
            self.different = without(self.different, frozenset(assigned((stmt,))))
        self.different = different
        return reached

    def _after(self, stmt: ir.Stmt, old: set[str]) -> set[str] | None:
        match stmt:
            case ir.Return() | ir.Refuse():
                return None
            case ir.Break():
                self.broken.append(old)
                return None
            case ir.Continue():
                self.continued.append(old)
                return None
            case ir.Branch():
                return self._branch(stmt, old)
            case ir.Require(test=test) | ir.Assert(test=test):
                self.different |= different_if(test, True)
                return old
            case ir.Loop():
                return self._loop(stmt, old)
            case _:
                if isinstance(stmt, ir.Do):
                    self._given(stmt)
                for change in changes(stmt, self.functions):
                    self._mark(change, old)
                    self._mark_rounds(stmt, change, old)
                if isinstance(stmt, ir.Assign) and isinstance(stmt.target, ir.Local):
                    self._name(stmt.target, stmt.value)
                return old - assigned((stmt,))

    def _name(self, target: ir.Local, value: ir.Expr) -> None:
        """Note where the container may be that a local is given: `q = self.rows.get(k, [])`."""
        places = tuple(filter(in_state, _places(value, self.values)))
        if places and not t.immutable(target.type) and not target.name.startswith("_"):
            self.values[target.name] = _Value(places, None)

    def _branch(self, branch: ir.Branch, old: set[str]) -> set[str] | None:
        before, reached = self.different, set[str]()
        after: list[Pairs] = []
        for block, outcome in ((branch.then, True), (branch.other, False)):
            self.different = before | different_if(branch.test, outcome)
            here = self.different
            end = self.block(block, set(old))
            if end is not None:
                reached |= end
                after.append(here)
        self.different = frozenset[frozenset[str]].intersection(*after) if after else before
        return reached if after else None

    def _given(self, do: ir.Do) -> None:
        """Judge a helper that is given containers of the state."""
        function = helper(do, self.functions)
        if function is None:
            return
        given = bind(function.params, do.call.args)
        inside = _Walk(self.functions, function.body)
        for name, value in given.items():
            places = tuple(filter(in_state, _places(value, self.values)))
            if places and not t.immutable(value.type):
                inside.values[name] = _Value(places, None)
        if inside.values:
            inside.block(function.body, set())
        if inside.found is not None and self.found is None:
            name = inside.found[0]
            self.found = name, given[name].place if name in given else do.place
        if inside.disturbed is not None and self.disturbed is None:
            self.disturbed = do.place

    def _loop(self, loop: ir.Loop, old: set[str]) -> set[str]:
        kept = self.continued, self.broken, dict(self.values), self.different
        rounds = self._begun(loop)
        names, laters = set(loop.names), set(map(_later, loop.names))
        inside = dict(_named(loop, self.values))
        self.values = {n: v for n, v in self.values.items() if n not in names} | inside
        self.different = without(self.different, frozenset(assigned((loop,))))
        before, after = old - names - laters, old - laters
        while True:
            self.continued, self.broken = [], []
            end = self.block(loop.body, set(before))
            ends = [*self.continued, *([] if end is None else [end])]
            after = after.union(*ends, *self.broken)
            reached = set[str]().union(*ends)
            if rounds.mark in reached and self.disturbed is None:
                self.disturbed = self.disturbing[rounds.mark]
            later = {name for name in names if _later(name) in reached}
            again = (reached - names - laters) | later
            if again <= before:
                break
            before |= again
        self.continued, self.broken, outside, self.different = kept
        self.rounds.pop()
        self.values = outside | {n: _either(outside.get(n), v) for n, v in inside.items()}
        return after - laters

    def _begun(self, loop: ir.Loop) -> _Rounds:
        paths = tuple(iterated(loop.over))
        over = tuple(place for path in paths for place in _places(path, self.values))
        by_value = any(local_of(path) in self.values for path in paths)
        rounds = _Rounds(
            loop,
            over,
            f"loop at {loop.place.line}:{loop.place.column}",
            frozenset(assigned((loop,))) | (self.assigned if by_value else frozenset[str]()),
        )
        self.rounds.append(rounds)
        return rounds

    def _mark_rounds(self, stmt: ir.Stmt, change: Change, old: set[str]) -> None:
        for rounds in self.rounds:
            # The places are those before the first round.
            known = without(self.different, rounds.assigned)
            if any(disturbs(change, place, rounds.loop, known) for place in rounds.places):
                old.add(rounds.mark)
                self.disturbing.setdefault(rounds.mark, stmt.place)

    def _mark(self, change: Change, old: set[str]) -> None:
        steady = without(self.different, self.assigned)
        for name, value in self.values.items():
            for place in value.places:
                if _reaches(change, place, steady):
                    old.add(name)
                if _reaches(change, place, steady) and not _of_this_round(change, place, value.key):
                    old.add(_later(name))


def _later(name: str) -> str:
    return f"{name} later"


def _either(one: _Value | None, other: _Value) -> _Value:
    return other if one is None else _Value((*one.places, *other.places), None)


def _reaches(change: Change, place: ir.Expr, different: Pairs) -> bool:
    if change.place is None:
        return in_state(place)
    different = without(different, change.unsure)
    if isinstance(change.place.type, t.Part):
        # A step may change all that the part has.
        return may_pass(place, change.place, True, different)
    return may_pass(change.place, place, change.below, different)


def _of_this_round(change: Change, place: ir.Expr, key: str | None) -> bool:
    """Whether the change is at the key of this round, which no other round has."""
    if key is None or change.place is None or key in change.unsure:
        return False
    way, changed = steps(place), steps(change.place)
    if len(changed) < len(way):
        return False
    last, at = way[-1], changed[len(way) - 1]
    match last, at:
        case ir.Item(key=ir.Local(name=one)), ir.Item(key=ir.Local(name=other)):
            return one == other == key
        case _:
            return False


# What a loop's variables name.


def _named(loop: ir.Loop, values: Mapping[str, _Value]) -> Iterator[tuple[str, _Value]]:
    """The variables that name mutable containers, and where these may be."""
    item, over, first = t.element(loop.over.type), loop.over, next(iter(loop.names))
    if len(loop.names) > 1 and isinstance(item, t.Tuple):
        kinds: tuple[t.Type | None, ...] = item.items
    else:
        kinds = (item,)
    again = assigned(loop.body)
    for index, (name, kind) in enumerate(zip(loop.names, kinds, strict=False)):
        if kind is None or t.immutable(kind):
            continue
        key = first if index and first not in again else None
        match over:
            case ir.Op(op="zip", args=args) if len(args) == len(loop.names):
                elements = tuple(_items(args[index], values, None))
            case _:
                elements = tuple(_elements(over, values, key))
        if elements:
            yield name, _Value(elements, key)


def _elements(over: ir.Expr, values: Mapping[str, _Value], key: str | None) -> Iterator[ir.Expr]:
    """The places of the mutable containers among the elements, or inside them; items at `key`
    where the loop's first variable is the key."""
    match over:
        case ir.Op(op="items", args=(held,)):
            yield from _items(held, values, key)
        case ir.Op(op="enumerate", args=(held,)):
            yield from _items(held, values, key)
        case ir.Op(op=op, args=args) if op in ops.DISPLAYS:
            for arg in args:
                yield from _places(arg, values)
        case _:
            yield from _items(over, values, None)


def _items(held: ir.Expr, values: Mapping[str, _Value], key: str | None) -> Iterator[ir.Expr]:
    """The places of the mutable items of a collection."""
    match held:
        case ir.Field() | ir.Item() | ir.Local() | ir.Narrow():
            kind = held.type.value if isinstance(held.type, t.Map) else t.element(held.type)
            for place in _places(held, values):
                if kind is not None and not t.immutable(kind):
                    at = ir.Local(held.place, t.INT, key or "")
                    yield ir.Item(held.place, kind, place, at)
        case ir.Op(args=args):
            # A copy, or a part, of what its operands hold has the same items.
            key = key if held.op == "dict_of" or held.op in ops.COPIES else None
            if held.op in ops.DISPLAYS:
                yield from _elements(held, values, None)
            else:
                for arg in args:
                    yield from _items(arg, values, key)
        case ir.If(then=then, other=other):
            yield from (*_items(then, values, key), *_items(other, values, key))
        case ir.Comp(clauses=clauses, element=element):
            inside = dict(values)
            for clause in clauses:
                found = tuple(_elements(clause.over, inside, None))
                inside |= {name: _Value(found, None) for name in clause.names}
            yield from _places(element, inside)
        case _:
            pass


def _places(value: ir.Expr, values: Mapping[str, _Value]) -> Iterator[ir.Expr]:
    """The places where the container may be that an expression is."""
    match value:
        case ir.Local(name=name) if name in values:
            yield from values[name].places
        case ir.Self() | ir.Local():
            yield value
        case ir.Narrow(of=of):
            yield from _places(of, values)
        case ir.Field(of=of) | ir.Item(of=of):
            for place in _places(of, values):
                yield dataclasses.replace(value, of=place)
        case ir.If(then=then, other=other):
            yield from (*_places(then, values), *_places(other, values))
        case ir.Op(op=op, args=args) if op in ops.HELD:
            yield from _items(args[0], values, None)
        case ir.Op(op="tuple", args=args):
            for arg in args:
                yield from _places(arg, values)
        case _:
            pass
