"""`lawful draw`: control states, the reachable states, or the counterexamples as pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lawful.diagrams import sequence
from lawful.diagrams.chart import chart
from lawful.diagrams.chart_excerpt import excerpt
from lawful.diagrams.render import (
    FORMATS,
    Drawn,
    Format,
    Missing,
    RenderError,
    graph,
    render_chart,
    write,
)
from lawful.runtime.instance import Machine
from lawful.spec.errors import Unsupported
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve
from lawful.targets import Chosen, scoped

from . import exports, files
from .errors import CommandError
from .exit_codes import ExitCode
from .options import DiffOptions, DrawOptions
from .output import Output

GRAPHS: tuple[Format, ...] = ("svg", "png", "pdf", "dot")
OF_EACH: dict[str, tuple[Format, ...]] = {"states": FORMATS, "graph": GRAPHS, "trace": ("mermaid",)}
MOST_STATES = 200  # Nobody reads a picture of more; `--max-states` says otherwise.
SUFFIX = {"mermaid": "mmd", "plantuml": "puml"}  # The suffix of any other format is its name.


def draw(options: DrawOptions, output: Output) -> int:
    """Draw pictures of each of the target's machines."""
    format = _format(options)
    _refuse_what_has_no_use(options, output)
    names = _names(output.chosen(options.targets, scoped=options.what != "states"))
    with _plain_errors(), output.pictures(options.out) as folder:
        pictures = [(c, [*_drawn(c, folder / name, options, format)]) for c, name in names.items()]
    text = "\n".join(line for cls, drawn in pictures for line in _lines(cls, drawn, options))
    output.answer(text, [_row(c, *each, options) for c, drawn in pictures for each in drawn])
    return ExitCode.AS_EXPECTED


@contextmanager
def _plain_errors() -> Generator[None]:
    try:
        yield
    except Missing as missing:
        raise CommandError(f"{missing}; --format dot needs no Graphviz") from missing
    except (RenderError, Unsupported, ValueError) as error:
        raise CommandError(str(error)) from error


# What a picture is about, beside its machine, and the picture.
About = tuple[dict[str, Json], Drawn]


def shown(drawn: Drawn, options: DrawOptions | DiffOptions) -> Iterator[str]:
    """The line about a picture; none where it is on standard output."""
    if options.out is not None:
        yield f"{drawn.path}{f'  ({drawn.note})' if drawn.note else ''}"


def named(drawn: Drawn, options: DrawOptions | DiffOptions) -> str:
    """Where a picture is."""
    return "-" if options.out is None else str(drawn.path)


def _lines(cls: type[Machine], drawn: Sequence[About], options: DrawOptions) -> Iterator[str]:
    if not drawn:
        yield f"{cls.__name__} has no counterexample within its scope"
    for _, each in drawn:
        yield from shown(each, options)


def _row(
    cls: type[Machine], about: dict[str, Json], drawn: Drawn, options: DrawOptions
) -> dict[str, Json]:
    path = named(drawn, options)
    return {"machine": cls.__name__, **about, "path": path, "format": drawn.format}


def _format(options: DrawOptions) -> Format:
    known = OF_EACH[options.what]
    format = options.format or known[0]
    if format not in known:
        wanted = f"{', '.join(known[:-1])} or {known[-1]}" if known[1:] else known[0]
        raise CommandError(f"--what {options.what} is drawn as {wanted}, not as {format}")
    return format


def _refuse_what_has_no_use(options: DrawOptions, output: Output) -> None:
    """Raises CommandError for an option that changes nothing of what is drawn; notes that no traces
    are written where they are asked for."""
    if options.itf is not None and options.what != "trace":
        output.note(f"--itf: draw --what {options.what} writes no traces; --what trace does")
    if options.scope and options.what == "states":
        raise CommandError(
            "--scope has no meaning for --what states: control states are drawn from the "
            "declaration; --what graph and --what trace are drawn within a scope"
        )
    if options.max_states is not None and options.what != "graph":
        raise CommandError(f"--max-states has no meaning for --what {options.what}; use graph")
    if options.only and options.what != "states":
        raise CommandError(f"--only has no meaning for --what {options.what}; use states")


def _names(chosen: Sequence[Chosen]) -> dict[type[Machine], str]:
    """How each file begins: the machine's name, with its module where several have the name."""
    classes = [each.cls for each in chosen]
    count = Counter(cls.__name__ for cls in classes)
    return {
        cls: f"{cls.__module__}.{cls.__name__}" if count[cls.__name__] > 1 else cls.__name__
        for cls in classes
    }


def _drawn(cls: type[Machine], stem: Path, options: DrawOptions, format: Format) -> Iterator[About]:
    """Write the pictures of a machine; the paths of their files begin with `stem`."""
    suffix = SUFFIX.get(format, format)
    match options.what:
        case "states":
            whole = chart(resolve(cls).machine)
            part = excerpt(whole, options.only) if options.only else whole
            yield (
                {},
                render_chart(
                    part, Path(f"{stem}.{suffix}"), format, instead=options.out is not None
                ),
            )
        case "graph":
            from lawful.reachable_graph import text

            source = text(scoped(cls, options.scope), options.max_states or MOST_STATES)
            yield {}, graph(source, Path(f"{stem}.graph.{suffix}"), format)
        case "trace":
            from lawful.checks.explore import explore

            machine = scoped(cls, options.scope)
            for p in explore(machine.flat, machine.world, machine.expects).properties:
                if p.verdict.failed and p.trace is not None:
                    why = f"{p.name} is {p.verdict.value}: {p.why}"
                    if options.itf is not None:
                        found = exports.counterexample(options.itf, machine.resolved.machine, p)
                        files.save_all(found, options.itf)
                    story = sequence.text(cls.__name__, p.trace.steps, p.trace.loop, why)
                    path = Path(f"{stem}.{p.name}.{suffix}")
                    yield {"property": p.name}, write(path, story, format)
