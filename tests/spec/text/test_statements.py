"""The IR as text: exact, with the parentheses that Python needs and no others."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.errors import NOWHERE, Place
from lawful.spec.text import statements

CONN = t.Enum("Conn", ("OPEN", "CLOSED"))
NODE = t.Sort("Node")
ACK = t.Record("Ack", (("seqno", t.NAT), ("conn", t.NAT)))
PING = t.Record("Ping", (("hops", t.NAT),))
INTS = t.Set(t.INT, mutable=True)
ME = ir.Self(NOWHERE, t.Part("M"))


def at(line: int) -> Place:
    return Place("m.py", line, 0, line, 1)


def local(name: str, kind: t.Type = t.INT, place: Place = NOWHERE) -> ir.Local:
    return ir.Local(place, kind, name)


def own(name: str, kind: t.Type = t.INT, place: Place = NOWHERE) -> ir.Field:
    return ir.Field(place, kind, ME, name)


def const(value: ir.Plain, kind: t.Type = t.INT) -> ir.Const:
    return ir.Const(NOWHERE, kind, value)


def op(name: str, *args: ir.Expr, kind: t.Type = t.INT) -> ir.Op:
    return ir.Op(NOWHERE, kind, name, args)


def both(*args: ir.Expr) -> ir.And:
    return ir.And(NOWHERE, t.BOOL, args)


def either(*args: ir.Expr) -> ir.Or:
    return ir.Or(NOWHERE, t.BOOL, args)


def choose(then: ir.Expr, test: ir.Expr, other: ir.Expr) -> ir.If:
    return ir.If(NOWHERE, then.type, test, then, other)


def comp(kind: ir.CompKind, element: ir.Expr, *clauses: ir.Clause, of: t.Type = t.BOOL) -> ir.Comp:
    return ir.Comp(NOWHERE, of, kind, element, None, clauses)


def each(name: str, over: ir.Expr, *tests: ir.Expr) -> ir.Clause:
    return ir.Clause(NOWHERE, (name,), over, tests)


A, B, C, S = local("a"), local("b"), local("c"), local("s", INTS)
P, Q = local("p", t.BOOL), local("q", t.BOOL)
OPTIONAL = local("o", t.Union((ACK, t.NOTHING)))
LESS = op("lt", A, B)
WHY = const("why", t.TEXT)

EXACT: list[tuple[ir.Expr, str]] = [
    (own("x"), "self.x"),
    (const("OPEN", CONN), "Conn.OPEN"),
    (const("a", NODE), 'Node("a")'),
    (const('say "x"\n', t.TEXT), r'"say \"x\"\n"'),
    (const(None, t.NOTHING), "None"),
    (const(False, t.Timer()), "Timer()"),
    (const(False, t.Timer(urgent=True)), "Timer(urgent=True)"),
    (op("sub", op("sub", A, B), C), "a - b - c"),
    (op("sub", A, op("sub", B, C)), "a - (b - c)"),
    (op("add", A, op("mul", B, C)), "a + b * c"),
    (op("mul", A, op("add", B, C)), "a * (b + c)"),
    (op("neg", op("add", A, B)), "-(a + b)"),
    (op("mul", const(-1), A), "-1 * a"),
    (op("neg", const(-1)), "--1"),
    (op("eq", LESS, P), "(a < b) == p"),
    (op("not", LESS), "not a < b"),
    (op("eq", op("not", P), Q), "(not p) == q"),
    (both(either(P, Q), P), "(p or q) and p"),
    (either(both(P, Q), P), "p and q or p"),
    (both(P, both(Q, P)), "p and q and p"),
    (op("not", both(P, Q)), "not (p and q)"),
    (both(op("le", const(0), A), op("lt", A, B)), "0 <= a < b"),
    (both(op("le", A, B), op("le", B, C), P), "a <= b <= c and p"),
    (both(op("le", A, B), op("le", A, C)), "a <= b and a <= c"),
    (choose(A, P, choose(B, Q, C)), "a if p else b if q else c"),
    (choose(choose(A, P, B), Q, C), "(a if p else b) if q else c"),
    (op("add", choose(A, P, B), C), "(a if p else b) + c"),
    (op("max", choose(A, P, B), C), "max(a if p else b, c)"),
    (op("min", A, B, C), "min(a, b, c)"),
    (op("union", op("intersection", S, S), S), "s & s | s"),
    (op("disjoint", op("union", S, S), S), "(s | s).isdisjoint(s)"),
    (op("tuple", A, B), "(a, b)"),
    (op("tuple", A), "(a,)"),
    (op("tuple"), "()"),
    (op("set"), "set()"),
    (op("set", A, B), "{a, b}"),
    (op("map", A, B, B, C), "{a: b, b: c}"),
    (op("list", op("set", op("frozenset_of", op("set", A)))), "[{frozenset({a})}]"),
    (op("slice", S, const(None, t.NOTHING), A), "s[:a]"),
    (op("counter_of", op("map")), "Counter()"),
    (ir.Item(NOWHERE, t.INT, own("m"), op("tuple", A, B)), "self.m[a, b]"),
    (ir.IsA(NOWHERE, t.BOOL, OPTIONAL, (t.NOTHING,)), "o is None"),
    (op("not", ir.IsA(NOWHERE, t.BOOL, OPTIONAL, (t.NOTHING,))), "o is not None"),
    (ir.IsA(NOWHERE, t.BOOL, OPTIONAL, (ACK, PING)), "isinstance(o, Ack | Ping)"),
    (ir.Field(NOWHERE, t.NAT, ir.Narrow(NOWHERE, ACK, OPTIONAL), "seqno"), "o.seqno"),
    (ir.Needed(NOWHERE, ACK, OPTIONAL, WHY), 'needed(o, "why")'),
    (ir.Can(NOWHERE, t.BOOL, own("part"), "ack", (A,)), "can(self.part.ack, a)"),
    (ir.Can(NOWHERE, t.BOOL, own("part"), "go", ()), "can(self.part.go)"),
    (ir.Call(NOWHERE, t.INT, "half", ME, (A,)), "self.half(a)"),
    (ir.Call(NOWHERE, t.INT, "half", None, (A, B)), "half(a, b)"),
    (ir.Make(NOWHERE, ACK, (A, B)), "Ack(seqno=a, conn=b)"),
    (ir.Make(NOWHERE, PING, (op("add", A, B),)), "Ping(a + b)"),
    (ir.New(NOWHERE, t.Part("Peer"), (("limit", A),)), "Peer(limit=a)"),
    (op("len", ir.Domain(NOWHERE, t.Iter(NODE, False))), "len(Node)"),
    (comp("all", LESS, each("a", S, P)), "all(a < b for a in s if p)"),
    (comp("sum", A, each("a", S), each("b", S)), "sum(a for a in s for b in s)"),
    (comp("set", A, each("a", S), of=INTS), "{a for a in s}"),
    (comp("set", A, each("a", S), of=t.Set(t.INT, False)), "frozenset(a for a in s)"),
    (op("frozenset_of", comp("set", A, each("a", S), of=INTS)), "frozenset(a for a in s)"),
    (op("sorted", comp("set", A, each("a", S), of=INTS)), "sorted({a for a in s})"),
    (comp("list", A, each("a", choose(S, P, S))), "[a for a in (s if p else s)]"),
    (comp("any", P, each("a", S, choose(P, Q, P))), "any(p for a in s if (p if q else p))"),
    (ir.Format(NOWHERE, t.TEXT, (const("{got} ", t.TEXT), A)), 'f"{{got}} {a}"'),
    (ir.Format(NOWHERE, t.TEXT, (op("set", A),)), 'f"{ {a} }"'),
    (
        ir.Format(NOWHERE, t.TEXT, (const("it's ", t.TEXT), const("a", NODE))),
        "f'it\\'s {Node(\"a\")}'",
    ),
]


@pytest.mark.parametrize(("given_", "text"), EXACT, ids=[text for _, text in EXACT])
def test_expressions(given_: ir.Expr, text: str) -> None:
    assert statements.expr(given_) == text
    ast.parse(text, mode="eval")


def test_a_chain_is_one_only_where_it_was_written_as_one() -> None:
    middle, again = local("b", place=at(1)), local("b", place=at(2))
    assert statements.expr(both(op("lt", A, middle), op("lt", middle, C))) == "a < b < c"
    assert statements.expr(both(op("lt", A, middle), op("lt", again, C))) == "a < b and b < c"


def test_implies_is_recognised_by_its_place() -> None:
    first = local("p", t.BOOL, at(3))
    implied = either(ir.Op(at(3), t.BOOL, "not", (first,)), Q)
    written = either(ir.Op(at(2), t.BOOL, "not", (first,)), Q)
    assert statements.expr(implied) == "implies(p, q)"
    assert statements.expr(written) == "not p or q"


def test_a_total_map() -> None:
    key = ir.Local(NOWHERE, NODE, "_key")
    every = ir.Clause(NOWHERE, ("_key",), ir.Domain(NOWHERE, t.Iter(NODE, False)), ())
    kind = t.Map(NODE, t.INT, mutable=True, total=True)
    assert statements.expr(ir.Comp(NOWHERE, kind, "map", const(0), key, (every,))) == "total(0)"


# Whatever is nested in whatever, the text means what the table means.

VALUES: dict[str, Any] = {"a": 3, "b": -2, "c": 0, "p": True, "q": False}
INT_OPS = ("add", "sub", "mul", "floordiv", "mod", "min", "max")
TESTS = ("eq", "ne", "lt", "le", "gt", "ge")


def numbers(inner: st.SearchStrategy[ir.Expr], tests: st.SearchStrategy[ir.Expr]) -> Any:
    return st.one_of(
        st.builds(op, st.sampled_from(INT_OPS), inner, inner),
        st.builds(op, st.sampled_from(("neg", "abs")), inner),
        st.builds(choose, inner, tests, inner),
    )


def compared(name: str, left: ir.Expr, right: ir.Expr) -> ir.Op:
    return op(name, left, right, kind=t.BOOL)


def no(truth: ir.Expr) -> ir.Op:
    return op("not", truth, kind=t.BOOL)


def joined(together: bool, truths: list[ir.Expr]) -> ir.Expr:
    return both(*truths) if together else either(*truths)


def conditions(inner: st.SearchStrategy[ir.Expr], truths: st.SearchStrategy[ir.Expr]) -> Any:
    return st.one_of(
        st.builds(compared, st.sampled_from(TESTS), inner, inner),
        st.builds(compared, st.just("eq"), truths, truths),
        st.builds(no, truths),
        st.builds(joined, st.booleans(), st.lists(truths, min_size=1, max_size=3)),
    )


def expressions(depth: int) -> tuple[st.SearchStrategy[ir.Expr], st.SearchStrategy[ir.Expr]]:
    numeral: st.SearchStrategy[ir.Expr] = st.one_of(
        st.sampled_from([A, B, C]), st.integers(-3, 3).map(const)
    )
    truth: st.SearchStrategy[ir.Expr] = st.one_of(
        st.sampled_from([P, Q]), st.booleans().map(lambda v: const(v, t.BOOL))
    )
    for _ in range(depth):
        numeral, truth = (
            st.one_of(numeral, numbers(numeral, truth)),
            st.one_of(truth, conditions(numeral, truth)),
        )
    return numeral, truth


def value(e: ir.Expr) -> Any:
    """What an expression is, by the table alone."""
    match e:
        case ir.Const(value=plain):
            return plain
        case ir.Local(name=name):
            return VALUES[name]
        case ir.Op(op=name, args=args):
            return ops.meaning(name, len(args), {})(*map(value, args))
        case ir.And(args=args):
            return all(value(arg) for arg in args)
        case ir.Or(args=args):
            return any(value(arg) for arg in args)
        case ir.If(test=test, then=then, other=other):
            return value(then) if value(test) else value(other)
        case _:
            raise TypeError(e)


def outcome(compute: Callable[[], Any]) -> Any:
    try:
        return compute()
    except ZeroDivisionError:
        return "undefined"


@settings(max_examples=150, deadline=None)
@given(st.one_of(*expressions(4)))
def test_the_text_means_what_the_table_means(e: ir.Expr) -> None:
    text = statements.expr(e)
    assert "\n" not in text
    code = compile(ast.parse(text, mode="eval"), "<shown>", "eval")
    assert outcome(lambda: eval(code, dict(VALUES))) == outcome(lambda: value(e))


@settings(max_examples=150, deadline=None)
@given(st.one_of(*expressions(4)))
def test_no_parenthesis_is_superfluous(e: ir.Expr) -> None:
    text = statements.expr(e)
    meant = ast.dump(ast.parse(text))
    for start, end in brackets(text):
        bare = f"{text[:start]} {text[start + 1 : end]} {text[end + 1 :]}".strip()
        try:
            assert ast.dump(ast.parse(bare)) != meant, bare
        except SyntaxError:
            continue


def brackets(text: str) -> list[tuple[int, int]]:
    """Where parentheses open and close that are not those of a call."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for i, char in enumerate(text):
        if char == "(":
            opened.append(i)
        elif char == ")":
            start = opened.pop()
            if not text[:start][-1:].isalpha():
                found.append((start, i))
    return found


