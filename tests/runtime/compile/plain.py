"""A declaration executed as what it is: the user's own functions, by Python itself.

The slow and obvious way: each call runs on a deep copy, which becomes the state if nothing went
wrong. No parts, no timers, no `super()`.
"""

from __future__ import annotations

import copy
import functools
from types import FunctionType
from typing import Any, NoReturn

from lawful import Machine
from lawful.spec.syntax.members import chain_of, vars_before
from lawful.spec.values.bounds import breach
from lawful.spec.words import header


class No(Exception):
    """A guard is false."""


def require(condition: bool, why: str = "") -> None:
    if not condition:
        raise No(why)


def refuse(why: str) -> NoReturn:
    raise No(why)


def needed(value: Any, why: str) -> Any:
    require(value is not None, why)
    return value


WORDS = {"require": require, "refuse": refuse, "needed": needed}


class Plain:
    """An instance of a machine class, made of its class statement alone."""

    def __init__(self, cls: type[Machine]) -> None:
        self.fields = {v.name: v.type for v in cls.lawful.ir.variables}
        self.functions: dict[str, FunctionType] = {}
        self.values: dict[str, Any] = {}
        for owner in chain_of(cls):
            for name, value in vars_before(owner).items():
                if isinstance(value, FunctionType):
                    names = {**value.__globals__, **WORDS}
                    self.functions[name] = FunctionType(value.__code__, names, name)
                    self.functions[name].__dict__.update(value.__dict__)
                elif name in self.fields:
                    self.values[name] = copy.deepcopy(value)

    def call(self, name: str, *args: Any) -> tuple[str, Any]:
        """What the event does: ("done", output), ("refused", why), or the name of a fault."""
        values = copy.deepcopy(self.values)
        try:
            output = self._run(values, name, args)
        except No as no:
            return "refused", str(no)
        except AssertionError:
            return "asserts", None
        except (LookupError, ArithmeticError, ValueError, AttributeError, TypeError):
            return "undefined", None
        if any(breach(values[field], kind) for field, kind in self.fields.items()):
            return "bounds", None
        self.values = values
        return "done", output

    def _run(self, values: dict[str, Any], name: str, args: tuple[Any, ...]) -> Any:
        head = header(self.functions[name])
        assert head is not None
        if head.source is not None:
            require(values["state"] in head.source)
        output = self.functions[name](_Self(self, values), *args)
        if head.target is not None:
            (values["state"],) = head.target
        return output


class _Self:
    """What a body calls `self`."""

    def __init__(self, plain: Plain, values: dict[str, Any]) -> None:
        object.__setattr__(self, "_plain", plain)
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        function = self._plain.functions[name]
        return functools.partial(function, self)

    def __setattr__(self, name: str, value: Any) -> None:
        self._values[name] = value
