"""The export: a TLA+ module with its configurations. TLC finds the same number of states.

Differences from a module written by hand:

- A step that leaves the scope, or that a `@constraint` prunes, is no action: TLC never sees its
  target. But it counts as enabled. So deadlock is an invariant, and TLC's own search for deadlocks
  is switched off.
- A step that is undefined or violates a bound or an `assert` is no action either. For each built-in
  property, one invariant says that no reachable state has such a step.
- An undefined property is false in TLA+; in the other engines it is a failure of its own.
- TLA+ ignores steps that change nothing. A step property has an extra invariant for those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.spec import types as t
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
    """A module, its configurations, and the properties that are not in them.

    `config` names every property, `safety` only those that a single state or step can violate.
    `rows` are the definitions of properties, `constants` what every configuration declares.
    """

    name: str
    module: str
    config: str
    safety: str
    left_out: tuple[str, ...]
    constants: tuple[str, ...]
    rows: tuple[Written, ...]

    def asking(self, rows: Sequence[Written], *, live: bool) -> str:
        """A configuration that asks for these definitions alone, under fairness where `live`.

        It does not say that TLC shall not look for deadlocks: TLC 2.15 reads no such line, and the
        option `-deadlock` says the same to every version.
        """
        return "\n".join([*_head(self.constants, live), *_asked(rows), ""])


def export(flat: Flat, expects: Mapping[str, Expected]) -> Exported:
    """Export a machine within its scope; `expects` are the expected verdicts by property.

    Raises CannotWrite where a step cannot be written in TLA+. A property that cannot be written
    is named in `left_out`.
    """
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
    return Exported(
        name,
        text + "\n",
        config,
        safety,
        tuple(properties.left_out),
        tuple(constants),
        tuple(rows),
    )


def module_name(machine: str) -> str:
    """The name of a machine's module and of its files."""
    name = word(machine)
    return f"{name}_" if name in MODULES else name


def _all_differ(flat: Flat, elements: Mapping[str, Sequence[str]]) -> None:
    """CannotWrite where two names become the same identifier of TLA+."""
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
    """Names that every module of this machine defines."""
    sorts = [word(name) for name in elements]
    more = [f"{name}_{what}" for name in sorts for what in ("order", "rank")]
    each = [name for names in elements.values() for name in names]
    return [*OWN, word(flat.machine.name), *sorts, *more, *each]


def _elements(kind: t.Sort | t.Opaque, flat: Flat) -> list[str]:
    """The model values of a sort."""
    if isinstance(kind, t.Opaque):
        return [token(kind.name, i) for i in range(dict(flat.sizes)[kind.name])]
    return [word(name) for name in dict(flat.elements)[kind.name]]


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
    """The configuration; properties that are expected to be false stand in comments.

    Without `live` it has neither liveness nor fairness, with which TLC needs far more time.
    """
    rows = [row for row in rows if live or not row.live]
    found = [row for row in rows if _to_hold(row, expects)]
    specification, *head = _head(constants, live)
    lines = [specification, "CHECK_DEADLOCK FALSE", *head, *_asked(found)]
    others = [row for row in rows if row not in found]
    if others:
        lines += ASKED_ALONE
    for row in others:
        kind = "PROPERTY" if row.temporal else "INVARIANT"
        lines.append(f"\\* {kind} {row.name}")
    return "\n".join(lines) + "\n"


def _head(constants: Sequence[str], live: bool) -> list[str]:
    """The lines that every configuration has."""
    given = [f"  {name} = {name}" for name in constants]
    return [f"SPECIFICATION {'Spec' if live else 'Safety'}", "CONSTANTS", *given]


def _asked(rows: Sequence[Written]) -> Iterator[str]:
    """The lines that name definitions which TLC is to find true."""
    for kind, temporal in (("INVARIANTS", False), ("PROPERTIES", True)):
        names = [f"  {row.name}" for row in rows if row.temporal is temporal]
        yield from [kind, *names] if names else []


def _to_hold(row: Written, expects: Mapping[str, Expected]) -> bool:
    """Whether TLC should find that the definition holds."""
    expected = expects.get(row.about, "holds")
    verdict = expected if isinstance(expected, str) else expected[0]
    if row.value:
        return verdict != "undefined"
    return not row.witness and verdict not in ("violated", "undefined")