def test_every_operator_has_a_notation() -> None:
    for name, row in ops.TABLE.items():
        arity = max((i + 1 for i in range(3) if f"{{{i}}}" in row.template), default=2)
        notation = statements.notation(name, arity)
        assert len(notation.slots) == arity
        assert row.atom == (notation.level == statements.Level.ATOM), name


# Statements and machines.


def lines(*body: ir.Stmt) -> list[str]:
    return statements.block(body)


def test_statements() -> None:
    x, call = own("x"), ir.Call(NOWHERE, t.INT, "tidy", ME, ())
    assert lines(
        ir.Assign(NOWHERE, x, op("add", x, const(1))),
        ir.Assign(NOWHERE, x, op("max", x, A)),
        ir.Update(NOWHERE, own("idle"), "start", (own("limit"),), None),
        ir.Update(NOWHERE, own("m"), "delete", (A,), None),
        ir.Update(NOWHERE, own("log"), "pop", (const(0),), B),
        ir.Unpack(NOWHERE, ("a", "b"), op("tuple", B, A)),
        ir.Require(NOWHERE, LESS, WHY),
        ir.Require(NOWHERE, LESS, None),
        ir.Assert(NOWHERE, P),
        ir.Step(NOWHERE, own("part"), "ack", (A,), None),
        ir.Base(NOWHERE, "Old.close", (), A),
        ir.Do(NOWHERE, call, None),
        ir.Refuse(NOWHERE, WHY),
        ir.Return(NOWHERE, A),
        ir.Return(NOWHERE, None),
    ) == [
        "self.x += 1",
        "self.x = max(self.x, a)",
        "self.idle.start(self.limit)",
        "del self.m[a]",
        "b = self.log.pop(0)",
        "a, b = (b, a)",
        'require(a < b, "why")',
        "require(a < b)",
        "assert p",
        "self.part.ack(a)",
        "a = super().close()",
        "self.tidy()",
        'refuse("why")',
        "return a",
        "return",
    ]


