"""The commands that read recorded events: replay, infer-mapping, learn-scope."""

from __future__ import annotations

from lawful import argument_types as types

from .command_parser import CommandParser, Subparsers, command
from .option_groups import TARGET


def replay(commands: Subparsers) -> None:
    help = "replay recorded events against the machine"
    parser = command(commands, "replay", help)
    what = "JSON lines, Parquet, or a trace store"
    parser.add_argument("traces", metavar="TRACES", nargs="+", help=what)
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="TARGET",
        help="more machines that judge the same traces, of another module or file",
    )
    parser.add_argument(
        "--mapping",
        type=types.path,
        metavar="FILE",
        help="a TOML or JSON file that says how to read traces of other programs (docs/replay.md)",
    )
    store = "write the traces into a new folder, sorted, and replay that: see docs/replay.md"
    parser.add_argument("--store", type=types.path, metavar="DIR", help=store)
    parser.add_argument(
        "--older",
        action="append",
        default=[],
        metavar="TARGET",
        help="an older version of a machine; rows are judged by the version that wrote them",
    )
    parser.add_argument(
        "--after",
        choices=("resync", "skip", "force", "stop"),
        default="resync",
        help="how an instance goes on after a deviation: from the state that the row tells "
        "(resync, the default), as if the event had not been (skip), as if it had been possible "
        "(force), or not at all (stop)",
    )
    every = "list every problem, not the first of each kind"
    parser.add_argument("--all", action="store_true", help=every)
    parser.add_argument(
        "--allow-empty", action="store_true", help="succeed where no event could be judged"
    )
    parser.add_argument(
        "--unknown-events",
        type=types.percent,
        metavar="PERCENT",
        help="pass over events that the machine does not have, up to so many percent of all; "
        "without it each of them quarantines its instance",
    )
    until = "the traces are complete up to this time (ISO 8601): deadlines before it have passed"
    parser.add_argument("--until", type=types.moment, metavar="TIME", help=until)
    parser.add_argument(
        "--engine",
        choices=("auto", "spark", "local"),
        default="auto",
        help="where to replay: local is this process; auto (default) is spark for remote files, "
        "with --master, and for more than 64 MB of lines if Spark is installed; else local",
    )
    parser.add_argument("--master", metavar="URL", help="Spark's master; default local[*]")
    _results(parser)


def _results(parser: CommandParser) -> None:
    """What a replay keeps, writes and compares."""
    parser.add_argument(
        "--report", type=types.path, metavar="FILE.html", help="write the result as an HTML page"
    )
    resume = "go on from the states that an earlier replay kept: see docs/replay.md"
    parser.add_argument("--resume", type=types.path, metavar="FILE", help=resume)
    keep = "keep the state of each instance, for the replay of later rows"
    parser.add_argument("--keep", type=types.path, metavar="FILE", help=keep)
    remember = "of how many rows of an instance --keep keeps digests, to know them again (1,000)"
    parser.add_argument("--remember", type=types.count, metavar="N", help=remember)
    tests = "write for the first deviation of each kind a test that fails until the machine fits"
    parser.add_argument("--pytest", type=types.path, metavar="DIR", help=tests)
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="TARGET",
        help="an older version of a machine: say what is newly illegal and newly legal",
    )
    metrics = "write the counts as metrics, in the text format of OpenMetrics"
    parser.add_argument("--metrics", type=types.path, metavar="FILE", help=metrics)


def infer_mapping(commands: Subparsers) -> None:
    help = "propose how to read traces of another program, from a sample of them"
    parser = command(commands, "infer-mapping", help)
    what = "JSON lines or documents, logfmt, CSV, XES, OTLP/JSON or ITF"
    parser.add_argument("traces", metavar="TRACES", nargs="+", help=what)
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    out = "write the mapping, as TOML, into a file; - is standard output alone"
    parser.add_argument("--out", type=types.path_or_output, metavar="FILE.toml", help=out)


def learn_scope(commands: Subparsers) -> None:
    help = "say which values recorded events had, and which reachable states were never seen"
    parser = command(commands, "learn-scope", help)
    what = "JSON lines, Parquet, ORC, or what the mapping says"
    parser.add_argument("traces", metavar="TRACES", nargs="+", help=what)
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    mapping = "how to read traces of other programs (docs/replay.md)"
    parser.add_argument("--mapping", type=types.path, metavar="FILE", help=mapping)
    most = "explore at most so many states within the scope that was learned (10,000)"
    parser.add_argument("--max-states", type=types.positive, default=10_000, metavar="N", help=most)
