"""Properties and guards of a machine as SQL expressions of Spark.

SQL's integers have 64 bits, its `div` and `%` truncate, and its null is no error. So a term is two
texts: a value, and conditions under which it is the value that Python gives. What Python does not
evaluate, because an operand before it decides, has no part in the conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.spec import errors, ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.analysis.walk import everything
from lawful.spec.ops import DISPLAYS
from lawful.spec.text.expressions import expr

LEAST, MOST = -(2**63), 2**63 - 1
LONGEST = 200_000  # Characters that are written in all, for one property.


class Unsupported(errors.Unsupported):
    """SQL has no expression for this; the text says for what, and where it stands."""


@dataclass(frozen=True, slots=True)
class Term:
    """An SQL value, which is Python's where all the SQL conditions `known` are true.

    A condition that is null counts as false. None is null; `true` and `false` are never null where
    they are known.
    """

    value: str
    known: tuple[str, ...] = ()


NO_VALUE = Term("NULL", ("false",))
Locals = Mapping[str, Term | Callable[[], Term]]  # An argument is looked up when it is read.


def literal(kind: t.Type, value: ir.Json) -> Term:
    """A value of a type in JSON form. Raises ValueError for a value that is none of the type, and
    for a type that has no column."""
    for option in t.options(kind):
        match option, value:
            case t.Nothing(), None:
                return Term("NULL")
            case t.Bool(), bool():
                return Term(str(value).lower())
            case t.Enum(members=members), str() if value in members:
                return Term(f"'{value}'")
            case t.Int(), int() if is_integer(option) and not isinstance(value, bool):
                if LEAST <= value <= MOST:
                    return Term(f"{value}L" if value >= 0 else f"({value}L)")
            case _:
                continue
    raise ValueError(f"{value!r} is no {kind} that a column can hold")


def is_integer(kind: t.Type) -> bool:
    """Whether values are integers that do not wrap."""
    return isinstance(kind, t.Int) and not isinstance(kind, t.Serial)


def scalar(kind: t.Type) -> t.Type | None:
    """The type of the values beside None, if a column can hold them; of None alone, it is None's
    type."""
    some = [each for each in t.options(kind) if not isinstance(each, t.Nothing)]
    if not some:
        return t.NOTHING
    held = isinstance(some[0], t.Bool | t.Enum) or is_integer(some[0])
    return some[0] if len(some) == 1 and held else None


def optional(kind: t.Type) -> bool:
    """Whether None is a value of the type."""
    return any(isinstance(each, t.Nothing) for each in t.options(kind))


class Translator:
    """Translates the properties and guards of one machine; `fields` gives the term of a variable or
    parameter, and may raise an exception where there is none."""

    def __init__(self, machine: ir.Machine, fields: Callable[[str], Term]) -> None:
        self.machine = machine
        self.fields = fields
        self.written = 0
        self.functions = {f.name: f for f in machine.functions}

    def of_property(self, row: ir.Property) -> str:
        """Whether the property holds; null where no answer is known."""
        return answer(self._block(row.function.body, {}, row.function))

    def of_guard(self, row: ir.Transition, args: Locals) -> str:
        """Whether the source and all guards of a transition let the event happen, with these
        arguments; null where no answer is known."""
        if row.timer is not None:
            raise self._refused(row, f"the timer of {row.name}")
        return answer(self._all([*self._source(row), *self._guards(row.function, args)], row))

    def _source(self, row: ir.Transition) -> Iterator[Term]:
        if row.source is None or row.control is None:
            return
        control = self._term(row.control, {})
        names = ", ".join(f"'{name}'" for name in row.source)
        yield Term(f"({control.value} IN ({names}))", control.known)

    def _guards(self, function: ir.Function, args: Locals) -> Iterator[Term]:
        """The guards at the beginning of a body. What a local may lack is asked before the first
        guard that follows it."""
        env, asked = dict(args), tuple[str, ...]()
        for at, stmt in enumerate(function.body):
            match stmt:
                case ir.Assign(target=ir.Local(name=name), value=value):
                    made = self._term(value, env)
                    env[name], asked = Term(made.value), (*asked, *made.known)
                case ir.Require(test=test):
                    made = self._truth(test, env)
                    yield Term(made.value, merged(asked, made.known))
                case _:
                    self._no_guards_in(function.body[at:])
                    return

    def _no_guards_in(self, rest: Sequence[ir.Stmt]) -> None:
        kinds = (ir.Require, ir.Refuse, ir.Needed, ir.Step, ir.Base, ir.Do, ir.Can)
        for node in everything(rest):
            if isinstance(node, kinds):
                raise self._refused(node, "a guard after other statements")

    def _block(self, body: Sequence[ir.Stmt], env: Locals, inside: ir.Node) -> Term:
        """What a body returns."""
        match body:
            case [ir.Return(value=ir.Expr() as value), *_]:
                return self._term(value, env)
            case [ir.Assign(target=ir.Local(name=name), value=value), *rest]:
                made = self._term(value, env)
                after = self._block(rest, {**env, name: Term(made.value)}, inside)
                return self._made(after.value, merged(made.known, after.known), inside)
            case [ir.Branch(test=test, then=then, other=other), *rest]:
                one = self._block([*then, *rest], env, inside)
                two = self._block([*other, *rest], env, inside)
                return self._choice(self._truth(test, env), one, two, inside)
            case [first, *_]:
                raise self._refused(first, f"a statement {type(first).__name__}")
            case _:
                raise self._refused(inside, "a body that ends without `return`")

    def _term(self, e: ir.Expr, env: Locals) -> Term:
        match e:
            case ir.Const(value=value):
                try:
                    return literal(e.type, value)
                except ValueError as error:
                    raise self._refused(e, str(error)) from error
            case ir.Local(name=name):
                found = env.get(name, NO_VALUE)
                return found if isinstance(found, Term) else found()
            case ir.Field(of=ir.Self(), name=name):
                if scalar(e.type) is None:
                    raise self._refused(e, f"{name}, a {e.type}")
                return self.fields(name)
            case ir.Op():
                return self._operation(e, env)
            case ir.And(args=args):
                return self._all([self._truth(each, env) for each in args], e)
            case ir.Or(args=args):
                return self._any([self._truth(each, env) for each in args], e)
            case ir.If(test=test, then=then, other=other):
                one, two = self._term(then, env), self._term(other, env)
                return self._choice(self._truth(test, env), one, two, e)
            case ir.IsA(of=of, options=options) if scalar(of.type) is not None:
                return self._is_a(e, self._term(of, env), of.type, options)
            case ir.Narrow(of=of):
                return self._term(of, env)
            case ir.Call(function=name, of=None | ir.Self(), args=args) if name in self.functions:
                function = self.functions[name]
                given = [self._term(each, env) for each in args]
                values = (Term(each.value) for each in given)
                made = self._block(function.body, bind(function.params, values), function)
                known = merged(*(each.known for each in given), made.known)
                return self._made(made.value, known, e)
            case _:
                raise self._refused(e, f"`{expr(e)}`")

    def _truth(self, e: ir.Expr, env: Locals) -> Term:
        if not isinstance(e.type, t.Bool):
            raise self._refused(e, f"the truth of a {e.type}")
        return self._term(e, env)

    def _operation(self, e: ir.Op, env: Locals) -> Term:
        if e.op in ("in", "not_in"):
            return self._membership(e, env)
        kinds = [each.type for each in e.args]
        fits = {
            **dict.fromkeys((*ARITHMETIC, *ORDER), all(map(is_integer, kinds))),
            **dict.fromkeys(("eq", "ne"), comparable(kinds)),
            "not": isinstance(kinds[0], t.Bool),
            **dict.fromkeys(("int", "bool"), isinstance(kinds[0], t.Bool) or is_integer(kinds[0])),
        }
        if not fits.get(e.op, False):
            raise self._refused(e, f"the operator {e.op} of {', '.join(map(str, kinds))}")
        args = [self._term(each, env) for each in e.args]
        known, values = merged(*(each.known for each in args)), [each.value for each in args]
        if e.op in ARITHMETIC:
            value = ARITHMETIC[e.op].format(*values, all=", ".join(values))
            return self._made(value, merged(known, (f"({value} IS NOT NULL)",)), e)
        if e.op in ("int", "bool"):
            same = isinstance(e.type, t.Bool) == isinstance(kinds[0], t.Bool)
            value = "{0}" if same else CONVERSIONS[e.op]
        else:
            value = TESTS[e.op]
        return self._made(value.format(*values), known, e)

    def _membership(self, e: ir.Op, env: Locals) -> Term:
        """Whether a value is one of those in a display."""
        display = e.args[1]
        if not isinstance(display, ir.Op) or display.op not in DISPLAYS:
            raise self._refused(e, "`in` of anything but values in brackets")
        if not comparable([e.args[0].type, *(each.type for each in display.args)]):
            raise self._refused(e, f"`in` of {e.args[0].type} and {display.type}")
        of, *items = (self._term(each, env) for each in (e.args[0], *display.args))
        tests = " OR ".join(f"{of.value} <=> {each.value}" for each in items) or "false"
        value = f"({tests})" if e.op == "in" else f"(NOT ({tests}))"
        return self._made(value, merged(of.known, *(each.known for each in items)), e)

    def _is_a(self, e: ir.Expr, of: Term, kind: t.Type, asked: tuple[t.Type, ...]) -> Term:
        none = any(isinstance(each, t.Nothing) for each in asked)
        some = any(type(each) is type(scalar(kind)) for each in asked)
        null = f"({of.value} IS NULL)" if none else f"({of.value} IS NOT NULL)"
        value = str(none).lower() if none == some else null
        return self._made(value, of.known, e)

    def _all(self, terms: Sequence[Term], at: ir.Node) -> Term:
        """Python's `and`."""
        made = Term("true")
        for each in terms:
            later = (f"(NOT {made.value} OR {k})" for k in each.known if k not in made.known)
            value = each.value if made.value == "true" else f"({made.value} AND {each.value})"
            known = each.known if made.value == "true" else merged(made.known, tuple(later))
            made = self._made(value, known, at)
        return made

    def _any(self, terms: Sequence[Term], at: ir.Node) -> Term:
        """Python's `or`."""
        made = terms[0]
        for each in terms[1:]:
            later = (f"({made.value} OR {k})" for k in each.known if k not in made.known)
            known = merged(made.known, tuple(later))
            made = self._made(f"({made.value} OR {each.value})", known, at)
        return made

    def _choice(self, test: Term, one: Term, two: Term, at: ir.Node) -> Term:
        if_so = tuple(f"(NOT {test.value} OR {k})" for k in one.known if k not in two.known)
        if_not = tuple(f"({test.value} OR {k})" for k in two.known if k not in one.known)
        both = tuple(k for k in one.known if k in two.known)
        value = f"(CASE WHEN {test.value} THEN {one.value} ELSE {two.value} END)"
        return self._made(value, merged(test.known, both, if_so, if_not), at)

    def _made(self, value: str, known: tuple[str, ...], at: ir.Node) -> Term:
        """A term; Unsupported where the text becomes too long."""
        self.written += len(value) + sum(map(len, known))
        if self.written > LONGEST:
            raise self._refused(at, f"an expression of more than {LONGEST:,} characters")
        return Term(value, known)

    def _refused(self, at: ir.Node, what: str) -> Unsupported:
        where = f"{at.place}: " if at.place.file else ""
        return Unsupported(f"{where}{self.machine.name} has no column expression for {what}")


