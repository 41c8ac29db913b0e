"""`lawful completion`: the script by which a shell completes the words of the command line."""

from __future__ import annotations

from lawful.completion_scripts import script

from .exit_codes import ExitCode
from .options import CompletionOptions
from .output import Output


def completion(options: CompletionOptions, output: Output) -> int:
    """Print the script of a shell."""
    text = script(options.shell)
    output.write(text.rstrip("\n"), {"version": 1, "command": "completion", "script": text})
    return ExitCode.AS_EXPECTED
