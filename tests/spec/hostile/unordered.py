"""Loops over what has no order, on both sides of the rule."""

from __future__ import annotations

from tests.spec.texts import body

FIELDS = """
x: Nat = 0
s: set[Nat] = {1, 2}
t: set[Nat] = set()
m: dict[Nat, Nat] = {}
q: Annotated[list[Nat], MaxLen(3)] = []
"""

# Accepted; what they do is what Python does.
ACCEPTED = {
    "sum": body("""
for k in self.s:
    self.x += k
""", fields=FIELDS),
    "minus": body("""
y = 9
for k in self.s:
    y -= k
self.x = y
""", fields=FIELDS),
    "min": body("""
y = 9
for k in self.s:
    y = min(k, y)
self.x = y
""", fields=FIELDS),
    "collect": body("""
for k in self.s:
    self.t.add(k + 1)
""", fields=FIELDS),
    "difference": body("""
self.t = {1, 5}
for k in self.s:
    self.t -= {k}
""", fields=FIELDS),
    "nested if": body("""
for k in self.s:
    if k > 1:
        self.x += 1
    elif k == 1:
        self.x += 2
    else:
        self.x -= 1
""", fields=FIELDS),
    "match in loop": body("""
for k in self.s:
    match k:
        case 1:
            self.x += 1
        case j:
            self.x += j
""", fields=FIELDS),
    "local": body("""
for k in self.s:
    h = k * 2
    if h > 2:
        h = h + 1
    self.m[k] = h
""", fields=FIELDS),
    "both branches": body("""
for k in self.s:
    if k > 1:
        h = 1
    else:
        h = 2
    self.x += h
""", fields=FIELDS),
    "two loops one name": body("""
for k in self.s:
    self.x += k
for k in self.s:
    self.m[k] = k
k = 3
self.x += k
""", fields=FIELDS),
    "own read": body("""
self.m = {1: 1, 2: 2}
for k in self.s:
    self.m[k] = self.m[k] + 1
""", fields=FIELDS),
    "own membership": body("""
for k in self.s:
    if k not in self.t:
        self.t.add(k)
""", fields=FIELDS),
    "helper adds": body("""
for k in self.s:
    self.t.add(k)
    require(k > 0, '')
""", fields=FIELDS),
    "sorted": body("""
for k in sorted(self.s):
    self.q.append(k)
""", fields=FIELDS),
    "tuple param": body("""
for j in ks:
    self.q.append(j)
""", fields=FIELDS, params="ks: Annotated[tuple[Nat, ...], MaxLen(2)]"),
    "unpack key": body("""
for a, b in self.p:
    self.n[(a, b)] = a
""", fields="""
p: set[tuple[Nat, bool]] = {(1, True), (1, False)}
n: dict[tuple[Nat, bool], Nat] = {}
"""),
    "comp of set": body("""
self.q = sorted(2 * k for k in self.s)
self.t = {k + 1 for k in self.s if k > 1}
self.m = {k: k * 2 for k in self.s}
self.x = sum(k for k in self.s) + len(self.s)
""", fields=FIELDS),
    "const map": body("self.m = {k // 2: 0 for k in self.s}", fields=FIELDS),
    "filter map": body("""
self.m = {1: 3, 2: 4}
self.m = {k: v + 1 for k, v in self.m.items() if k > 1}
""", fields=FIELDS),
    "values sum": body("""
self.m = {1: 3, 2: 4}
for v in self.m.values():
    self.x += v
""", fields=FIELDS),
    "iter range ok": body("""
for i in range(len(self.q)):
    self.q[i] += 1
""", fields=FIELDS),
}

