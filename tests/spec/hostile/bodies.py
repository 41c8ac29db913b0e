"""Bodies that are easy to get wrong: places, narrowing, arithmetic, collections."""

from __future__ import annotations

from tests.spec.texts import body

# Accepted; what they do is what Python does.
ACCEPTED = {
    "max default": body("""
self.x = max((y for y in self.s if y > 1), default=7)
self.s.add(k)
""", fields="""
x: int = 0
s: set[int] = set()
""", params="k: Nat"),
    "next": body("""
self.x = next((y for y in self.q if y > 1), -1)
self.q.append(k)
""", fields="""
x: int = 0
q: Annotated[list[int], MaxLen(3)] = []
""", params="k: Nat"),
    "swap": body("""
self.x, self.y = self.y + 1, self.x
require(self.x < 3, '')
""", fields="""
x: int = 0
y: int = 1
"""),
    "local shadows builtin": body("""
len = 3
self.x = len
"""),
    "alias shadows builtin": body("""
sum = self.q
sum.append(1)
self.x = len(self.q)
""", fields="""
x: int = 0
q: Annotated[list[int], MaxLen(3)] = []
"""),
    "comp shadow": body("""
k = 5
self.x = sum(k for k in range(3)) + k
"""),
    "alias key changes": body("""
k = 1
p = self.m[k]
k = 2
p.add(7)
""", fields="m: dict[Nat, set[Nat]] = {1: set(), 2: set()}"),
    "alias ok": body("""
p = self.m[k]
p.add(k)
self.m[2].discard(k)
""", fields="m: dict[Nat, set[Nat]] = {1: set(), 2: set()}", params="k: Nat"),
    "neg idx": body("self.q[-1] = self.q[k] + 1", fields="q: list[int] = [1, 2]", params="k: int"),
    "floordiv": body("self.x = k // j + k % j", params="k: int, j: int"),
    "divmod": body("""
a, c = divmod(k, j)
self.x = a + c
""", params="k: int, j: int"),
    "chain": body("self.x = 1 if 0 < k < 6 // j <= 3 else 0", params="k: int, j: int"),
    "short": body("self.x = 1 if k != 0 and 6 // k > 1 or j == 6 // j else 0", params="k: int, j: int"),
    "del iter ok": body("""
for k in sorted(self.m):
    del self.m[k]
""", fields="m: dict[Nat, Nat] = {1: 1, 2: 2}"),
    "alias key pinned": body("""
k = 1
p = self.m[k]
k = 2
p.add(7)
""", fields="m: dict[Nat, set[Nat]] = {1: set(), 2: set()}"),
    "neg idx again": body("self.q[-1] = self.q[k] + 1", fields="q: Annotated[list[int], MaxLen(3)] = [1, 2]", params="k: int"),
    "fold bool": body("""
ok = True
for k in self.q:
    ok = ok and k > 0
self.x = 1 if ok else 0
""", fields="""
x: int = 0
q: Annotated[list[int], MaxLen(2)] = [1, 2]
"""),
    "unordered ok": body("""
best = 0
n = 0
for k in self.s:
    best = max(best, k)
    n += 1
    half = k // 2
    self.m[k] = half
    if k in self.t:
        self.t.discard(k)
    else:
        self.t.add(k)
    require(k < 5, "")
for k in self.s:
    self.x += k
self.x += best + n
""", fields="""
x: Nat = 0
s: set[Nat] = {1, 2}
t: set[Nat] = set()
m: dict[Nat, Nat] = {}
"""),
    "items loop": body("""
for k, v in self.m.items():
    self.m[k] = v + 1
for k in self.m:
    self.m[k] -= 2
""", fields="m: dict[Nat, int] = {1: 1, 2: 2}"),
    "match rebinding": body("""
k = 1
match self.x:
    case 0:
        self.x = 1
    case k:
        self.x = k + 1
self.x = min(k, 2)
"""),
    "match assigned": body("""
match self.x:
    case 0:
        self.x = 1
    case k:
        k += 1
        self.x = min(k, 2)
"""),
    "any undefined": body("""
require(any(6 // k > 1 for k in self.q), '')
self.x = 1
""", fields="""
x: int = 0
q: Annotated[list[int], MaxLen(2)] = [2, 0]
"""),
    "abs": body("self.x = abs(k) - -k + +k + int(k > 0)", params="k: int"),
    "text in f": body("""
require(k > 0, f'k is {k} and {self.x}')
self.x = 1
""", params="k: int"),
    "min many": body("self.x = min(k, 2, self.x) + max(1, k)", params="k: int"),
    "set ops": body("""
self.x = (1 if {1, 2} <= self.s else 0) + (2 if self.s.isdisjoint({3}) else 0) + len(self.s ^ {1, 9}) + len(self.s.union({4})) + len(self.s & frozenset({1}))
self.s.add(k)
""", fields="""
x: int = 0
s: set[int] = {1}
""", params="k: Nat"),
    "keys": body("""
self.x = len(self.m.keys() & {1}) + (1 if self.m.keys() <= {1, 2} else 0) + sum(self.m.values()) + max((k for k in self.m), default=0)
self.m[k] = 1
""", fields="""
x: int = 0
m: dict[int, int] = {1: 1}
""", params="k: Nat"),
    "nested dict": body("""
self.m[k][j] = 1
if j in self.m[k] and self.m[1][j] > 0:
    del self.m[1][j]
""", fields="m: dict[Nat, dict[Nat, Nat]] = {1: {}, 2: {}}", params="k: Nat, j: Nat"),
    "nested alias": body("""
inner = self.m[k]
inner[1] = 2
other = inner
x = set(inner)
x.add(3)
self.s = set(x)
""", fields="""
m: dict[Nat, dict[Nat, Nat]] = {1: {}, 2: {}}
s: set[Nat] = set()
""", params="k: Nat"),
    "tuple idx": body("""
t = (k, True)
a, b = t
self.x = t[0] + (1 if b and t[-1] else a)
""", params="k: int"),
    "int name": body("""
x = 5
self.x = x - 4
"""),
    "aug local": body("""
y = self.x
y += 2
y //= 2
y %= 2
y *= -1
self.x = -y
"""),
    "del local map": body("""
d: dict[int, int] = {1: 2}
d[k] = 3
del d[1]
self.x = sum(d.values()) + len(d)
""", params="k: Nat"),
    "local set": body("""
s = {1, k}
s.add(3)
t = s | {4}
s.discard(1)
self.x = len(s) + len(t)
""", params="k: Nat"),
    "unordered all undefined": body("""
require(all(6 // k > 1 for k in self.q), '')
self.x = 1
""", fields="""
x: int = 0
q: Annotated[list[int], MaxLen(2)] = [7, 0]
"""),
    "deep else": body("""
if k == 0:
    self.x = 1
elif k == 1:
    pass
else:
    if k == 2:
        refuse('no')
    else:
        assert k < 3
        self.x = k
""", params="k: int"),
    "guard order": body("""
self.x = 6 // k
require(k > 1, '')
""", params="k: int"),
    "guard order 2": body("""
require(k != 0 and 6 // k > 1, '')
self.x = 6 // k
""", params="k: int"),
}

