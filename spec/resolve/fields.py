"""The fields of a machine: annotations and defaults -> variables and parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .. import types as t
from ..errors import DeclarationError, Place, Problems
from ..quick_dataclass import dataclass, field
from ..syntax import tree
from ..syntax.declare import Declaration, Names, declared
from ..syntax.hints import hints_of
from ..syntax.members import Member, Members
from .annotations import TEXT, TypeReader, marked
from .clocks import settled

RESOLVING: list[type[Declaration]] = []  # A machine is not a part of itself.


WORDS = ("universe", "clock")  # What instances are made with besides their parameters.


@dataclass
class Fields:
    """Reads the fields of one machine; `part` resolves the class of a part."""

    cls: type[Declaration]
    members: Members
    reader: TypeReader
    problems: Problems
    part: Callable[[str, type[Declaration]], None]
    variables: list[tuple[str, t.Type, bool]] = field(
        default_factory=list[tuple[str, t.Type, bool]]
    )
    parameters: list[tuple[str, t.Type]] = field(default_factory=list[tuple[str, t.Type]])

    def read(self) -> None:
        """Fill `variables` (name, type, whether a ghost) and `parameters` (name, type)."""
        for name, owner in self.members.fields.items():
            place = self.place(name)
            annotation = evaluated(hints_of(owner).get(name), inside_class(owner))
            kind = self.reader.read_field(annotation, place, inside_class(owner))
            if isinstance(kind, t.Part):
                kind = self._part(kind, self.default(name), owner)
            elif isinstance(kind, t.Map) and isinstance(kind.value, t.Part):
                part = self._part(kind.value, None, owner)
                unknown = isinstance(part, t.Unknown)
                kind = part if unknown else dataclasses.replace(kind, value=part)
            if marked(annotation, "param"):
                if name in WORDS:
                    how = f"choose another name: an instance is made with {name}="
                    expected = "a parameter with a name of its own"
                    self.problems.add("L108", place, name, expected, how)
                self.parameters.append((name, self._parameter(name, kind)))
            else:
                ghost = marked(annotation, "ghost")
                kind = settled(kind, self.default(name), inside_class(owner))
                self.variables.append((name, self._variable(name, kind), ghost))

    def place(self, name: str) -> Place:
        """The place of a field in the source."""
        return declared(self.members.fields[name]).place(name)

    def default(self, name: str) -> tree.Expression | None:
        """A field's default."""
        rows = declared(self.members.fields[name]).tree.fields
        return next(row.default for row in rows if row.name == name)

    def _parameter(self, name: str, kind: t.Type) -> t.Type:
        if t.contains(kind, t.Text):
            self.reader.refuse(self.place(name), f"{name}: {kind}", "a value without text", TEXT)
            return t.Unknown()
        if t.immutable(kind):
            return kind
        self.reader.refuse(
            self.place(name),
            f"{name}: Param[{kind}]",
            "an immutable parameter",
            "use frozenset, tuple or Mapping",
        )
        return t.Unknown()

    def _variable(self, name: str, kind: t.Type) -> t.Type:
        if t.contains(kind, t.Float):
            self.reader.refuse(
                self.place(name),
                f"{name}: {kind}",
                "a float only as a Param",
                "count in integers: milliseconds, cents",
            )
            return t.Unknown()
        if t.contains(kind, t.Text):
            self.reader.refuse(self.place(name), f"{name}: {kind}", "a value without text", TEXT)
            return t.Unknown()
        if isinstance(kind, t.Map) and not kind.total:
            default = self.default(name)
            total = self._starts_total(name) if default is None else is_total(default)
            return dataclasses.replace(kind, total=total)
        return kind

    def _starts_total(self, name: str) -> bool:
        """Whether every `@initial` assigns the map from a `Mapping` or over all of a type."""
        methods = self.members.methods.values()
        starts = [m for m in methods if m.header is not None and m.header.kind == "initial"]
        return bool(starts) and all(_assigns_all(start, name) for start in starts)

    def _part(
        self, kind: t.Part, default: tree.Expression | None, owner: type[Declaration]
    ) -> t.Type:
        """The part that a field is: of the class that its default makes, where it has one."""
        cls, place = self.reader.parts[kind.machine], declared(owner).tree.place
        made = _static_class(default, inside_class(owner))
        if made is not None and issubclass(made, cls):
            found = self.reader.read(made, place, inside_class(owner))
            cls = made
            kind = found if isinstance(found, t.Part) else kind
        if issubclass(self.cls, cls) or cls in RESOLVING:
            self.reader.refuse(
                place,
                f"{cls.__name__} inside itself",
                "another machine",
                "a part is a machine of its own",
            )
            return t.Unknown()
        try:
            self.part(kind.machine, cls)
        except DeclarationError as error:
            self.problems.found.extend(error.problems)
            return t.Unknown()
        return kind


def inside_class(owner: type[Declaration]) -> Names:
    """The meaning of names in a class body: its constants, then the surrounding scope."""
    statement = declared(owner)
    own = {n: vars(owner)[n] for n, _ in statement.tree.assigned if n in vars(owner)}
    return Names(statement.names.globals, {**statement.names.locals, **own})


def evaluated(annotation: Any, names: Names) -> Any:
    """The annotation, evaluated where it is text; the text where that has no meaning."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return names.evaluate(annotation)
    except Exception:  # The reader reports whatever Python says of the text.
        return annotation


def is_total(default: tree.Expression) -> bool:
    """Whether a default is `total(...)`."""
    match default:
        case tree.Apply(function=tree.Name(name="total") | tree.Attribute(name="total")):
            return True
        case _:
            return False


def _static_class(default: tree.Expression | None, names: Names) -> type[Declaration] | None:
    """The machine class whose instance a default is."""
    match default:
        case tree.Apply(function=tree.Name(name=name)) if name in names:
            made = names[name]
            return made if isinstance(made, type) and issubclass(made, Declaration) else None
        case _:
            return None


def _assigns_all(member: Member, name: str) -> bool:
    """Whether the body assigns every key of the map `name`, as far as the syntax tells."""
    for stmt in member.tree.body:
        match stmt:
            case tree.Set(
                target=tree.Attribute(of=tree.Name(name="self"), name=found), value=value
            ) if found == name:
                return _has_all_keys(value)
            case _:
                pass
    return False


def _has_all_keys(value: tree.Expression) -> bool:
    match value:
        case tree.Comprehension(kind="map", key=tree.Name(name=key), clauses=(clause,)):
            return not clause.conditions and clause.names == (key,)
        case tree.Apply(function=tree.Name(name="dict"), args=(tree.Name(),)):
            return True
        case _:
            return is_total(value)


def example(name: str, kind: t.Type) -> str:
    """A default that a field of this type could have."""
    match kind:
        case t.Bool():
            value = "False"
        case t.Int(low=low):
            value = str(low or 0)
        case t.Enum(name=enum, members=members):
            value = f"{enum}.{members[0]}"
        case t.Set(mutable=True):
            value = "set()"
        case t.Seq(mutable=True):
            value = "[]"
        case t.Map(mutable=True):
            value = "{}"
        case t.Bag():
            value = "Counter()"
        case t.Timer() | t.Clock() | t.Part():
            value = f"{kind}()"
        case t.Record():
            value = f"{kind}(...)"
        case t.Union(options=options) if t.NOTHING in options:
            value = "None"
        case _:
            return "give a default value"
    return f"write {name}: {kind} = {value}"
