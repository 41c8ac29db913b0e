"""The page of the explorer, live or as one file. It loads nothing from elsewhere.

All that comes from a declaration reaches the page as JSON, and its script writes it as text. The
page's policy admits only its own script and style, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tempfile
from html import escape
from importlib.resources import files
from pathlib import Path

from lawful.diagrams import dot, render
from lawful.spec import ir

SELF, NONE = "'self'", "'none'"
SEPARATOR = re.compile("</(script|style)", re.IGNORECASE)


def diagram(machine: ir.Machine) -> str:
    """The state diagram as SVG; a note as HTML where Graphviz is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "diagram.svg"
        try:
            render.graph(lambda dpi: dot.text(machine, dpi), path, "svg")
        except render.RenderError as error:
            return f"<p>No diagram: {escape(str(error))}.</p>"
        picture = path.read_text(encoding="utf-8")
    return picture[picture.index("<svg") :]


def page(title: str, picture: str, data: dict[str, ir.Json], *, live: bool) -> str:
    """The HTML text. `data` is what the script reads; a live page may ask its server for more."""
    style, script = _beside("explorer.css"), _beside("message_lanes.js") + _beside("explorer.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        f"connect-src {SELF if live else NONE}; "
        "base-uri 'none'; form-action 'none'"
    )
    inside = json.dumps(data).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n"
        f'<body><main id="main"></main><template id="picture">{picture}</template>\n'
        f'<script type="application/json" id="data">{inside}</script>\n'
        f"<script>{script}</script></body></html>\n"
    )


def _beside(name: str) -> str:
    text = files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
    assert SEPARATOR.search(text) is None
    return text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
