"""Names and types: a class and its ancestors -> `ir.Machine`. All problems come at once."""

from __future__ import annotations

from _thread import RLock  # The one of `threading`, which takes as long to import as ten modules.
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from types import FunctionType, MethodType
from typing import Any, cast

from .. import ir
from .. import types as t
from ..analysis.inherited_bounds import taken
from ..analysis.iteration_order import last_round_shown
from ..analysis.loop_values import outdated
from ..analysis.walk import ends
from ..errors import Place, Problem, Problems, a
from ..legal.fairness import fairness_of
from ..legal.rules import judge
from ..quick_dataclass import dataclass
from ..syntax import classes, source, tree
from ..syntax.declare import Declaration, Names, declared
from ..syntax.members import Member, Members, constant_of, gather, outline_of
from ..values.world import World
from ..verdicts import PropertyKind
from ..words import Ignored, Scope
from . import aliasing, calls, comprehensions, expressions, operators
from .annotations import TypeReader
from .context import MISSING, Body, Interface, Mode, Scene, Signature
from .fields import RESOLVING, Fields, example, inside_class
from .headers import Headers
from .of_values.definitions import as_function, function_key, without_class
from .refinements import judge_abstract
from .short_forms import f_strings, later_types
from .short_forms.inferred_targets import with_targets
from .signatures import Signatures, interface_of, judge_defaults
from .statements.statements import block

EXPRESSIONS = {
    **expressions.ROWS,
    **operators.ROWS,
    **comprehensions.ROWS,
    **f_strings.ROWS,
    tree.Apply: calls.call,
}


BODILESS = ("event", "refines")  # What `super()` does not reach.


@dataclass(frozen=True, slots=True)
class Resolved:
    """A machine, the Python classes of its names, and its settings for checking."""

    machine: ir.Machine
    world: World
    parts: dict[str, type[Declaration]]
    scopes: dict[str, Scope]
    expects: dict[str, Any]


# Classes are read and made by one thread at a time: each looks into those that it is made of.
ONE_AT_A_TIME = RLock()


def resolve(cls: type[Declaration]) -> Resolved:
    """The resolved machine of a class; `DeclarationError` lists everything that is wrong in it."""
    known = vars(cls).get("__resolved__")  # Not an ancestor's.
    if isinstance(known, Resolved):
        return known
    with ONE_AT_A_TIME:
        known = vars(cls).get("__resolved__")
        return known if isinstance(known, Resolved) else _resolved(cls)


def _resolved(cls: type[Declaration]) -> Resolved:
    RESOLVING.append(cls)
    try:
        resolved = _Resolver(cls).run() if declared(cls).frozen is None else _thawed(cls)
    finally:
        RESOLVING.pop()
    cls.__resolved__ = resolved
    return resolved


def _thawed(cls: type[Declaration]) -> Resolved:
    """A class without source, as it was when it was frozen."""
    found = declared(cls).frozen
    assert found is not None
    machine, world, m = found.machine(cls.__module__), found.world(), gather(cls)
    found.judge(outline_of(cls, world))
    parts = found.classes("parts")
    return Resolved(machine, world, parts, _scopes(machine, m), m.expects)


def _scopes(machine: ir.Machine, members: Members) -> dict[str, Scope]:
    """The scopes by name, each with what it takes from the one that it replaces."""
    own, made = members.scopes, dict[str, Scope]()
    for name in sorted(own, key=lambda name: name != "scope"):  # The others are over `scope`.
        over = made["scope"].bounds if "scope" in made else {}
        more = taken(machine, {**over, **own[name].bounds}, members.older_bounds.get(name, {}))
        made[name] = own[name].widened(more, frozenset(more))
    return {name: made[name] for name in own}


