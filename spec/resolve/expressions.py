"""Expressions: `tree` -> typed IR. Every problem is noted with its place; nothing is raised."""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..analysis.partiality import may_be_undefined
from ..analysis.places import root
from ..errors import Place, a, nearest
from ..records import told_apart
from ..syntax import tree
from . import tuples
from .constants import at_text, by_member, field_of_constant, named_constant
from .context import MISSING, Body, Resolver
from .declared.literals import as_text, table
from .declared.serials import INTEGER, SERIAL, declared
from .families import gathered
from .of_values.definitions import property_of, property_of_each

DISPLAYS = (tree.Display, tree.Pairs, tree.Comprehension)
OF_LITERALS = {bool: t.BOOL, int: t.INT, float: t.FLOAT, str: t.TEXT, type(None): t.NOTHING}
VALUES = (t.Tuple, t.Seq, t.Set, t.Bag, t.Union)  # No machine is kept in one of these.


def expr(b: Body, node: tree.Expression, expected: t.Type | None = None) -> ir.Expr:
    """The expression; where `expected` is given it fits there, else a problem is noted."""
    found = infer(b, node, expected)
    if expected is not None:
        found = as_text(b, declared(b, found, expected), expected)
    if expected is not None and not t.fits(found.type, expected):
        misfit(b, found.place, found.type, expected)
        return b.wrong(node.place)
    return found


def infer(b: Body, node: tree.Expression, hint: t.Type | None) -> ir.Expr:
    """The typed expression, of any type; `hint` is the expected type of a collection's content."""
    if hint is not None and isinstance(node, DISPLAYS):
        hint = there(hint)
    found = b.scene.expressions[type(node)](b, node, hint)
    base = root(found)
    if may_be_undefined(found) or (isinstance(base, ir.Local) and base.name in b.unsure):
        b.evaluated = None
    elif isinstance(found, ir.Field | ir.Item | ir.Local | ir.Narrow):
        b.read(found)
    if isinstance(found.type, VALUES) and t.contains(found.type, t.Part):
        gathered(b, found.place, found.type)
        return b.wrong(node.place)
    return found


def there(kind: t.Type) -> t.Type:
    """The type of an optional value that is not None; any other type unchanged."""
    rest = tuple(o for o in t.options(kind) if not isinstance(o, t.Nothing))
    return rest[0] if len(rest) == 1 else kind


def misfit(b: Body, place: Place, found: t.Type, expected: t.Type) -> None:
    """Note that the value's type does not fit the expected one."""
    rest = tuple(o for o in t.options(found) if not isinstance(o, t.Nothing))
    if rest and len(rest) < len(t.options(found)) and t.fits(t.union(rest), expected):
        b.problem(
            "L207",
            place,
            f"a value that may be None ({found})",
            str(expected),
            'test it with `is None`, or write needed(value, "why")',
        )
    elif isinstance(found, t.Map) and isinstance(expected, t.Map) and found.total < expected.total:
        b.problem(
            "L203",
            place,
            f"{a(found)} that may lack keys",
            f"{a(expected)} with every key",
            _mended(found, expected),
        )
    else:
        b.problem("L203", place, str(found), str(expected), _mended(found, expected))


def _mended(found: t.Type, expected: t.Type) -> str:
    """How a value of one type becomes one of another."""
    match found, expected:
        case t.Set(item=mine), t.Set(item=theirs, mutable=mutable) if t.fits(mine, theirs):
            return f"write {'set' if mutable else 'frozenset'}(...) round it"
        case t.Seq(item=mine), t.Seq(item=theirs, mutable=mutable) if t.fits(mine, theirs):
            return f"write {'list' if mutable else 'tuple'}(...) round it"
        case t.Map(), t.Map(mutable=True) if expected.total and not found.total:
            return "give every key a value: total(value), or {k: ... for k in ...} over all keys"
        case t.Map(), t.Map(mutable=True) if found.total or not expected.total:
            return "write dict(...) round it"
        case t.Text(), t.Bool():
            return "nothing depends on a text: ask what it is made of, `names if self.done else no`"
        case t.Serial(), t.Int():
            return INTEGER
        case t.Int(), t.Serial():
            return SERIAL
        case t.Bool(), t.Int():
            return "a bool is not an int here: write `1 if p else 0`"
        case t.Int() | t.Set() | t.Seq() | t.Map() | t.Union(), t.Bool():
            return "write the condition: x != 0, len(s) > 0, x is not None"
        case t.Record(fields=mine), t.Record(fields=theirs) if mine[: len(theirs)] == theirs:
            return f"a record of another class does not stand for it: declare {expected} | {found}"
        case t.Nothing(), _:
            return f"give {a(expected)}, or annotate {expected} | None"
        case _, t.Nothing():
            return f"annotate the output: -> {found}"
        case _:
            return f"give a value of type {expected}"


