"""Invariants and guards as columns of a data frame, without a replay."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lawful.runtime.instance import Machine
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json

from ..columnar.layout import BOOLEAN, LONG, STRING
from ..mapping import TraceMapping
from ..preparation.record_paths import is_path
from .json_columns import quoted
from .sql_expressions import Locals, Term, Translator, literal, optional, scalar
from .typed import FITS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KINDS = ("invariant", "terminal")


def property_column(
    rows: DataFrame, machine: type[Machine], name: str, mapping: TraceMapping
) -> Column:
    """Whether a property or the guards of a transition hold in each row, as a boolean column.

    `name` is an `@invariant`, a `@terminal` property or a transition. The state of a row is in the
    columns that `mapping.observed` names: integers, booleans, and texts that are names of an enum's
    members. A null is None where the variable may be None. Parameters are those of the mapping. A
    transition's arguments are in the columns that `mapping.args` names; its column is true where
    the source and all `require`s at the beginning of its body hold.

    The column is null where the answer needs a value that the row lacks or that is no member, a
    number beyond 64 bits, or a division by zero. The bounds of the variables' types are no part of
    it.

    Raises ValueError where the machine has no such property or transition, the mapping names no
    column for a variable, or a column has another type; and `lawful.spec.errors.Unsupported`, with
    the place, where SQL has no expression for the property.
    """
    from pyspark.sql import functions as F

    return F.expr(StateColumns(rows, machine.lawful.ir, mapping).sql(name))


class StateColumns:
    """The columns that hold the state and the arguments of a machine."""

    def __init__(self, rows: DataFrame, machine: ir.Machine, mapping: TraceMapping) -> None:
        if mapping.machine not in ("", machine.name):
            raise ValueError(f"the mapping is of {mapping.machine}, not of {machine.name}")
        if mapping.preparation is not None:
            raise ValueError("the rows of a mapping with a preparation are not those of the frame")
        self.rows = rows
        self.machine = machine
        self.mapping = mapping
        self.variables = {v.name: v.type for v in machine.variables}
        self.parameters = {p.name: p for p in machine.parameters}
        self.translator = Translator(machine, self.field)

    def sql(self, name: str) -> str:
        """The expression of a property or transition."""
        for row in self.machine.properties:
            if row.name == name and row.kind in KINDS:
                return self.translator.of_property(row)
        for each in self.machine.transitions:
            if each.name == name:
                return self.translator.of_guard(each, self._arguments(each))
        what = "invariant, @terminal property or transition"
        raise ValueError(f"{self.machine.name} has no {what} {name}")

    def _arguments(self, row: ir.Transition) -> Locals:
        told = self.mapping.args.get(row.event, {})
        templates = told if is_object(told) else {}
        return {
            name: partial(self._at, templates.get(name), kind, f"the argument {name}")
            for name, kind in row.function.params
        }

    def field(self, name: str) -> Term:
        """The term of a variable or parameter."""
        if name in self.variables:
            return self._at(self.mapping.observed.get(name), self.variables[name], name)
        row = self.parameters[name]
        if name in self.mapping.parameters:
            return literal(row.type, self.mapping.parameters[name])
        if isinstance(row.default, ir.Const):
            return literal(row.type, row.default.value)
        raise ValueError(f"the mapping gives no value for the parameter {name}")

    def _at(self, path: Json, kind: t.Type, name: str) -> Term:
        """The term of a column."""
        if not is_path(path):
            raise ValueError(f"the mapping names no column for {name}")
        of = scalar(kind)
        if of is None or isinstance(of, t.Nothing):
            raise ValueError(f"no column can hold {name}, a {kind}")
        wanted = BOOLEAN if isinstance(of, t.Bool) else LONG if isinstance(of, t.Int) else STRING
        found, column = self._type(path), quoted(path)
        if found not in FITS[wanted]:
            fits = " or ".join(FITS[wanted])
            raise ValueError(f"the column {path} of {name} has to be {fits}, not {found}")
        value = f"CAST({column} AS {wanted})" if wanted == LONG else column
        known = f"({column} IS NOT NULL)"
        if isinstance(of, t.Enum):
            members = ", ".join(f"'{each}'" for each in of.members)
            known = f"({column} IN ({members}))"
            return Term(value, (f"({column} IS NULL OR {known})" if optional(kind) else known,))
        return Term(value, () if optional(kind) else (known,))

    def _type(self, path: str) -> str:
        from pyspark.errors import AnalysisException

        try:
            return self.rows.select(quoted(path)).dtypes[0][1]
        except AnalysisException as error:
            raise ValueError(f"the data frame has no column {path}") from error
