"""Headers of transitions and rows of `ignore`: control state, source, target, timer, when."""

from __future__ import annotations

import ast
import dataclasses
import enum
from collections.abc import Iterator, Sequence
from typing import Any

from .. import ir
from .. import types as t
from ..errors import Place, a
from ..quick_dataclass import dataclass
from ..syntax import parse, tree
from ..syntax.declare import Declaration, declared
from ..syntax.members import Member, Members
from ..words import Ignored
from . import conditions, expressions
from .annotations import TypeReader
from .context import Body, Scene, Signature

Params = tuple[tuple[str, t.Type], ...]


@dataclass
class Headers:
    """Reads the decorators of one machine's transitions."""

    scene: Scene
    reader: TypeReader
    members: Members

    def transition(
        self, member: Member, signature: Signature, key: str, function: ir.Function
    ) -> ir.Transition:
        """The transition that a method with its header is."""
        head, place = member.header, member.tree.place
        assert head is not None
        control: ir.Expr | None = None
        if head.of is not None:
            control = self._family(member, signature, head.of)
        elif head.source is not None or head.target is not None:
            control = self._control(place, head.source or head.target or ())
        source = self._states(head.source, control, place)
        target = self._states(head.target, control, place)
        timer = None if head.timer is None else self._timer(member, signature, head.timer)
        return ir.Transition(
            place,
            key,
            head.event or member.name,
            control,
            source,
            target,
            timer,
            function,
            member.tree.doc,
        )

    def _control(
        self, place: Place, given: tuple[enum.Enum | str, ...], ignored: bool = False
    ) -> ir.Expr | None:
        """The control state of a header without `of`, or of an `ignore`, whose states are given.

        It is `state`, or where that is no enum of their class the one variable that is.
        """
        own = self.scene.own
        kind = own.fields.get("state")
        found = "no variable `state`" if kind is None else f"state: {kind}, which is no enum"
        holders = self._holders(type(given[0])) if given else []
        plain = [name for name in holders if isinstance(own.fields[name], t.Enum)]
        only = plain[0] if len(holders) == 1 and plain else None
        usual = isinstance(kind, t.Enum)
        if usual and ("state" in holders or (only is None and len(holders) < 2)):
            only = "state"  # A value that is not a state of it is told with the states.
        if only is not None:
            return ir.Field(place, own.fields[only], ir.Self(place, t.Part(own.name)), only)
        if len(holders) > 1:
            named = f'name it: of="{holders[0]}"'
            found = f"{type(given[0]).__name__}, which {' and '.join(holders)} hold"
            asked = f"say it by a condition: when=lambda self: self.{holders[0]} == {given[0]}"
            self.scene.problems.add(
                "L212",
                place,
                f"a source or target of {found}",
                "one variable of that type, or the name of the one that is meant",
                asked if ignored else named,
            )
        elif not isinstance(kind, t.Unknown):
            self.scene.problems.add(
                "L212",
                place,
                f"a source or target, but {found}",
                'a variable `state` of an enum type, or of="..."',
                'declare state: Conn = Conn.OPEN with class Conn(State), or name it: of="pc[p]"',
            )
        return None

    def _holders(self, wanted: type[object]) -> list[str]:
        """The variables that a header may mean by a member of this class: those that hold one, also
        as an option or in a map; a ghost or parameter is none."""
        own, enums = self.scene.own, self.reader.enums
        return [
            name
            for name, kind in own.fields.items()
            if any(enums.get(each.name) is wanted for each in _states_at(kind))
            and name not in own.fixed | own.ghosts
        ]

    def _family(self, member: Member, signature: Signature, text: str) -> ir.Expr | None:
        found = self._path(member, signature, text)
        if found is not None and not isinstance(found.type, t.Enum):
            what = f'of="{text}", {a(found.type)}'
            self._unfit(member.tree.place, what, "a place that holds an enum")
            return None
        return found

    def _timer(self, member: Member, signature: Signature, text: str) -> ir.Expr | None:
        found = self._path(member, signature, text)
        if found is not None and not isinstance(found.type, t.Timer):
            key = found.type.key if isinstance(found.type, t.Map) else None
            fitting = [f"{text}[{name}]" for name, kind in signature.params if kind == key]
            what = f'timer="{text}", {a(found.type)}'
            self._unfit(member.tree.place, what, "a Timer", fitting)
            return None
        return found

    def _unfit(self, place: Place, found: str, expected: str, fitting: Sequence[str] = ()) -> None:
        names = sorted(n for n, k in self.scene.own.fields.items() if isinstance(k, t.Timer))
        rewrite = "name the place as in a body, without self"
        if expected == "a Timer" and (fitting or names):
            rewrite = f'write timer="{[*fitting, *names][0]}"'
        self.scene.problems.add("L212", place, found, expected, rewrite)

    def _path(self, member: Member, signature: Signature, text: str) -> ir.Expr | None:
        """The place that a header names, `self` left out: `pc[p]`, `peers[p].idle`."""
        place = member.tree.place
        try:
            node = ast.parse(f"self.{text}", mode="eval").body
        except SyntaxError:
            self._unfit(place, f'"{text}"', "a place in the state")
            return None
        parser = parse.Parser(place.file)
        read = _moved(parser.expr(node), place)
        body = Body(self.scene, member.declared.names, member.owner, "property", t.BOOL)
        body.locals.update(signature.params)
        found = expressions.expr(body, read)
        if isinstance(found.type, t.Unknown):
            return None
        if not isinstance(found, ir.Field | ir.Item):
            self._unfit(place, f'"{text}"', "a place in the state")
            return None
        return found

    def _states(
        self, given: tuple[enum.Enum | str, ...] | None, control: ir.Expr | None, place: Place
    ) -> tuple[str, ...] | None:
        if given is None:
            return None
        if control is not None and isinstance(control.type, t.Enum):
            for state in given:
                if not self._is_state(state, control.type):
                    rewrite = f"one of {', '.join(control.type.members)}"
                    if state == "*":
                        rewrite = "leave source out: it may happen in every state"
                    self.scene.problems.add(
                        "L212",
                        place,
                        f"{state}, a state of {type(state).__name__}",
                        f"a state of {control.type}",
                        rewrite,
                    )
        # A value that is not a state has no name, and was noted.
        return tuple(str(getattr(state, "name", state)) for state in given)

    def _is_state(self, state: object, kind: t.Enum) -> bool:
        """Whether it is a member of the class, or a text of the `Literal`, of a control state."""
        if isinstance(kind, t.Literal):
            return state in kind.members
        return type(state) is self.reader.enums[kind.name]

    # Ignored events.

    def ignore(
        self, name: str, owner: type[Declaration], given: Ignored, event: Signature | None
    ) -> ir.Ignore:
        """The row that an `ignore(...)` in a class body is; `event` is what its event takes."""
        statement = declared(owner)
        place = statement.place(name)
        control = self._control(place, given.source, ignored=True) if given.source else None
        source = self._states(given.source, control, place)
        when = None
        written = dict(statement.tree.lambdas).get(name)
        params = () if event is None else event.params
        if written is not None:
            when = self._when(written, owner, params)
        elif given.when is not None:
            self.scene.problems.add(
                "L204",
                place,
                "a `when` that is no lambda",
                "a lambda written here",
                "when=lambda self, m: m.seqno < self.next",
            )
        if source and isinstance(control, ir.Field) and control.name != "state":
            # The source of a row is one of `state`: of another variable it is a condition.
            when, source = _among(control, source, (params, when)), None
        return ir.Ignore(place, name, given.event, source, when, given.otherwise, given.because)

    def _when(
        self, written: tree.Function, owner: type[Declaration], params: Params
    ) -> ir.Function | None:
        body = Body(self.scene, declared(owner).names, owner, "property", t.BOOL)
        names = written.params[1:]
        if len(names) > len(params) or written.params[:1] != ("self",):
            takes = ", ".join(("self", *(name for name, _ in params)))
            self.scene.problems.add(
                "L204",
                written.place,
                f"lambda {', '.join(written.params)}: ...",
                f"lambda {takes}: ...",
                "take self and the event's parameters, or the first of them",
            )
            return None
        bound = tuple((n, k) for n, (_, k) in zip(names, params, strict=False))
        bound += params[len(names) :]
        body.locals.update(bound)
        test = conditions.truth(body, written.body)
        give = ir.Return(written.place, test)
        return ir.Function(written.place, "when", bound, t.BOOL, (give,))


