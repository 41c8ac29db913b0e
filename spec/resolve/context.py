"""The context while one body is resolved: the machine's tables, locals, narrowed places."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from .. import ir
from .. import types as t
from ..analysis.effects import Reach, Writes
from ..analysis.places import (
    changed_by_steps_of_parts,
    holder,
    in_machine,
    in_state,
    is_place,
    may_pass,
    mentions,
    root,
    viewed,
)
from ..analysis.walk import everything
from ..errors import Place, Problems
from ..quick_dataclass import dataclass, field
from ..syntax import tree
from ..syntax.declare import Names

Mode = Literal["transition", "initial", "property", "helper", "default"]


@dataclass(frozen=True, slots=True)
class Signature:
    """The part of a method that callers need; a helper that `acts` changes or guards something.

    `defaults` has Python's values; parameters in `by_name` are given so. A `getter` is not called.
    """

    kind: Literal["transition", "event", "initial", "property", "helper"]
    params: tuple[tuple[str, t.Type], ...]
    output: t.Type
    acts: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    by_name: frozenset[str] = frozenset()
    getter: bool = False


@dataclass(frozen=True, slots=True)
class Interface:
    """A machine as seen by a body that uses it: fields and methods with their types."""

    name: str
    fields: Mapping[str, t.Type]
    fixed: frozenset[str]
    ghosts: frozenset[str]
    methods: Mapping[str, Signature]


@dataclass
class Scene:
    """The context that all bodies of one machine share."""

    own: Interface
    interfaces: Mapping[str, Interface]
    problems: Problems
    constant: Callable[[str], Any]
    helper: Callable[[str], tuple[ir.Function, bool] | None]
    module_function: Callable[[Any, Place, t.Type | None], tuple[str, ir.Function] | None]
    base: Callable[[type[Any], str], tuple[str, Signature] | None]
    annotation: Callable[[object, Place, Names], t.Type]
    expressions: Mapping[type[tree.Tree], Resolver]
    functions: Callable[[], tuple[ir.Function, ...]]
    unfit: Callable[[str], bool]
    records: Mapping[str, type[Any]]
    abstracts: Mapping[str, ir.Machine]
    enums: Mapping[str, type[enum.Enum]]

    def heirs(self, test: object, place: Place, names: Names, kind: t.Type) -> tuple[t.Type, ...]:
        """The alternatives that `isinstance` is true for: descendants of a record class are.

        A value of no alternative is given as it is.
        """
        found = self.annotation(test, place, names)
        if not isinstance(found, t.Record):
            return t.options(found)
        wanted = self.records[found.name]
        records = [option for option in t.options(kind) if isinstance(option, t.Record)]
        heirs = tuple(o for o in records if issubclass(self.records[o.name], wanted))
        return heirs or (found,)


MISSING = object()


@dataclass(frozen=True, slots=True)
class Named:
    """What locals name on one way through a body: see `aliases`, `dead` and `moved` of `Body`."""

    aliases: Mapping[str, ir.Expr]
    dead: frozenset[str]
    moved: frozenset[str]


Resolver = Callable[["Body", Any, "t.Type | None"], ir.Expr]
Caller = Callable[["Body", tree.Apply, "t.Type | None"], ir.Expr]
Block = Callable[["Body", Sequence[tree.Statement]], tuple[ir.Stmt, ...]]


@dataclass
class Body:
    """The state of resolving one body; `hoisted` takes the steps that an expression contains.

    `owned` are the locals that hold a container of their own; of these `made` were given it in this
    round of the loop on every way, and `older` had a value before a loop. `aliases` name a place;
    of these the `dead` name one that was replaced since. `assigned` is what the body assigns
    anywhere: such a name is never one of the module; but `steady` are variables of loops round here
    that nothing else assigns. `evaluated` are the places that were read before in the same
    statement; None where that may be any, or may have refused. `asked` is the condition that is
    resolved. `loops` counts the loops round here. The containers of the locals in `moved` are at a
    place in the state now; of those in `joined` the second assignment has become the default of
    their lookup. `expected` are the types of locals that their first values do not say; `later` are
    such types as statements show them. `written` are all statements of the body; of its locals the
    `unsure` may have no value when read. `named_reads` are the reads of locals that name a place;
    `broken` and `continued` is what locals name where `break` and `continue` end a round.
    """

    scene: Scene
    names: Names
    owner: type[Any]
    mode: Mode
    output: t.Type
    locals: dict[str, t.Type] = field(default_factory=dict[str, t.Type])
    owned: set[str] = field(default_factory=set[str])
    made: set[str] = field(default_factory=set[str])
    older: frozenset[str] = frozenset()
    aliases: dict[str, ir.Expr] = field(default_factory=dict[str, ir.Expr])
    dead: set[str] = field(default_factory=set[str])
    assigned: frozenset[str] = frozenset()
    steady: set[str] = field(default_factory=set[str])
    facts: dict[ir.Expr, t.Type] = field(default_factory=dict[ir.Expr, t.Type])
    hoisted: list[ir.Stmt] | None = None
    evaluated: tuple[ir.Expr, ...] | None = ()
    asked: tree.Expression | None = None
    loops: int = 0
    moved: set[str] = field(default_factory=set[str])
    joined: set[str] = field(default_factory=set[str])
    expected: Mapping[str, t.Type] = field(default_factory=dict[str, t.Type])
    written: tuple[tree.Statement, ...] = ()
    unsure: frozenset[str] = frozenset()
    later: dict[str, t.Type] = field(default_factory=dict[str, t.Type])
    fresh: int = 0
    changes: bool = False
    named_reads: list[tuple[str, Place]] = field(default_factory=list[tuple[str, Place]])
    broken: list[Named] = field(default_factory=list[Named])
    continued: list[Named] = field(default_factory=list[Named])

    def problem(self, number: str, place: Place, found: str, expected: str, rewrite: str) -> None:
        """Note a problem of this body."""
        self.scene.problems.add(number, place, found, expected, rewrite)

    def wrong(self, place: Place) -> ir.Expr:
        """The expression that replaces a refused one."""
        return ir.Const(place, t.Unknown(), None)

    def read(self, place: ir.Expr) -> None:
        """Remember that this place was read in the present statement."""
        if self.evaluated is not None:
            self.evaluated += (place,)

    def interface(self, type: t.Type) -> Interface | None:
        """The tables of the machine that a value of this type is, if it is one."""
        return self.scene.interfaces.get(type.machine) if isinstance(type, t.Part) else None

    def static(self, node: tree.Expression) -> Any:
        """The Python object to which a chain of names refers, `MISSING` if it is not static."""
        match node:
            case tree.Name(name=name):
                local = name in self.locals or name in self.aliases or name in self.assigned
                unknown = local or name == "self" or name not in self.names
                return MISSING if unknown else self.names[name]
            case tree.Attribute(of=tree.Name(name="self"), name=name):
                held = self.scene.constant(name)
                return held if isinstance(held, type) else MISSING
            case tree.Attribute(of=of, name=name):
                owner = self.static(of)
                return MISSING if owner is MISSING else getattr(owner, name, MISSING)
            case _:
                return MISSING

    def temporary(self, type: t.Type, place: Place) -> ir.Local:
        """A local of our own that no declaration can name."""
        self.fresh += 1
        name = f"_{self.fresh}"
        self.locals[name] = type
        return ir.Local(place, type, name)

    @contextmanager
    def without_hoisting(self) -> Generator[None]:
        """Inside, an expression may be evaluated not at all or many times: no steps there."""
        kept, self.hoisted = self.hoisted, None
        try:
            yield
        finally:
            self.hoisted = kept

    @contextmanager
    def knowing(self, facts: Mapping[ir.Expr, t.Type]) -> Generator[None]:
        """Inside, these places are known to have narrower types."""
        kept = dict(self.facts)
        self.facts.update(facts)
        try:
            yield
        finally:
            self.facts = kept

    @contextmanager
    def binding(self, names: Mapping[str, t.Type]) -> Generator[None]:
        """Inside, these names are locals. After it each name stands for what it did before."""
        kept = dict(self.locals), dict(self.aliases), self.assigned, self.facts
        held = set(self.owned), set(self.moved), set(self.dead)
        self.bind(names)
        self.assigned -= names.keys()
        try:
            yield
        finally:
            self.locals, self.aliases, self.assigned, self.facts = kept
            self.owned, self.moved, self.dead = held

    def bind(self, names: Mapping[str, t.Type]) -> None:
        """From here on these names are locals, whatever they were before."""
        self.locals.update(names)
        self.facts = {e: f for e, f in self.facts.items() if not _reads(e, names)}
        for name in names:
            self.aliases.pop(name, None)
            self.owned.discard(name)
            self.made.discard(name)
            self.moved.discard(name)

    def own(self, name: str) -> None:
        """From here on this local holds a container of its own."""
        self.owned.add(name)
        self.made.add(name)

    def may_move(self, name: str) -> bool:
        """Whether the container that a local holds may be put into the state: in a loop each round
        has to make one, and none reads that of the round before."""
        in_round = name in self.made and name not in self.older
        return name in self.owned and (not self.loops or in_round)

    def named(self) -> Named:
        """What locals name here."""
        return Named(dict(self.aliases), frozenset(self.dead), frozenset(self.moved))

    def come_together(self, start: Named, ways: Sequence[Named]) -> None:
        """Ways that began at `start` come together: a local names a place that it named there if
        it does so on all of them. Where no way comes here, what follows is never reached."""
        ways = ways or [start]
        self.aliases = {
            name: path
            for name, path in start.aliases.items()
            if all(way.aliases.get(name) == path for way in ways)
        }
        self.dead = {name for way in ways for name in way.dead}
        self.moved = {name for way in ways for name in way.moved}

    def forget(self, target: ir.Expr) -> None:
        """After `target` changed: forget what was known of it.

        Two keys may be one, so that nothing is known of the other items of its container either.
        Nor is it known of what is computed of the state, such as a `@property`.
        """
        held, computed = holder(target), in_machine(target)
        self.facts = {
            e: f
            for e, f in self.facts.items()
            if not mentions(e, held) and not (computed and _calls(e))
        }

    def facts_through(
        self, facts: Mapping[ir.Expr, t.Type], nodes: tuple[tree.Statement, ...]
    ) -> dict[ir.Expr, t.Type]:
        """Those of the facts that hold before, in the middle of and after these statements."""
        from ..syntax.changes import changes  # A machine without loops starts without it.

        changed = changes(nodes)
        writes = Writes(dict.fromkeys(changed.attributes), True, changed.anything)
        own = self.scene.own.methods
        for name in changed.methods:
            if name in own and own[name].kind == "helper":
                self.scene.helper(name)  # So that it is among the functions.
        reach = Reach(self.scene.functions(), (), frozenset())
        for name in changed.methods:
            writes.add(reach.of_function(name))
        return {
            place: fact
            for place, fact in facts.items()
            if not _reads(place, changed.names)
            if isinstance(place, ir.Local) or _steady(place)
            if isinstance(root(place), ir.Local) or not _written(place, writes)
        }

    def forget_state(self, call: ir.Stmt) -> None:
        """After a helper changed the state: what is known of other variables remains."""
        self._forget_facts(self._writes(call))
        self.dead |= {n for n, path in self.aliases.items() if in_state(viewed(path))}

    def _writes(self, call: ir.Stmt) -> Writes:
        if not isinstance(call, ir.Do):
            return Writes(anything=True)
        functions = self.scene.functions()
        return Reach(functions, (), frozenset()).of_function(call.call.function)

    def stepped(self) -> None:
        """After a part's step: what this machine has itself is where it was."""
        self._forget_facts(Writes(parts=True))
        self.dead |= {
            name
            for name, path in self.aliases.items()
            if in_state(viewed(path)) and changed_by_steps_of_parts(viewed(path))
        }

    def _forget_facts(self, writes: Writes) -> None:
        self.facts = {e: f for e, f in self.facts.items() if not _written(e, writes)}

    def replaced(self, target: ir.Expr) -> None:
        """After another value was put at `target`: names of what was there name nothing."""
        self.forget(target)
        self._bury(target, below=False)

    def updated(self, target: ir.Expr) -> None:
        """After the container at `target` was changed in place: names of its items are no longer
        valid."""
        self.forget(target)
        self._bury(target, below=True)

    def _bury(self, target: ir.Expr, below: bool) -> None:
        """Names that refer to the target, or to something inside it, are no longer valid."""
        self.dead |= {
            name for name, path in self.aliases.items() if may_pass(viewed(path), target, below)
        }


