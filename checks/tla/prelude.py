"""The helper operators of exported modules: operations of Python in TLA+."""

from __future__ import annotations

import re

# In the order of the module: a helper may use those before it.
HELPERS: dict[str, str] = {
    "Done": 'Done(self, value) == [out |-> "done", to |-> self, value |-> value]',
    "Stop": "Stop(out) == [out |-> out]",
    "Cut": 'Cut(r) == [out |-> "cut", to |-> r.to]',
    "FloorDiv": "FloorDiv(a, b) == IF b > 0 THEN a \\div b ELSE (-a) \\div (-b)",
    "FloorMod": "FloorMod(a, b) == a - (b * FloorDiv(a, b))",
    "Abs": "Abs(a) == IF a < 0 THEN -a ELSE a",
    "Range": "Range(s) == {s[i] : i \\in DOMAIN s}",
    "Put": "Put(f, k, v) == [x \\in (DOMAIN f) \\cup {k} |-> IF x = k THEN v ELSE f[x]]",
    "Without": "Without(f, k) == [x \\in (DOMAIN f) \\ {k} |-> f[x]]",
    "Merge": "Merge(f, g) == [x \\in (DOMAIN f) \\cup (DOMAIN g) |->"
    " IF x \\in DOMAIN g THEN g[x] ELSE f[x]]",
    "Count": "Count(b, x) == IF x \\in DOMAIN b THEN b[x] ELSE 0",
    "PutCount": "PutCount(b, x, n) == IF n = 0 THEN Without(b, x) ELSE Put(b, x, n)",
    "At": "At(s, i) == IF i < 0 THEN (Len(s) + i) + 1 ELSE i + 1",
    "HasAt": "HasAt(s, i) == (-Len(s) <= i) /\\ (i < Len(s))",
    "RemoveAt": "RemoveAt(s, i) == SubSeq(s, 1, At(s, i) - 1) \\o SubSeq(s, At(s, i) + 1, Len(s))",
    "Edge": "Edge(s, i) == IF i < -Len(s) THEN 0 ELSE"
    " IF i < 0 THEN Len(s) + i ELSE IF i > Len(s) THEN Len(s) ELSE i",
    "Slice": "Slice(s, low, high) == SubSeq(s, Edge(s, low) + 1, Edge(s, high))",
    "InsertAt": "InsertAt(s, i, v) =="
    " (SubSeq(s, 1, Edge(s, i)) \\o <<v>>) \\o SubSeq(s, Edge(s, i) + 1, Len(s))",
    "Index": "Index(s, v) == (CHOOSE i \\in DOMAIN s :"
    " (s[i] = v) /\\ (\\A j \\in 1..(i - 1) : s[j] # v)) - 1",
    "MapSeq": "MapSeq(s, Op(_)) == [i \\in DOMAIN s |-> Op(s[i])]",
    "Flat": "RECURSIVE Flat(_)\nFlat(s) == IF s = <<>> THEN <<>> ELSE Head(s) \\o Flat(Tail(s))",
    "AsSeq": "RECURSIVE AsSeq(_)\n"
    "AsSeq(S) == IF S = {} THEN <<>> ELSE"
    " LET x == CHOOSE y \\in S : TRUE IN <<x>> \\o AsSeq(S \\ {x})",
    "Sum": "Sum(S, Op(_)) == LET RECURSIVE Go(_) Go(T) == IF T = {} THEN 0 ELSE"
    " LET x == CHOOSE y \\in T : TRUE IN Op(x) + Go(T \\ {x}) IN Go(S)",
    "FromPairs": "RECURSIVE FromPairs(_, _)\n"
    "FromPairs(f, s) == IF s = <<>> THEN f ELSE"
    " FromPairs(Put(f, Head(s)[1], Head(s)[2]), Tail(s))",
    "Steps": "Steps(low, high, step) =="
    " LET n == FloorDiv((high - low) + (IF step > 0 THEN step - 1 ELSE step + 1), step)"
    " IN [i \\in 1..(IF n < 0 THEN 0 ELSE n) |-> low + ((i - 1) * step)]",
    "Upwards": "Upwards(low, high) == [i \\in 1..(high - low) |-> low + (i - 1)]",
    "Reversed": "Reversed(s) == [i \\in DOMAIN s |-> s[(Len(s) + 1) - i]]",
    "Counts": "Counts(s) == [x \\in Range(s) |-> Cardinality({i \\in DOMAIN s : s[i] = x})]",
    "Ranked": "Ranked(s) == [x \\in Range(s) |-> (CHOOSE i \\in DOMAIN s : s[i] = x) - 1]",
    "Singles": "Singles(S) == {<<x>> : x \\in S}",
    "Lists": "Lists(S, most) == UNION {[1..size -> S] : size \\in 0..most}",
    "Maps": "Maps(K, V) == UNION {[keys -> V] : keys \\in SUBSET K}",
    "Positive": "Positive(f) == [x \\in {y \\in DOMAIN f : f[y] # 0} |-> f[x]]",
}


def used(text: str) -> list[str]:
    """The definitions of the helpers that the text uses, directly or through other helpers."""
    seen: set[str] = set()
    waiting = [text]
    while waiting:
        for name in re.findall(r"\b[A-Z]\w*", waiting.pop()):
            if name in HELPERS and name not in seen:
                seen.add(name)
                waiting.append(HELPERS[name])
    return [definition for name, definition in HELPERS.items() if name in seen]
