"""Rules about imports: which way they point, how they are written, where a library is used."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from .sources import FOLDERS, PRODUCT, Source, package_of, python

# For each folder, the others it may import; the door, `lawful`, may import them all.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "spec": frozenset(),
    "runtime": frozenset({"spec"}),
    "diagrams": frozenset({"spec"}),
    "machines": frozenset({"spec", "runtime", "lawful"}),
    "checks": frozenset({"spec", "runtime", "diagrams"}),
    "lawful": frozenset(FOLDERS),
}
SOLVER = "checks/smt/solver/"
PROGRAMS = frozenset({"lawful/cli.py", "lawful/tour.py", "lawful/__main__.py"})
HEAVY = (
    *("z3", "llvmlite", "numpy", "rich"),
    *("pyspark", "pyarrow", "pandas"),
    *("hypothesis", "pytest", "graphviz", "transitions", "psycopg"),
)
# Packages whose modules compute with arrays throughout.
HOMES = {
    "numpy": frozenset(
        {
            "checks/explore/compiled",
            "checks/explore/spark",
            "checks/explore/spill",
            "checks/replay/columnar",
            "checks/replay/packed",
        }
    ),
    "pyarrow": frozenset({"checks/explore/spark", "checks/replay"}),
}


# Inside a folder: the modules and packages on each floor, lowest first. What stands on one floor
# knows nothing of its neighbours; a package counts as one.
LAYERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "spec": (
        ("quick_dataclass", "sha256", "integer_texts"),
        ("errors", "ops", "types", "sorting", "verdicts"),
        ("ir", "words"),
        ("flat", "outcomes", "records"),
        ("values",),
        ("analysis", "codec"),
        ("syntax",),
        ("legal",),
        ("resolve",),
        ("text", "lower", "freeze"),
    ),
    "runtime": (
        (
            "elements",
            "journal_numbers",
            "json_text",
            "migration",
            "runner",
            "databases",
            "simulation",
        ),
        ("timers",),
        ("kernel",),
        ("compile",),
        ("instances",),
        ("instance",),
        ("store_rows",),
        ("store_transactions",),
        ("stored_instance",),
        ("recovery", "idempotency", "journal_reading"),
        ("journal", "store", "deadlines", "tasks", "interop"),
        ("driving", "telemetry", "registry", "outbox", "store_check"),
    ),
    "checks": (
        ("verdict", "cache_folder"),
        ("reference", "html_tables"),
        ("explore", "smt", "replay", "tla"),
        ("prove", "conform", "explorer"),
        ("lint", "mutation", "certificate"),
        ("report",),
    ),
    "diagrams": (
        ("transition_labels",),
        ("chart",),
        ("chart_difference", "chart_excerpt", "dialect", "frame_stack"),
        ("dot", "mermaid", "plantuml"),
        ("sequence", "state_space"),
        ("render",),
    ),
}


def imports_go_down_inside(sources: Sequence[Source]) -> Iterator[str]:
    """Late and type-only imports count, too: what a module needs to be understood is below it."""
    for s in python(sources, LAYERS):
        floors = {name: n for n, row in enumerate(LAYERS[s.folder]) for name in row}
        here = room(package_of(s.path, 1) + (PurePosixPath(s.path).stem,))
        if here == "__init__":
            continue
        if here not in floors:
            yield f"{s.path}: {here} stands on no floor; give it one in LAYERS"
            continue
        for i in s.imports:
            there = room(tuple(i.name.split(".")))
            if i.folder != s.folder or there == here or there not in floors:
                continue
            if floors[there] >= floors[here]:
                yield (
                    f"{s.path}:{i.line}: {here} is on floor {floors[here]} of {s.folder},"
                    f" {there} on floor {floors[there]}"
                )


def room(module: tuple[str, ...]) -> str:
    """The name directly under a folder: `lawful.checks.smt.encode.time` is in `smt`."""
    return module[2] if len(module) > 2 else ""


def imports_make_no_ring(sources: Sequence[Source]) -> Iterator[str]:
    """No module needs itself by way of others, late and type-only imports counted."""
    modules = {
        ".".join(package_of(s.path, 1) + (PurePosixPath(s.path).stem,)): s
        for s in python(sources, PRODUCT)
    }
    needs = {name: set(targets(s, modules)) - {name} for name, s in modules.items()}
    for ring in rings(needs):
        yield f"{len(ring)} modules need one another: {', '.join(sorted(ring))}"


def targets(source: Source, modules: Mapping[str, Source]) -> Iterator[str]:
    for i in source.imports:
        for name in (i.name, i.name.rpartition(".")[0]):
            if name in modules:
                yield name
                break


def rings(needs: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """The sets of more than one module that reach one another."""
    reach: dict[str, set[str]] = {}
    for start in needs:
        seen: set[str] = set()
        left = [start]
        while left:
            for name in needs[left.pop()] - seen:
                seen.add(name)
                left.append(name)
        reach[start] = seen
    found = {
        frozenset(n for n in reach[name] if name in reach[n])
        for name in needs
        if name in reach[name]
    }
    return sorted(found, key=sorted)


def imports_go_down(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, PRODUCT):
        allowed = MAY_IMPORT[s.folder] | {s.folder}
        for i in s.imports:
            if i.folder and i.folder not in allowed:
                names = ", ".join(sorted(allowed - {s.folder})) or "the standard library alone"
                yield f"{s.path}:{i.line}: {s.folder} imports {i.name}; it may import {names}"


def imports_are_written_one_way(sources: Sequence[Source]) -> Iterator[str]:
    """Inside a top folder relative, so that each class has one name to type checkers; from other
    folders by the full name under `lawful`."""
    for s in python(sources):
        for i in s.imports:
            if i.top in FOLDERS:
                yield f"{s.path}:{i.line}: `{i.name}` makes twin classes; write lawful.{i.name}"
        for i in s.imports if s.folder in PRODUCT else ():
            if i.folder == s.folder != "lawful" and not i.dots:
                yield f"{s.path}:{i.line}: {i.name} is in the same folder; import it relatively"
            elif i.folder and i.folder != s.folder and (i.dots or not i.is_from):
                yield f"{s.path}:{i.line}: {i.name} is another folder; write `from lawful.…`"


def heavy_libraries_have_one_home(sources: Sequence[Source]) -> Iterator[str]:
    """A library that users may not have is imported by two modules of one package at most, or by
    the modules of a package that is named after it, `spark` for pyspark, or that is in `HOMES`."""
    for library in HEAVY:
        users = [s for s in python(sources, PRODUCT) if any(i.top == library for i in s.imports)]
        homes = {PurePosixPath(s.path).parent for s in users}
        if {str(home) for home in homes} <= HOMES.get(library, frozenset()):
            continue
        if len(homes) > 1 or (len(users) > 2 and homes.pop().name not in library):
            paths = ", ".join(s.path for s in users)
            yield f"{library} is imported in {paths}; keep it in two files or a package of its own"


def z3_stays_behind_its_door(sources: Sequence[Source]) -> Iterator[str]:
    """No module outside the solver's package names Z3's objects, imported or handed on."""
    for s in python(sources, PRODUCT):
        if s.path.startswith(SOLVER):
            continue
        for i in s.imports:
            if i.name.split(".")[-1] == "z3" or i.top == "z3":
                yield f"{s.path}:{i.line}: imports {i.name}; only {SOLVER} knows Z3"


def third_parties_are_declared(sources: Sequence[Source]) -> Iterator[str]:
    known = {*HEAVY, "annotated_types", "lawful", *sys.stdlib_module_names, *FOLDERS}
    known.add("annotationlib")  # Of the standard library from 3.14 on.
    known.update(("starlette", "uvicorn"))  # The extra `serve`: the front of a service.
    known.add("typing_extensions")  # For types alone: every type checker brings it.
    for s in python(sources, PRODUCT):
        for i in s.imports:
            if i.top not in known:
                yield f"{s.path}:{i.line}: {i.top} is no dependency (docs/dependencies.md)"


def nothing_imports_the_command_line(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, PRODUCT):
        for i in s.imports if s.path not in PROGRAMS else ():
            if re.match(r"lawful\.cli\b", i.name):
                yield f"{s.path}:{i.line}: imports the command line; call what it calls"


def only_programs_name_a_machine(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, set(PRODUCT) - {"machines"}):
        if s.path in PROGRAMS:
            continue
        for number, line in enumerate(s.lines, 1):
            if re.search(r"\blawful\.machines\.\w", line):
                yield f"{s.path}:{number}: names a machine; take any machine as an argument"
        for i in s.imports:
            if i.folder == "machines":
                yield f"{s.path}:{i.line}: imports {i.name}; take any machine as an argument"
