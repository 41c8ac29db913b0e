"""`lawful shell`: a prompt at which one walks through a machine."""

from __future__ import annotations

import contextlib
import functools
import io
import sys

from lawful.checks.explore.traces import trace_json
from lawful.checks.explorer.walked_path import WalkedPath
from lawful.targets import machine, scoped
from lawful.walk_shell import WalkShell

from .exit_codes import ExitCode
from .explore import path_as_sequence, path_as_test
from .options import ShellOptions
from .output import Output


def shell(options: ShellOptions, output: Output) -> int:
    """Read commands until the input ends. A script with a wrong command ends with 5."""
    prompt = _prompt(options, output.quiet)
    with contextlib.suppress(KeyboardInterrupt):
        prompt.cmdloop()
    walked, path = prompt.walked, prompt.path
    trace = trace_json(walked.trace(path)) if path else []
    name = walked.space.machine.name
    text = f"{name}: {prompt.place}"
    output.answer(text, [{"machine": name, "path": list(path), "trace": trace}])
    return ExitCode.USAGE if prompt.failed and not prompt.interactive else ExitCode.AS_EXPECTED


def _prompt(options: ShellOptions, quiet: bool) -> WalkShell:
    found = scoped(machine(options.target), options.scope)
    walked, name = WalkedPath(found.flat, found.world), found.flat.machine.name
    exports = {
        "test": functools.partial(path_as_test, "shell", options.target, options.scope, walked),
        "sequence": functools.partial(path_as_sequence, name, walked),
    }
    return WalkShell(walked, exports, io.StringIO() if quiet else sys.stdout)
