"""Names and types: a class and its ancestors -> `ir.Machine`. All problems come at once."""

from __future__ import annotations

import ast
import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

from . import annotations, bodies, calls, comps, exprs, ir, operators, parse, source, tree
from . import types as t
from .context import MISSING, Body, Mode, Scene, Shape, Signature
from .declare import Declaration, Declared, Names, declared
from .errors import Place, Problems
from .legal import judge
from .members import Member, Members, constant_of, gather
from .order import last_round_shown
from .values import World
from .walk import acts
from .words import Fairness, Ignored, Scope, State

BOOLEAN = frozenset(
    {
        "invariant", "step_property", "reachable", "recoverable", "eventually",
        "eventually_always", "infinitely_often", "terminal", "assume", "constraint",
    }
)  # fmt: skip
KINDS = BOOLEAN | {"leads_to"}
EXPRESSIONS = {**exprs.ROWS, **operators.ROWS, **comps.ROWS, tree.Apply: calls.call}


@dataclass(frozen=True)
class Resolved:
    """A machine, the Python classes behind its names, and what it says about checking."""

    machine: ir.Machine
    world: World
    parts: dict[str, type[Declaration]]
    scopes: dict[str, Scope]
    expects: dict[str, Any]
    fairness: Fairness | None


def resolve(cls: type[Declaration]) -> Resolved:
    """The resolved machine of a class; `DeclarationError` lists everything that is wrong in it."""
    known = vars(cls).get("_resolved")
    if isinstance(known, Resolved):
        return known
    resolved = _Resolver(cls).run()
    cls._resolved = resolved  # type: ignore[attr-defined]  # a cache that the declarer never sees
    return resolved


