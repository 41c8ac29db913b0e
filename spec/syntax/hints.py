"""The annotations of classes and functions, on every version of Python, and defaults.

Since Python 3.14 annotations are evaluated when they are read; before, where they stand. A name
that means nothing yet is a `ForwardRef` since then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any


def defaults_of(function: Callable[..., Any] | None) -> Mapping[str, Any]:
    """The values of the parameters that a call may leave out."""
    if not isinstance(function, FunctionType):
        return {}
    of: FunctionType = function
    given, named = of.__defaults__ or (), of.__kwdefaults__ or {}
    positional = of.__code__.co_varnames[: of.__code__.co_argcount]
    both = zip(positional[len(positional) - len(given) :], given, strict=True)
    return {**dict(both), **named}


def keyword_only(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters that a call gives by name."""
    code = function.__code__
    start = code.co_argcount
    return frozenset(code.co_varnames[start : start + code.co_kwonlyargcount])


if sys.version_info >= (3, 14):
    import annotationlib

    def hints_of(of: type[Any] | Callable[..., Any]) -> Mapping[str, Any]:
        """The annotations that stand in the class itself, or in the function."""
        return annotationlib.get_annotations(of, format=annotationlib.Format.FORWARDREF)

    def names_with_hints(space: Mapping[str, Any]) -> Iterable[str]:
        """The names that a class statement annotates, given what it has defined."""
        evaluate = annotationlib.get_annotate_from_class_namespace(space)
        if evaluate is None:
            return space.get("__annotations__", ())
        return annotationlib.call_annotate_function(evaluate, annotationlib.Format.STRING)

else:

    def hints_of(of: type[Any] | Callable[..., Any]) -> Mapping[str, Any]:
        """The annotations that stand in the class itself, or in the function."""
        found: Mapping[str, Any] = vars(of).get("__annotations__", {})
        return found if isinstance(of, type) else of.__annotations__

    def names_with_hints(space: Mapping[str, Any]) -> Iterable[str]:
        """The names that a class statement annotates, given what it has defined."""
        found: Iterable[str] = space.get("__annotations__", ())
        return found
