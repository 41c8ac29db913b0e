"""The parameters that a part has after `restore`, as terms: those with which the newer version
makes it. `runtime.instances.part_parameters` is the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything

from ..smt.algebra.term import Term
from ..smt.encode.conversion import eval_term
from ..smt.encode.execution import Execution


@dataclass(frozen=True, slots=True)
class PartVariable:
    """The variable of a machine of the newer version that holds a part or a family of parts."""

    owner: ir.Machine
    variable: ir.Variable


def declared(run: Execution, at: PartVariable, part: ir.Machine, name: str) -> tuple[Term, ...]:
    """The values that the declaration gives a parameter of the part; empty where only a run tells.
    Raises NotEncodable."""
    found: list[Term] = []
    own = next(p for p in part.parameters if p.name == name)
    for new in _made(at):
        arg = dict(new.args).get(name)
        if arg is None and own.default is not None:
            found.append(eval_term(run, own.default, own.type))
        elif isinstance(arg, ir.Const):
            found.append(eval_term(run, arg, own.type))
        else:
            return ()
    return tuple(found)


def _made(at: PartVariable) -> Iterator[ir.New]:
    """Where the declaration makes the part; a part of no family is made once, as declared."""
    kind, m = at.variable.type, at.owner
    bodies = (m.transitions, m.initials, m.functions, m.bases) if isinstance(kind, t.Map) else ()
    of = t.part_of(kind)
    for node in everything((at.variable.initial, *bodies)):
        if isinstance(node, ir.New) and node.type == of:
            yield node