def _states_at(kind: t.Type) -> Iterator[t.Enum]:
    """The enums that a variable of this type holds where a header may name a place."""
    match kind:
        case t.Enum():
            yield kind
        case t.Map(value=value):
            yield from _states_at(value)
        case t.Union():
            for each in t.options(kind):
                yield from _states_at(each)
        case _:
            pass


def _among(
    control: ir.Expr, states: tuple[str, ...], asked: tuple[Params, ir.Function | None]
) -> ir.Function:
    """The condition on an event's arguments that the control state is one of these, and then what
    `when` asks."""
    params, when = asked
    place = control.place
    each = [ir.Const(place, control.type, name) for name in states]
    same = tuple(ir.Op(place, t.BOOL, "eq", (control, state)) for state in each)
    test: ir.Expr = same[0] if len(same) == 1 else ir.Or(place, t.BOOL, same)
    if when is None:
        return ir.Function(place, "when", params, t.BOOL, (ir.Return(place, test),))
    (give,) = when.body
    assert isinstance(give, ir.Return)
    assert give.value is not None
    both = ir.And(place, t.BOOL, (test, give.value))
    return dataclasses.replace(when, body=(ir.Return(give.place, both),))


def _moved(node: Any, place: Place) -> Any:
    """The tree with every place replaced: text in a header has no lines of its own."""
    if node.__class__ is tuple:
        return tuple(_moved(each, place) for each in node)
    if not isinstance(node, tree.Tree):
        return node
    changes = {f.name: _moved(getattr(node, f.name), place) for f in dataclasses.fields(node)}
    return dataclasses.replace(node, **{**changes, "place": place})
