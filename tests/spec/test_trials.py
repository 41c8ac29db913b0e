"""A body is resolved once to find the types of its locals, and again: the first leaves no trace."""

from __future__ import annotations

import dataclasses
from typing import Any

from lawful.spec import types as t
from lawful.spec.resolve.context import Body
from lawful.spec.resolve.short_forms.later_types import trial_of


def test_a_trial_shares_nothing_that_changes() -> None:
    """Neither knows what is put into a container of the other."""
    nothing: Any = None
    body = Body(nothing, nothing, object, "transition", t.NOTHING)
    trial = trial_of(body)
    held = {f.name: getattr(body, f.name) for f in dataclasses.fields(Body)}
    changing = {name for name, value in held.items() if isinstance(value, dict | set | list)}
    changing -= {"names", "expected"}  # These are read alone.
    assert len(changing) == 13
    assert [name for name in sorted(changing) if getattr(trial, name) is held[name]] == []
    assert all(getattr(trial, name) == value for name, value in held.items())
