"""The operators of numbers over arrays, and the ranges of their results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import numpy as np

from .components import LARGE, Array

Range = tuple[int, int]
Compute = Callable[..., Array]
Bound = Callable[..., Range]
STORED: Range = (-LARGE, LARGE)  # Of what is kept.


def _least(*values: Array) -> Array:
    found = values[0]
    for each in values[1:]:
        found = np.minimum(found, each)
    return found


def _greatest(*values: Array) -> Array:
    found = values[0]
    for each in values[1:]:
        found = np.maximum(found, each)
    return found


def _number(value: Array) -> Array:
    return value * 1  # NumPy's booleans become integers as Python's do.


def _truth(value: Array) -> Array:
    return value != 0


def _before(a: Array, b: Array, modulus: Array) -> Array:
    return (a - b) % modulus * 2 > modulus


def _round_sum(a: Array, b: Array, modulus: Array) -> Array:
    return (a + b) % modulus


def _round_difference(a: Array, b: Array, modulus: Array) -> Array:
    return (a - b) % modulus


# Ranges.


def _negated(a: Range) -> Range:
    return -a[1], -a[0]


def _sum(a: Range, b: Range) -> Range:
    return a[0] + b[0], a[1] + b[1]


def _difference(a: Range, b: Range) -> Range:
    return a[0] - b[1], a[1] - b[0]


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _size(a: Range) -> Range:
    return 0, max(abs(a[0]), abs(a[1]))


def _lowest(*of: Range) -> Range:
    return min(low for low, _ in of), min(high for _, high in of)


def _highest(*of: Range) -> Range:
    return max(low for low, _ in of), max(high for _, high in of)


def _same(a: Range) -> Range:
    return a


def _round(a: Range, b: Range, modulus: Range) -> Range:
    return 0, modulus[1] - 1


TESTS: Mapping[str, Compute] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "not": np.logical_not,
    "bool": _truth,
    "before": _before,
}
# How each is computed, and the range of its result by those of its operands.
ARITHMETIC: Mapping[str, tuple[Compute, Bound]] = {
    "neg": (operator.neg, _negated),
    "add": (operator.add, _sum),
    "sub": (operator.sub, _difference),
    "mul": (operator.mul, _product),
    "abs": (np.abs, _size),
    "min": (_least, _lowest),
    "max": (_greatest, _highest),
    "int": (_number, _same),
    "serial_add": (_round_sum, _round),
    "serial_sub": (_round_difference, _round),
}
# Those that take booleans, too.
OF_TRUTHS = {op for op, of in TESTS.items() if of in (np.logical_not, _truth)} | {
    op for op, (of, _) in ARITHMETIC.items() if of is _number
}