class _Resolver:
    """Resolves one class; made for one run."""

    def __init__(self, cls: type[Declaration]) -> None:
        self.cls = cls
        self.name = cls.__name__
        self.problems = Problems()
        self.reader = TypeReader(self.problems)
        self.members: Members = gather(cls)
        self.fields = Fields(cls, self.members, self.reader, self.problems, self._part)
        self.signature_of = Signatures(self.name, self.reader, self.problems)
        self.parts: dict[str, Resolved] = {}
        self.interfaces: dict[str, Interface] = {}
        self.functions: dict[str, tuple[ir.Function, bool] | None] = {}
        self.refused: dict[str, tuple[Problem, ...]] = {}  # What is wrong with each function.
        self.bases: dict[str, ir.Transition] = {}
        self.abstracts: dict[str, ir.Machine] = {}
        self.signatures: dict[str, Signature] = {}

    def run(self) -> Resolved:
        for owner in self.members.chain:
            if declared(owner).frozen is not None:
                at = declared(owner).tree.place
                raise source.unreadable(f"{owner.__name__}, an ancestor", at.file, at.line)
            self.problems.found.extend(vars(owner).get("__problems__", ()))
        self.fields.read()
        for name, member in self.members.methods.items():
            if member.header is not None:
                self.signatures[name] = self.signature_of.method(member)
        self._take_abstracts()
        self._guess_helpers()
        self._note_twofold()
        variables, parameters = self.fields.variables, self.fields.parameters
        own = Interface(
            self.name,
            {n: k for n, k, _ in variables} | dict(parameters),
            frozenset(n for n, _ in parameters),
            frozenset(n for n, _, ghost in variables if ghost),
            self.signatures,
        )
        self.interfaces[self.name] = own
        self.scene = Scene(
            own,
            self.interfaces,
            self.problems,
            self._constant,
            self._helper,
            self._module_function,
            self._base,
            self.reader.read,
            EXPRESSIONS,
            self._made_functions,
            self._unfit,
            self.reader.records,
            self.abstracts,
            self.reader.enums,
        )
        self.headers = Headers(self.scene, self.reader, self.members)
        machine = self._machine()
        # If a body was resolved twice, the problems of a function that it calls are noted the first
        # time, and left out with it.
        self.problems.found.extend(chain.from_iterable(self.refused.values()))
        judge(machine, self.members, self.problems)
        self.problems.stop_if_any()
        world, m, machine = self.reader.world(), self.members, with_targets(machine)
        return Resolved(machine, world, dict(self.reader.parts), _scopes(machine, m), m.expects)

    def _part(self, name: str, cls: type[Declaration]) -> None:
        """Take in a machine that a field is."""
        part = self.parts[name] = resolve(cls)
        self.reader.take(part.world)
        for inner in (part.machine, *part.machine.parts):
            known = cls if inner is part.machine else part.parts.get(inner.name)
            self.interfaces[inner.name] = interface_of(inner, known)

    def _take_abstracts(self) -> None:
        """The machines that this one refines, and the classes behind their names."""
        for name, member in self.members.methods.items():
            output = self.signatures[name].output if name in self.signatures else t.NOTHING
            if isinstance(output, t.Part) and member.header is not None:
                abstract = resolve(self.reader.parts[output.machine])
                self.reader.join(abstract.world, member.tree.place)
                judge_abstract(abstract.machine, self.name, member.tree.place, self.problems)
                self.abstracts[output.machine] = abstract.machine

    def _note_twofold(self) -> None:
        """Names that a class and its ancestors use for two things."""
        for name, place in self.members.twofold.items():
            self.problems.add(
                "L219",
                place,
                f"{name}, a variable and a method",
                "one meaning for each name",
                "rename one of them",
            )
        for older, newer in self.members.undecorated:
            kind = "transition" if older.header is None else older.header.kind
            self.problems.add(
                "L105",
                newer.tree.place,
                f"{newer.name} without a decorator; in {older.owner.__name__} it is under @{kind}",
                f"@{kind} over it, too",
                "write the decorator again, or rename a helper",
            )

    def _guess_helpers(self) -> None:
        """Signatures of plain methods; one that does not fit is left alone until it is used."""
        for name, member in self.members.methods.items():
            if member.header is None:
                before = len(self.problems.found)
                signature = self.signature_of.method(member)
                if len(self.problems.found) == before:
                    self.signatures[name] = signature
                del self.problems.found[before:]

    def _unfit(self, name: str) -> bool:
        """Note why a method that has no signature cannot be used; false if there is none."""
        member = self.members.methods.get(name)
        if member is not None and member.header is None:
            self.signatures[name] = self.signature_of.method(member)
            return True
        for owner in reversed(self.members.chain):
            method = declared(owner).method(name)
            if method is not None and not isinstance(vars(owner).get(name), FunctionType):
                self._decorated(method)
                return True
        return False

    def _decorated(self, method: tree.Method) -> None:
        place = method.decorators[0] if method.decorators else method.place
        self.problems.add(
            "L105",
            place,
            f"a decorator on {method.name}, which a body uses",
            "a plain method",
            f"remove it, and call self.{method.name}(); what needs no machine is a function",
        )

    def _constant(self, name: str) -> Any:
        return constant_of(self.members, name, MISSING)

    # Bodies.

    def _body(self, member: Member, mode: Mode, signature: Signature) -> tuple[ir.Function, Body]:
        body = Body(self.scene, member.declared.names, member.owner, mode, signature.output)
        return self._function(body, member.tree, signature), body

    def _function(self, body: Body, method: tree.Method, signature: Signature) -> ir.Function:
        judge_defaults(body, method.place, signature)
        body.locals.update(signature.params)
        body.assigned = tree.assigned_names(method.body)
        before = len(self.problems.found)
        body.written, body.unsure = method.body, _unsure(method, signature)
        if names := later_types.awaited(method.body):
            body.expected = self._shown(body, method, names)
        made = block(body, method.body)
        shown = last_round_shown(made)
        if shown is not None and not self._any_since(before, "L210"):
            expressions.unordered(
                body, shown, "a local that the last round of an unordered loop assigned"
            )
        aliasing.outdated(body, outdated(made, self.scene.functions()))
        refused = bool(method.problems) or len(self.problems.found) > before
        if not ends(made) and not t.fits(t.NOTHING, signature.output) and not refused:
            self.problems.add(
                "L203",
                method.place,
                f"{method.name}, which can end without a value",
                f"{a(signature.output)} in every case",
                "return a value, or refuse(...)",
            )
        return ir.Function(method.place, method.name, signature.params, signature.output, made)

    def _shown(self, body: Body, method: tree.Method, names: frozenset[str]) -> dict[str, t.Type]:
        """The types of locals that later statements show; what is resolved here leaves no trace."""
        known = dict(self.functions), dict(self.refused), dict(self.bases), len(self.problems.found)
        signatures = dict(self.signatures)
        trial = later_types.trial_of(body)
        made = block(trial, method.body)
        self.functions, self.refused, self.bases = known[:3]
        self.signatures.clear()  # It has been given away, and is kept as it is.
        self.signatures.update(signatures)
        del self.problems.found[known[3] :]
        return later_types.shown(made, names, trial.later)

    def _any_since(self, before: int, number: str) -> bool:
        return any(problem.number == number for problem in self.problems.found[before:])

    def _helper(self, name: str) -> tuple[ir.Function, bool] | None:
        """A plain method that a body uses, and whether it changes or guards something.

        None where it is refused itself, so that its calls are no further problems.
        """
        return self._plain(name, self.members.methods[name], self.signatures[name])

    def _plain(
        self, key: str, member: Member, signature: Signature
    ) -> tuple[ir.Function, bool] | None:
        """A method, not under its header, as a function that is called by this key."""
        if key in self.functions:
            known = self.functions[key]
            if known is None:
                self._circle(member.tree.place, member.name)
                self.refused.setdefault(key, ())
            return None if key in self.refused else known
        self.functions[key] = None
        before = len(self.problems.found)
        self.problems.found.extend(member.tree.problems)
        if member.header is None and member.tree.decorators and not member.getter:
            self._decorated(member.tree)
        mode: Mode = "helper" if member.header is None else "property"
        function, body = self._body(member, mode, signature)
        function = replace(function, name=key)
        self.functions[key] = function, body.changes
        if len(self.problems.found) > before:
            self.refused[key] = tuple(self.problems.found[before:])
            return None
        return function, body.changes

    def _circle(self, place: Place, name: str) -> None:
        self.problems.add(
            "L209",
            place,
            f"{name}, which comes to call itself",
            "helpers that end",
            "write a for loop, or a comprehension with all, any, sum",
        )

    def _module_function(
        self, function: Any, place: Place, of: t.Type | None
    ) -> tuple[str, ir.Function] | None:
        """A function of a module, or with `of` a method of a class of values of that type."""
        key = function_key(function, of)
        if key in self.functions:
            known = self.functions[key]
            if known is None:
                self._circle(place, function.__name__)
            return None if known is None or key in self.refused else (key, known[0])
        self.functions[key] = None
        before = len(self.problems.found)
        given, bound = function, dict[str, Any]()
        code = function.__code__
        node = source.read_function(function.__name__, code.co_filename, code.co_firstlineno)
        node = node if of is None else as_function(node, of)
        if isinstance(function, MethodType):
            node, first = without_class(node)
            bound, function = {first: function.__self__}, function.__func__
        method = classes.method(node, code.co_filename, of_class=False)
        self.problems.found.extend(method.problems)
        values = (*self.reader.enums.values(), *self.reader.records.values())
        static = _is_static(function, (*self.members.chain, *values))
        plain = isinstance(given, MethodType) or static
        if len(method.decorators) > plain and of is None:
            self._decorated(method)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        bound = {**dict(zip(code.co_freevars, cells, strict=True)), **bound}
        names = Names(function.__globals__, bound)
        signature = self.signature_of.function(method, function, names, of)
        body = Body(self.scene, names, object, "default", signature.output)
        made = replace(self._function(body, method, signature), name=key)
        self.functions[key] = made, False
        if len(self.problems.found) > before:
            self.refused[key] = tuple(self.problems.found[before:])
            return None
        return key, made

    def _base(self, owner: type[Any], name: str) -> tuple[str, Signature] | None:
        """The ancestor's method that `super().name()` reaches from a body of `owner`."""
        older = [cls for cls in self.members.chain if cls is not owner and issubclass(owner, cls)]
        for cls in reversed(older):
            found = gather(cls).methods.get(name)
            if found is not None and (found.header is None or found.header.kind not in BODILESS):
                return self._ancestors(found)
        return None

    def _ancestors(self, found: Member) -> tuple[str, Signature]:
        key, signature = f"{found.owner.__name__}.{found.name}", self.signature_of.method(found)
        if signature.kind in ("property", "helper"):
            made = self._plain(key, found, signature)
            return key, replace(signature, acts=made is not None and made[1])
        if key not in self.bases:
            self.bases[key] = self._transition(found, signature, key)
        return key, signature

    # The machine.

    def _machine(self) -> ir.Machine:
        transitions: list[ir.Transition] = []
        initials: list[ir.Function] = []
        properties: list[ir.Property] = []
        for name, member in self.members.methods.items():
            if member.header is None:
                continue
            signature = self.signatures[name]
            if member.header.kind == "transition":
                transitions.append(self._transition(member, signature, name))
            elif member.header.kind == "initial":
                initials.append(self._body(member, "initial", signature)[0])
            elif member.header.kind != "event":
                properties.append(self._property(member, signature))
        variables = tuple(self._variable(*row) for row in self.fields.variables)
        parameters = tuple(
            ir.Parameter(self.fields.place(name), name, kind, self._default(name, kind))
            for name, kind in self.fields.parameters
        )
        events = self._events(transitions)
        ignores = tuple(self._ignore(name, *row) for name, row in self.members.ignores.items())
        self._try_helpers()
        functions = self._made_functions()
        inner = {p.name: p for r in self.parts.values() for p in (r.machine, *r.machine.parts)}
        statement = declared(self.cls).tree
        machine = ir.Machine(
            statement.place,
            self.name,
            self.cls.__module__,
            statement.doc,
            variables,
            parameters,
            tuple(transitions),
            events,
            ignores,
            tuple(initials),
            tuple(properties),
            functions,
            tuple(self.bases.values()),
            tuple(inner.values()),
            self._types(inner),
            self.members.deadlock_ok,
            tuple(self.abstracts.values()),
        )
        return replace(machine, fairness=fairness_of(machine, self.members))

    def _types(self, inner: Mapping[str, ir.Machine]) -> tuple[t.Type, ...]:
        """The enums, sorts, opaques and records of the machine and its parts."""
        used = dict.fromkeys(self.reader.used)
        used.update(dict.fromkeys(kind for part in inner.values() for kind in part.types))
        return tuple(k for k in used if isinstance(k, t.Enum | t.Sort | t.Opaque | t.Record))

    def _property(self, member: Member, signature: Signature) -> ir.Property:
        assert member.header is not None
        function, _ = self._body(member, "property", signature)
        kind = cast(PropertyKind, member.header.kind)
        return ir.Property(member.tree.place, member.name, kind, function, member.tree.doc)

    def _made_functions(self) -> tuple[ir.Function, ...]:
        return tuple(made[0] for made in self.functions.values() if made is not None)

    def _try_helpers(self) -> None:
        """Plain methods within the language can be used from outside; the others are left alone."""
        for name, member in self.members.methods.items():
            if member.header is None and name in self.signatures and name not in self.functions:
                before, known = len(self.problems.found), set(self.functions)
                self._helper(name)
                if len(self.problems.found) > before:
                    del self.problems.found[before:]
                    for made in set(self.functions) - known:
                        del self.functions[made]
                        self.refused.pop(made, None)

    def _default(self, name: str, kind: t.Type) -> ir.Expr | None:
        owner, default = self.members.fields[name], self.fields.default(name)
        if default is None or isinstance(kind, t.Unknown):
            return None
        body = Body(self.scene, inside_class(owner), owner, "default", kind)
        return expressions.expr(body, default, kind)

    def _variable(self, name: str, kind: t.Type, ghost: bool) -> ir.Variable:
        initial = self._default(name, kind)
        if isinstance(kind, t.Unknown):
            pass
        elif initial is None and not any(
            m.header is not None and m.header.kind == "initial"
            for m in self.members.methods.values()
        ):
            self.problems.add(
                "L213",
                self.fields.place(name),
                f"{name}, without a default",
                "a default, or an @initial that assigns it",
                example(name, kind),
            )
        return ir.Variable(self.fields.place(name), name, kind, initial, ghost)

    def _events(self, transitions: list[ir.Transition]) -> tuple[ir.Event, ...]:
        rows: dict[str, ir.Event] = {}
        for name, member in self.members.methods.items():
            if member.header is not None and member.header.kind == "event":
                s = self.signatures[name]
                rows[name] = ir.Event(
                    member.tree.place,
                    name,
                    s.params,
                    s.output,
                    member.header.choice,
                    member.tree.doc,
                )
        for row in transitions:
            f = row.function
            if row.event not in rows:
                rows[row.event] = ir.Event(row.place, row.event, f.params, f.output, False, row.doc)
        return tuple(rows.values())

    def _transition(self, member: Member, signature: Signature, key: str) -> ir.Transition:
        function, _ = self._body(member, "transition", signature)
        return self.headers.transition(member, signature, key, function)

    def _ignore(self, name: str, owner: type[Declaration], given: Ignored) -> ir.Ignore:
        serving = [
            s
            for n, s in self.signatures.items()
            if n == given.event or _event_of(self.members.methods.get(n)) == given.event
        ]
        return self.headers.ignore(name, owner, given, serving[0] if serving else None)