# The operators on integers, whose value is null where Python has none or needs more than 64 bits.
# No session, ANSI or not, raises an error here: `nullif` keeps zero away from a division, and the
# least number divided by -1 is a subtraction.
_BY = "nullif({1}, 0L)"
_REST = f"{{0}} % {_BY}"
ARITHMETIC = {
    "neg": "try_subtract(0L, {0})",
    "add": "try_add({0}, {1})",
    "sub": "try_subtract({0}, {1})",
    "mul": "try_multiply({0}, {1})",
    "abs": "(CASE WHEN {0} < 0L THEN try_subtract(0L, {0}) ELSE {0} END)",
    "min": "least({all})",
    "max": "greatest({all})",
    "mod": f"(CASE WHEN {_BY} > 0L THEN pmod({{0}}, {_BY})"
    f" WHEN {_REST} > 0L THEN {_REST} + {_BY} ELSE {_REST} END)",
    "floordiv": f"(CASE WHEN {{1}} = (-1L) THEN try_subtract(0L, {{0}}) ELSE {{0}} div {_BY}"
    f" - CASE WHEN {_REST} <> 0L AND ({_REST} < 0L) <> ({{1}} < 0L) THEN 1L ELSE 0L END END)",
}
ORDER = {"lt": "({0} < {1})", "le": "({0} <= {1})", "gt": "({0} > {1})", "ge": "({0} >= {1})"}
TESTS = {**ORDER, "eq": "({0} <=> {1})", "ne": "(NOT ({0} <=> {1}))", "not": "(NOT {0})"}
CONVERSIONS = {"int": "(CASE WHEN {0} THEN 1L ELSE 0L END)", "bool": "({0} <> 0L)"}


def comparable(kinds: Sequence[t.Type]) -> bool:
    """Whether columns hold values of all these types, and they are of one type, None aside."""
    found = [scalar(kind) for kind in kinds]
    some = {
        each.name if isinstance(each, t.Enum) else type(each).__name__
        for each in found
        if not isinstance(each, t.Nothing)
    }
    return None not in found and len(some) <= 1


def merged(*of: tuple[str, ...]) -> tuple[str, ...]:
    """All conditions, each once."""
    return tuple(dict.fromkeys(each for some in of for each in some))


def answer(term: Term) -> str:
    """The value where it is known, and null where it is not."""
    if not term.known:
        return term.value
    return f"(CASE WHEN {' AND '.join(term.known)} THEN {term.value} END)"