def test_blocks() -> None:
    inner = ir.Branch(NOWHERE, Q, (ir.Continue(NOWHERE),), (ir.Break(NOWHERE),))
    loop = ir.Loop(NOWHERE, ("k", "v"), own("m"), (ir.Branch(NOWHERE, P, (), (inner,)),))
    assert statements.statement(loop, 1) == [
        "    for k, v in self.m:",
        "        if p:",
        "            ...",
        "        elif q:",
        "            continue",
        "        else:",
        "            break",
    ]


def test_an_augmented_assignment_elsewhere_stays_as_it_was_written() -> None:
    twice = ir.Assign(NOWHERE, own("x", place=at(1)), op("add", own("x", place=at(2)), A))
    assert lines(twice) == ["self.x = self.x + a"]


def function(name: str, *body: ir.Stmt, output: t.Type = t.NOTHING) -> ir.Function:
    return ir.Function(NOWHERE, name, (), output, body)


def test_a_machine() -> None:
    state, idle = own("state", CONN), own("idle", t.Timer())
    closed = ir.Return(NOWHERE, op("eq", state, const("CLOSED", CONN), kind=t.BOOL))
    close = ir.Transition(
        NOWHERE, "close", "close", state, ("OPEN",), ("CLOSED",), None, function("close"), "Ends."
    )
    expire = ir.Transition(
        NOWHERE, "expire", "end", state, ("OPEN", "CLOSED"), None, idle, function("expire"), ""
    )
    m = ir.Machine(
        NOWHERE,
        "Door",
        "doors",
        "A door.\n\nMore.",
        variables=(
            ir.Variable(NOWHERE, "state", CONN, const("OPEN", CONN), ghost=False),
            ir.Variable(NOWHERE, "idle", t.Timer(), const(False, t.Timer()), ghost=False),
            ir.Variable(NOWHERE, "seen", t.BOOL, const(False, t.BOOL), ghost=True),
        ),
        parameters=(ir.Parameter(NOWHERE, "limit", t.FLOAT, const(1.5, t.FLOAT)),),
        transitions=(close, expire),
        events=(
            ir.Event(NOWHERE, "close", (), t.NOTHING, False, ""),
            ir.Event(NOWHERE, "end", (("m", PING),), t.NOTHING, True, ""),
        ),
        ignores=(ir.Ignore(NOWHERE, "late", "close", ("CLOSED",), None, True, "it is closed"),),
        initials=(),
        functions=(),
        bases=(),
        parts=(),
        types=(CONN, PING),
        deadlock_ok=True,
        properties=(
            ir.Property(NOWHERE, "over", "terminal", function("over", closed, output=t.BOOL), ""),
        ),
    )
    assert statements.machine(m) == DOOR


