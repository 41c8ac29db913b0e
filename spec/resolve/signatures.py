"""The parameters and the output of a method: its annotations -> types; those of a resolved
machine, for bodies that have it as a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import FunctionType
from typing import Any, Literal, cast

from .. import ir
from .. import types as t
from ..analysis.effects import acts
from ..errors import Place, Problems, a
from ..quick_dataclass import dataclass
from ..syntax import tree
from ..syntax.declare import Declaration, Names
from ..syntax.hints import defaults_of, hints_of, keyword_only
from ..syntax.members import Member, gather
from ..verdicts import KINDS
from .annotations import TEXT, TypeReader
from .constants import constant
from .context import Body, Interface, Signature

FunctionKind = Literal["transition", "event", "initial", "property", "helper"]
OF_HEADER: dict[str, FunctionKind] = {
    "transition": "transition",
    "event": "event",
    "initial": "initial",
    **dict.fromkeys(KINDS, "property"),
}
PASSED = "pass its key, and name it in the body: self.peers[p]"
GIVEN = "give its key, or a value in it; name it where it is used: self.peers[p], or in an if"
OUTPUTS: dict[str, t.Type] = {
    "initial": t.NOTHING,
    **{kind: t.BOOL for kind, row in KINDS.items() if row.gives == "bool"},
    **{kind: t.Tuple((t.BOOL, t.BOOL)) for kind, row in KINDS.items() if row.gives == "two bools"},
}


@dataclass
class Signatures:
    """Reads the signatures of one machine's methods."""

    machine: str
    reader: TypeReader
    problems: Problems

    def method(self, member: Member) -> Signature:
        """The signature of a method of the machine."""
        head = "helper" if member.header is None else member.header.kind
        kind = OF_HEADER.get(head, "helper")
        hints = hints_of(member.function)
        place, names = member.tree.place, member.declared.names
        params: list[tuple[str, t.Type]] = []
        for i, name in enumerate(member.tree.params[1:]):
            if head == "step_property" and i == 0:
                params.append((name, t.Part(self.machine)))
            else:
                given = self._param(name, hints, place, names)
                params.append((name, given if kind == "helper" else _as_given(given)))
        if head == "step_property" and not params:
            self.problems.add(
                "L104",
                place,
                f"def {member.name}(self)",
                "the state after the step, too",
                f'write def {member.name}(self, after: "{self.machine}") -> bool',
            )
        if head == "assume" and params:
            self.problems.add(
                "L104",
                place,
                f"def {member.name}(self, {params[0][0]})",
                "about parameters alone",
                "quantify inside: return all(... for n in Node)",
            )
        if head == "refines":
            return Signature(kind, tuple(params), self._viewed(member, params))
        output, defaults = (
            self._output(head, hints, member.tree, names),
            defaults_of(member.function),
        )
        by_name = keyword_only(member.function)
        signature = Signature(kind, tuple(params), output, defaults=defaults, by_name=by_name)
        signature = replace(signature, getter=member.getter)
        if kind != "helper":
            self._immutable(member, signature)
            # What was refused is told once, and not again where it is used.
            known = ((n, t.Unknown() if t.contains(k, t.Text) else k) for n, k in params)
            signature = replace(signature, params=tuple(known))
        return signature

    def function(
        self, method: tree.Method, made: FunctionType, names: Names, of: t.Type | None
    ) -> Signature:
        """The signature of a function of a module; `of` is the type of a method's `self`."""
        hints, place, own = hints_of(made), method.place, int(of is not None)
        given = method.params[own:]
        params = tuple((name, self._param(name, hints, place, names)) for name in given)
        params = params if of is None else ((method.params[0], of), *params)
        output, defaults = self._output("helper", hints, method, names), defaults_of(made)
        return Signature("helper", params, output, defaults=defaults)

    def _param(self, name: str, hints: Mapping[str, Any], place: Place, names: Names) -> t.Type:
        if name not in hints:
            self._unannotated(place, f"the parameter {name}", f"{name}: Nat")
            return t.Unknown()
        kind = self.reader.read(hints[name], place, names)
        if t.contains(kind, t.Part):
            self._machine(place, f"{name}: {kind}, a machine")
            return t.Unknown()
        return kind

    def _machine(self, place: Place, found: str, rewrite: str = PASSED) -> None:
        self.problems.add("L202", place, found, "values: a machine is none", rewrite)

    def _output(
        self, head: str, hints: Mapping[str, Any], method: tree.Method, names: Names
    ) -> t.Type:
        """The declared output. Without a declared one it is what the kind of method gives, and None
        for a method that returns nothing."""
        wanted, place = OUTPUTS.get(head), method.place
        if "return" not in hints:
            if wanted is not None:
                return wanted
            if not method.unwritten and not _returns(method.body):
                return t.NOTHING
            self._unannotated(place, "what it gives", "-> int, or whatever it returns")
            return t.Unknown()
        found = self.reader.read(hints["return"], place, names)
        if wanted is not None and found != wanted and not isinstance(found, t.Unknown):
            what = f"{'an' if head[0] in 'aei' else 'a'} {head} that gives {a(found)}"
            self.problems.add("L203", place, what, f"-> {wanted}", f"annotate it -> {wanted}")
        if t.contains(found, t.Part):
            self._machine(place, f"-> {found}, a machine", GIVEN)
            return t.Unknown()
        return wanted or found

    def _viewed(self, member: Member, params: list[tuple[str, t.Type]]) -> t.Type:
        """The abstract machine that an `@refines` names, and its method gives."""
        assert member.header is not None
        place, abstract = member.tree.place, member.header.refines
        if params:
            self.problems.add(
                "L104",
                place,
                f"def {member.name}(self, {params[0][0]})",
                "one view of each state",
                f"write def {member.name}(self)",
            )
        if not isinstance(abstract, type) or not issubclass(abstract, Declaration):
            self.problems.add(
                "L105",
                place,
                f"@refines({abstract!r})",
                "@refines(Abstract), a machine",
                "name the class of the abstract machine",
            )
            return t.Unknown()
        name = abstract.__name__
        hints = hints_of(member.function)
        if "return" not in hints:
            self._unannotated(place, "what it gives", f"-> {name}")
            return t.Unknown()
        found = self.reader.read(hints["return"], place, member.declared.names)
        if isinstance(found, t.Part) and self.reader.parts[found.machine] is abstract:
            return found
        if not isinstance(found, t.Unknown):
            self.problems.add(
                "L203",
                place,
                f"a view that gives {a(found)}",
                f"-> {name}",
                f"annotate it -> {name}, and return {name}.lawful.state(...)",
            )
        return t.Unknown()

    def _unannotated(self, place: Place, what: str, example: str) -> None:
        self.problems.add("L215", place, f"no annotation of {what}", "a type", f"write {example}")

    def _immutable(self, member: Member, signature: Signature) -> None:
        """Note a parameter that is mutable, for arguments never change afterwards; and an output
        that is neither immutable nor a container that the caller gets a copy of."""
        rows = [*signature.params, ("the output", signature.output)]
        if member.header is not None and member.header.kind == "step_property":
            del rows[0]
        for name, kind in rows:
            if t.contains(kind, t.Text) and name != "the output":
                self.reader.refuse(
                    member.tree.place, f"{name}: {kind}", "a parameter without text", TEXT
                )
            if isinstance(kind, t.Union):
                continue  # The reader of annotations notes which has no immutable values.
            if not t.immutable(kind) and not (name == "the output" and _given_anew(kind)):
                self.problems.add(
                    "L202",
                    member.tree.place,
                    f"{name}: {kind}",
                    "an immutable type",
                    f"use {_unchanging(kind)}",
                )


