"""`lawful show`: the declaration, its IR, or the machine within its scope."""

from __future__ import annotations

import json

from lawful.runtime.instance import Machine
from lawful.spec.codec.as_json import to_json
from lawful.spec.resolve import resolve
from lawful.spec.text.declared import declaration
from lawful.spec.text.scoped import flat
from lawful.targets import scoped

from .exit_codes import ExitCode
from .options import ShowOptions
from .output import Output


def show(options: ShowOptions, output: Output) -> int:
    """Print the target's machines; the answer in JSON always has their IR."""
    classes = output.machines(options.target, or_unscoped=options.what != "flat")
    between = "\n" if options.what == "ir" else "\n\n"
    text = between.join(_text(cls, options) for cls in classes)
    output.answer(text, [to_json(resolve(cls).machine) for cls in classes])
    return ExitCode.AS_EXPECTED


def _text(cls: type[Machine], options: ShowOptions) -> str:
    if options.what == "ir":
        return json.dumps(to_json(resolve(cls).machine), indent=1)
    if options.what == "flat":
        return flat(scoped(cls, options.scope).flat)
    return declaration(resolve(cls))
