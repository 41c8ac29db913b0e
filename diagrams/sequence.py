"""Traces as Mermaid sequence diagrams, for counterexamples on web pages.

The machine has a lifeline, and so has each part that changes. An event is a note over the machine
with the variables that it changed; an arrow to a part has the changes of that part. The loop of a
lasso stands in a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from lawful.spec.ir import Json
from lawful.spec.text.reasons import text as value_text

from .mermaid import safe

LONGEST = 60  # Characters of a value.


class Step(Protocol):
    """One event of a trace: the transition, its arguments, and the new values by path."""

    @property
    def transition(self) -> str: ...
    @property
    def args(self) -> Mapping[str, Json]: ...
    @property
    def changed(self) -> Mapping[str, Json]: ...


def text(machine: str, steps: Sequence[Step], loop: int | None, why: str) -> str:
    """The trace of the machine of that name as text of Mermaid's `sequenceDiagram`.

    `loop` is the number of events before the loop of a lasso; `why` stands below the last event.
    """
    lifelines = _lifelines(steps)
    head = ["sequenceDiagram", f"    participant M as {safe(machine)}"]
    head += [f"    participant {key} as {safe(path)}" for path, key in lifelines.items()]
    body: list[str] = []
    for number, step in enumerate(steps, 1):
        if number - 1 == loop:
            body.append("loop again and again")
        indent = "    " if loop is not None and number > loop else ""
        body += [indent + line for line in _step(number, step, lifelines)]
    if loop is not None:
        body.append("end" if loop < len(steps) else "Note over M: nothing more happens")
    last = f"M,P{len(lifelines)}" if lifelines else "M"
    body.append(f"Note over {last}: {safe(why)}")
    return "\n".join([*head, *(f"    {line}" for line in body)]) + "\n"


def _lifelines(steps: Sequence[Step]) -> dict[str, str]:
    """The keys of the parts that change, by path, in the order of their first change."""
    paths = dict.fromkeys(path.rpartition(".")[0] for step in steps for path in step.changed)
    parts = [path for path in paths if path]
    return {path: f"P{number}" for number, path in enumerate(parts, 1)}


def _step(number: int, step: Step, lifelines: Mapping[str, str]) -> Iterator[str]:
    args = ", ".join(f"{name}={_short(value)}" for name, value in step.args.items())
    own = [f"{number}. {step.transition}({args})"]
    parts: dict[str, list[str]] = {}
    for path, value in step.changed.items():
        part, _, name = path.rpartition(".")
        if path in lifelines:
            parts.setdefault(path, []).append("is gone" if value is None else "is made")
        elif part:
            parts.setdefault(part, []).append(f"{name} = {_short(value)}")
        else:
            own.append(f"{name} = {_short(value)}")
    yield f"Note over M: {'<br/>'.join(map(safe, own))}"
    for path, changed in parts.items():
        yield f"M->>{lifelines[path]}: {'<br/>'.join(map(safe, changed))}"


def _short(value: Json) -> str:
    text = value_text(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