def abstract_scopes(resolved: Resolved) -> dict[str, Scope]:
    """The scopes of the machines that this one refines, by their names."""
    machines = [m.name for m in resolved.machine.abstracts]
    return {m: resolve(resolved.parts[m]).scopes.get("scope", Scope()) for m in machines}


def settings_of(of: Resolved) -> tuple[object, ...]:
    """What is said about checking a machine: its fingerprint covers that, too."""
    said: tuple[object, ...] = of.scopes, of.expects
    return (*said, abstract_scopes(of)) if of.machine.abstracts else said


def _event_of(member: Member | None) -> str | None:
    return None if member is None or member.header is None else member.header.event


def _is_static(function: Any, classes: Iterable[type]) -> bool:
    """Whether one of these classes holds it as `@staticmethod`."""
    held = (each for cls in classes for each in vars(cls).values())
    return any(isinstance(each, staticmethod) and each.__func__ is function for each in held)


def _unsure(method: tree.Method, signature: Signature) -> frozenset[str]:
    """The locals of a method that may have no value where it reads them."""
    nested = tuple(s for s in method.body if isinstance(s, tree.BLOCKS))
    if not tree.assigned_names(nested):
        return frozenset()
    from ..syntax.unsure_locals import unsure

    return unsure(method.body, (name for name, _ in signature.params))
