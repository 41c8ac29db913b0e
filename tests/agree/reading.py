"""What an expression may read: a place of a type, and a member of a family of parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from lawful.spec import types as t
from tests.agree.exprs import Callee, Env, Family, Place, Writer


def among(w: Writer, env: Env, kind: type[t.Type] | tuple[type[t.Type], ...]) -> Place | None:
    found = [p for p in env.places if isinstance(p.kind, kind)]
    return w.rng.choice(found) if found else None


M = TypeVar("M", Place, Callee)


def member(w: Writer, f: Family, env: Env, of: M) -> M:
    """What some member of a family has."""
    return replace(of, text=f"{f.text}[{w.leaf(f.key, env)}].{of.text}")
