"""`lawful infer-mapping`: a proposal how to read traces of another program."""

from __future__ import annotations

from lawful.checks.replay import ReplayError
from lawful.checks.replay.inference.mapping_inference import Inferred, inferred
from lawful.progress import progress
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve

from . import files
from .errors import CommandError
from .exit_codes import ExitCode
from .options import InferMappingOptions
from .output import Output


def infer_mapping(options: InferMappingOptions, output: Output) -> int:
    """Print the proposal, and write it into a file if one is named."""
    found = _inferred(options, output)
    if options.out is not None:
        files.save(options.out, found.toml)
    output.write(found.toml.rstrip("\n"), _answer(found))
    return ExitCode.AS_EXPECTED


def _inferred(options: InferMappingOptions, output: Output) -> Inferred:
    classes = output.machines(options.target, or_unscoped=True)
    if len(classes) != 1:
        raise CommandError("a mapping is of one machine; name it as package.module:Machine")
    with progress("reading", output.quiet):
        try:
            return inferred(options.traces, resolve(classes[0]).machine)
        except (ReplayError, ValueError) as error:
            raise CommandError(str(error)) from error


def _answer(found: Inferred) -> dict[str, Json]:
    """The proposal as `--json` writes it."""
    return {
        "version": 1,
        "command": "infer-mapping",
        "mapping": found.mapping,
        "notes": list(found.notes),
        "records": found.records,
        "instances": found.instances,
        "fitting": found.fitting,
    }