# Refused, with these numbers.
REFUSED: dict[str, tuple[list[str], str]] = {
    "append": (["L210"], body("""
for k in self.s:
    self.q.append(k)
""", fields=FIELDS)),
    "last const": (["L210"], body("""
y = 0
for k in self.s:
    if k > 1:
        y = 1
self.x = y
""", fields=FIELDS)),
    "break": (["L210"], body("""
for k in self.s:
    if k > 1:
        break
""", fields=FIELDS)),
    "continue": (["L210"], body("""
for k in self.s:
    if k > 1:
        continue
    self.x += k
""", fields=FIELDS)),
    "return": (["L210"], body("""
for k in self.s:
    return
""", fields=FIELDS)),
    "pop": (["L210"], body("""
for k in self.s:
    self.q.pop()
""", fields=FIELDS)),
    "index other": (["L210"], body("""
self.q = [1, 2, 3]
for k in self.s:
    self.q[self.x] = k
""", fields=FIELDS)),
    "assign": (["L210"], body("""
for k in self.s:
    self.x = k
""", fields=FIELDS)),
    "two ops": (["L210"], body("""
for k in self.s:
    self.x += k
    self.x *= 2
""", fields=FIELDS)),
    "mul": (["L210"], body("""
for k in self.s:
    self.x = self.x * k + 1
""", fields=FIELDS)),
    "sub right": (["L210"], body("""
for k in self.s:
    self.x = k - self.x
""", fields=FIELDS)),
    "read acc": (["L210"], body("""
for k in self.s:
    self.x += k
    self.m[k] = self.x
""", fields=FIELDS)),
    "read acc in guard": (["L210"], body("""
for k in self.s:
    self.x += k
    require(self.x < 3, '')
""", fields=FIELDS)),
    "read acc in test": (["L210"], body("""
for k in self.s:
    if self.x < 2:
        self.x += k
""", fields=FIELDS)),
    "other item": (["L210"], body("""
self.m = {1: 1, 2: 2, 3: 3}
for k in self.s:
    self.m[k] = self.m[k + 1]
""", fields=FIELDS)),
    "membership of other": (["L210"], body("""
for k in self.s:
    if k - 1 not in self.t:
        self.t.add(k)
""", fields=FIELDS)),
    "add and discard other": (["L210"], body("""
for k in self.s:
    self.t.add(k + 1)
    self.t.discard(k)
""", fields=FIELDS)),
    "whole container": (["L210"], body("""
for k in self.s:
    self.m[k] = len(self.m)
""", fields=FIELDS)),
    "nested loop": (["L210"], body("""
for k in self.s:
    for j in self.s:
        self.x += j
""", fields=FIELDS)),
    "local of earlier round": (["L210"], body("""
y = 0
for k in self.s:
    self.m[k] = y
    y = k
""", fields=FIELDS)),
    "local conditional": (["L210"], body("""
y = 0
for k in self.s:
    if k > 1:
        y = k
    self.m[k] = y
""", fields=FIELDS)),
    "after": (["L210"], body("""
for k in self.s:
    h = k
self.x = h
""", fields=FIELDS)),
    "after in outer": (["L210"], body("""
h = 0
for i in range(2):
    self.x += h
    for k in self.s:
        h = k
""", fields=FIELDS)),
    "key reassigned": (["L210"], body("""
for k in self.s:
    k = 1
    self.m[k] = self.x
""", fields=FIELDS)),
    "unpack one": (["L210"], body("""
for a, b in self.p:
    self.n[a] = 1 if b else 2
""", fields="""
p: set[tuple[Nat, bool]] = {(1, True), (1, False)}
n: dict[Nat, Nat] = {}
""")),
    "list of set": (["L210"], body("self.q = list(self.s)", fields=FIELDS)),
    "tuple of gen": (["L210"], body("self.q = [k for k in self.s]", fields=FIELDS)),
    "enumerate": (["L210"], body("""
for i, k in enumerate(self.s):
    self.x += i * k
""", fields=FIELDS)),
    "zip": (["L210"], body("""
for i, k in zip(self.s, self.t):
    self.x += i * k
""", fields=FIELDS)),
    "reversed": (["L210"], body("self.q = [k for k in reversed(self.m)]", fields=FIELDS)),
    "next": (["L210"], body("self.x = next((k for k in self.s), 0)", fields=FIELDS)),
    "keyed by value": (["L210"], body("self.m = {v: k for k, v in self.m.items()}", fields=FIELDS)),
    "swap": (["L210"], body("""
y = 0
z = 1
for k in self.s:
    y, z = z, y
self.x = y
""", fields=FIELDS)),
    "iter list change": (["L218"], body("""
for k in self.q:
    self.q.pop()
""", fields=FIELDS)),
    "iter set change": (["L218"], body("""
for k in self.s:
    self.s.discard(k)
""", fields=FIELDS)),
    "iter set aug": (["L218"], body("""
for k in self.s:
    self.s |= {k}
""", fields=FIELDS)),
    "iter map new": (["L210", "L218"], body("""
for k in self.m:
    self.m[k + 1] = 1
""", fields=FIELDS)),
    "iter enumerate grow": (["L218"], body("""
for i, k in enumerate(self.q):
    self.q.append(k)
""", fields=FIELDS)),
    "iter items del": (["L218"], body("""
for k, v in self.m.items():
    if v > 1:
        del self.m[k]
""", fields=FIELDS)),
}
