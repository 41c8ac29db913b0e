"""`lawful infer-mapping`: a proposal how to read traces of another program."""

from __future__ import annotations

from lawful.checks.replay import ReplayError
from lawful.checks.replay.mapping_inference import inferred
from lawful.progress import progress
from lawful.spec.resolve import resolve

from .errors import CommandError
from .exit_codes import ExitCode
from .options import InferMappingOptions
from .output import Output


def infer_mapping(options: InferMappingOptions, output: Output) -> int:
    """Print the proposal, or write it into a file."""
    classes = output.machines(options.target)
    if len(classes) != 1:
        raise CommandError("a mapping is of one machine; name it as package.module:Machine")
    with progress("reading", output.quiet):
        try:
            found = inferred(options.traces, resolve(classes[0]).machine)
        except (ReplayError, ValueError) as error:
            raise CommandError(str(error)) from error
    if options.out is not None:
        try:
            options.out.write_text(found.toml, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{options.out}: {error.strerror or error}") from error
    counts = {"records": found.records, "instances": found.instances, "fitting": found.fitting}
    output.write(
        found.toml.rstrip("\n"),
        {
            "version": 1,
            "command": "infer-mapping",
            "mapping": found.mapping,
            "notes": list(found.notes),
            **counts,
        },
    )
    return ExitCode.AS_EXPECTED