def _as_given(kind: t.Type) -> t.Type:
    """The type of an argument that is declared as a list or a set: it never changes afterwards, so
    an instance keeps it as a tuple or a frozenset."""
    match kind:
        case t.Seq(item=item, mutable=True) | t.Set(item=item, mutable=True):
            return replace(kind, mutable=False) if t.immutable(item) else kind
        case _:
            return kind


def _unchanging(kind: t.Type) -> t.Type:
    """The immutable type that holds the same; of a map that may lack keys its items."""
    match kind:
        case t.Seq(item=item) | t.Set(item=item):
            return replace(kind, item=_unchanging(item), mutable=False)
        case t.Map(key=key, value=value) if t.finite(key):
            return replace(kind, value=_unchanging(value), mutable=False)
        case t.Map(key=key, value=value):
            return t.Seq(t.Tuple((key, _unchanging(value))), mutable=False)
        case t.Bag(item=item):
            return t.Seq(item, mutable=False)
        case t.Tuple(items=items):
            return t.Tuple(tuple(map(_unchanging, items)))
        case _:
            return kind


def _given_anew(kind: t.Type) -> bool:
    """Whether a caller can be given a container of its own: what is inside is immutable."""
    containers = t.Seq | t.Set | t.Map | t.Bag
    return isinstance(kind, containers) and all(map(t.immutable, t.children(kind)))


