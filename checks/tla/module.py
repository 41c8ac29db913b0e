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

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Flat
from lawful.spec.words import Expected

from .constants import token
from .fairness import fairness
from .kinds import NONE
from .names import MODULES, OWN, CannotWrite, spelled, word
from .prelude import used
from .properties import Properties, Written
from .steps import SOME, Steps
from .terms import UNSET

__all__ = ["CannotWrite", "Exported", "export"]


ASKED_ALONE = (
    "\\* One at a time: TLC is to find each of these false. Of a step property and the same name",
    "\\* with _at_rest one is enough; never_... holds where that is expected not to be reached.",
)


@dataclass(frozen=True)
class Exported:
    """A module, its configurations, and what of the machine is not in them.

    `config` names every property, `safety` those of them that one step or one state can break.
    """

    name: str
    module: str
    config: str
    safety: str
    left_out: tuple[str, ...]


def export(flat: Flat, expects: Mapping[str, Expected]) -> Exported:
    """The machine within its scope. Raises CannotWrite where a step could only be written wrongly;
    a property that cannot be written is left out by name."""
    sorts = [kind for kind in flat.machine.types if isinstance(kind, t.Sort | t.Opaque)]
    elements = {kind.name: _elements(kind, flat) for kind in sorts}
    _all_differ(flat, elements)
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
    given = [line for kind in sorts for line in _sort(kind, elements[kind.name], body)]
    name = module_name(flat.machine.name)
    text = "\n\n".join(
        [
            f"---- MODULE {name} ----",
            *_about(flat, properties.left_out),
            "EXTENDS Integers, Sequences, FiniteSets, TLC",
            *used("\n".join([*given, body])),
            f"CONSTANTS {', '.join(constants)}",
            *given,
            f"VARIABLES {', '.join(steps.variables.values())}",
            body,
            "====",
        ]
    )
    config, safety = (_config(constants, rows, expects, live) for live in (True, False))
    return Exported(name, text + "\n", config, safety, tuple(properties.left_out))


def module_name(machine: str) -> str:
    """The name of a machine's module and of its files."""
    name = word(machine)
    return f"{name}_" if name in MODULES else name


def _all_differ(flat: Flat, elements: Mapping[str, Sequence[str]]) -> None:
    """CannotWrite where two names are the same in the letters that TLA+ has."""
    m = flat.machine
    sorts = [word(name) for name in elements]
    sorts += [name for names in elements.values() for name in names]
    groups = [("sorts and their elements", sorts)]
    for machine in (m, *m.parts):
        fields = [v.name for v in machine.variables] + [p.name for p in machine.parameters]
        groups.append((machine.name, [word(field) for field in fields]))
    for kind in m.types:
        if isinstance(kind, t.Enum):
            groups.append((kind.name, [spelled(member) for member in kind.members]))
        if isinstance(kind, t.Record):
            groups.append((kind.name, [word(field) for field, _ in kind.fields]))
    for of, names in groups:
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise CannotWrite(f"{of}: several names would be {twice[0]} in TLA+")


def _taken(flat: Flat, elements: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of the module that are always there."""
    sorts = [word(name) for name in elements]
    more = [f"{name}_{what}" for name in sorts for what in ("order", "rank")]
    each = [name for names in elements.values() for name in names]
    return [*OWN, word(flat.machine.name), *sorts, *more, *each]


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
        yield f"{name}_rank == Ranked({name}_order)"


def _about(flat: Flat, left_out: Sequence[str]) -> Iterator[str]:
    scope = ", ".join(f"{key}={value}" for key, value in flat.scope)
    lines = [
        f"{flat.machine.name}{f' with {scope}' if scope else ''}; written by lawful.",
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
    parts = ["Safety", *fair]
    return "\n\n".join(
        [
            *steps.defined.texts,
            f"ASSUME {sound}",
            f"Init ==\n  {begin}",
            "\n".join(["Next ==", *(actions or ["  FALSE"])]),
            f"Safety ==\n  /\\ Init\n  /\\ [][Next]_{steps.vars}",
            "\n".join(["Spec ==", *(f"  /\\ {part}" for part in parts)]),
        ]
    )


def _config(
    constants: Sequence[str], rows: Sequence[Written], expects: Mapping[str, Expected], live: bool
) -> str:
    """The configuration: what is expected to be false is there as a comment. Without liveness
    there is no fairness either, of which TLC would make more cases than it can judge."""
    rows = [row for row in rows if live or not row.live]
    found = [row for row in rows if _to_hold(row, expects)]
    lines = [f"SPECIFICATION {'Spec' if live else 'Safety'}", "CHECK_DEADLOCK FALSE", "CONSTANTS"]
    lines += [f"  {name} = {name}" for name in constants]
    for kind, temporal in (("INVARIANTS", False), ("PROPERTIES", True)):
        names = [f"  {row.name}" for row in found if row.temporal is temporal]
        lines += [kind, *names] if names else []
    others = [row for row in rows if row not in found]
    if others:
        lines += ASKED_ALONE
    for row in others:
        kind = "PROPERTY" if row.temporal else "INVARIANT"
        lines.append(f"\\* {kind} {row.name}")
    return "\n".join(lines) + "\n"


def _to_hold(row: Written, expects: Mapping[str, Expected]) -> bool:
    """Whether TLC is to find that it holds; what is never reached has no witness."""
    expected = expects.get(row.about, "holds")
    verdict = expected if isinstance(expected, str) else expected[0]
    if row.value:
        return verdict != "undefined"
    return not row.witness and verdict not in ("violated", "undefined")