@pytest.mark.parametrize("declared", [SenderEntryFixed, ReceiverEntryFixed])
def test_a_declared_machine_is_shown_as_python(declared: type[Machine]) -> None:
    text = statements.machine(declared.lawful.ir)
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    methods = {f.name for f in classes[-1].body if isinstance(f, ast.FunctionDef)}
    assert classes[-1].name == declared.__name__
    assert methods >= {tr.name for tr in declared.lawful.ir.transitions}


DOOR = '''\
class Conn(State):
    OPEN = auto()
    CLOSED = auto()


class Ping(Record):
    hops: Nat


class Door(Machine):
    """A door."""

    state: Conn = Conn.OPEN
    idle: Timer = Timer()
    seen: Ghost[bool] = False

    limit: Param[float] = 1.5

    deadlock_ok = True

    @event(choice=True)
    def end(self, m: Ping) -> None: ...

    @transition(source=Conn.OPEN, target=Conn.CLOSED)
    def close(self) -> None:
        """Ends."""
        ...

    @transition(source=(Conn.OPEN, Conn.CLOSED), event="end", timer="idle")
    def expire(self) -> None:
        ...

    late = ignore("close", source=Conn.CLOSED, otherwise=True, because="it is closed")

    @terminal
    def over(self) -> bool:
        return self.state == Conn.CLOSED
'''
