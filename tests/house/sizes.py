"""Rules about sizes: of files, functions, lists of parameters, folders and packages."""

from __future__ import annotations

import ast
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from .sources import PRODUCT, Source, python

# A file of this length is where its author thinks again. One that holds one idea all the same
# stays longer, and stands here with that idea; there are at most twelve.
LONG = 450
ONE_IDEA: dict[str, str] = {
    "checks/explore/compiled/engine.py": "the search over packed words",
    "checks/explore/codegen/expressions.py": "one function for each kind of expression",
    "checks/replay/fold.py": "the fold over the rows of one instance",
    "machines/unicast/declaration.py": "the two ends of one connection",
    "runtime/instances/access.py": "what `lawful` of a class and of an instance gives",
    "spec/codec/as_json.py": "the JSON form of every node of the IR, there and back",
    "spec/ir.py": "the nodes of the IR",
    "spec/resolve/annotations.py": "the reader of annotations",
    "spec/resolve/resolver.py": "the resolver of one class",
    "spec/syntax/parse.py": "one function for each node of Python's syntax",
    "spec/words.py": "the words that a declaration imports",
}
MOST_MODULES = 25
SIZES = "tests/house/sizes.txt"


def files_are_short(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        if len(s.lines) >= LONG and s.path not in ONE_IDEA:
            yield f"{s.path}: {len(s.lines)} lines; split it, or name its one idea in ONE_IDEA"
    if len(ONE_IDEA) > 12:
        yield f"ONE_IDEA has {len(ONE_IDEA)} files; it is for 12 at most"


def folders_are_small(sources: Sequence[Source]) -> Iterator[str]:
    files = [PurePosixPath(s.path) for s in python(sources, PRODUCT)]
    for folder, count in Counter(f.parent for f in files if f.stem != "__init__").items():
        if count > MOST_MODULES:
            yield f"{folder}: {count} modules; a folder has {MOST_MODULES} at most: make packages"


def lines_of_packages(sources: Sequence[Source]) -> str:
    """The table of sizes: lines of Python in each package of the product, and in all."""
    lines: Counter[str] = Counter()
    for s in python(sources, PRODUCT):
        parts = PurePosixPath(s.path).parts
        lines["/".join(parts[: 2 if len(parts) > 2 else 1])] += len(s.lines)
    rows = [*sorted(lines.items()), ("all", lines.total())]
    return "".join(f"{name:<28}{count:>7,}\n" for name, count in rows)


def sizes_are_written_down(sources: Sequence[Source]) -> Iterator[str]:
    """Growth is seen in the diff: the table is committed."""
    now = lines_of_packages(sources)
    kept = next((s.text for s in sources if s.path == SIZES), "")
    if now != kept:
        yield f"{SIZES} is not what the packages have; `SIZES=write pytest tests/test_house.py`"


def lines_are_short(sources: Sequence[Source]) -> Iterator[str]:
    # Prose in Markdown is not wrapped by hand, nor what tests read; code and recipes are.
    for s in sources:
        for number, line in enumerate(s.lines, 1):
            if len(line) > 100 and not s.path.endswith((".md", ".json", ".txt", "LICENSE")):
                yield f"{s.path}:{number}: {len(line)} columns; wrap at 100"


def functions_are_short(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        for f in s.functions:
            if length(f) >= 70:
                yield f"{s.path}:{f.lineno}: {f.name} has {length(f)} lines; split it below 70"


def functions_are_mostly_tiny(sources: Sequence[Source]) -> Iterator[str]:
    lengths = [length(f) for s in python(sources, PRODUCT) for f in s.functions]
    middle = statistics.median(lengths) if lengths else 0
    if middle >= 12:
        yield f"the median function has {middle} lines; it is to stay under 12"


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters_are_few(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        for f in s.functions:
            positional = [*f.args.posonlyargs, *f.args.args]
            if positional and positional[0].arg in ("self", "cls"):
                del positional[0]
            total = len(positional) + len(f.args.kwonlyargs)
            if len(positional) > 5 or total > 8:
                yield (
                    f"{s.path}:{f.lineno}: {f.name} has {total} parameters, {len(positional)} by"
                    " position; at most 5 by position and 8 in all: bundle them in a dataclass"
                )