class _Resolver:
    """Resolves one class; made for one run."""

    def __init__(self, cls: type[Declaration]) -> None:
        self.cls = cls
        self.name = cls.__name__
        self.problems = Problems()
        self.reader = annotations.TypeReader(self.problems)
        self.members: Members = gather(cls)
        self.parts: dict[str, Resolved] = {}
        self.shapes: dict[str, Shape] = {}
        self.functions: dict[str, tuple[ir.Function, bool] | None] = {}
        self.bases: dict[str, ir.Transition] = {}
        self.variables: list[tuple[str, t.Type, bool]] = []
        self.parameters: list[tuple[str, t.Type]] = []
        self.signatures: dict[str, Signature] = {}

    def run(self) -> Resolved:
        self._read_fields()
        for name, member in self.members.methods.items():
            if member.header is not None:
                self.signatures[name] = self._signature(member)
        self._guess_helpers()
        own = Shape(
            self.name,
            {n: k for n, k, _ in self.variables} | dict(self.parameters),
            frozenset(n for n, _ in self.parameters),
            frozenset(n for n, _, ghost in self.variables if ghost),
            self.signatures,
        )
        self.shapes[self.name] = own
        self.scene = Scene(
            own, self.shapes, self.problems, self._constant, self._helper, self._module_function,
            self._base, self._annotation, EXPRESSIONS, self._made_functions,
        )  # fmt: skip
        machine = self._machine()
        judge(machine, self.members, self.problems)
        self.problems.stop_if_any()
        world = self.reader.world()
        classes = dict(self.reader.parts)
        m = self.members
        return Resolved(machine, world, classes, m.scopes, m.expects, m.fairness)

    # Fields and signatures.

    def _read_fields(self) -> None:
        for name, owner in self.members.fields.items():
            statement = declared(owner)
            place = statement.place(name)
            raw = owner.__annotations__.get(name)
            annotation = self._evaluated(raw, place, statement.names)
            kind = self.reader.read_field(annotation, place, statement.names)
            if isinstance(kind, t.Part):
                kind = self._part(kind, _row(owner, name).default, statement)
            if annotations.marked(annotation, "param"):
                self.parameters.append((name, kind))
            else:
                default = _row(owner, name).default
                if isinstance(kind, t.Map) and _is_total(default):
                    kind = t.Map(kind.key, kind.value, kind.mutable, total=True)
                ghost = annotations.marked(annotation, "ghost")
                self.variables.append((name, kind, ghost))
                if isinstance(kind, t.Float):
                    self.problems.add(
                        "L202", place, "a float variable", "a float only as a Param",
                        "count in integers: milliseconds, cents",
                    )  # fmt: skip

    def _evaluated(self, annotation: object, place: Place, names: Names) -> object:
        if not isinstance(annotation, str):
            return annotation
        try:
            return names.evaluate(annotation)
        except NameError:
            return annotation  # The reader reports it.

    def _part(self, kind: t.Part, default: tree.Expression | None, statement: Declared) -> t.Part:
        """The part that a field is: of the class that its default makes, where it has one."""
        cls = self.reader.parts[kind.machine]
        made = _static_class(default, statement.names)
        if made is not None and issubclass(made, cls):
            found = self.reader.read(made, statement.place(""), statement.names)
            cls = made
            kind = found if isinstance(found, t.Part) else kind
        if issubclass(self.cls, cls):
            self.problems.add(
                "L202", statement.tree.place, f"{cls.__name__} inside itself", "another machine",
                "a part is a machine of its own",
            )  # fmt: skip
            return kind
        part = resolve(cls)
        self.parts[kind.machine] = part
        self.reader.take(part.world)
        for inner in (part.machine, *part.machine.parts):
            self.shapes[inner.name] = shape_of(inner)
        return kind

    def _annotation(self, annotation: object, place: Place, names: Names) -> t.Type:
        return self.reader.read(annotation, place, names)

    def _signature(self, member: Member) -> Signature:
        head = member.header
        kind = "helper" if head is None else head.kind
        params: list[tuple[str, t.Type]] = []
        place = member.tree.place
        hints = member.function.__annotations__
        for i, name in enumerate(member.tree.params[1:]):
            if kind == "step_property" and i == 0:
                params.append((name, t.Part(self.name)))
            elif name not in hints:
                self._unannotated(place, f"the parameter {name}")
                params.append((name, t.Unknown()))
            else:
                params.append((name, self._annotation(hints[name], place, member.declared.names)))
        output: t.Type = t.BOOL if kind in BOOLEAN else t.NOTHING
        if kind == "leads_to":
            output = t.Tuple((t.BOOL, t.BOOL))
        elif kind in ("transition", "event", "helper"):
            if "return" in hints:
                output = self._annotation(hints["return"], place, member.declared.names)
            else:
                self._unannotated(place, "the output")
        if kind in KINDS:
            return Signature("property", tuple(params), output)
        return Signature(kind, tuple(params), output)  # type: ignore[arg-type]  # the kinds left are these

    def _unannotated(self, place: Place, what: str) -> None:
        self.problems.add("L215", place, f"{what} without annotation", "a type", "annotate it")

    def _guess_helpers(self) -> None:
        """Signatures of plain methods; one that does not fit is left alone until it is used."""
        for name, member in self.members.methods.items():
            if member.header is None:
                before = len(self.problems.found)
                signature = self._signature(member)
                if len(self.problems.found) == before:
                    self.signatures[name] = signature
                del self.problems.found[before:]

    def _constant(self, name: str) -> Any:
        return constant_of(self.members, name, MISSING)

    # Bodies.

    def _body(self, member: Member, mode: Mode, signature: Signature) -> tuple[ir.Function, Body]:
        body = Body(
            self.scene, member.declared.names, member.owner.__name__, mode, signature.output
        )
        return self._function(body, member.tree, signature), body

    def _function(self, body: Body, method: tree.Method, signature: Signature) -> ir.Function:
        body.locals.update(signature.params)
        body.assigned = tree.assigned_names(method.body)
        made = bodies.block(body, method.body)
        shown = last_round_shown(made)
        if shown is not None:
            exprs.unordered(body, shown, "what the last round of an unordered loop left")
        if not bodies.ends(made) and not t.fits(t.NOTHING, signature.output):
            self.problems.add(
                "L203", method.place, "a body that can end without a value",
                f"a {signature.output} in every case", "return a value, or refuse(...)",
            )  # fmt: skip
        return ir.Function(method.place, method.name, signature.params, signature.output, made)

    def _helper(self, name: str) -> tuple[ir.Function, bool]:
        """A plain method that a body uses, and whether it changes the state."""
        member, signature = self.members.methods[name], self.signatures[name]
        empty = ir.Function(member.tree.place, name, signature.params, signature.output, ())
        if name in self.functions:
            known = self.functions[name]
            if known is None:
                self.problems.add(
                    "L209", member.tree.place, name, "helpers that end",
                    "use a comprehension or a for loop",
                )  # fmt: skip
                return empty, False
            return known
        self.functions[name] = None
        self.problems.found.extend(member.tree.problems)
        function, body = self._body(member, "helper", signature)
        self.functions[name] = function, body.changes
        return function, body.changes

    def _module_function(self, function: Any, place: Place) -> tuple[str, ir.Function] | None:
        key = f"{function.__module__}.{function.__qualname__}"
        if key in self.functions:
            known = self.functions[key]
            if known is not None:
                return key, known[0]
            self.problems.add("L209", place, key, "functions that end", "use a loop")
            return None
        self.functions[key] = None
        code = function.__code__
        node = source.read_function(function.__name__, code.co_filename, code.co_firstlineno)
        method = parse.method(node, code.co_filename)
        self.problems.found.extend(method.problems)
        names = Names(function.__globals__, {})
        hints = function.__annotations__
        missing = [p for p in (*method.params, "return") if p not in hints]
        for name in missing:
            self._unannotated(method.place, f"{name} of {function.__name__}")
        read = {p: self._annotation(hints[p], method.place, names) for p in hints}
        params = tuple((p, read.get(p, t.Unknown())) for p in method.params)
        signature = Signature("helper", params, read.get("return", t.Unknown()))
        body = Body(self.scene, names, "", "default", signature.output)
        made = self._function(body, method, signature)
        made = ir.Function(made.place, key, made.params, made.output, made.body)
        self.functions[key] = made, False
        return key, made

    def _base(self, owner: str, name: str) -> tuple[str, Signature] | None:
        """The ancestor's transition that `super().name()` reaches from a body of `owner`."""
        names = [c.__name__ for c in self.members.chain]
        older = self.members.chain[: names.index(owner)]
        for cls in reversed(older):
            found = gather(cls).methods.get(name)
            if found is not None and found.header is not None:
                signature = self._signature(found)
                key = f"{found.owner.__name__}.{name}"
                if key not in self.bases:
                    self.bases[key] = self._transition(found, signature, key)
                return key, signature
        return None

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
                function, _ = self._body(member, "property", signature)
                kind: Any = member.header.kind
                doc = member.tree.doc
                properties.append(ir.Property(member.tree.place, name, kind, function, doc))
        variables = tuple(self._variable(*row) for row in self.variables)
        parameters = tuple(
            ir.Parameter(self._place(name), name, kind, self._default(name, kind))
            for name, kind in self.parameters
        )
        events = self._events(transitions)
        ignores = tuple(self._ignore(name, *row) for name, row in self.members.ignores.items())
        self._try_helpers()
        functions = self._made_functions()
        inner = {p.name: p for r in self.parts.values() for p in (r.machine, *r.machine.parts)}
        used = dict.fromkeys(self.reader.used)
        used.update(dict.fromkeys(k for part in inner.values() for k in part.types))
        kinds = tuple(k for k in used if isinstance(k, t.Enum | t.Sort | t.Opaque | t.Record))
        statement = declared(self.cls).tree
        return ir.Machine(
            statement.place, self.name, self.cls.__module__, statement.doc, variables,
            parameters, tuple(transitions), events, ignores, tuple(initials), tuple(properties),
            functions, tuple(self.bases.values()), tuple(inner.values()), kinds,
            self.members.deadlock_ok,
        )  # fmt: skip

    def _made_functions(self) -> tuple[ir.Function, ...]:
        return tuple(made[0] for made in self.functions.values() if made is not None)

    def _try_helpers(self) -> None:
        """Plain methods within the language can be used from outside; the others are left alone."""
        for name, member in self.members.methods.items():
            if member.header is None and name in self.signatures and name not in self.functions:
                before = len(self.problems.found)
                self._helper(name)
                if len(self.problems.found) > before:
                    del self.problems.found[before:]
                    del self.functions[name]

    def _place(self, name: str) -> Place:
        return declared(self.members.fields[name]).place(name)

    def _default(self, name: str, kind: t.Type) -> ir.Expr | None:
        owner = self.members.fields[name]
        default = _row(owner, name).default
        if default is None:
            return None
        body = Body(self.scene, declared(owner).names, owner.__name__, "default", kind)
        return exprs.expr(body, default, kind)

    def _variable(self, name: str, kind: t.Type, ghost: bool) -> ir.Variable:
        initial = self._default(name, kind)
        if initial is None and not any(
            m.header is not None and m.header.kind == "initial"
            for m in self.members.methods.values()
        ):
            self.problems.add(
                "L213", self._place(name), name, "a default, or an @initial that assigns it",
                "give a default value",
            )  # fmt: skip
        return ir.Variable(self._place(name), name, kind, initial, ghost)

    def _events(self, transitions: list[ir.Transition]) -> tuple[ir.Event, ...]:
        rows: dict[str, ir.Event] = {}
        for name, member in self.members.methods.items():
            if member.header is not None and member.header.kind == "event":
                s = self.signatures[name]
                rows[name] = ir.Event(
                    member.tree.place, name, s.params, s.output, member.header.choice,
                    member.tree.doc,
                )  # fmt: skip
        for transition in transitions:
            f = transition.function
            if transition.event not in rows:
                rows[transition.event] = ir.Event(
                    transition.place, transition.event, f.params, f.output, False, transition.doc
                )
        return tuple(rows.values())

    def _transition(self, member: Member, signature: Signature, key: str) -> ir.Transition:
        head = member.header
        assert head is not None
        function, _ = self._body(member, "transition", signature)
        place = member.tree.place
        control: ir.Expr | None = None
        if head.of is not None:
            control = self._path(member, signature, head.of)
        elif head.source is not None or head.target is not None:
            control = self._control(place)
        source = self._states(head.source, control, place)
        target = self._states(head.target, control, place)
        timer = None if head.timer is None else self._path(member, signature, head.timer)
        return ir.Transition(
            place, key, head.event or member.name, control, source, target, timer, function,
            member.tree.doc,
        )  # fmt: skip

    def _control(self, place: Place) -> ir.Expr | None:
        kind = self.shapes[self.name].fields.get("state")
        if isinstance(kind, t.Enum) and issubclass(self.reader.enums[kind.name], State):
            return ir.Field(place, kind, ir.Self(place, t.Part(self.name)), "state")
        self.problems.add(
            "L212", place, "a source or target without a control state",
            "a variable `state` of a State type, or of=\"...\"",
            'declare `state: S = S.FIRST`, or name the place: of="pc[p]"',
        )  # fmt: skip
        return None

    def _path(self, member: Member, signature: Signature, text: str) -> ir.Expr | None:
        """The place that a header names, `self` left out: `pc[p]`, `peers[p].idle`."""
        place = member.tree.place
        try:
            node = ast.parse(f"self.{text}", mode="eval").body
        except SyntaxError:
            self.problems.add("L212", place, text, "a place in the state", 'as in of="pc[p]"')
            return None
        parser = parse.Parser(place.file)
        read = _moved(parser.expr(node), place)
        body = Body(self.scene, member.declared.names, member.owner.__name__, "property", t.BOOL)
        body.locals.update(signature.params)
        return exprs.expr(body, read)

    def _states(
        self, given: tuple[enum.Enum, ...] | None, control: ir.Expr | None, place: Place
    ) -> tuple[str, ...] | None:
        if given is None:
            return None
        if control is not None and isinstance(control.type, t.Enum):
            for state in given:
                if type(state).__name__ != control.type.name:
                    self.problems.add(
                        "L212", place, str(state), f"a state of {control.type}", "use its states"
                    )
        return tuple(state.name for state in given)

    def _ignore(self, name: str, owner: type[Declaration], given: Ignored) -> ir.Ignore:
        statement = declared(owner)
        place = statement.place(name)
        source = self._states(given.source, self._control(place) if given.source else None, place)
        when = None
        written = dict(statement.tree.lambdas).get(name)
        if written is not None:
            when = self._when(written, given.event, owner)
        elif given.when is not None:
            self.problems.add("L204", place, "this `when`", "a lambda", "when=lambda self, m: ...")
        return ir.Ignore(
            place, name, given.event, source, when, given.otherwise, given.because
        )  # fmt: skip

    def _when(
        self, written: tree.Function, event: str, owner: type[Declaration]
    ) -> ir.Function | None:
        serving = [
            s for n, s in self.signatures.items()
            if n == event or _event_of(self.members.methods.get(n)) == event
        ]  # fmt: skip
        params = serving[0].params if serving else ()
        body = Body(self.scene, declared(owner).names, owner.__name__, "property", t.BOOL)
        names = written.params[1:]
        if len(names) > len(params):
            self.problems.add(
                "L204", written.place, f"{len(names)} arguments", f"at most {len(params)}",
                "take self and the event's parameters",
            )  # fmt: skip
            return None
        bound = tuple((n, k) for n, (_, k) in zip(names, params, strict=False))
        bound += params[len(names) :]
        body.locals.update(bound)
        test = exprs.truth(body, written.body)
        give = ir.Return(written.place, test)
        return ir.Function(written.place, "when", bound, t.BOOL, (give,))


