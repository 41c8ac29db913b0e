"""A whole module with its configuration: the states, the steps, the properties.

What differs from a module written by hand, and why the counts are equal to ours:

- A step that leaves the scope, or that a `@constraint` prunes, is no action: TLC never sees its
  target. It counts as enabled, so that deadlock is an invariant here and TLC's own search for
  deadlocks is switched off.
- A step that is undefined, breaks a bound or an `assert` has no target either; that there is none
  in any reachable state is one invariant for each of the built-in properties.
- A property that has no value is false here, as an undefined one is a failure there.
- TLA+ is blind to steps that change nothing; of a step property those are asked apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.flat import Flat
from lawful.spec.walk import everything
from lawful.spec.words import Expected

from .constants import token
from .fairness import fairness
from .kinds import NONE
from .names import CannotWrite, word
from .prelude import used
from .properties import Properties, Written
from .steps import SOME, Steps
from .terms import UNSET

__all__ = ["CannotWrite", "Exported", "export"]


@dataclass(frozen=True)
class Exported:
    """A module, its configuration, and what of the machine is not in them."""

    name: str
    module: str
    config: str
    left_out: tuple[str, ...]


def export(flat: Flat, expects: Mapping[str, Expected]) -> Exported:
    """The machine within its scope. Raises CannotWrite where a step could only be written wrongly;
    a property that cannot be written is left out by name."""
    sorts = [kind for kind in flat.machine.types if isinstance(kind, t.Sort | t.Opaque)]
    elements = {kind.name: _elements(kind, flat) for kind in sorts}
    steps = Steps(flat, _taken(flat, elements))
    properties = Properties(steps)
    steps.base()
    begin, sound = steps.initial()
    steps.steps()
    rows = list(properties.all())
    fair = fairness(steps)
    body = _body(steps, (begin, sound), fair)
    constants = [NONE, *(name for names in elements.values() for name in names)]
    constants += [UNSET] if UNSET in body else []
    name = word(flat.machine.name)
    text = "\n\n".join([
        f"---- MODULE {name} ----", *_about(flat, properties.left_out),
        "EXTENDS Integers, Sequences, FiniteSets, TLC",
        *used(body),
        f"CONSTANTS {', '.join(constants)}",
        *(line for kind in sorts for line in _sort(kind, elements[kind.name], body)),
        f"VARIABLES {', '.join(steps.variables.values())}",
        body, "====",
    ])
    return Exported(
        name, text + "\n", _config(constants, rows, expects), tuple(properties.left_out)
    )


def _taken(flat: Flat, elements: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of the module that are always there."""
    sorts = [word(name) for name in elements]
    more = [f"{name}_{what}" for name in sorts for what in ("order", "rank")]
    fixed = ["Init", "Next", "Spec", word(flat.machine.name)]
    return [*fixed, *sorts, *more, *(name for names in elements.values() for name in names)]


def _elements(kind: t.Sort | t.Opaque, flat: Flat) -> list[str]:
    """The model values of a sort: those that are explored, and those that the machine names."""
    count = dict(flat.sizes)[kind.name]
    if isinstance(kind, t.Opaque):
        return [token(kind.name, i) for i in range(count)]
    names = [f"{kind.name}{i + 1}" for i in range(count)]
    for node in everything((flat.machine,)):
        if isinstance(node, ir.Const) and node.type == kind and node.value not in names:
            raise CannotWrite(f"{node.value}, an element of {kind} that is not explored")
    return [word(name) for name in names]


def _sort(kind: t.Sort | t.Opaque, elements: Sequence[str], body: str) -> Iterator[str]:
    name = word(kind.name)
    yield f"{name} == {{{', '.join(elements)}}}"
    if f"{name}_order" in body or f"{name}_rank" in body:
        yield f"{name}_order == <<{', '.join(elements)}>>"
        place = f"(CHOOSE i \\in DOMAIN {name}_order : {name}_order[i] = n)"
        yield f"{name}_rank == [n \\in {name} |-> {place} - 1]"


def _about(flat: Flat, left_out: Sequence[str]) -> Iterator[str]:
    scope = ", ".join(f"{key}={value}" for key, value in flat.scope)
    lines = [
        f"{flat.machine.name}{f' with {scope}' if scope else ''}; written by lawful export --tla.",
        "TLC's number of distinct states is that of lawful check. A step that leaves the scope is",
        "no action here, though it counts as enabled; deadlock and the steps that go wrong are",
        "invariants, so TLC shall not look for deadlocks itself.",
        *(f"Left out: {what}" for what in left_out),
    ]
    yield "\n".join(f"\\* {line}" for line in lines)


def _body(steps: Steps, starts: tuple[str, str], fair: Sequence[str]) -> str:
    begin, sound = starts
    actions = [
        f"  \\/ {steps.each(rule, steps.now, steps.action(row), SOME)}" for rule, row in steps.rows
    ]
    parts = ["Init", f"[][Next]_{steps.vars}", *fair]
    return "\n\n".join([
        *steps.defined.texts,
        f"ASSUME {sound}",
        f"Init ==\n  {begin}",
        "\n".join(["Next ==", *(actions or ["  FALSE"])]),
        "\n".join(["Spec ==", *(f"  /\\ {part}" for part in parts)]),
    ])


def _config(
    constants: Sequence[str], rows: Sequence[Written], expects: Mapping[str, Expected]
) -> str:
    """The configuration: what is expected to be false is there as a comment."""
    found = [row for row in rows if not row.witness and not _expected(row, expects)]
    lines = ["SPECIFICATION Spec", "CHECK_DEADLOCK FALSE", "CONSTANTS"]
    lines += [f"  {name} = {name}" for name in constants]
    for kind, temporal in (("INVARIANTS", False), ("PROPERTIES", True)):
        names = [f"  {row.name}" for row in found if row.temporal is temporal]
        lines += [kind, *names] if names else []
    others = [row for row in rows if row not in found]
    if others:
        lines.append("\\* One at a time: TLC is to find each of these false.")
    for row in others:
        kind = "PROPERTY" if row.temporal else "INVARIANT"
        lines.append(f"\\* {kind} {row.name}")
    return "\n".join(lines) + "\n"


def _expected(row: Written, expects: Mapping[str, Expected]) -> bool:
    """Whether it is expected to fail."""
    expected = expects.get(row.about, "holds")
    verdict = expected if isinstance(expected, str) else expected[0]
    return verdict in ("violated", "undefined")
