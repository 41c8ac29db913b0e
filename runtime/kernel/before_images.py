"""Before-images: containers as they were before an event that changed them in place.

    counts[at] = n    changes one place of a map, where `was` is recorded
    image             that map, seen through what was recorded

An image costs what was recorded, not what the container holds. It is right while the container
stays as the event left it: an image is a reference, and a step changes no container in place to
which there are others (see `compile.in_place`, which records).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from .dispatch import UNSET

ABSENT: Final = object()  # What is recorded of a key that a map does not have.

# (variable, whether a list loses its first item, place, what was there), and if the container is
# in a map: (key there, the container, the one that it has replaced or UNSET, whether in the map
# that the variable had before the event); of a note of a `write_log` only the key. None where the
# statement did not run.
Recorded = tuple[Any, ...] | None


class BeforeImage:
    """A set or map as it was: `changed` has what was at each place that may differ now, `twice` the
    places that were changed more than once."""

    __slots__ = ("changed", "container", "twice")

    def __init__(self, container: Any) -> None:
        self.container = container
        self.changed: dict[Any, Any] = {}
        self.twice: dict[Any, None] = {}

    def put(self, key: Any, was: Any) -> None:
        """Take what was recorded of a place, ABSENT for none; the earliest is taken last."""
        if key in self.changed:
            self.twice[key] = None
        self.changed[key] = was

    def now(self, key: Any) -> Any:
        """What is at a place now."""
        if self.container.__class__ is set:
            return key if key in self.container else ABSENT
        return self.container.get(key, ABSENT)

    def get(self, key: Any, default: Any = None) -> Any:
        """What was at a place, or the default; an image where it was a container."""
        was = self.changed.get(key, UNSET)
        found = self.now(key) if was is UNSET else was
        return default if found is ABSENT else found

    def __contains__(self, key: object) -> bool:
        return self.get(key, ABSENT) is not ABSENT

    def __len__(self) -> int:
        gone = sum(self.now(key) is not ABSENT for key in self.changed)
        return len(self.container) - gone + sum(w is not ABSENT for w in self.changed.values())

    def differs(self) -> bool:
        """Whether it is another value than the container now."""
        return any(
            was is not (now := self.now(k)) and was != now for k, was in self.changed.items()
        )

    def __eq__(self, other: object) -> bool:
        if other is self.container:
            return not self.differs()
        return bool(self.whole() == other)

    __hash__ = None  # type: ignore[assignment]  # it is a container

    def restored(self) -> Any:
        """The same as `whole`, of a list also where it was equal and had other objects."""
        return self.whole()

    def whole(self) -> Any:
        """A container of its own; the container itself where nothing was changed in place."""
        if all(was is self.now(key) for key, was in self.changed.items()):
            return self.container
        made = self.container.copy()
        for key, was in self.changed.items():
            if made.__class__ is set:
                change = made.discard if was is ABSENT else made.add
                change(key)
            elif was is ABSENT:
                made.pop(key, None)
            else:
                made[key] = whole(was)
        return made


class ListBefore(BeforeImage):
    """A list as it was. `undone`: the places that changed, the last one first, as pairs of what was
    lost at the front and the length without it, or None and the length before an item came."""

    __slots__ = ("undone",)

    def __init__(self, container: list[Any]) -> None:
        super().__init__(container)
        self.undone: list[tuple[list[Any] | None, int]] = []

    def __len__(self) -> int:
        lost, length = self.undone[-1]
        return length + len(lost or ())

    def differs(self) -> bool:
        return self.ends() is not None or self.whole() is not self.container

    def ends(self) -> tuple[int, int] | None:
        """Where the list was changed, and how many items went, if all of it was at one end."""
        lost = [each is not None for each, _ in self.undone]
        if all(lost):
            return 0, len(lost)
        return None if any(lost) else (len(self), 0)

    def restored(self) -> Any:
        made = self.container.copy()
        for lost, length in self.undone:
            if lost is None:
                del made[length:]
            elif not made[length:]:
                made[:0] = lost
        return made

    def whole(self) -> Any:
        made = self.restored()
        return self.container if made == self.container else made


def whole(value: Any) -> Any:
    """A value, or what an image shows in a container of its own."""
    return value.whole() if isinstance(value, BeforeImage) else value


def images(olds: Iterable[tuple[str, Any]], records: Iterable[Recorded]) -> dict[str, BeforeImage]:
    """The image of each container of which a place was recorded, by the variable; `olds` are the
    containers that the variables had before the event."""
    held = dict(olds)
    made: dict[str, BeforeImage] = {}
    for variable, pops, at, was, *inner in _last_first(records):
        image = made.setdefault(variable, _image_of(held[variable]))
        if not inner:
            _record(image, pops, at, was)
            continue
        if len(inner) == 1:  # Later notes have told what replaced the container.
            there = image.get(inner[0], ABSENT)
            if not isinstance(there, BeforeImage):
                there = _image_of(there)
                image.put(inner[0], there)
            _record(there, pops, at, was)
            continue
        key, holder, replaced, in_old = inner
        if replaced is not UNSET:
            if in_old:
                image.put(key, replaced)
            continue
        there = image.get(key, ABSENT)
        if there is holder:
            there = _image_of(holder)
            image.put(key, there)
        if isinstance(there, BeforeImage) and there.container is holder:
            _record(there, pops, at, was)
    return made


def single_places(
    variables: Sequence[str],
    olds: Sequence[Any],
    news: Sequence[Any],
    records: Sequence[Recorded],
) -> dict[str, Recorded] | None:
    """What was recorded of each variable, if that is one place of its container, and the variable
    has the same one before and after; None if some variable is otherwise."""
    single: dict[str, Recorded] = {}
    for row in records:
        if row is None:
            continue
        name = row[0]
        at = variables.index(name)
        if len(row) != 4 or name in single or olds[at] is not news[at]:
            return None
        single[name] = row
    return single


def _last_first(records: Iterable[Recorded]) -> Iterator[tuple[Any, ...]]:
    yield from reversed([each for each in records if each is not None])


def _image_of(container: Any) -> BeforeImage:
    return ListBefore(container) if container.__class__ is list else BeforeImage(container)


def _record(image: BeforeImage, pops: bool, at: Any, was: Any) -> None:
    if isinstance(image, ListBefore):
        image.undone.append((at if pops else None, was))
    elif image.container.__class__ is set:
        image.put(at, at if was else ABSENT)
    else:
        image.put(at, was)
