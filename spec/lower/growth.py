"""Growth as a step: of a machine with growing sorts one in which their elements are variables.

    universe_Node: frozenset[Node]      the elements that there are, any of those that are explored
    grow_Node(element)                  one more; total maps get their default for its keys

Everything else speaks of the elements that there are. Arguments that have another one are refused:
at run time such a call is an error of the caller, and no event. What goes through a sort goes
through its variable. A total map over the sort is a partial one here: it has the keys that there
are. An instance may begin with any elements, so each start has them as arguments.

`growth_limits` names what cannot be told so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .. import ir
from .. import types as t
from ..analysis.growth import (
    ELEMENT,
    growing_maps,
    growing_sorts,
    grows,
    step_name,
    universe_name,
    universes,
)
from ..analysis.named_elements import named_elements
from ..analysis.places import variable_of
from ..analysis.walk import everything
from ..errors import Place
from ..ops import RANKS, TABLE
from ..verdicts import KINDS
from .growth_limits import judge_growth

MADE = "made"  # The start of a machine that has no `@initial`.
EACH = "_member"  # No name of a declaration.
KNOWN = "What a state has of {} is there, and total maps have every key."
DOC = "An element joins {}: total maps get their default for it."
UNORDERED = frozenset({"all", "any", "sum", "min", "max", "set", "map"})  # Kinds of `Comp`.


def with_growth(machine: ir.Machine) -> ir.Machine:
    """The machine with the universes of its growing sorts and their steps; it may have them
    already. `DeclarationError` names what cannot be told so."""
    sorts = growing_sorts(machine)
    if not sorts or any(universes(machine)):
        return machine
    judge_growth(machine)
    return _Growing(machine, sorts).run()


class _Growing:
    """Makes the machine of growing sorts."""

    def __init__(self, machine: ir.Machine, sorts: tuple[t.Sort, ...]) -> None:
        self.machine = machine
        self.sorts = sorts
        self.part = t.Part(machine.name)
        self.place = machine.place

    def run(self) -> ir.Machine:
        m = self.machine
        own = self.value
        starts = m.initials or (ir.Function(m.place, MADE, (), t.NOTHING, ()),)
        steps = [self._step(sort) for sort in self.sorts]
        events = [
            ir.Event(m.place, row.name, row.function.params, t.NOTHING, False, row.doc)
            for row in steps
        ]
        return dataclasses.replace(
            m,
            variables=(*map(self._variable, m.variables), *map(self._universe, self.sorts)),
            transitions=tuple(self._all_steps(steps)),
            events=(*own(m.events), *events),
            ignores=own(m.ignores),
            initials=tuple(map(self._start, starts)),
            properties=tuple(map(self._property, m.properties)),
            functions=own(m.functions),
            bases=own(m.bases),
            parts=own(m.parts),
        )

    def _all_steps(self, steps: Sequence[ir.Transition]) -> Iterator[ir.Transition]:
        """The transitions, then these; the steps of `ignore`s are the last ones, as everywhere."""
        of_ignores = [row for row in self.machine.transitions if self.machine.is_of_ignores(row)]
        rest = (row for row in self.machine.transitions if row not in of_ignores)
        yield from map(self._transition, rest)
        yield from steps
        yield from map(self._transition, of_ignores)

    # What there is.

    def universe(self, sort: t.Sort) -> ir.Expr:
        me = ir.Self(self.place, self.part)
        return ir.Field(self.place, _set(sort), me, universe_name(sort))

    def _universe(self, sort: t.Sort) -> ir.Variable:
        return ir.Variable(self.place, universe_name(sort), _set(sort), None, False)

    def _variable(self, v: ir.Variable) -> ir.Variable:
        initial = None if v in {*growing_maps(self.machine)} else v.initial
        made = self.value(dataclasses.replace(v, initial=initial))
        assert isinstance(made, ir.Variable)
        return made

    # Starts and steps.

    def _start(self, start: ir.Function) -> ir.Function:
        """The start with the elements of each sort as arguments before its own."""
        place, given = start.place, [(universe_name(s), _set(s)) for s in self.sorts]
        named = named_elements(self.machine, {p.name for p in self.machine.parameters})
        body: list[ir.Stmt] = []
        for sort, (name, kind) in zip(self.sorts, given, strict=True):
            told = ir.Local(place, kind, name)
            there = (ir.Const(place, sort, text) for text in named.get(sort.name, ()))
            body += [_require(_in(each, told), "is named") for each in there]
            body.append(_require(_some(told, sort), "a sort has an element"))
            if sort.ordered:
                body.append(_require(_first_ones(told, sort), "the first ones"))
            body.append(ir.Assign(place, self.universe(sort), told))
        for p in self.machine.parameters:
            me = ir.Field(place, p.type, ir.Self(place, self.part), p.name)
            body += [_require(test, None) for test in self.there(me, p.type)]
        body += self._known(start.params)
        for v in growing_maps(self.machine):
            body.append(ir.Assign(v.place, self._map(v), self.value(v.initial)))
        return ir.Function(
            place,
            start.name,
            (*given, *self.value(start.params)),
            start.output,
            (*body, *self.value(start.body)),
        )

    def _map(self, v: ir.Variable) -> ir.Expr:
        return ir.Field(v.place, _partial(v.type), ir.Self(v.place, self.part), v.name)

    def _transition(self, row: ir.Transition) -> ir.Transition:
        made = self.value(row)
        assert isinstance(made, ir.Transition)
        body = (*self._known(row.function.params), *made.function.body)
        return dataclasses.replace(made, function=dataclasses.replace(made.function, body=body))

    def _known(self, params: Iterable[tuple[str, t.Type]]) -> list[ir.Stmt]:
        """Guards: what the arguments have is there."""
        locals_ = (ir.Local(self.place, kind, name) for name, kind in params)
        return [_require(test, None) for each in locals_ for test in self.there(each, each.type)]

    def _step(self, sort: t.Sort) -> ir.Transition:
        """The step in which the sort gets an element."""
        place, name, there = self.place, step_name(sort), self.universe(sort)
        new = ir.Local(place, sort, ELEMENT)
        only = ir.Op(place, _set(sort), "set", (new,))
        body: list[ir.Stmt] = [_require(_not_in(new, there), "is there already")]
        if sort.ordered:
            body.append(_require(_all_before(new, there, sort), "is the next one"))
        more = ir.Op(place, _set(sort), "union", (there, only))
        body.append(ir.Assign(place, there, more))
        body += [self._growth(v, sort, new) for v in growing_maps(self.machine, sort)]
        function = ir.Function(place, name, ((ELEMENT, sort),), t.NOTHING, tuple(body))
        doc = DOC.format(sort.name)
        return ir.Transition(place, name, name, None, None, None, None, function, doc)

    def _growth(self, v: ir.Variable, sort: t.Sort, new: ir.Local) -> ir.Stmt:
        """A total map gets its default for each key that there was not."""
        at, default = self._map(v), self.value(v.initial)
        assert isinstance(default, ir.Comp) and isinstance(default.key, ir.Local)
        if default.key.type == sort:
            told = self._with(default.element, default.key.name, new)
            return ir.Assign(v.place, ir.Item(v.place, default.element.type, at, new), told)
        had = ir.Item(v.place, default.element.type, at, default.key)
        kept = ir.If(v.place, had.type, _in(default.key, at), had, default.element)
        return ir.Assign(v.place, at, dataclasses.replace(default, element=kept))

    def _with(self, expr: ir.Expr, name: str, value: ir.Expr) -> ir.Expr:
        made = _changed(expr, lambda n: value if _is_local(n, name) else n, lambda k: k)
        assert isinstance(made, ir.Expr)
        return made

    # Properties.

    def _property(self, p: ir.Property) -> ir.Property:
        """The property for the values of its parameters that there are."""
        made = self.value(p)
        assert isinstance(made, ir.Property)
        tests = [
            test
            for name, kind in p.function.params[p.kind == "step_property" :]
            for test in self.there(ir.Local(p.place, kind, name), kind)
        ]
        if not tests:
            return made
        sought = KINDS[p.kind].over == "search" or p.kind == "terminal"
        otherwise: ir.Expr = ir.Const(p.place, t.BOOL, not sought)
        if KINDS[p.kind].gives == "two bools":
            never = ir.Const(p.place, t.BOOL, False)
            otherwise = ir.Op(p.place, made.function.output, "tuple", (never, never))
        absent = ir.Branch(p.place, _all(tests), (), (ir.Return(p.place, otherwise),))
        function = dataclasses.replace(made.function, body=(absent, *made.function.body))
        return dataclasses.replace(made, function=function)

    # Which elements a value has.

    def there(self, e: ir.Expr, kind: t.Type, depth: int = 0) -> list[ir.Expr]:
        """Tests which are all true where each element that the value has is there."""
        if not grows(kind):
            return []
        place = e.place
        match kind:
            case t.Sort():
                return [_in(e, self.universe(kind))]
            case t.Set(item=t.Sort() as sort):
                return [ir.Op(place, t.BOOL, "subset", (e, self.universe(sort)))]
            case t.Set(item=item) | t.Seq(item=item) | t.Bag(item=item):
                return self._each(e, item, depth, lambda k: self.there(k, item, depth + 1))
            case t.Map(key=key, value=value):

                def both(k: ir.Expr) -> list[ir.Expr]:
                    at = ir.Item(place, value, e, k)
                    inner = [] if isinstance(value, t.Part) else self.there(at, value, depth + 1)
                    return [*self.there(k, key, depth + 1), *inner]

                return self._each(e, key, depth, both)
            case t.Tuple(items=items):
                at = [(ir.Const(place, t.INT, i), of) for i, of in enumerate(items)]
                parts = [ir.Item(place, of, e, i) for i, of in at]
                return [x for part in parts for x in self.there(part, part.type, depth)]
            case t.Record(fields=fields):
                held = [ir.Field(place, of, e, name) for name, of in fields]
                return [x for part in held for x in self.there(part, part.type, depth)]
            case t.Union(options=options):
                return [
                    ir.Or(place, t.BOOL, (_is_other(e, option, options), _all(inner)))
                    for option in options
                    if (inner := self.there(ir.Narrow(place, option, e), option, depth))
                ]
            case _:
                return []

    def _each(
        self, e: ir.Expr, item: t.Type, depth: int, tests: Callable[[ir.Expr], list[ir.Expr]]
    ) -> list[ir.Expr]:
        name = f"{EACH}{depth}"
        found = tests(ir.Local(e.place, item, name))
        clause = ir.Clause(e.place, (name,), e, ())
        return [ir.Comp(e.place, t.BOOL, "all", _all(found), None, (clause,))]

    # The rest of the machine.

    def value(self, value: Any) -> Any:
        """The same where sorts are what there is of them, and total maps are partial ones."""
        return _changed(value, self._node, _partial)

    def _node(self, node: ir.Node) -> ir.Node:
        match node:
            case ir.Comp(kind=kind, clauses=clauses):
                ordered = kind not in UNORDERED
                rows = tuple(self._clause(each, ordered) for each in clauses)
                return dataclasses.replace(node, clauses=rows)
            case ir.Loop(over=ir.Domain() as over):
                return dataclasses.replace(node, over=self._domain(over, True))
            case ir.Op(op=op, type=t.Sort() as sort, args=(of,)) if op in RANKS and grows(sort):
                return self._ring(node, sort, of)
            case ir.Op(op=op, args=args) if any(isinstance(a, ir.Domain) for a in args):
                ordered = TABLE[op].reads != "set"
                rows_ = (self._domain(a, ordered) if isinstance(a, ir.Domain) else a for a in args)
                return dataclasses.replace(node, args=tuple(rows_))
            case _:
                return node

    def _clause(self, clause: ir.Clause, ordered: bool) -> ir.Clause:
        if not isinstance(clause.over, ir.Domain):
            return clause
        kind = clause.over.type
        assert isinstance(kind, t.Iter)
        if isinstance(kind.item, t.Sort):
            return dataclasses.replace(clause, over=self._domain(clause.over, ordered))
        (name,) = clause.names if len(clause.names) == 1 else ("",)
        tests = self.there(ir.Local(clause.place, kind.item, name), kind.item)
        return dataclasses.replace(clause, conditions=(*tests, *clause.conditions))

    def _domain(self, domain: ir.Domain, ordered: bool) -> ir.Expr:
        kind = domain.type
        assert isinstance(kind, t.Iter)
        if not isinstance(kind.item, t.Sort) or not kind.item.growing:
            return domain
        there = self.universe(kind.item)
        if not (ordered and kind.item.ordered):
            return there
        return ir.Op(domain.place, t.Seq(kind.item, True), "sorted", (there,))

    def _ring(self, node: ir.Op, sort: t.Sort, of: ir.Expr) -> ir.Expr:
        """A neighbour on the ring of the elements that there are, which are the first ones."""
        ends = {"successor": ("max_of", "min_of"), "predecessor": ("min_of", "max_of")}
        last, first = (ir.Op(node.place, sort, op, (self.universe(sort),)) for op in ends[node.op])
        return ir.If(node.place, sort, _equal(of, last), first, node)


# What every state keeps.


def with_universe_invariants(machine: ir.Machine) -> ir.Machine:
    """The same with what every state keeps, as an invariant for each sort, for provers: the sort
    has an element, no value has one that is not there, and the total maps have all their keys."""
    found = dict(universes(machine))
    known = {p.name for p in machine.properties}
    if not found or {v.name for v in found.values()} <= known:
        return machine
    growing = _Growing(machine, tuple(found))
    rows = [_invariant(growing, sort) for sort in growing.sorts]
    return dataclasses.replace(machine, properties=(*machine.properties, *rows))


def _invariant(growing: _Growing, sort: t.Sort) -> ir.Property:
    machine, name = growing.machine, universe_name(sort)
    place, me = machine.place, ir.Self(machine.place, growing.part)
    tests = [_some(growing.universe(sort), sort)]
    own = {universe_name(each) for each in growing.sorts}
    for v in (v for v in machine.variables if v.name not in own):
        field = ir.Field(v.place, v.type, me, v.name)
        tests += [test for test in growing.there(field, v.type) if _names(test, name)]
    grown = machine.transition(step_name(sort)).function
    for stmt in grown.body:
        at = variable_of(stmt.target) if isinstance(stmt, ir.Assign) else None
        for v in (v for v in machine.variables if v.name == at and v.name not in own):
            assert isinstance(v.type, t.Map)
            key = ir.Local(place, v.type.key, EACH)
            over = ir.Domain(place, t.Iter(v.type.key, False))
            clause = ir.Clause(place, (EACH,), over, tuple(growing.there(key, key.type)))
            held = _in(key, ir.Field(place, v.type, me, v.name))
            tests.append(ir.Comp(place, t.BOOL, "all", held, None, (clause,)))
    function = ir.Function(place, name, (), t.BOOL, (ir.Return(place, _all(tests)),))
    return ir.Property(place, name, "invariant", function, KNOWN.format(sort.name))


def _names(test: ir.Expr, name: str) -> bool:
    """Whether a test asks for elements of this universe."""
    return any(isinstance(n, ir.Field) and n.name == name for n in everything((test,)))


# Expressions.


def _set(sort: t.Sort) -> t.Type:
    return t.Set(sort, False)


def _require(test: ir.Expr, why: str | None) -> ir.Stmt:
    text = None if why is None else ir.Const(test.place, t.TEXT, why)
    return ir.Require(test.place, test, text)


def _in(element: ir.Expr, container: ir.Expr) -> ir.Expr:
    return ir.Op(element.place, t.BOOL, "in", (element, container))


def _not_in(element: ir.Expr, container: ir.Expr) -> ir.Expr:
    return ir.Op(element.place, t.BOOL, "not_in", (element, container))


def _equal(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Op(left.place, t.BOOL, "eq", (left, right))


def _all(tests: Sequence[ir.Expr]) -> ir.Expr:
    return tests[0] if len(tests) == 1 else ir.And(tests[0].place, t.BOOL, tuple(tests))


def _clauses(place: Place, sort: t.Sort, name: str, *conditions: ir.Expr) -> tuple[ir.Clause]:
    """All elements of a sort that are explored, those that are not there, too."""
    over = ir.Domain(place, t.Iter(sort, sort.ordered))
    return (ir.Clause(place, (name,), over, conditions),)


def _some(there: ir.Expr, sort: t.Sort) -> ir.Expr:
    each = ir.Local(there.place, sort, EACH)
    clauses = _clauses(there.place, sort, EACH)
    return ir.Comp(there.place, t.BOOL, "any", _in(each, there), None, clauses)


def _all_before(new: ir.Expr, there: ir.Expr, sort: t.Sort) -> ir.Expr:
    """Whether all elements before one in their order are there."""
    each = ir.Local(new.place, sort, EACH)
    before = ir.Op(new.place, t.BOOL, "lt", (each, new))
    clauses = _clauses(new.place, sort, EACH, before)
    return ir.Comp(new.place, t.BOOL, "all", _in(each, there), None, clauses)


def _first_ones(there: ir.Expr, sort: t.Sort) -> ir.Expr:
    """Whether these are the first elements in their order."""
    name = f"{EACH}0"
    test = _all_before(ir.Local(there.place, sort, name), there, sort)
    clause = ir.Clause(there.place, (name,), there, ())
    return ir.Comp(there.place, t.BOOL, "all", test, None, (clause,))


def _is_other(e: ir.Expr, option: t.Type, options: Sequence[t.Type]) -> ir.Expr:
    others = tuple(o for o in options if o != option)
    return ir.IsA(e.place, t.BOOL, e, others)


def _is_local(node: ir.Node, name: str) -> bool:
    return isinstance(node, ir.Local) and node.name == name


def _partial(kind: t.Type) -> t.Type:
    """The type where total maps over growing sorts have the keys that there are."""
    if isinstance(kind, t.Map) and kind.total and grows(kind.key):
        return dataclasses.replace(kind, total=False)
    return kind


def _changed(
    value: Any, node: Callable[[ir.Node], ir.Node], kind: Callable[[t.Type], t.Type]
) -> Any:
    """A tree with each node and each type replaced, what is inside it first."""
    if isinstance(value, ir.Node | t.Type):
        fields = dataclasses.fields(value)
        given = {f.name: _changed(getattr(value, f.name), node, kind) for f in fields}
        made: Any = dataclasses.replace(value, **given)
        return node(made) if isinstance(made, ir.Node) else kind(made)
    if value.__class__ is tuple:
        return tuple(_changed(each, node, kind) for each in value)
    return value
