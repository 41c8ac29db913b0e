"""Long lines of shown text, broken as Python allows: inside brackets, at commas, `and`, `or`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

WIDTH = 100
INDENT = "    "
SPLITS = (", ", " | ", " or ", " and ")


def wrapped(line: str) -> list[str]:
    """The line, or lines that mean the same and are not wider than `WIDTH`, where that can be."""
    if len(line) <= WIDTH:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    word, rest = _statement(line)
    if any(len(_split(rest, separator)) > 1 for separator in SPLITS):
        line = f"{word}({rest})"  # What is split at its own level is put into brackets first.
    for start, end in reversed(_outermost(line)):
        head, body, tail = line[: start + 1], line[start + 1 : end], line[end:]
        if body and len(head) <= WIDTH and len(indent + tail) <= WIDTH:
            return [head, *_broken(body, indent + INDENT), indent + tail]
    return [line]


def _statement(line: str) -> tuple[str, str]:
    """A line as what leads an expression, and the expression; nothing where that is not one."""
    for word in ("return ", "assert ", " = "):
        before, found, rest = line.partition(word)
        if found and (word == " = " or not before.strip()) and not set(before) & set('"(['):
            return before + word, rest
    return line, ""


def _broken(body: str, indent: str) -> list[str]:
    """The content of brackets, indented: on one line, or split at its loosest separator."""
    if len(indent + body) <= WIDTH:
        return [indent + body]
    for separator in SPLITS:
        parts = _split(body, separator)
        if len(parts) > 1:
            return list(_rows(parts, separator, indent))
    return wrapped(indent + body)


def _rows(parts: Sequence[str], separator: str, indent: str) -> Iterator[str]:
    comma = separator == ", "
    for i, part in enumerate(parts):
        before = separator.lstrip() if i and not comma else ""
        after = "," if comma and i + 1 < len(parts) else ""
        yield from wrapped(f"{indent}{before}{part}{after}")


def _outermost(line: str) -> list[tuple[int, int]]:
    """The positions of the outermost brackets."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for at, char in _code(line):
        if char in "([{":
            opened.append(at)
        elif char in ")]}" and opened:
            start = opened.pop()
            if not opened:
                found.append((start, at))
    return found


def _split(text: str, separator: str) -> list[str]:
    """The text, split at each separator outside brackets and strings."""
    parts: list[str] = []
    depth = begun = 0
    for at, char in _code(text):
        depth += (char in "([{") - (char in ")]}")
        if not depth and at >= begun and text.startswith(separator, at):
            parts.append(text[begun:at])
            begun = at + len(separator)
    return [*parts, text[begun:]]


def _code(text: str) -> Iterator[tuple[int, str]]:
    """The characters outside of strings, with their places."""
    inside = escaped = False
    for at, char in enumerate(text):
        if char == '"' and not escaped:
            inside = not inside
        elif not inside:
            yield at, char
        escaped = inside and char == "\\" and not escaped
