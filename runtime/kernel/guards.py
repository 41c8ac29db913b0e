"""The exceptions that generated code raises inside a step, and their texts.

A false guard raises `Refusal`, a false assertion or a breach of bounds `Broken`. Whoever runs the
step undoes it and raises the exception that users see. The text of a refusal is made only when it
is read, because callers often only ask whether an event is possible; or before what it shows is
changed back in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.outcomes import Reason, joined
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.text import reasons
from lawful.spec.text.statements import path
from lawful.spec.values.text import text_of

from .signal_handlers import let_out

Said = tuple[str, dict[str, ir.Json]]


@dataclass(frozen=True, slots=True)
class Site:
    """A guard or an assertion in the source; `say` makes its text from the values it read."""

    say: Callable[..., Said]


def worded(transition: str, site: Site, why: str, values: tuple[Any, ...]) -> Reason:
    """Why a transition refuses whose guard at this place is false."""
    clause, named = site.say(*values)
    return Reason(transition, clause, why, named)


class Refusal(Exception):
    """A guard is false, inside a step; `commit.failed` raises it as a `Refused`."""

    def __init__(self, site: Site, why: str, *values: Any) -> None:
        super().__init__()
        self.site = site
        self.why = why
        self.values = values

    def reason(self, transition: str) -> Reason:
        """Why the candidate refuses."""
        return worded(transition, self.site, self.why, self.values)

    def read(self) -> None:
        """Read the values now: containers among them are about to be changed back in place. A value
        without a text is left to who reads the reason."""
        try:
            said = self.site.say(*self.values)
        except Exception as error:
            let_out(error)
        else:
            self.site, self.values = Site(lambda: said), ()


class Broken(Exception):
    """The step breaks a built-in property, inside a step."""

    def __init__(self, name: str, site: Site, *values: Any) -> None:
        super().__init__()
        self.name = name
        self.what = site.say(*values)[0]


class AllRefused(Refusal):
    """All candidates of an event refuse; `rows` are their names and refusals."""

    def __init__(self, rows: Sequence[tuple[str, Refusal]]) -> None:
        super().__init__(NEEDED, "")
        self.rows = tuple(rows)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reason of each candidate."""
        return tuple(refusal.reason(name) for name, refusal in self.rows)

    def read(self) -> None:
        for _, refusal in self.rows:
            refusal.read()

    def reason(self, transition: str) -> Reason:
        given = self.reasons
        if len(given) == 1:
            return Reason(transition, given[0].clause, given[0].why, given[0].values)
        values = {k: v for reason in reversed(given) for k, v in reason.values.items()}
        return Reason(transition, joined(given), "", values)


def plain(value: Any, kind: t.Type) -> ir.Json:
    """The JSON form of a value in a refusal; the text of an opaque value that has no such form."""
    try:
        return reasons.form(value, kind)
    except (TypeError, AttributeError):
        return text_of(value)


def told(value: Any, kind: t.Type) -> str:
    """The text of a value in a refusal."""
    try:
        return reasons.told(value, kind)
    except (TypeError, AttributeError):
        return reasons.text(text_of(value))


# Sites.


def false(test: ir.Expr) -> Site:
    """The site of a guard whose condition may be false."""
    places = reasons.shown(test)

    def say(*values: Any) -> Said:
        both = [(v, e.type) for v, e in zip(values, places, strict=True)]
        forms = [plain(*each) for each in both]
        return reasons.refusal(test, [told(*each) for each in both]), reasons.named(test, forms)

    return Site(say)


def unasserted(test: ir.Expr) -> Site:
    """The site of an assertion that may be false."""
    places = reasons.shown(test)

    def say(*values: Any) -> Said:
        texts = [told(v, e.type) for v, e in zip(values, places, strict=True)]
        return reasons.failure(test, texts), {}

    return Site(say)


def elsewhere(control: ir.Expr, allowed: Sequence[str]) -> Site:
    """The site of a header's `source`: the control state may be another."""
    place = path(control)

    def say(state: Any) -> Said:
        return reasons.source(place, state.name, allowed), {place: state.name}

    return Site(say)


def missing(place: ir.Expr, key: ir.Expr) -> Site:
    """The site of a key that a header names: the family may not have it."""

    def say(value: Any) -> Said:
        values = [plain(value, key.type)] * _count(key)
        return reasons.absent(place, told(value, key.type)), reasons.named(key, values)

    return Site(say)


def _count(key: ir.Expr) -> int:
    return 1 if reasons.shown(key) == (key,) else 0


def not_yet(place: ir.Expr) -> Site:
    """The site of a header's timer: it may not be armed, or not be due."""

    def say(left: float | None) -> Said:
        return reasons.timer(place, None if left is None else reasons.seconds(left)), {}

    return Site(say)


def plain_site(text: str) -> Site:
    """A site whose text needs no values."""
    return Site(lambda: (text, {}))


NEEDED = plain_site("")
