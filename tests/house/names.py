"""Rules about names of modules: nouns of the field, each with one concern."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from .sources import FOLDERS, Source, python

# Participles and adverbs that stood for nouns, or would.
NO_NOUNS = frozenset(
    re.findall(
        r"\w+",
        """told taken made standing beside outside near nearest again happened passing putting asked
        given known found said left remembered established forever covers unfenced""",
    )
)
# These say the same in every package: which part of the language, or of a machine, is meant.
EVERYWHERE = frozenset(
    re.findall(
        r"\w+",
        """__init__ arguments bounds clocks collections comprehensions constants
        expressions fairness graph growth header headers instances lasso limits mapping
        migration module names operators outcome parts places prelude properties
        refinement result sequences sorts states statements steps text time values verdicts""",
    )
)
ENGINES = tuple(folder for folder in FOLDERS if folder != "machines")  # Five systems, one form.


def modules_are_nouns(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, FOLDERS):
        if PurePosixPath(s.path).stem in NO_NOUNS:
            yield f"{s.path}: name what is in it, by a noun of the field"


def a_name_has_one_concern(sources: Sequence[Source]) -> Iterator[str]:
    """In `checks/report` a module has the name of what it reports."""
    paths: dict[str, list[str]] = defaultdict(list)
    for s in python(sources, ENGINES):
        if not s.path.startswith("checks/report/"):
            paths[PurePosixPath(s.path).stem].append(s.path)
    for name, found in sorted(paths.items()):
        if len(found) > 1 and name not in EVERYWHERE:
            yield f"{', '.join(found)}: one name, two concerns; or put it into EVERYWHERE"
