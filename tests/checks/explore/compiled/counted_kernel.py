"""The functions of the search as Python, which count their calls: costs that no clock measures.

They are text for machine code, whose integers have 64 bits. Only hashes wrap around, so these are
cut; what the processor does faster in its own way is written down here once more.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lawful.checks.explore.codegen import prelude
from lawful.checks.explore.compiled import plain
from lawful.checks.explore.compiled.arrays import Arrays
from lawful.checks.explore.compiled.folding import shape
from lawful.checks.explore.expansion.successors import Text
from lawful.checks.explore.native import kernel_rows, search_kernel, state_table, team_kernel
from lawful.checks.explore.native.kernel_rows import GROUP, LOW

KERNELS = (state_table, search_kernel, team_kernel)


def copied(row: list[int], to: int, other: list[int], of: int, count: int) -> None:
    row[to : to + count] = other[of : of + count]


def scanned(row: list[int], at: int, tag: int, mask: int) -> int:
    group, upper = row[at : at + GROUP], LOW & ~mask
    like = sum((each != 0 and each & upper == tag) << i for i, each in enumerate(group))
    return like | sum((each == 0) << i for i, each in enumerate(group)) << GROUP


def acquired(row: list[int], at: int) -> int:
    return row[at]


def released(row: list[int], at: int, number: int) -> None:
    row[at] = number & LOW


def placed(row: list[int], at: int, number: int) -> int:
    free = row[at] == 0
    row[at] = number & LOW if free else row[at]
    return free


def locked(row: list[int], at: int) -> int:
    free, row[at] = row[at] == 0, 1
    return free


def claimed(row: list[int], at: int) -> int:
    row[at] += 1
    return row[at] - 1


def seen(row: list[int], at: int) -> int:
    return row[at]


def tell(row: list[int], at: int, number: int) -> None:
    row[at] = number


def prefetch(_row: list[int], _at: int) -> None:
    """Nothing is fetched; it is counted."""


INTRINSICS = (
    *(copied, scanned, acquired, released, placed),
    *(locked, claimed, seen, tell, prefetch),
)


class CountedKernel:
    """Stands in for `llvm.Native`: `calls` counts the calls of each function.

    `changed` has for parts of the functions' text what is to stand there: a broken version.
    """

    seconds = 0.0

    def __init__(self, text: Text, changed: Mapping[str, str]) -> None:
        self.calls = Counter[str]()
        self.names: dict[str, Any] = {**vars(kernel_rows), **shape_of(text)}
        self.names |= {f.__name__: f for f in (*prelude.FUNCTIONS, *INTRINSICS)} | plain.FASTER
        self.names["expand"] = plain.interpreted(text.steps)
        source = "\n".join(map(inspect.getsource, KERNELS))
        for part, instead in changed.items():
            assert part in source
            source = source.replace(part, instead)
        exec(functions_of(source), self.names)
        for name in [name for name, made in self.names.items() if inspect.isfunction(made)]:
            self.names[name] = self._counted(name, self.names[name])

    def _counted(self, name: str, made: Callable[..., Any]) -> Callable[..., Any]:
        hashing = name.startswith("mixed")

        def call(*given: Any) -> Any:
            self.calls[name] += 1
            found = made(*given)
            return (found + (1 << 63)) % (1 << 64) - (1 << 63) if hashing else found

        return call

    def __call__(self, name: str, *given: Arrays | Any) -> int:
        """Call a function as `Native` does; the arrays are lists meanwhile."""
        lists = dict[int, tuple[Any, list[int]]]()

        def listed(array: Any) -> list[int]:  # One array has two names: then it is one list.
            return lists.setdefault(id(array), (array, array.tolist()))[1]

        passed = list[Any]()
        for each in given:
            if isinstance(each, Arrays):
                rows = zip(kernel_rows.ARRAYS, each, strict=True)
                self.names.update({key: listed(array) for key, array in rows})
            else:
                passed.append(each if isinstance(each, int) else listed(each))
        found = self.names[name](*passed)
        for array, numbers in lists.values():
            of = np.asarray(array)
            of[:] = np.array(numbers, np.int64).astype(of.dtype)
        return 0 if found is None else int(found)


def shape_of(text: Text) -> dict[str, int]:
    """The numbers that depend on the machine, by the names that the functions use."""
    own = {name: int(size) for name, size in text._asdict().items() if name != "steps"}
    return {name.upper(): size for name, size in (own | shape(text.words)._asdict()).items()}


def functions_of(source: str) -> Any:
    """The functions of a text, without its imports."""
    parsed = ast.parse(source)
    parsed.body = [each for each in parsed.body if isinstance(each, ast.FunctionDef)]
    for each in parsed.body:
        assert isinstance(each, ast.FunctionDef)
        each.returns = None
        for argument in each.args.args:
            argument.annotation = None
    return compile(parsed, "<kernel>", "exec")