def iterable(b: Body, node: tree.Expression) -> tuple[ir.Expr, t.Type]:
    """The iterable after `in` of a loop, and the type of its elements."""
    static = b.static(node)
    if isinstance(static, type) and not isinstance(node, tree.Apply):
        kind = b.scene.annotation(static, node.place, b.names)
        if isinstance(kind, t.Bool):
            b.problem("L203", node.place, "bool", "a collection", "write (False, True)")
            return b.wrong(node.place), kind
        if isinstance(kind, t.Sort | t.Enum):
            ordered = isinstance(kind, t.Enum) or kind.ordered
            return ir.Domain(node.place, t.Iter(kind, ordered)), kind
    found = looked_through(expr(b, node))
    if isinstance(found.type, t.Unknown):
        return found, found.type
    item = t.element(found.type)
    if item is None:
        b.problem(
            "L203",
            node.place,
            str(found.type),
            "a collection, a range or a sort",
            "iterate a set, map, list, tuple, range(...) or the elements of a sort",
        )
        return b.wrong(node.place), t.Unknown()
    return found, item


def looked_through(found: ir.Expr) -> ir.Expr:
    """What is iterated, or looked in: of `m.keys()` the view, for no set need be made."""
    match found:
        case ir.Op(op="frozenset_of", args=(ir.Op(op="keys") as view,)):
            return view
        case _:
            return found


def _literal(b: Body, node: tree.Literal, expected: t.Type | None) -> ir.Expr:
    value = node.value
    kind = OF_LITERALS[type(value)]
    if isinstance(kind, t.Int) and isinstance(expected, t.Float):
        return ir.Const(node.place, t.FLOAT, float(value or 0))
    return ir.Const(node.place, kind, value)


def _name(b: Body, node: tree.Name, expected: t.Type | None) -> ir.Expr:
    if node.name == "self" and b.mode != "default":
        return ir.Self(node.place, t.Part(b.scene.own.name))
    if node.name in b.aliases:
        if node.name in b.dead:
            b.problem(
                "L211",
                node.place,
                f"{node.name}, a name of what was replaced since",
                "a name of a place that is still the same",
                "write out the place: after the change, Python's name means the old container",
            )
        b.named_reads.append((node.name, node.place))
        return narrowed(b, b.aliases[node.name])
    if node.name in b.moved:
        b.problem(
            "L211",
            node.place,
            f"{node.name}, a container that was put into the state before",
            "a container of its own",
            "write out the place where it is now, or copy it there: list(...)",
        )
    if node.name in b.locals:
        return narrowed(b, ir.Local(node.place, b.locals[node.name], node.name))
    if node.name in b.assigned:
        b.problem(
            "L201",
            node.place,
            f"{node.name}, before it has a value",
            "a local that was assigned on the way here",
            _known_name(b, node.name),
        )
        return b.wrong(node.place)
    if node.name in b.names:
        return named_constant(b, b.names[node.name], node.place, node.name)
    b.problem(
        "L201",
        node.place,
        node.name,
        "a parameter, a local, a constant or a type",
        _known_name(b, node.name),
    )
    return b.wrong(node.place)


def _known_name(b: Body, name: str) -> str:
    if name in b.scene.own.fields or name in b.scene.own.methods:
        return f"write self.{name}"
    if name in b.assigned:
        return "assign it first, in the same block"
    near = [*b.locals, *b.names.locals, *b.names.globals]
    return nearest(name, (n for n in near if not n.startswith("_")), "define or import it")


def narrowed(b: Body, found: ir.Expr) -> ir.Expr:
    """The place at the type that the tests before it left."""
    fact = b.facts.get(found)
    return found if fact is None or fact == found.type else ir.Narrow(found.place, fact, found)


