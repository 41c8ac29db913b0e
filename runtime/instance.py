"""Instances: the class runs as it stands."""

from __future__ import annotations

from typing import Any

from lawful.spec import ir
from lawful.spec.declare import Declaration
from lawful.spec.resolve import Resolved, resolve


class Access:
    """What `Machine.lawful` leads to on a class."""

    def __init__(self, cls: type[Declaration]) -> None:
        self._cls = cls

    @property
    def resolved(self) -> Resolved:
        """The resolved machine with its classes, scopes and expectations."""
        return resolve(self._cls)

    @property
    def ir(self) -> ir.Machine:
        """The typed IR; raises `DeclarationError` with everything wrong in the declaration."""
        return self.resolved.machine


class _Door:
    """`cls.lawful` or `instance.lawful`."""

    def __get__(self, instance: Any, owner: type[Declaration]) -> Access:
        return Access(owner)


class Machine(Declaration):
    """Base of every declaration; see the language page."""

    lawful = _Door()