def _steady(place: ir.Expr) -> bool:
    """Whether a place has another value only where a variable or a local is assigned."""
    held = [e for e in everything((place,)) if isinstance(e, ir.Field | ir.Local)]
    computed = any(isinstance(e, ir.Call) for e in everything((place,)))
    return not computed and all(t.immutable(e.type) for e in held)


def _written(e: ir.Expr, writes: Writes) -> bool:
    """Whether something that writes this may put another value at a place, or into its keys."""
    if isinstance(e, ir.Local):
        return False
    for node in everything((e,)):
        match node:
            case ir.Field(of=ir.Self(), name=name) if name in writes.variables:
                return True
            case ir.Local(type=t.Part()) | ir.Call():
                return True
            case ir.Field(type=kind) | ir.Item(type=kind) if t.contains(kind, t.Part):
                return True
            case _:
                pass
    return writes.anything or not in_state(e)


def _calls(e: ir.Expr) -> bool:
    """Whether the expression computes something by a function."""
    return any(isinstance(node, ir.Call) for node in everything((e,)))


def _reads(e: ir.Expr, names: Collection[str]) -> bool:
    """Whether the expression reads a local of one of these names."""
    return any(isinstance(node, ir.Local) and node.name in names for node in everything((e,)))


def unpacked(type: t.Type, names: tuple[str, ...]) -> dict[str, t.Type] | None:
    """The types of the names that a tuple of this type is unpacked into; None if it is not one."""
    if len(names) == 1:
        return {names[0]: type}
    if isinstance(type, t.Tuple) and len(type.items) == len(names):
        return dict(zip(names, type.items, strict=True))
    return dict.fromkeys(names, t.Unknown()) if isinstance(type, t.Unknown) else None


