"""The documentation as a site: `make site` writes it into `out/site`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer

import lawful

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "lawful"
author = "lawful contributors"
version = release = lawful.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "lawful"
html_copy_source = False
myst_heading_anchors = 4  # A link to `page.md#section` finds its heading, as on a code host.
autodoc_member_order = "bysource"

CODE = re.compile(r"`([^`]+)`")


def as_restructured(*given: Any) -> None:
    """Docstrings are plain text: `code` in backticks, and examples that are indented."""
    lines: list[str] = given[-1]  # Sphinx also gives what is documented, and how.
    out: list[str] = []
    for line in lines:
        indented = line.startswith("    ")
        if indented and out and not out[-1].strip():
            out += ["::", ""]
        out.append(line if indented else CODE.sub(r"``\1``", line).replace("*", r"\*"))
    lines[:] = out


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", as_restructured)
    for kind in ("mermaid", "csv"):  # Pygments has no lexer for them.
        app.add_lexer(kind, TextLexer)
