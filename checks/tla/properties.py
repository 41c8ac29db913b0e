"""Properties in TLA+: invariants, step properties and liveness."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.composition import Hop
from lawful.spec.flat import Plan, Rule
from lawful.spec.verdicts import ASSUMPTIONS

from ..reference.properties import PropertyOf, judged
from .kinds import integer, values
from .names import OR, CannotWrite, Names, quoted, word
from .steps import Steps

FAULTS = {
    "bounds": "within_bounds",
    "asserts": "asserts_hold",
    "undefined": "all_defined",
    "ambiguous": "unambiguous",
}
LIVE = {
    "eventually": "<>{0}",
    "eventually_always": "<>[]{0}",
    "infinitely_often": "[]<>{0}",
    "leads_to": "({0} ~> {1})",
}
Text = Callable[[list[str], Names], str]  # A formula of states; the names are bound around it.
MOST = 64  # Integers of a parameter of a reachability property, with an invariant for each.


@dataclass(frozen=True)
class Written:
    """A definition of the module that the configuration names.

    `about` is the name of the property. `witness`: a counterexample of TLC is a witness that the
    property is reachable. `live`: no finite run can violate it. `value`: the definition says that
    the property is defined.
    """

    name: str
    about: str
    temporal: bool
    witness: bool = False
    live: bool = False
    value: bool = False


class Properties:
    """Writes the properties of a machine."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.machine = steps.machine
        self.defined = steps.defined
        self.left_out: list[str] = []

    def all(self) -> Iterator[Written]:
        """Every property that can be written; the names of the others go to `left_out`."""
        yield from self._built_in()
        rules = {rule.name: rule for rule in self.steps.flat.properties}
        for j in judged(self.machine, rules):
            if j.kind in ASSUMPTIONS:
                continue
            try:
                yield from list(self._one(j))
            except CannotWrite as error:
                self.left_out.append(f"{j.kind} {j.name}: {error}")

    def _one(self, j: PropertyOf) -> Iterator[Written]:
        match j.kind:
            case "invariant":
                yield self._add(j.name, j.name, [self._everywhere(j, [self.steps.now])])
            case "step_property":
                yield from self._of_steps(j)
            case "reachable":
                yield from self._has_value(j)
                yield from self._reachable(j)
            case "eventually" | "eventually_always" | "infinitely_often" | "leads_to":
                yield from self._has_value(j)
                yield self._live(j)
            case _:
                raise CannotWrite("no formula of TLA+ says it")

    def _add(
        self,
        name: str,
        about: str,
        lines: list[str],
        *,
        temporal: bool = False,
        witness: bool = False,
        live: bool = False,
        value: bool = False,
    ) -> Written:
        made = self.defined.names.fresh(name.replace(".", "_"))
        self.defined.write(made, (), lines)
        return Written(made, about, temporal, witness, live, value)

    # Built-in properties.

    def _built_in(self) -> Iterator[Written]:
        comes = self.steps.comes
        if not self.machine.deadlock_ok:
            some = f"{comes}({{{', '.join(map(quoted, ('done', 'cut', *FAULTS)))}}})"
            rest = [self._truth(j, [self.steps.now]) for j in self._terminal()]
            yield self._add("no_deadlock", "deadlock", [" \\/ ".join([some, *rest])])
        for fault, name in FAULTS.items():
            text = f'~{comes}({{"{fault}"}})'
            if fault == "ambiguous":
                text = " /\\ ".join([text, *self._one_at_a_time()])
            yield self._add(name, fault, [text])

    def _terminal(self) -> list[PropertyOf]:
        rules = {rule.name: rule for rule in self.steps.flat.properties}
        return [j for j in judged(self.machine, rules) if j.kind == "terminal"]

    def _one_at_a_time(self) -> Iterator[str]:
        """Conditions that at most one transition of each event is enabled."""
        rows = {row.name: (rule, row) for rule, row in self.steps.rows}
        for event in self.machine.events:
            serving = [row.name for row in self.machine.serving(event.name)]
            if event.choice:
                continue
            for a, b in itertools.combinations(serving, 2):
                (rule, first), (_, second) = rows[a], rows[b]

                def one(
                    args: list[str], first: ir.Transition = first, second: ir.Transition = second
                ) -> str:
                    both_ = [
                        f'({self.steps.gives(row, args)}.out = "refused")'
                        for row in (first, second)
                    ]
                    return f"({OR.join(both_)})"

                # Both get all arguments: the plan of one may leave out arguments of the other.
                plans = tuple(Plan(plan.name, plan.type) for plan in rule.plans)
                yield self.steps.each(Rule(rule.name, plans), self.steps.now, one, "\\A")

    # Properties of states.

    def _owner(self, j: PropertyOf) -> ir.Machine:
        machine: ir.Machine = self.machine
        for hop in j.path:
            part = t.part_of(hop.variable.type)
            assert part is not None
            machine = self.defined.machine(part.machine)
        return machine

    def _truth(self, j: PropertyOf, states: list[str], names: Names | None = None) -> str:
        """The condition that the property is true of the states, for all its arguments."""
        m = self._owner(j)
        return self.steps.each(
            j.rule,
            states[0],
            lambda args: self.defined.true(m, j.row.function, [*states, *args]),
            "\\A",
            names,
        )

    def _everywhere(self, j: PropertyOf, states: list[str]) -> str:
        """The same for every member of the families of parts that all states have."""
        return self._members(j.path, states, lambda inside, names: self._truth(j, inside, names))

    def _members(
        self, path: Sequence[Hop], states: list[str], text: Text, *, lasting: bool = False
    ) -> str:
        """The text for every member of the families on `path` that all states have.

        With `lasting` the text is temporal: raises CannotWrite where members come and go.
        """
        names, families = Names(self.defined.names), list[tuple[str, str, str]]()
        for i, hop in enumerate(path):
            kind = hop.variable.type
            states = [f"{state}.{word(hop.name)}" for state in states]
            if not isinstance(kind, t.Map):
                continue
            if lasting and not kind.total:
                raise CannotWrite(f"the members of {hop.name} come and go")
            key = names.fresh(f"key_{len(path) - i}")
            over = values(kind.key) if lasting else f"DOMAIN {states[0]}"
            there = " /\\ ".join(f"{key} \\in DOMAIN {each}" for each in states[1:])
            families.append((key, over, there))
            states = [f"{each}[{key}]" for each in states]
        found = text(states, names)
        for key, over, there in reversed(families):
            found = f"(\\A {key} \\in {over} : {f'({there} => {found})' if there else found})"
        return found

    def _has_value(self, j: PropertyOf) -> Iterator[Written]:
        m, function = self._owner(j), j.row.function
        if self.defined.defined(m, function, [self.steps.now]) is None:
            return

        def one(states: list[str], names: Names) -> str:
            return self.steps.each(
                j.rule,
                states[0],
                lambda args: self.defined.defined(m, function, [*states, *args]) or "TRUE",
                "\\A",
                names,
            )

        text = self._members(j.path, [self.steps.now], one)
        yield self._add(f"{j.name}_has_a_value", j.name, [text], value=True)

    def _reachable(self, j: PropertyOf) -> Iterator[Written]:
        elements, m = dict(self.steps.flat.elements), self._owner(j)
        rows = itertools.product(*(_each_value(plan.type, elements) for plan in j.rule.plans))
        for texts in rows:
            text = self.defined.true(m, j.row.function, [self.steps.now, *texts])
            yield self._add(f"never_{j.name}", j.name, [f"~{text}"], witness=True)

    # Step properties and liveness.

    def _of_steps(self, j: PropertyOf) -> Iterator[Written]:
        steps = self.steps
        moved = self._everywhere(j, [steps.now, f"{steps.now}'"])
        yield self._add(j.name, j.name, [f"[][{moved}]_{steps.vars}"], temporal=True)
        same = self._everywhere(j, [steps.now, steps.now])
        stays = " \\/ ".join(
            steps.some(
                rule, row, lambda gives: f'(({gives}.out = "done") /\\ ({gives}.to = {steps.now}))'
            )
            for rule, row in steps.rows
        )
        yield self._add(f"{j.name}_at_rest", j.name, [f"({stays or 'FALSE'}) => {same}"])

    def _live(self, j: PropertyOf) -> Written:
        m = self._owner(j)

        def formula(given: list[str]) -> str:
            if j.kind != "leads_to":
                return LIVE[j.kind].format(self.defined.true(m, j.row.function, given))
            operator, plain = self.defined.helper(m.name, j.row.function, True)
            call = f"{operator}({', '.join(given)})"
            pair = call if plain else f"{call}.value"
            fine = "" if plain else f'({call}.out = "done") /\\ '
            return LIVE[j.kind].format(*(f"({fine}{pair}[{i}])" for i in (1, 2)))

        def each(states: list[str], names: Names) -> str:
            return self.steps.each(
                j.rule, states[0], lambda args: formula([*states, *args]), "\\A", names
            )

        text = self._members(j.path, [self.steps.now], each, lasting=True)
        return self._add(j.name, j.name, [text], temporal=True, live=True)


def _each_value(kind: t.Type, elements: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The values of a small type."""
    match kind:
        case t.Bool():
            return ["FALSE", "TRUE"]
        case t.Int(low=int() as low, high=int() as high) if high - low < MOST:
            return [integer(value) for value in range(low, high + 1)]
        case t.Enum(members=members):
            return [quoted(member) for member in members]
        case t.Sort(name=name):
            return [word(element) for element in elements[name]]
        case _:
            raise CannotWrite(f"one invariant for each value of {kind} would be too many")