def facts_if(test: ir.Expr, outcome: bool) -> dict[ir.Expr, t.Type]:
    """The facts about places that follow from a test with this outcome."""
    match test:
        case ir.Op(op="not", args=(of,)):
            return facts_if(of, not outcome)
        case ir.And(args=args) if outcome:
            return {k: v for arg in args for k, v in facts_if(arg, True).items()}
        case ir.Or(args=args) if not outcome:
            return {k: v for arg in args for k, v in facts_if(arg, False).items()}
        case ir.IsA(of=of, options=wanted):
            inner = _asked(of)
            if inner is None:
                return {}
            left = tuple(o for o in t.options(of.type) if (o in wanted) == outcome)
            return {inner: t.union(left)} if left else {}
        case ir.Op(op="in" | "not_in" as op, args=(of, held)) if (op == "in") == outcome:
            return _members(of, held)
        case _:
            return {}


def known_of_all(ways: Sequence[Mapping[ir.Expr, t.Type]]) -> dict[ir.Expr, t.Type]:
    """What is known of places where ways come together: what each has on one of them."""
    places = [place for place in ways[0] if all(place in way for way in ways)]
    found = {place: _joined(place.type, [way[place] for way in ways]) for place in places}
    return {place: fact for place, fact in found.items() if fact is not None}


