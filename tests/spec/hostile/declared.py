"""More whole machines: types, defaults, decorators, ghosts."""

from __future__ import annotations

# Accepted; what they do is what Python does.
ACCEPTED = {
    "optional narrow": """
class R(Record):
    a: Nat
    b: bool = False
class M(Machine):
    r: R | None = None
    n: Nat = 0
    @transition()
    def put(self, a: Nat) -> None:
        self.r = R(a)
    @transition()
    def take(self) -> Nat:
        if self.r is None:
            refuse("none")
        out = self.r.a
        self.r = None
        return out
    @transition()
    def take2(self) -> Nat:
        r = needed(self.r, "none")
        self.n = r.a + (1 if r.b else 0)
        self.r = r.replace(b=not r.b)
        return r.a
    @transition()
    def both(self) -> None:
        if self.r is not None and self.r.a > 1 or self.n == 2:
            self.n = 0
""",
    "unused weird": """
import threading
class M(Machine):
    x: int = 0
    def log(self, *args: object, **kw: object) -> None:
        print(args)
        with threading.Lock():
            pass
    @transition()
    def go(self) -> None:
        self.x = 1 - self.x
""",
    "multi line header": """
class M(
    Machine,
    abstract=False,
):
    x: int = 0
    @transition(
    )
    def go(
        self,
        k: int,
    ) -> None:
        self.x = k
""",
    "super": """
class B(Machine):
    x: Nat = 0
    @transition()
    def go(self, k: Nat) -> Nat:
        require(k > self.x, "")
        self.x = k
        return k
class M(B):
    n: Nat = 0
    @transition()
    def go(self, k: Nat) -> Nat:
        self.n = super().go(k)
        return self.n
    @transition()
    def twice(self) -> None:
        super().go(1)
""",
    "timers": """
class M(Machine):
    t: Timer = Timer()
    n: Nat = 0
    @transition()
    def on(self) -> None:
        require(not self.t.armed, '')
        self.t.start(3)
    @transition(timer='t')
    def fire(self) -> None:
        self.n = 1 - self.n
        if self.n > 0:
            self.t.start(1.5)
    @transition()
    def off(self) -> None:
        self.t.stop()
""",
    "enum dict": """
class N(Enum):
    A = 1
    B = 2
class M(Machine):
    m: dict[N, Nat] = {N.A: 0}
    t: dict[N, set[Nat]] = {n: set() for n in N}
    @transition()
    def put(self, n: N, k: Nat) -> None:
        self.m[n] = k
        self.t[n].add(k)
    @transition()
    def rm(self, n: N) -> Nat:
        k = self.m.pop(n)
        return k
    @transition()
    def rm2(self, n: N) -> Nat:
        return self.m.pop(n, 3)
    @transition()
    def rm3(self, n: N) -> None:
        del self.m[n]
    @transition()
    def cl(self) -> None:
        self.m.clear()
        self.m.update({N.B: 1})
    scope = Scope(Nat=range(0, 2))
""",
    "frozenset tuples": """
class M(Machine):
    s: set[tuple[Nat, bool]] = set()
    f: frozenset[tuple[Nat, bool]] = frozenset()
    @transition()
    def add(self, k: Nat, b: bool) -> None:
        self.s.add((k, b))
        self.f = frozenset((j + 0, not c) for j, c in self.s if c)
    @transition()
    def rm(self, k: Nat) -> None:
        self.s = {(j, b) for j, b in self.s if j != k}
    @transition()
    def union(self) -> None:
        self.s |= self.f
        self.s = self.s - {(1, True)}
    scope = Scope(Nat=range(0, 2))
""",
    "initials": """
class N(Sort): ...
class M(Machine):
    x: Nat
    m: dict[N, bool]
    @initial
    def one(self, k: Nat) -> None:
        require(k > 0, '')
        self.x = k
        self.m = {n: False for n in N}
    @initial
    def two(self, m: Mapping[N, bool]) -> None:
        self.x = 0
        self.m = dict(m)
    @transition()
    def flip(self, n: N) -> None:
        self.m[n] = not self.m[n]
    @invariant
    def ok(self) -> bool:
        return all(n in self.m for n in N) and len(self.m) == len(N)
    scope = Scope(N=2, Nat=range(0, 2))
""",
    "liveness": """
class M(Machine):
    x: Nat = 0
    @transition(fair='weak')
    def go(self) -> None:
        self.x = 1 - self.x
    @eventually
    def a(self) -> bool:
        return self.x == 1
    @leads_to
    def b(self) -> tuple[bool, bool]:
        return self.x == 0, self.x == 1
    fairness = Fairness(Weak('go'))
""",
    "local narrow": """
class R(Record):
    a: Nat
class M(Machine):
    r: R | None = R(1)
    x: Nat = 0
    @transition()
    def go(self, i: Nat) -> None:
        r = self.r
        if r is None:
            return
        r2 = r
        if i > 1:
            r = None
        self.x = r2.a + (0 if r is None else r.a)
        self.r = R(a=0) if r is None else None
""",
    "record eq": """
class R(Record):
    a: Nat
    b: bool = False
class M(Machine):
    x: int = 0
    @transition()
    def go(self, k: Nat) -> None:
        r = R(k)
        if r == R(1, False) or r.replace(b=True) in {R(2, True)}:
            self.x = r.a
""",
    "of": """
class C(State):
    A = 1
    B = 2
class N(Sort): ...
class M(Machine):
    pc: dict[N, C] = total(C.A)
    part: dict[Nat, C] = {1: C.A}
    @transition(source=C.A, target=C.B, of='pc[p]')
    def go(self, p: N) -> None: ...
    @transition(source=C.B, target=C.A, of='pc[p]')
    def back(self, p: N) -> None: ...
    @transition(source=(C.A, C.B), target=(C.A, C.B), of='part[k]')
    def flip(self, k: Nat) -> None:
        self.part[k] = C.B if self.part[k] == C.A else C.A
    scope = Scope(N=2, Nat=range(0, 3))
""",
    "sorts": """
class N(Sort): ...
class O(OrderedSort): ...
class M(Machine):
    a: N | None = None
    s: set[N] = set()
    o: dict[O, Nat] = {}
    @transition()
    def go(self, n: N, k: O) -> None:
        require(n not in self.s, '')
        self.s.add(n)
        self.a = n
        self.o[k] = len(self.s)
    @transition()
    def all(self, k: O) -> None:
        require(all(n in self.s for n in N), '')
        self.s = set(N) - {needed(self.a, 'none')}
        self.o = {j: v for j, v in self.o.items() if j > k}
    @transition()
    def first(self) -> O:
        return sorted(self.o)[0]
    scope = Scope(N=2, O=2, Nat=range(0, 3))
""",
    "unions": """
class A(Record):
    n: Nat
class B(Record):
    n: Nat
    f: bool
Msg = A | B
class M(Machine):
    net: set[Msg] = set()
    last: Msg | None = None
    @transition()
    def send(self, m: Msg) -> None:
        require(len(self.net) < 2, '')
        self.net.add(m)
    @transition()
    def take(self, m: Msg) -> Nat:
        require(m in self.net, 'no')
        self.net.discard(m)
        self.last = m
        if isinstance(m, B) and m.f:
            return m.n + 1
        if isinstance(m, A):
            return 0
        return m.n
    @transition()
    def clear(self) -> None:
        if self.last is not None and isinstance(self.last, B):
            self.last = self.last.replace(f=not self.last.f)
        else:
            self.last = None
    @invariant
    def nums(self) -> bool:
        return all(m.n >= 0 for m in self.net) and any(True for m in self.net if isinstance(m, A)) in (True, False)
    scope = Scope(Nat=range(0, 2))
""",
}

