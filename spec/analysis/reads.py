"""Which variables and parameters of its machine a function reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .. import ir
from .walk import children


def variables_read(
    function: ir.Function, helpers: Mapping[str, ir.Function]
) -> frozenset[str] | None:
    """The variables and parameters that a function without effects reads, also by helpers of its
    machine; None where it reads the machine as a whole. A part counts as read whole."""
    found = _Reads(helpers)
    found.nodes(function.body)
    return None if found.whole else frozenset(found.names)


class _Reads:
    def __init__(self, helpers: Mapping[str, ir.Function]) -> None:
        self.helpers = helpers
        self.names: set[str] = set()
        self.called: set[str] = set()
        self.whole = False

    def nodes(self, nodes: Iterable[ir.Node]) -> None:
        for node in nodes:
            self._node(node)

    def _node(self, node: ir.Node) -> None:
        match node:
            case ir.Field(of=ir.Self(), name=name):
                self.names.add(name)
            case ir.Call(function=name, of=ir.Self(), args=args) if name in self.helpers:
                self.nodes(args)
                if name not in self.called:
                    self.called.add(name)
                    self.nodes(self.helpers[name].body)
            case ir.Self() | ir.Enabled():
                self.whole = True
            case _:
                self.nodes(children(node))
