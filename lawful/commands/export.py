"""`lawful export`: a TLA+ module and its configurations, for TLC; `--check` lets TLC explore it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from lawful.checks.explore import Limits, explore
from lawful.checks.tla import tlc as tla_tools
from lawful.checks.tla.agreement import Agreement, Told, compare
from lawful.checks.tla.module import Exported
from lawful.checks.tla.module import export as as_tla
from lawful.checks.tla.tlc import NoTlc, Tlc
from lawful.progress import interruption, progress
from lawful.spec.errors import DeclarationError, Problem, Unsupported
from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass
from lawful.targets import ScopedMachine, scoped

from . import files
from .errors import CommandError
from .exit_codes import ExitCode, gravest
from .options import ExportOptions
from .output import Output

Refused = Unsupported | DeclarationError
CODES = {
    "agrees": ExitCode.AS_EXPECTED,
    "differs": ExitCode.FAULT,
    "no answer": ExitCode.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Made:
    """A machine and its module; and what TLC says of it, or why it was not asked."""

    machine: ScopedMachine
    module: Exported
    checked: Agreement | str = ""

    @property
    def code(self) -> ExitCode:
        """A difference is a fault of lawful."""
        if isinstance(self.checked, Agreement):
            return CODES[self.checked.outcome]
        return ExitCode.UNKNOWN if self.checked else ExitCode.AS_EXPECTED


def export(options: ExportOptions, output: Output) -> int:
    """Write what can be written, and with `--check` compare TLC's answers with lawful's.

    Raises DeclarationError where a scope is refused, CommandError where TLA+ cannot say what a
    machine does: the others are written. Without a TLC to ask, CommandError; nothing is written.
    """
    tlc = _tlc(options)
    written, refused = _exported(options, output)
    if tlc is not None:
        written = {n: _checked(m, tlc, options.max_seconds, output) for n, m in written.items()}
    if written or not _problems(refused):
        _answer(written, refused, options.out, output)
    _complain(refused)
    return gravest([ExitCode.AS_EXPECTED, *(each.code for each in written.values())])


def _tlc(options: ExportOptions) -> Tlc | None:
    """The TLC of `--check`."""
    if not options.check:
        given = {"--tlc": options.tlc, "--max-seconds": options.max_seconds}
        for name in (name for name, value in given.items() if value is not None):
            raise CommandError(f"{name} is for --check")
        return None
    try:
        return tla_tools.installed(options.tlc, options.max_seconds)
    except NoTlc as error:
        raise CommandError(str(error)) from error


def _checked(made: Made, tlc: Tlc, seconds: float | None, output: Output) -> Made:
    """Explore the machine, and let TLC explore its module."""
    machine = made.machine
    with progress(f"checking {machine.cls.__name__}", output.quiet), interruption() as stop:
        limits = Limits(seconds=seconds, stop=stop)
        try:
            found = explore(machine.flat, machine.world, machine.expects, limits=limits)
        except (ValueError, Unsupported) as error:
            raise CommandError(str(error)) from error
    if not found.complete:
        return Made(machine, made.module, f"lawful stopped after {found.distinct:,} states")
    with progress(f"TLC checks {machine.cls.__name__}", output.quiet):
        told = Told(found.distinct, found.depth, {p.name: p.verdict for p in found.properties})
        try:
            return Made(machine, made.module, compare(made.module, told, tlc))
        except NoTlc as error:
            raise CommandError(str(error)) from error


def _answer(
    written: Mapping[str, Made], refused: Mapping[str, Refused], out: Path, output: Output
) -> None:
    """Write the files, and say what is written and what is not."""
    if written:
        files.folder(out)
    lines = [
        line for each in written.values() for line in (*_saved(each.module, out), *_said(each))
    ]
    rows = [_row(name, each, out) for name, each in written.items()]
    rows.extend({"machine": name, "refused": str(why)} for name, why in refused.items())
    output.answer("\n".join(lines) or "nothing is written", rows)


def _problems(refused: Mapping[str, Refused]) -> list[Problem]:
    """The problems of the scopes that are refused."""
    wrong = [why for why in refused.values() if isinstance(why, DeclarationError)]
    return [problem for each in wrong for problem in each.problems]


def _complain(refused: Mapping[str, Refused]) -> None:
    """Raise an error that names what is refused, if anything is."""
    reasons = [f"{name}: {why}" for name, why in refused.items() if isinstance(why, Unsupported)]
    wrong = _problems(refused)
    if wrong:
        for line in reasons:
            print(line, file=sys.stderr)
        raise DeclarationError(wrong)
    if reasons:
        raise CommandError("\n".join(reasons))


def _exported(options: ExportOptions, output: Output) -> tuple[dict[str, Made], dict[str, Refused]]:
    """By the names of machines: the modules, and why there is none."""
    written: dict[str, Made] = {}
    refused: dict[str, Refused] = {}
    for cls in output.machines(options.target):
        try:
            machine = scoped(cls, options.scope)
            written[cls.__name__] = Made(machine, as_tla(machine.flat, machine.expects))
        except (Unsupported, DeclarationError) as error:
            refused[cls.__name__] = error
    return written, refused


def _paths(made: Exported, out: Path) -> dict[str, Path]:
    return {
        "module": out / f"{made.name}.tla",
        "config": out / f"{made.name}.cfg",
        "safety": out / f"{made.name}_safety.cfg",
    }


def _saved(made: Exported, out: Path) -> list[str]:
    """Write the files of one machine; the lines name them, and what of the machine they lack."""
    texts = (made.module, made.config, made.safety)
    paths = _paths(made, out).values()
    for path, text in zip(paths, texts, strict=True):
        files.save(path, text)
    return [*map(str, paths), *(f"  left out: {what}" for what in made.left_out)]


def _said(made: Made) -> list[str]:
    """What TLC says, in lines."""
    checked = made.checked
    if isinstance(checked, str):
        return [f"  TLC is not asked: {checked}"] if checked else []
    lines: list[str] = []
    if checked.distinct is not None and checked.depth is not None:
        alike = [row for row in checked.rows if row.answer == row.holds]
        true = sum(row.holds for row in alike)
        lines.append(
            f"  TLC: {checked.distinct:,} distinct states, depth {checked.depth}; of its "
            f"{len(checked.rows)} definitions {true} true and {len(alike) - true} false, "
            "as lawful says"
        )
    lines += [f"  differs: {each}" for each in checked.differences]
    lines += [f"  TLC has no answer of {each}" for each in checked.troubles]
    if checked.others:
        lines.append(f"  TLC is not asked about {', '.join(checked.others)}")
    return lines


def _row(name: str, made: Made, out: Path) -> Json:
    paths = {kind: str(path) for kind, path in _paths(made.module, out).items()}
    row: dict[str, Json] = {"machine": name, **paths, "left_out": list(made.module.left_out)}
    if isinstance(made.checked, Agreement):
        row["tlc"] = made.checked.to_json()
    elif made.checked:
        row["tlc"] = {"outcome": "no answer", "troubles": [made.checked]}
    return row
