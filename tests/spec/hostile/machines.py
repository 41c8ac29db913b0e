"""Whole machines that are easy to get wrong: headers, names, parts, inheritance."""

from __future__ import annotations

# Accepted; what they do is what Python does.
ACCEPTED = {
    "guard helper": """
class M(Machine):
    x: Nat = 0
    def check(self, k: Nat) -> None:
        require(k > self.x, "small")
    @transition()
    def go(self, k: Nat) -> None:
        self.check(k)
        self.x = k
""",
    "match": """
class A(Record):
    n: Nat
class B(Record):
    k: bool
    n: Nat
class C(State):
    X = "x"
    Y = "y"
class M(Machine):
    state: C = C.X
    n: Nat = 0
    @transition()
    def go(self, m: A | B | None, c: C) -> Nat:
        match m:
            case None:
                self.n = 0
            case A(n=0) | B(n=0):
                self.n = 1
            case A(k) if k > 2:
                self.n = k - 1
            case B(True, n=j):
                self.n = j
            case B() as b:
                self.n = b.n
            case _:
                refuse("no")
        match c:
            case C.X:
                self.state = c
            case C.Y | C.X:
                pass
        match self.n:
            case 1:
                return 5
            case k:
                return k
""",
    "in function": """
def make(limit: int):
    class R(Record):
        a: Nat
    class L(Machine):
        x: Nat = 0
        r: R | None = None
        @transition()
        def go(self, k: Nat) -> None:
            require(k < limit, 'no')
            self.x = k
            self.r = R(k)
    return L
M = make(2)
""",
    "nested enum": """
class M(Machine):
    class C(State):
        A = 'a'
        B = 'b'
    state: C = C.A
    @transition(source=C.A, target=C.B)
    def go(self) -> None: ...
    @transition(source=C.B, target=C.A)
    def back(self) -> None: ...
    @invariant
    def ok(self) -> bool:
        return self.state == M.C.A or self.state != M.C.A
""",
    "hoist ok": """
class P(Machine):
    x: Nat = 0
    @transition()
    def bump(self) -> Nat:
        self.x += 1
        return self.x
class M(Machine):
    p: P = P()
    x: Nat = 0
    @transition()
    def go(self) -> None:
        self.x = self.p.bump() + self.x
    @transition()
    def go2(self) -> Nat:
        k = self.p.bump()
        return k + self.p.bump()
    @transition()
    def go3(self) -> None:
        self.x, k = self.p.bump(), 3
""",
    "event dispatch": """
class P(Machine):
    x: Nat = 0
    @transition(event="e")
    def a(self, k: Nat) -> None:
        require(k > self.x, "")
        self.x = k
    @transition(event="e")
    def b(self, k: Nat) -> None:
        require(k < self.x, "")
        self.x = k
class M(Machine):
    p: P = P()
    n: Nat = 0
    @transition()
    def go(self, k: Nat) -> None:
        self.p.e(k)
    @transition()
    def maybe(self, k: Nat) -> None:
        require(can(self.p.e, k), "")
        self.n = 1 if can(self.p.b, k) else 0
    @invariant
    def inv(self, k: Nat) -> bool:
        return can(self.p.e, k) == (k != self.p.x)
""",
    "drop": """
class B(Machine):
    x: Nat = 0
    @transition()
    def go(self) -> None:
        self.x = 1
    @transition()
    def back(self) -> None:
        self.x = 0
class M(B):
    gone = drop('back')
""",
    "timer map": """
class N(Enum):
    A = 1
    B = 2
class M(Machine):
    t: dict[N, Timer] = total(Timer())
    @transition()
    def on(self, n: N) -> None:
        self.t[n].start(3)
    @transition(timer='t[n]')
    def fire(self, n: N) -> None:
        pass
    @invariant
    def ok(self) -> bool:
        return any(self.t[n].armed for n in N) or not self.t[N.A].armed
""",
    "counter": """
class M(Machine):
    c: Annotated[Counter[Nat], MaxLen(2)] = Counter()
    n: Nat = 0
    @transition()
    def add(self, k: Nat) -> None:
        self.c[k] += 1
    @transition()
    def sub(self, k: Nat) -> None:
        self.c[k] -= 1
    @transition()
    def look(self, k: Nat) -> int:
        return self.c[k] + len(self.c) + self.c.total() + (1 if k in self.c else 0) + sum(j for j in self.c)
    scope = Scope(Nat=range(0, 2))
""",
    "lists": """
class M(Machine):
    q: Annotated[list[Nat], MaxLen(3)] = []
    @transition()
    def put(self, k: Nat) -> None:
        self.q.append(k)
    @transition()
    def pop0(self) -> Nat:
        return self.q.pop(0)
    @transition()
    def pop(self) -> Nat:
        x = self.q.pop()
        return x
    @transition()
    def ins(self, i: int, k: Nat) -> None:
        self.q.insert(i, k)
    @transition()
    def rm(self, k: Nat) -> None:
        self.q.remove(k)
    @transition()
    def cut(self, i: int) -> tuple[Nat, ...]:
        self.q = self.q[i:] + self.q[:1]
        return tuple(self.q[1:])
    @transition()
    def idx(self, k: Nat) -> int:
        return self.q.index(k) + self.q.count(k) + self.q[-1]
    @transition()
    def rev(self) -> None:
        self.q = [x for x in reversed(self.q)]
    @transition()
    def srt(self) -> None:
        self.q = sorted(set(self.q))
    @transition()
    def enum(self) -> int:
        return sum(i * x for i, x in enumerate(self.q)) + sum(a - c for a, c in zip(self.q, self.q[1:]))
    @transition()
    def brk(self) -> int:
        out = 0
        for i, x in enumerate(self.q):
            if x == 1:
                continue
            if x == 2:
                break
            out += i + 1
            self.q[i] = x + 1
        return out
    scope = Scope(Nat=range(0, 3), int=range(-2, 3))
""",
    "total lambda": """
class N(Enum):
    A = 1
    B = 2
class M(Machine):
    m: dict[N, int] = total(lambda n: 1 if n == N.A else 0)
    @transition()
    def go(self, n: N) -> None:
        self.m[n] = 1 - self.m[n]
""",
    "module fn": """
LIMIT = 2
def clamp(k: Nat, top: int = 3) -> int:
    return min(k, top)
def other(k: Nat) -> int:
    if k > LIMIT:
        return LIMIT
    return k
class M(Machine):
    x: Nat = 0
    @transition()
    def go(self, k: Nat) -> None:
        self.x = other(k)
    @invariant
    def ok(self) -> bool:
        return other(self.x) == self.x
""",
    "ghost": """
class M(Machine):
    x: Nat = 0
    g: Ghost[Nat] = 0
    h: Ghost[Nat] = 0
    @transition()
    def go(self) -> None:
        self.g += 1
        if self.g > 2:
            self.h = self.g
        y = self.g
        self.h = y
        require(self.x < 2, '')
    scope = Scope(Nat=range(0, 4))
""",
    "match exhaustive": """
class C(Enum):
    A = 1
    B = 2
class M(Machine):
    x: Nat = 0
    @transition()
    def go(self, c: C) -> Nat:
        match c:
            case C.A:
                return 1
            case C.B:
                return 2
""",
    "class keyword": """
class M(Machine, abstract=True):
    x: int = 0
    @transition()
    def go(self) -> None:
        self.x = 1 - self.x
""",
    "multi target bounds": """
class C(State):
    A = 1
    B = 2
    D = 3
class M(Machine):
    state: C = C.A
    @transition(source=C.A, target=(C.A, C.B))
    def go(self, c: C) -> None:
        self.state = c
    @transition(target=C.A)
    def back(self) -> None: ...
""",
    "helper": """
class M(Machine):
    x: Nat = 0
    s: set[Nat] = {1, 2}
    def note(self, k: Nat) -> None:
        h = k
        self.x += h
    @transition()
    def go(self) -> None:
        for k in self.s:
            self.note(k)
""",
    "opaque": """
P = Annotated[bytes, Opaque('P')]
class M(Machine):
    p: P | None = None
    q: Annotated[list[P], MaxLen(2)] = []
    @transition()
    def put(self, p: P) -> P | None:
        old = self.p
        self.p = p
        if old == p:
            self.q.append(p)
        return old
    scope = Scope(P=2)
""",
    "enum alias": """
class F(Enum):
    A = 1
    B = 1
    C = 2
class M(Machine):
    f: F = F.B
    @transition()
    def go(self, f: F) -> None:
        self.f = f
    @invariant
    def ok(self) -> bool:
        return self.f in (F.B, F.C)
""",
    "params default scope": """
class M(Machine):
    n: Param[Nat]
    x: Nat = 0
    @transition()
    def go(self) -> None:
        require(self.x < self.n, '')
        self.x += 1
    scope = Scope(n=(1, 2), Nat=range(0, 3))
""",
}

