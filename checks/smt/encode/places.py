"""Places in the state: reading, writing, and doing two things of which one happens."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from lawful.checks.smt.algebra.term import Term
from lawful.spec import ir
from lawful.spec import types as t

from .expressions import Evaluator
from .sequences import put
from .sorts import NotEncodable
from .trail import LoopExit, OtherState, PathStep, StatePath, Unencodable, Value


def in_state(e: ir.Expr) -> bool:
    """Whether this is the machine itself or something in it, not in a local."""
    while isinstance(e, ir.Field | ir.Item | ir.Narrow):
        e = e.of
    return isinstance(e, ir.Self)


class Places(Evaluator):
    """Changes the state."""

    def place(self, e: ir.Expr) -> StatePath:
        """Where an expression stands in the state; a missing key on the way is undefined."""
        match e:
            case ir.Self():
                assert isinstance(self.frame.own, tuple)
                return self.frame.own
            case ir.Field(of=of, name=name):
                return (*self.place(of), PathStep(of.type, name))
            case ir.Item(of=of, key=key):
                inner = self.place(of)
                self.eval(e)  # The key must be there, or the step stops here.
                assert isinstance(of.type, t.Map)
                return (*inner, PathStep(of.type, key=self.to_term(key, of.type.key)))
            case ir.Narrow(of=of):
                return self.place(of)
            case _:
                raise NotEncodable("a change of what is no place", e.place)

    def write(self, place: StatePath, value: Value, node: ir.Node) -> None:
        """Put a value at a place of the state."""
        first, rest = place[0], place[1:]
        self.state[first.name] = self._inside(self.state[first.name], rest, value, node)

    def _inside(self, held: Value, place: StatePath, value: Value, node: ir.Node) -> Value:
        if not place:
            return value
        at, rest, encoding = place[0], place[1:], self.encoding
        container = self.term(held, at.of, node)
        if at.key is None:
            names = [name for name, _ in encoding.variants(at.of)[0][1]]
            fields: list[Value] = [self.field_of(container, at.of, name) for name in names]
            i = names.index(at.name)
            fields[i] = self._inside(fields[i], rest, value, node)
            return self.made(at.of, fields)
        inner: Value = encoding.get(at.of, container, at.key)[1]
        new = self.sure(self._inside(inner, rest, value, node))
        if isinstance(at.of, t.Map) and not at.of.total:
            new = encoding.present(at.of.value, new)
        return self.logic.write(container, at.key, new)

    def store(self, target: ir.Expr, value: Value) -> None:
        """Assign a place: a local, a field, or an item of a map or bag; the value fits there."""
        match target:
            case ir.Local(name=name):
                self.frame.locals[name] = (value, target.type)
            case ir.Field():
                self.write(self.place(target), value, target)
            case ir.Item(of=of, key=key):
                kind = of.type
                if isinstance(kind, t.Seq):
                    many, at = self.opened(self.eval(of), kind, of), self.to_term(key)
                    self.store(of, put(self, many, at, value, target))
                    return
                held = self.term(self.eval(of), kind, of)
                item = t.element(kind)
                if item is None or not isinstance(kind, t.Map | t.Bag):
                    raise NotEncodable(f"an item of a {kind} is assigned", target.place)
                at = self.to_term(key, item)
                new = self.term(value, target.type, target)
                if isinstance(kind, t.Map) and not kind.total:
                    new = self.encoding.present(kind.value, new)
                elif isinstance(kind, t.Map):
                    beyond = self.logic.negate(self.encoding.bounds(at, kind.key))
                    self.exceed(beyond, target, in_state(of))
                self.store(of, self.logic.write(held, at, new))
            case ir.Narrow(of=of):
                self.store(of, self.fit(value, target.type, of.type, target))
            case _:
                raise NotEncodable("a change of what is no place", target.place)

    def owner(self, of: ir.Expr) -> StatePath | OtherState | Term:
        """Whose body is executed: a place of the state, or another state that is only read."""
        if in_state(of) and isinstance(self.frame.own, tuple):
            return self.place(of)
        value = self.eval(of)
        return value if isinstance(value, OtherState) else self.sure(value)

    def named(
        self,
        params: Sequence[tuple[str, t.Type]],
        given: Sequence[tuple[Value, t.Type]],
        node: ir.Node,
    ) -> dict[str, Value]:
        return {
            name: self.fit(value, source, kind, node)
            for (name, kind), (value, source) in zip(params, given, strict=True)
        }

    def joined(
        self, test: Term, then: Mapping[str, Value], other: Mapping[str, Value], node: ir.Node
    ) -> dict[str, Value]:
        return {name: self.merge(test, then[name], value, node) for name, value in other.items()}

    def leave(self, ways: list[LoopExit]) -> None:
        """Go no further here, but on from where these ways are joined again."""
        ways.append(LoopExit(self.path, dict(self.state), dict(self.frame.locals)))
        self.path = self.logic.false

    @contextmanager
    def rejoined(self, ways: list[LoopExit]) -> Generator[None]:
        """Execution goes on from the end of what is inside, and from the ways out of it."""
        kept = list(ways)
        ways.clear()
        yield
        for way in reversed(ways):
            mine, theirs = (way.state, way.locals), (self.state, self.frame.locals)
            self._merge_both(way.when, mine, theirs)
            self.path = self.logic.any((way.when, self.path))
        ways[:] = kept

    def choose(self, test: Term, then: Callable[[], None], other: Callable[[], None]) -> None:
        """Do both, each where it is done, and merge what comes of it."""
        logic, before, count = self.logic, self.path, len(self.stops)
        left = self._ways_out()
        state, names = dict(self.state), dict(self.frame.locals)
        self.path = logic.all((before, test))
        then()
        mine = (self.path, self.state, self.frame.locals)
        self.state, self.frame.locals = dict(state), dict(names)
        self.path = logic.all((before, logic.negate(test)))
        other()
        theirs = (self.path, self.state, self.frame.locals)
        if mine[0] is logic.false or theirs[0] is logic.false:
            self.path, self.state, self.frame.locals = theirs if mine[0] is logic.false else mine
            return
        self.path = logic.any((mine[0], theirs[0]))
        if len(self.stops) == count and self._ways_out() == left:
            self.path = before
        self._merge_both(test, mine[1:], theirs[1:])

    def _ways_out(self) -> tuple[int, int, int]:
        frame = self.frame
        return len(frame.returns), len(frame.broken), len(frame.continued)

    def _merge_both(self, test: Term, mine: tuple[Any, Any], theirs: tuple[Any, Any]) -> None:
        node = self.frame.machine
        self.state = self.joined(test, mine[0], theirs[0], node)
        names = {**mine[1], **theirs[1]}
        for name in mine[1].keys() & theirs[1].keys():
            (a, kind), (b, _) = mine[1][name], theirs[1][name]
            try:
                names[name] = (self.merge(test, a, b, node), kind)
            except NotEncodable as error:
                names[name] = (Unencodable(f"the local {name}: {error.construct}"), kind)
        self.frame.locals = names
