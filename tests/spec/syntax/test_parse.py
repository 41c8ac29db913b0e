"""Reading class statements: what is refused at once, and where the carets stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import Record
from lawful.spec.errors import DeclarationError, Place, Problem
from lawful.spec.syntax import tree
from lawful.spec.syntax.declare import declared
from tests.spec import texts

UNKNOWN = ("L201", "missing", "an expected thing", "a rewrite")


def marked(line: str, column: int, end: int, folder: Path) -> list[str]:
    """The two lines that show a stretch of a line of source, columns as `ast` counts them."""
    path = folder / "shown.py"
    path.write_bytes(b"x = 1\n" + line.encode() + b"\n")
    place = Place(str(path), 2, column, 2, end)
    return Problem("L201", place, *UNKNOWN[1:]).render().splitlines()[1:3]


def test_the_caret_stands_under_characters_and_not_under_bytes(tmp_path: Path) -> None:
    line = '    self.x = "äöü" + y'
    column = line.encode().index(b"+ y") + 2
    assert marked(line, column, column + 1, tmp_path) == [
        '    self.x = "äöü" + y',
        "                     ^",
    ]


def test_wide_characters_take_two_columns(tmp_path: Path) -> None:
    line = 'x = "状態" + y'
    column = line.encode().index(b"y")
    shown, carets = marked(line, column, column + 1, tmp_path)
    assert carets.index("^") == shown.index("y") + 2


def test_tabs_are_four_columns(tmp_path: Path) -> None:
    assert marked("\t\tself.x =\ty", 11, 12, tmp_path)[1].endswith("^")


def test_of_a_long_line_the_stretch_round_the_caret_is_shown(tmp_path: Path) -> None:
    line = "x = " + "a + " * 100 + "missing" + " + b" * 100
    column = line.index("missing")
    shown, carets = marked(line, column, column + len("missing"), tmp_path)
    assert len(shown) < 115
    assert shown[carets.index("^") :].startswith("missing")
    assert carets.strip() == "^" * len("missing")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_do_not_matter(newline: str, tmp_path: Path) -> None:
    text = texts.HEAD + texts.body("self.x = missing")
    path = tmp_path / "ends.py"
    path.write_bytes(text.replace("\n", newline).encode())
    with pytest.raises(DeclarationError) as refused:
        _ = texts.last_machine(texts.load(path)).lawful.ir
    shown = str(refused.value).splitlines()
    assert shown[1:3] == ["    self.x = missing", "             ^^^^^^^"]


def test_an_f_string_is_shown_as_a_whole() -> None:
    text = texts.body("require(self.x > 0, f'{self.x} and {missing}')")
    (problem,) = texts.problems(text)
    assert problem.render().splitlines()[2].strip() == "^" * len("f'{self.x} and {missing}'")


def test_syntax_is_judged_when_the_class_is_created() -> None:
    with pytest.raises(DeclarationError) as refused:
        texts.machine(texts.body("with self.x:\n    self.x += 1"))
    assert [p.number for p in refused.value.problems] == ["L102"]


def test_names_and_types_are_judged_at_first_use() -> None:
    cls = texts.machine(texts.body("self.x = missing"))
    for _ in range(2):
        with pytest.raises(DeclarationError) as refused:
            _ = cls.lawful.ir
        assert [p.number for p in refused.value.problems] == ["L201"]
    with pytest.raises(DeclarationError):
        cls()


def test_all_problems_of_a_class_come_at_once_and_in_order() -> None:
    text = """\
        class M(Machine):
            _a: int = 0

            def lawful(self) -> None: ...

            @transition()
            def go(self, *k: int) -> None:
                global total
                self.x = self.x / 2

            x = y = 3
        """
    found = texts.problems(text)
    assert [p.number for p in found] == ["L108", "L108", "L104", "L102", "L103", "L106"]
    assert [p.place.line for p in found] == sorted(p.place.line for p in found)


def test_a_problem_is_told_once() -> None:
    text = texts.body("self.x = missing + missing\nself.x = missing + 1")
    assert [(p.number, p.place.column) for p in texts.problems(text)] == [
        ("L201", 17),
        ("L201", 27),
        ("L201", 17),
    ]


def test_a_class_of_several_lines_is_found() -> None:
    text = """\
        class M(
            Machine,
            abstract=True,
        ):
            x: int = 0

            @transition(
            )
            def go(
                self,
                k: int,
            ) -> None:
                self.x = k
        """
    statement = declared(texts.machine(text))
    assert statement.abstract
    assert [m.params for m in statement.tree.methods] == [("self", "k")]


def test_constants_are_no_fields() -> None:
    text = """\
        from typing import ClassVar, Final

        class M(Machine):
            LOW = 1
            MIDDLE: ClassVar[int] = 2
            HIGH: Final = 3
            x: int = LOW + MIDDLE

            class Inner(Enum):
                A = 1
        """
    statement = declared(texts.machine(text)).tree
    assert [field.name for field in statement.fields] == ["x"]
    assert [name for name, _ in statement.assigned] == ["LOW", "MIDDLE", "HIGH", "Inner"]


def test_the_names_that_a_body_assigns() -> None:
    text = texts.body(
        """\
        a = 1
        (b, self.x) = (2, 3)
        for c in range(3):
            d: int = c
        match a:
            case 1 | 2:
                pass
            case e:
                f = e
        if a > 1:
            g = 2
        a += 1
        """
    )
    (method,) = declared(texts.machine(text)).tree.methods
    assert tree.assigned_names(method.body) == {"a", "b", "c", "d", "e", "f", "g"}


def test_a_record_has_no_equality_of_its_own() -> None:
    def equal(self: object, other: object) -> bool:
        return True

    with pytest.raises(TypeError, match=r"^R\.__eq__: records are equal where all their fields"):
        type("R", (Record,), {"__eq__": equal})