# Refused, with these numbers.
REFUSED: dict[str, tuple[list[str], str]] = {
    "helper read": (["L210"], """
class M(Machine):
    x: int = 0
    m: dict[int, int] = {}
    s: set[int] = {1, 2}
    def now(self) -> int:
        return self.x
    @transition()
    def go(self) -> None:
        for k in self.s:
            self.x += k
            self.m[k] = self.now()
"""),
    "assert in property": (["L208"], """
class M(Machine):
    x: int = 0
    @invariant
    def p(self) -> bool:
        assert self.x == 0
        return True
"""),
    "invariant()": (["L105"], """
class M(Machine):
    x: int = 0
    @invariant()
    def go(self) -> bool:
        return True
"""),
    "two decorators": (["L105"], """
class M(Machine):
    x: int = 0
    @invariant
    @transition()
    def go(self) -> None: ...
"""),
    "self": (["L104"], """
class M(Machine):
    x: int = 0
    @transition()
    def go(this) -> None:
        this.x = 1
"""),
    "property obj": (["L105"], """
class M(Machine):
    x: int = 0
    @property
    def p(self) -> int:
        return self.x
    @transition()
    def go(self) -> None:
        self.x = self.p
"""),
    "helper cached": (["L105"], """
import functools
class M(Machine):
    x: int = 0
    @functools.cache
    def p(self) -> int:
        return 1
    @transition()
    def go(self) -> None:
        self.x = self.p()
"""),
    "field and method": (["L219"], """
class B(Machine):
    x: int = 0
    @transition()
    def go(self) -> None: ...
class M(B):
    def x(self) -> int:
        return 1
"""),
    "mult inh": (["L107"], """
class B(Machine):
    x: int = 0
class C: ...
class M(B, C): ...
"""),
    "helper weird used": (["L104", "L204"], """
class M(Machine):
    x: int = 0
    def log(self, *args: object) -> None:
        print(args)
    @transition()
    def go(self) -> None:
        self.log(1)
"""),
    "self part": (["L202"], """
class A(Machine):
    x: int = 0
    b: 'A'
"""),
    "loop over part": (["L218"], """
class P(Machine):
    q: Annotated[list[int], MaxLen(2)] = [1]
    @transition()
    def pop(self) -> int:
        require(len(self.q) > 0, '')
        return self.q.pop(0)
class M(Machine):
    p: P = P()
    @transition()
    def go(self) -> None:
        for x in self.p.q:
            self.p.pop()
"""),
    "part helper": (["L204"], """
class P(Machine):
    x: int = 0
    def bump(self) -> int:
        self.x += 1
        return self.x
    @transition()
    def go(self) -> None:
        self.bump()
class M(Machine):
    p: P = P()
    @transition()
    def go(self) -> None:
        self.p.bump()
"""),
    "assign part": (["L206"], """
class P(Machine):
    x: int = 0
class M(Machine):
    p: P = P()
    @transition()
    def go(self) -> None:
        self.p = P()
"""),
    "ghost leak2": (["L214"], """
class M(Machine):
    x: Nat = 0
    g: Ghost[Nat] = 0
    def seen(self) -> bool:
        return self.g > 0
    @transition()
    def go(self) -> None:
        if self.seen():
            self.x = 1
"""),
    "state no target": (["L212"], """
class C(State):
    A = 1
    B = 2
class M(Machine):
    state: C = C.A
    @transition(source=C.A)
    def go(self) -> None:
        self.state = C.B
"""),
    "clock": (["L190"], """
class M(Machine):
    c: Clock = Clock()
"""),
    "opt machine": (["L202"], """
class P(Machine):
    x: int = 0
class M(Machine):
    c: P | None = None
"""),
    "narrow alias": (["L207"], """
class R(Record):
    a: Nat
class M(Machine):
    m: dict[Nat, R | None] = {1: R(1), 2: R(2)}
    x: Nat = 0
    @transition()
    def go(self, i: Nat, j: Nat) -> None:
        if self.m[i] is not None:
            self.m[j] = None
            self.x = self.m[i].a
"""),
    "total key": (["L206"], """
class C(Enum):
    A = 1
    B = 2
class M(Machine):
    m: dict[C, Nat] = total(0)
    @transition()
    def go(self, c: C) -> None:
        del self.m[c]
"""),
    "record inherits": (["L190"], """
class R(Record):
    a: Nat
class Q(R):
    b: Nat
class M(Machine):
    r: Q = Q(1, 2)
"""),
    "ignore bad": (["L217", "L204"], """
class M(Machine):
    x: int = 0
    @transition()
    def go(self, k: Nat) -> None: ...
    no = ignore('gone", because='x')
    no2 = ignore('go", when=lambda self, k, j: k > 1, because='x')
"""),
}