def shape_of(machine: ir.Machine) -> Shape:
    """The tables of a resolved machine, for bodies that use it as a part."""
    fields = {v.name: v.type for v in machine.variables}
    fields.update({p.name: p.type for p in machine.parameters})
    methods: dict[str, Signature] = {}
    for f in machine.functions:
        methods[f.name] = Signature("helper", f.params, f.output, acts(f))
    for p in machine.properties:
        methods[p.name] = Signature("property", p.function.params, p.function.output)
    for event in machine.events:
        methods[event.name] = Signature("event", event.params, event.output)
    for tr in machine.transitions:
        methods[tr.name] = Signature("transition", tr.function.params, tr.function.output)
    return Shape(
        machine.name, fields, frozenset(p.name for p in machine.parameters),
        frozenset(v.name for v in machine.variables if v.ghost), methods,
    )  # fmt: skip


def _row(owner: type[Declaration], name: str) -> tree.FieldDeclared:
    return next(row for row in declared(owner).tree.fields if row.name == name)


def _static_class(default: tree.Expression | None, names: Names) -> type[Declaration] | None:
    """The machine class whose instance a default is."""
    match default:
        case tree.Apply(function=tree.Name(name=name)) if name in names:
            made = names[name]
            return made if isinstance(made, type) and issubclass(made, Declaration) else None
        case _:
            return None


def _is_total(default: tree.Expression | None) -> bool:
    match default:
        case tree.Apply(function=tree.Name(name="total") | tree.Attribute(name="total")):
            return True
        case _:
            return False


def _event_of(member: Member | None) -> str | None:
    return None if member is None or member.header is None else member.header.event


def _moved(node: Any, place: Place) -> Any:
    """The tree with every place replaced: text in a header has no lines of its own."""
    if isinstance(node, tuple):
        return tuple(_moved(each, place) for each in node)
    if not isinstance(node, tree.Tree):
        return node
    changes = {f.name: _moved(getattr(node, f.name), place) for f in dataclasses.fields(node)}
    return dataclasses.replace(node, **{**changes, "place": place})
