"""Cases as annotations of GitHub Actions: lines that the runner shows beside the code.

Source: "Workflow commands for GitHub Actions" (docs.github.com), `::error` and `::warning`, and the
escapes of the runner. GitHub shows ten annotations of each level of a step, and all in its log.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from .ci import Case, Suite


def lines(suites: Sequence[Suite]) -> Iterator[str]:
    """A line for each remarkable case: an error, or a warning where it is undecided.

    What a declaration or a journal says cannot begin a second command: the line has no line feed.
    """
    for each in suites:
        for case in each.cases:
            if case.remarkable:
                yield _annotation(each.name, case)


def _annotation(suite: str, case: Case) -> str:
    level = "warning" if case.outcome == "skipped" else "error"
    properties = {"title": f"{suite}: {case.name}"}
    if case.place is not None:
        # The name of a refusal ends with its place, which the runner shows itself.
        properties["title"] = properties["title"].removesuffix(f" {case.place}")
        at = {"file": _path(case.place.file), "line": case.place.line, "col": case.place.column + 1}
        properties |= {name: str(value) for name, value in at.items()}
    asked = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {asked}::{_data(case.told)}"


def _path(file: str) -> str:
    """The path within the repository, wherever in it the command runs; else the whole path."""
    path, root = Path(file).absolute(), Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _data(text: str) -> str:
    # The percent sign first: the other escapes have one.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