def _attribute(b: Body, node: tree.Attribute, expected: t.Type | None) -> ir.Expr:
    static = b.static(node)
    if static is not MISSING:
        return named_constant(b, static, node.place, node.name, field_of_constant(b, node))
    of = expr(b, node.of)
    interface = b.interface(of.type)
    if interface is not None:
        if node.name in interface.fields:
            return narrowed(b, ir.Field(node.place, interface.fields[node.name], of, node.name))
        signature = interface.methods.get(node.name)
        if signature is not None and signature.getter:
            computed = tree.Apply(node.place, node, (), ())
            return narrowed(b, b.scene.expressions[tree.Apply](b, computed, None))
        value = b.scene.constant(node.name) if interface is b.scene.own else MISSING
        strange = value is MISSING or isinstance(value, property | staticmethod | classmethod)
        own = interface is b.scene.own and node.name not in interface.methods
        if own and strange and b.scene.unfit(node.name):
            return b.wrong(node.place)
        if value is not MISSING and node.name not in interface.methods:
            return named_constant(b, value, node.place, node.name)
        return _unknown_attribute(b, node.place, node.name, (of.type, sorted(interface.fields)))
    match of.type:
        case t.Record(fields=fields) if node.name in dict(fields):
            return narrowed(b, ir.Field(node.place, dict(fields)[node.name], of, node.name))
        case t.Timer() if node.name == "armed":
            return ir.Field(node.place, t.BOOL, of, "armed")
        case t.Clock() if node.name == "now":
            return ir.Field(node.place, t.NAT, of, "now")
        case t.Enum() if node.name in ("name", "value") and (table := by_member(b, node, of)):
            return table
        case t.Enum() | t.Record() if made := property_of(b, node.place, of, node.name):
            return narrowed(b, made)
        case t.Union():
            return _of_union(b, node, of)
        case t.Unknown():
            return b.wrong(node.place)
        case t.Timer():
            return _unknown_attribute(b, node.place, node.name, (of.type, ["armed"]))
        case t.Record(fields=fields):
            known = [name for name, _ in fields]
            return _unknown_attribute(b, node.place, node.name, (of.type, known))
        case _:
            return _unknown_attribute(b, node.place, node.name, (of.type, []))


def _of_union(b: Body, node: tree.Attribute, of: ir.Expr) -> ir.Expr:
    """A field that every record of a union has with one type; None among them is a problem."""
    if t.NOTHING in t.options(of.type):
        return may_be_none(b, node.of.place, of.type, "a record")
    made = property_of_each(b, node.place, of, node.name, join)
    return made or field(b, node.place, of, node.name)


def may_be_none(b: Body, place: Place, kind: t.Type, expected: str) -> ir.Expr:
    """Note that a value may be None of which something else is asked."""
    rewrite = 'test it with `is None`, or write needed(value, "why")'
    b.problem("L207", place, f"a value that may be None ({kind})", expected, rewrite)
    return b.wrong(place)


def field(b: Body, place: Place, of: ir.Expr, name: str) -> ir.Expr:
    """A field of a record, or one that every record of a union has with one type."""
    fields = (dict(o.fields) if isinstance(o, t.Record) else {} for o in t.options(of.type))
    kinds = {each.get(name, t.Unknown()) for each in fields}
    kind = kinds.pop() if len(kinds) == 1 else t.Unknown()
    if not isinstance(kind, t.Unknown):
        return narrowed(b, ir.Field(place, kind, of, name))
    return _unknown_attribute(b, place, name, (of.type, []))


def _unknown_attribute(b: Body, place: Place, name: str, of: tuple[t.Type, list[str]]) -> ir.Expr:
    type, known = of
    expected = f"one of {', '.join(known)}" if known else f"an attribute that {a(type)} has"
    rewrite = nearest(name, known, f"write .{known[0]}" if len(known) == 1 else "correct the name")
    if isinstance(type, t.Part) and type.machine == b.scene.own.name:
        rewrite = nearest(name, known, f"declare it in the class, {name}: int = 0")
    if isinstance(type, t.Enum):
        rewrite = f"make a table of it: {{{type}.{type.members[0]}: ..., ...}}[x]"
    if isinstance(type, t.Union):
        expected = "a field that every alternative has, with one type"
        rewrite = "narrow it first: if isinstance(x, Ack): ..., or match"
    b.problem("L205", place, f"{name} of {a(type)}", expected, rewrite)
    return b.wrong(place)


def _subscript(b: Body, node: tree.Subscript, expected: t.Type | None) -> ir.Expr:
    return item_of(b, node, expr(b, node.of), expected)


def item_of(b: Body, node: tree.Subscript, of: ir.Expr, expected: t.Type | None) -> ir.Expr:
    """The item of `of` at the key of this subscript."""
    match of.type:
        case t.Map():
            return _looked_up(b, node, of, expected)
        case t.Bag(item=item):
            return ir.Item(node.place, t.INT, of, expr(b, node.key, item))
        case t.Seq(item=item):
            return ir.Item(node.place, item, of, expr(b, node.key, t.INT))
        case t.Tuple(items=items):
            at = _written(node.key)
            if at is not None and -len(items) <= at < len(items):
                const = ir.Const(node.key.place, t.INT, at)
                return ir.Item(node.place, items[at], of, const)
            whole = tuples.as_sequence(of) if at is None else None
            if whole is not None:
                return ir.Item(node.place, whole[1], whole[0], expr(b, node.key, t.INT))
            b.problem(
                "L203",
                node.key.place,
                f"this index of {of.type}",
                f"a literal below {len(items)}, or items of one type",
                "unpack the tuple",
            )
        case t.Unknown():
            pass
        case _:
            b.problem(
                "L203", node.place, str(of.type), "a map, list, tuple or bag", "index one of these"
            )
    return b.wrong(node.place)