def interface_of(machine: ir.Machine, cls: type[Declaration] | None) -> Interface:
    """The tables of a machine; its class `cls` has the defaults of parameters."""
    fields = {v.name: v.type for v in machine.variables}
    fields.update({p.name: p.type for p in machine.parameters})
    return Interface(
        machine.name,
        fields,
        frozenset(p.name for p in machine.parameters),
        frozenset(v.name for v in machine.variables if v.ghost),
        _methods(machine, cls),
    )


def _methods(machine: ir.Machine, cls: type[Declaration] | None) -> dict[str, Signature]:
    methods: dict[str, Signature] = {}
    for f in machine.functions:
        methods[f.name] = Signature("helper", f.params, f.output, acts(f))
    for p in machine.properties:
        methods[p.name] = Signature("property", p.function.params, p.function.output)
    for f in machine.initials:
        methods[f.name] = Signature("initial", f.params, f.output)
    for event in machine.events:
        methods[event.name] = Signature("event", event.params, event.output)
    for tr in machine.transitions:
        methods[tr.name] = Signature("transition", tr.function.params, tr.function.output)
    for name, member in ({} if cls is None else gather(cls).methods).items():
        if name in methods:
            given, by_name = defaults_of(member.function), keyword_only(member.function)
            methods[name] = replace(
                methods[name], defaults=given, by_name=by_name, getter=member.getter
            )
    return methods


def judge_defaults(b: Body, place: Place, signature: Signature) -> None:
    """Note defaults of parameters that are no constants of their parameters' types."""
    for name, kind in signature.params:
        if name not in signature.defaults or isinstance(kind, t.Unknown):
            continue
        value = signature.defaults[name]
        made = constant(b, value, place, kind) if t.immutable(kind) else None
        if made is None or not t.fits(made.type, kind):
            b.problem(
                "L104",
                place,
                f"the default {name}={value!r}"[:80],
                f"a constant of type {kind}",
                _mended_default(name, value, kind),
            )


def _mended_default(name: str, value: object, kind: t.Type) -> str:
    if value is None:
        return f"annotate it: {name}: {kind} | None = None"
    if not t.immutable(kind):
        return f"take {_unchanging(kind)}"
    return "give every argument at every call, and leave the default out"


def _returns(node: object) -> bool:
    """Whether some statement returns a value that is not written out as None."""
    match node:
        case tree.Give(value=None | tree.Literal(value=None)):
            return False
        case tree.Give():
            return True
        case tuple():
            return any(map(_returns, cast(tuple[object, ...], node)))
        case tree.Tree():
            return any(_returns(getattr(node, each.name)) for each in fields(node))
        case _:
            return False
