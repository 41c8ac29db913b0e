"""The members of a declaration, its ancestors' included: later definitions replace earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ..errors import Place
from ..quick_dataclass import dataclass, field
from ..values.world import World
from ..words import Dropped, Expect, Fairness, Group, Header, Ignored, Scope, header
from . import tree
from .declare import RESERVED, Declaration, Declared, declared
from .hints import hints_of


@dataclass(frozen=True, slots=True)
class Member:
    """A method, with the class that defines it; `header` is None for a plain method. A `getter`
    is under `@property`: it is read without a call."""

    name: str
    owner: type[Declaration]
    function: FunctionType
    tree: tree.Method
    header: Header | None
    getter: bool = False

    @property
    def declared(self) -> Declared:
        return declared(self.owner)


@dataclass
class Members:
    """Everything a machine's class chain declares, oldest ancestor first."""

    chain: tuple[type[Declaration], ...]
    fields: dict[str, type[Declaration]] = field(default_factory=dict[str, type[Declaration]])
    methods: dict[str, Member] = field(default_factory=dict[str, Member])
    ignores: dict[str, tuple[type[Declaration], Ignored]] = field(
        default_factory=dict[str, tuple[type[Declaration], Ignored]]
    )
    dropped: dict[str, tuple[type[Declaration], str]] = field(
        default_factory=dict[str, tuple[type[Declaration], str]]
    )
    twofold: dict[str, Place] = field(default_factory=dict[str, Place])
    undecorated: list[tuple[Member, Member]] = field(default_factory=list[tuple[Member, Member]])
    scopes: dict[str, Scope] = field(default_factory=dict[str, Scope])
    older_bounds: dict[str, dict[str, object]] = field(
        default_factory=dict[str, dict[str, object]]
    )  # Of the ancestors' scopes that these replace.
    expects: dict[str, Any] = field(default_factory=dict[str, Any])
    fairness: Fairness | None = None
    deadlock_ok: bool = False

    def fair_groups(self) -> Iterator[tuple[Group, Place]]:
        """The groups of `Fairness(...)` and of `@transition(fair=...)`, with their places."""
        if self.fairness is not None:
            place = declared(self.chain[-1]).place("fairness")
            for group in self.fairness.groups:
                yield group, place
        for name, member in self.methods.items():
            fair = None if member.header is None else member.header.fair
            if fair is not None:
                yield Group(fair, (name,)), member.tree.place


def chain_of(cls: type[Declaration]) -> tuple[type[Declaration], ...]:
    """The declarations among a class's ancestors, oldest first, itself last."""
    found = [c for c in cls.__mro__ if issubclass(c, Declaration) and "__declared__" in vars(c)]
    return tuple(reversed(found))


def gather(cls: type[Declaration]) -> Members:
    """The members of a class; what an ancestor has keeps its position when it is redefined."""
    out = Members(chain_of(cls))
    for owner in out.chain:
        for row in declared(owner).tree.fields:
            out.fields[row.name] = owner
            if row.name in out.methods or row.name in out.ignores:
                out.twofold[row.name] = row.place
        for name, value in vars_before(owner).items():
            _member(out, owner, name, value)
    return out


# Under this name a class had nothing of its own before the runtime compiled it.
INHERITED = object()


def vars_before(owner: type[Declaration]) -> dict[str, Any]:
    """What the class statement defined, also after the runtime put compiled members in its place.

    The runtime compiles what is inherited into the heir, too; that the heir does not define.
    """
    originals: dict[str, Any] = vars(owner).get("__originals__", {})
    found = {name: originals.get(name, value) for name, value in vars(owner).items()}
    return {name: value for name, value in found.items() if value is not INHERITED}


def _member(out: Members, owner: type[Declaration], name: str, value: Any) -> None:
    match value:
        case FunctionType():
            method = declared(owner).method(name)
            if method is not None:
                _method(out, Member(name, owner, value, method, header(value)))
        case property(fget=FunctionType() as fget, fset=None) if header(fget) is None:
            method = declared(owner).method(name)
            if method is not None and len(method.decorators) == 1:
                _method(out, Member(name, owner, fget, method, None, getter=True))
        case Ignored():
            out.methods.pop(name, None)
            out.ignores[name] = (owner, value)
        case Dropped(name=gone):
            held: list[dict[str, Any]] = [out.methods, out.ignores, out.scopes]
            if not [each for each in held if each.pop(gone, None) is not None]:
                out.dropped[gone] = owner, name
            out.older_bounds.pop(gone, None)
        case Scope() if not name.startswith("_"):
            if name in out.scopes:
                out.older_bounds[name] = {
                    **out.older_bounds.get(name, {}),
                    **out.scopes[name].bounds,
                }
            inherited = frozenset(value.bounds if owner is not out.chain[-1] else ())
            out.scopes[name] = value.widened({}, inherited)
        case Expect():
            out.expects.update(value.verdicts)
        case Fairness():
            out.fairness = value
        case bool() if name == "deadlock_ok":
            out.deadlock_ok = value
        case _:
            older = out.methods.get(name)
            if older is not None and older.header is None:
                # As in Python: what the heir says counts, a static method too.
                del out.methods[name]


def _method(out: Members, member: Member) -> None:
    """A method replaces its ancestor's, whatever it is; as a variable it would mean two things."""
    name, older = member.name, out.methods.get(member.name)
    if name in out.fields:
        out.twofold[name] = member.tree.place
    if older is not None and older.header is not None and member.header is None:
        out.undecorated.append((older, member))
    out.ignores.pop(name, None)
    out.methods[name] = member


def constant_of(members: Members, name: str, missing: object) -> Any:
    """A class constant by name: a plain value in the class body that is no field."""
    if name in members.fields or name in RESERVED or name.startswith("__"):
        return missing
    for owner in reversed(members.chain):
        if name in vars(owner):
            value = vars(owner)[name]
            held = isinstance(value, FunctionType | Ignored | Dropped) or name in members.methods
            return missing if held else value
    return missing


def outline_of(cls: type[Declaration], world: World) -> list[str]:
    """The facts about a machine that Python gives without its source."""
    from ..codec import frozen  # For classes without source alone; it reads modules of files.

    rows: dict[str, Any] = {}
    for owner in chain_of(cls):
        rows.update({f"{owner.__name__}.{name}": "field" for name in hints_of(owner)})
        for name, value in vars_before(owner).items():
            kept = frozen.member(value)
            if kept is not None:
                rows[f"{owner.__name__}.{name}"] = kept
    return frozen.outline(rows, world)