def _joined(whole: t.Type, facts: Sequence[t.Type]) -> t.Type | None:
    """The narrower type that a place has which has one of these; None where that is no narrower."""
    if all(fact == facts[0] for fact in facts):
        return facts[0]
    kinds = [kind for fact in facts for kind in t.options(fact)]
    left = [each for each in t.options(whole) if any(t.fits(kind, each) for kind in kinds)]
    return t.widened(t.union(tuple(left))) if 0 < len(left) < len(t.options(whole)) else None


def fact_of(value: ir.Expr, place: t.Type) -> t.Type:
    """What is known of a place of that type to which the value is assigned."""
    if not isinstance(value, ir.If):
        return value.type
    return _joined(place, [fact_of(each, place) for each in (value.then, value.other)]) or place


def _members(of: ir.Expr, held: ir.Expr) -> dict[ir.Expr, t.Type]:
    """The fact that a value which a collection has is not None, where none of its members is."""
    inner = _asked(of)
    kinds = held.type.items if isinstance(held.type, t.Tuple) else (t.element(held.type),)
    if inner is None or any(k is None or t.fits(t.NOTHING, k) for k in kinds):
        return {}
    left = tuple(o for o in t.options(of.type) if not isinstance(o, t.Nothing))
    return {inner: t.union(left)} if 0 < len(left) < len(t.options(of.type)) else {}


def _asked(of: ir.Expr) -> ir.Expr | None:
    """The place, or the `@property`, of which a test tells something; None of anything else."""
    inner = of.of if isinstance(of, ir.Narrow) else of
    return inner if is_place(inner) or isinstance(root(inner), ir.Call) else None


def read_of(local: ir.Local) -> ir.Local:
    """The same local as a node of its own: mutants change where it is read, and not its place."""
    return ir.Local(local.place, local.type, local.name)