def _looked_up(b: Body, node: tree.Subscript, of: ir.Expr, expected: t.Type | None) -> ir.Expr:
    """The value of a map at a key."""
    assert isinstance(of.type, t.Map)
    given = declared(b, infer(b, node.key, of.type.key), of.type.key)
    of = table(b, of, given.type, expected)
    if not isinstance(of.type, t.Map) or not t.fits(given.type, of.type.key):
        misfit(b, node.key.place, given.type, t.element(of.type) or of.type)
        return b.wrong(node.place)
    return at_text(of, given) or narrowed(b, ir.Item(node.place, of.type.value, of, given))


def _written(node: tree.Expression) -> int | None:
    """The integer that is written out here, if one is."""
    value = node.value if isinstance(node, tree.Literal) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _cut(b: Body, node: tree.Cut, expected: t.Type | None) -> ir.Expr:
    of = expr(b, node.of)
    if node.backwards and not isinstance(of.type, t.Unknown):
        builtin = "list" if isinstance(of.type, t.Seq) and of.type.mutable else "tuple"
        turned = tree.Apply(node.place, tree.Name(node.place, "reversed"), (node.of,), ())
        made = tree.Apply(node.place, tree.Name(node.place, builtin), (turned,), ())
        return expr(b, made, expected)
    if isinstance(of.type, t.Tuple):
        bounds = [None if end is None else _written(end) for end in (node.low, node.high)]
        both_or_neither = bounds.count(None) == (node.low, node.high).count(None)
        found = tuples.cut(node.place, of, bounds[0], bounds[1]) if both_or_neither else None
        if found is not None:
            return found
        whole = tuples.as_sequence(of)
        if whole is not None:
            of = ir.Op(of.place, t.Seq(whole[1], mutable=False), "tuple", tuples.given(of))
    if isinstance(of.type, t.Tuple):
        b.problem(
            "L203",
            node.place,
            f"a slice of {of.type}",
            "literal bounds, and items of one type where nothing is between them",
            "write out which items: (x[0], x[1])",
        )
        return b.wrong(node.place)
    if not isinstance(of.type, t.Seq):
        b.problem("L203", node.place, str(of.type), "a list or tuple", "slice one of these")
        return b.wrong(node.place)
    none = ir.Const(node.place, t.NOTHING, None)
    low = none if node.low is None else expr(b, node.low, t.INT)
    high = none if node.high is None else expr(b, node.high, t.INT)
    return ir.Op(node.place, of.type, "slice", (of, low, high))


def join(b: Body, place: Place, types: tuple[t.Type, ...]) -> t.Type:
    """The one type of several values: that of all, or the union of records and None."""
    known = [kind for kind in types if not isinstance(kind, t.Unknown)]
    if not known:
        return t.Unknown()
    if all(isinstance(k, t.Int) and not isinstance(k, t.Serial) for k in known):
        return t.INT
    for kind in sorted(known, key=lambda kind: t.contains(kind, t.Unknown)):
        if all(t.fits(other, kind) for other in known):
            return kind
    joined = t.union(tuple(t.widened(kind) for kind in known))
    if not told_apart(joined, b.scene.records):
        b.problem(
            "L203",
            place,
            " and ".join(str(option) for option in t.options(joined)),
            "values of one type, or records and None",
            "Python would merge True with 1, and compare what never is equal: use one type",
        )
        return t.Unknown()
    return joined


def unordered(
    b: Body, place: Place, found: str, item: t.Type | None = None, rewrite: str | None = None
) -> None:
    """Note that the order of an unordered collection, of elements of type `item`, would be seen."""
    rewrite = rewrite or _in_an_order(item)
    b.problem("L210", place, found, "the same result in every order", rewrite)


def _in_an_order(item: t.Type | None) -> str:
    """How to go through elements of this type in an order."""
    first = item.items[0] if isinstance(item, t.Tuple) and item.items else item
    match first:
        case t.Enum(name=name) if not isinstance(first, t.Literal):
            return f"go through the enum, which has an order: for x in {name}; or make a set"
        case t.Sort(name=name, ordered=False):
            return f"make a frozenset; or declare class {name}(OrderedSort), and write sorted(...)"
        case t.Int() | t.Sort() if item is first:
            return "write sorted(...) round the collection; or make a set, or use sum, min, max"
        case _:
            return (
                "iterate sorted(...), a list or a tuple parameter;"
                " or make a set, or use sum, min, max"
            )


def _function(b: Body, node: tree.Function, expected: t.Type | None) -> ir.Expr:
    b.problem("L103", node.place, "a lambda", "a helper", "write a helper method")
    return b.wrong(node.place)


ROWS: dict[type[tree.Tree], Resolver] = {
    tree.Literal: _literal,
    tree.Name: _name,
    tree.Attribute: _attribute,
    tree.Subscript: _subscript,
    tree.Cut: _cut,
    tree.Function: _function,
}