# Refused, with these numbers.
REFUSED: dict[str, tuple[list[str], str]] = {
    "alias rebind": (["L211"], body("""
p = self.q
self.q = []
p.append(1)
""", fields="q: Annotated[list[int], MaxLen(3)] = []")),
    "del iter": (["L218"], body("""
for k in self.m:
    del self.m[k]
""", fields="m: dict[Nat, Nat] = {1: 1, 2: 2}")),
    "list grow iter": (["L218"], body("""
for k in self.q:
    self.q.append(k)
""", fields="q: Annotated[list[int], MaxLen(3)] = [1]")),
    "loop var after": (["L210"], body("""
for k in self.s:
    pass
self.x = k
""", fields="""
x: int = 0
s: set[int] = {1, 2}
""")),
    "last": (["L210"], body("""
last = 0
for k in self.s:
    last = k
self.x = last
""", fields="""
x: int = 0
s: set[int] = {1, 2}
""")),
    "mixed ops": (["L210"], body("""
for k in self.s:
    self.x += k
    self.x = max(self.x, k)
""", fields="""
x: int = 0
s: set[int] = {1, 2}
""")),
    "derived key": (["L210"], body("""
for k in self.s:
    j = k // 2
    self.m[j] = k
""", fields="""
m: dict[int, int] = {}
s: set[int] = {1, 2, 3}
""")),
    "stale branch local": (["L210"], body("""
for k in self.s:
    if k > 1:
        j = k
    self.x += j
""", fields="""
x: int = 0
s: set[int] = {1, 2}
""")),
    "dict comp collide": (["L210"], body("self.m = {k // 2: k for k in self.s}", fields="""
m: dict[int, int] = {}
s: set[int] = {1, 2, 3}
""")),
    "walrus": (["L103"], body("""
if (k := self.x) > 1:
    self.x = k
""")),
    "starred": (["L103"], body("self.q = [*self.q, 1]", fields="q: list[int] = []")),
    "while": (["L102"], body("""
while self.x < 3:
    self.x += 1
""")),
    "try": (["L102"], body("""
try:
    self.x = 1
except KeyError:
    pass
""")),
    "div": (["L103"], body("self.x = 3 / 2")),
    "bool int": (["L203"], body("self.x = True")),
    "set true 1": (["L203"], body("self.x = len({True, 1})")),
    "in mixed": (["L203"], body("""
if 1 in (0, True):
    self.x = 1
""")),
    "chain eq bool": (["L203"], body("""
if self.x == True:
    self.x = 1
""")),
    "str": (["L202"], body("self.x = 1", fields="x: str = 'a'")),
    "unknown name": (["L201"], body("self.x = y")),
    "values alias": (["L206"], body("""
for s in self.m.values():
    s.add(1)
""", fields="m: dict[Nat, set[Nat]] = {1: set()}")),
    "get alias": (["L211"], body("""
s = self.m.get(1)
if s is not None:
    s.add(1)
""", fields="m: dict[Nat, set[Nat]] = {1: set()}")),
    "cond alias": (["L211"], body("""
s = self.a if self.x > 0 else self.b
s.add(1)
""", fields="""
x: int = 0
a: set[int] = set()
b: set[int] = set()
""")),
    "store alias": (["L211"], body("self.a = self.b", fields="""
a: set[int] = set()
b: set[int] = set()
""")),
    "store alias2": (["L211"], body("self.m[1] = self.b", fields="""
m: dict[int, set[int]] = {}
b: set[int] = set()
""")),
    "append alias": (["L211"], body("self.m.append(self.b)", fields="""
m: list[list[int]] = []
b: list[int] = []
""")),
    "views kept": (["L203"], body("""
v = self.m.values()
self.m[2] = 1
self.x = sum(v)
""", fields="""
x: int = 0
m: dict[int, int] = {1: 1}
""")),
    "items bad": (["L210"], body("""
for k, v in self.m.items():
    self.n[v] = k
""", fields="""
m: dict[Nat, int] = {1: 1, 2: 1}
n: dict[int, Nat] = {}
""")),
    "foreign key": (["L210"], body("""
for k in self.s:
    self.m[self.x] += k
    self.n[k] = self.m[0]
""", fields="""
x: Nat = 0
s: set[Nat] = {1, 2}
n: dict[Nat, Nat] = {}
m: dict[Nat, Nat] = {0: 0}
""")),
    "empty set untyped": (["L215"], body("""
s = set()
s.add(3)
self.x = len(s)
""")),
    "optional arith": (["L203"], body("self.x = self.o + 1", fields="""
x: int = 0
o: int | None = None
""")),
    "two problems": (["L201", "L205", "L203"], body("""
self.x = y
self.z = 1
self.x = True
""")),
    "bool ops": (["L203"], body("self.b |= k > 0", fields="b: bool = False", params="k: int")),
    "str key": (["L203"], body("self.x = self.m['a"]", fields="""
x: int = 0
m: dict[int, int] = {}
""")),
}