# Refused, with these numbers.
REFUSED: dict[str, tuple[list[str], str]] = {
    "sort sorted": (["L203"], """
class Node(Sort): ...
class M(Machine):
    q: list[Node] = []
    s: set[Node] = set()
    @transition()
    def go(self) -> None:
        self.q = sorted(self.s)
"""),
    "needed in property": (["L208"], """
class M(Machine):
    x: int | None = None
    @invariant
    def p(self) -> bool:
        return needed(self.x, "no") > 0
"""),
    "bare transition": (["L105"], """
class M(Machine):
    x: int = 0
    @transition
    def go(self) -> None: ...
"""),
    "async": (["L104"], """
class M(Machine):
    x: int = 0
    @transition()
    async def go(self) -> None: ...
"""),
    "default arg": (["L104"], """
class M(Machine):
    x: int = 0
    @transition()
    def go(self, k: int = 3) -> None: ...
"""),
    "init": (["L108"], """
class M(Machine):
    x: int = 0
    def __init__(self) -> None:
        self.x = 1
"""),
    "static": (["L105"], """
class M(Machine):
    x: int = 0
    @staticmethod
    def p(k: int) -> int:
        return k
    @transition()
    def go(self) -> None:
        self.x = self.p(1)
"""),
    "dup": (["L109"], """
class M(Machine):
    x: int = 0
    @transition()
    def go(self) -> None: ...
    @transition()
    def go(self) -> None: ...
"""),
    "redefined undecorated": (["L105"], """
class B(Machine):
    x: int = 0
    @transition()
    def go(self) -> None: ...
class M(B):
    def go(self) -> None: ...
"""),
    "mutual parts": (["L201"], """
class A(Machine):
    x: int = 0
    b: 'B'
class B(Machine):
    a: A = A()
"""),
    "recursion": (["L209"], """
class M(Machine):
    x: int = 0
    def f(self, n: int) -> int:
        return self.f(n - 1)
    @transition()
    def go(self) -> None:
        self.x = self.f(1)
"""),
    "unbound before": (["L201"], """
LIMIT = 3
class M(Machine):
    x: int = 0
    @transition()
    def go(self) -> None:
        self.x = LIMIT
        LIMIT = 2
"""),
    "part container": (["L206", "L206"], """
class P(Machine):
    q: list[int] = [1]
class M(Machine):
    p: P = P()
    @transition()
    def go(self) -> None:
        self.p.q.append(1)
        self.p.q[0] = 2
"""),
    "helper param mutated": (["L206"], """
class M(Machine):
    q: Annotated[list[int], MaxLen(2)] = [1]
    def put(self, q: list[int]) -> None:
        q.append(1)
    @transition()
    def go(self) -> None:
        self.put(self.q)
"""),
    "aug hoist": (["L102"], """
class M(Machine):
    x: Nat = 0
    def bump(self) -> int:
        self.x += 1
        return self.x
    @transition()
    def go(self) -> None:
        self.x += self.bump()
"""),
    "hoist after div": (["L102"], """
class P(Machine):
    x: Nat = 0
    @transition()
    def bump(self) -> Nat:
        require(self.x < 2, '')
        self.x += 1
        return self.x
class M(Machine):
    p: P = P()
    @transition()
    def go(self, k: Nat) -> None:
        j = 1 // k + self.p.bump()
"""),
    "total replaced": (["L203"], """
class N(Enum):
    A = 1
    B = 2
class M(Machine):
    m: dict[N, int] = total(0)
    @transition()
    def go(self, n: N) -> None:
        self.m = {}
"""),
    "module fn default": (["L104"], """
def clamp(k: Nat, top: int = 3) -> int:
    return min(k, top)
class M(Machine):
    x: Nat = 0
    @transition()
    def go(self, k: Nat) -> None:
        self.x = clamp(k)
"""),
    "ghost leak": (["L214"], """
class M(Machine):
    x: Nat = 0
    g: Ghost[Nat] = 0
    @transition()
    def go(self) -> None:
        y = self.g
        self.x = y
"""),
    "serial": (["L190"], """
class M(Machine):
    x: Annotated[int, Serial(bits=4)] = 0
"""),
    "dict machines": (["L190"], """
class P(Machine):
    x: int = 0
class M(Machine):
    c: dict[Nat, P] = {}
"""),
    "refines": (["L190"], """
class T(Machine):
    x: int = 0
class M(Machine):
    y: int = 0
    @refines(T)
    def view(self) -> T:
        return T.lawful.state(x=1)
"""),
    "local fn": (["L210"], """
class M(Machine):
    x: Nat = 0
    s: set[Nat] = {1, 2}
    def note(self, k: Nat) -> None:
        self.x = k
    @transition()
    def go(self) -> None:
        for k in self.s:
            self.note(k)
"""),
    "record method": (["L205"], """
class R(Record):
    a: Nat
    def twice(self) -> int:
        return 2 * self.a
class M(Machine):
    r: R = R(1)
    x: int = 0
    @transition()
    def go(self) -> None:
        self.x = self.r.twice()
"""),
    "flag": (["L202"], """
from enum import Flag
class F(Flag):
    A = 1
    B = 2
class M(Machine):
    f: F = F.A
"""),
    "super helper": (["L204"], """
class B(Machine):
    x: int = 0
    def h(self) -> int:
        return 1
class M(B):
    @transition()
    def go(self) -> None:
        self.x = super().h()
"""),
    "of bad": (["L212", "L205"], """
class M(Machine):
    x: int = 0
    @transition(timer='x')
    def go(self) -> None: ...
    @transition(timer='y')
    def go2(self) -> None: ...
"""),
}
