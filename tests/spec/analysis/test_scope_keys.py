"""The keys of a scope for each type inside a type."""

from __future__ import annotations

from lawful.spec import types as t
from lawful.spec.analysis.scope_keys import Keys, with_keys

WORDS = t.Seq(t.Seq(t.INT, mutable=False), mutable=True)
LINE = t.Record("Line", (("words", WORDS), ("n", t.INT)))
PAGE = t.Map(t.BOOL, t.union((LINE, t.NOTHING)), mutable=True)


def test_each_type_is_met_with_its_keys_from_the_outside_in() -> None:
    met: list[tuple[str, Keys]] = []

    def note(kind: t.Type, keys: Keys) -> t.Type:
        met.append((str(kind), keys))
        return kind

    own, words = ("M.page", "page"), ("Line.words", "words")
    assert with_keys(PAGE, own, note) == PAGE
    assert met == [
        (str(PAGE), own),
        ("bool", own),
        (str(t.union((LINE, t.NOTHING))), own),
        ("Line", own),
        (str(WORDS), words),
        (str(WORDS.item), ("Line.words.item", "words.item")),
        ("int", ("Line.words.item.item", "words.item.item")),
        ("int", ("Line.n", "n")),
        ("None", own),
    ]


def test_what_is_changed_is_inside_the_new_type() -> None:
    def short(kind: t.Type, keys: Keys) -> t.Type:
        return t.Seq(kind.item, kind.mutable, len(keys[-1])) if isinstance(kind, t.Seq) else kind

    inner = t.Seq(t.INT, mutable=False, most=len("words.item"))
    line = t.Record("Line", (("words", t.Seq(inner, mutable=True, most=5)), ("n", t.INT)))
    assert with_keys(PAGE, ("page",), short) == t.Map(
        t.BOOL, t.union((line, t.NOTHING)), mutable=True
    )
