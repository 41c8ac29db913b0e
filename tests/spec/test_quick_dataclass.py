"""Quick dataclasses behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from lawful.spec import ir, quick_dataclass
from lawful.spec import types as t
from lawful.spec.errors import Place

HERE = Place("a.py", 1, 0, 1, 5)


def _made(dataclass: Any) -> tuple[Any, ...]:
    """A frozen base, a class derived from it, an empty one, and a mutable one."""

    @dataclass(frozen=True, slots=True)
    class Base:
        place: int = dataclasses.field(compare=False, repr=False)

    @dataclass(frozen=True, slots=True)
    class Derived(Base):
        args: tuple[int, ...]
        most: int | None = None

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass
    class Mutable:
        name: str
        seen: list[int] = dataclasses.field(default_factory=list[int])
        times: int = 3
        twice: int = dataclasses.field(init=False)

        def __post_init__(self) -> None:
            self.times *= 2
            self.twice = 2 * self.times

    @dataclass
    class Named(Mutable):
        who: str = dataclasses.field(kw_only=True)
        where: str = dataclasses.field(default="", kw_only=True)

    @dataclass
    class Plain:
        name: str
        times: int = 3

    return Base, Derived, Empty, Mutable, Named, Plain


def _results(made: tuple[Any, ...]) -> list[object]:
    """What their functions return, in every form in which they are used."""
    base, derived, empty, mutable, named, plain = made
    one, like, other = derived(1, (2,)), derived(9, args=(2,)), derived(1, (2,), most=4)
    changed = mutable("m")
    changed.seen.append(5)
    changed.times = 7
    keyed = named("m", times=1, who="w")
    return [
        (one == like, one == other, one == base(1), base(1) == base(2), empty() == empty()),
        (one != like, one != other, empty() != one, one.__eq__(3) is NotImplemented),
        (hash(one) == hash(like), hash(one) == hash(((2,), None)), hash(empty()) == hash(())),
        [repr(each).rpartition(".")[2] for each in (one, other, base(1), empty(), changed, keyed)],
        (changed == mutable("m", [5], 7), changed == mutable("m"), mutable.__hash__),
        (keyed == named("m", times=1, where="", who="w"), keyed == named("m", times=1, who="")),
        [[f.name for f in dataclasses.fields(each)] for each in made],
        [each.__match_args__ for each in made],
        dataclasses.asdict(dataclasses.replace(one, most=8)),
        (copy.copy(one), copy.deepcopy(other)) == (one, other),
        [getattr(each, "__slots__", None) for each in made],
        [dataclasses.is_dataclass(each) for each in made],
        [mutable("m").times, mutable("m", times=1).times],
        [vars(plain("p")), vars(plain(times=1, name="p")), plain("p") == plain("p", 3)],
        [_refused(of) for of in (derived, base, plain, empty, named)],
    ]


def _refused(made: Any) -> str:
    """What a class says to arguments that it does not take."""
    with pytest.raises(TypeError) as found:
        made(1, 2, 3, 4, 5, 6)
    with pytest.raises(TypeError) as missing:
        made(twice=2)
    return f"{found.value} {missing.value}".replace("test_quick_dataclass.", "")


def test_they_do_what_the_standard_ones_do() -> None:
    assert _results(_made(quick_dataclass.dataclass)) == _results(_made(dataclasses.dataclass))


@pytest.mark.parametrize("dataclass", [quick_dataclass.dataclass, dataclasses.dataclass])
def test_they_refuse_what_the_standard_ones_refuse(dataclass: Any) -> None:
    base, derived, _, mutable, named, _ = _made(dataclass)
    made = derived(1, (2,))
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'most'"):
        made.most = 3
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'most'"):
        del made.most
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'args'"):
        derived(1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        mutable("m", other=1)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        base(1, 2)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'who'"):
        named("m")
    with pytest.raises(TypeError, match="takes from 2 to 4 positional arguments but 5 were given"):
        named("m", [], 3, "w")
    with pytest.raises(TypeError, match="unexpected keyword argument 'twice'"):
        mutable("m", twice=2)
    assert (made.args, made.most) == ((2,), None)


def test_a_node_survives_pickling() -> None:
    node = ir.Op(HERE, t.INT, "add", (ir.Const(HERE, t.INT, 1), ir.Local(HERE, t.INT, "x")))
    back = pickle.loads(pickle.dumps(node))
    assert (back, back.place, back.args[0].place) == (node, HERE, HERE)


def test_a_frozen_class_without_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="a frozen class needs slots=True"):
        quick_dataclass.dataclass(frozen=True)


@pytest.mark.parametrize("dataclass", [quick_dataclass.dataclass, dataclasses.dataclass])
def test_what_is_no_field_is_left_to_the_standard_ones(
    dataclass: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read annotations once more takes as long as to make the class; so does a second look."""
    asked, standard = list[dict[str, Any]](), dataclasses.dataclass

    def noted(*args: Any, **options: Any) -> Any:
        asked.append(options)
        return standard(*args, **options)

    _made(quick_dataclass.dataclass)
    monkeypatch.setattr(dataclasses, "dataclass", noted)
    _made(quick_dataclass.dataclass)
    assert [each["slots"] for each in asked] == [False, False, False]  # Those without slots.

    @dataclass(frozen=True, slots=True)
    class Counted:
        most: ClassVar[int] = 3
        least: int = 1

    assert [f.name for f in dataclasses.fields(Counted)] == ["least"]
    assert (Counted.most, Counted(), Counted.__match_args__) == (3, Counted(1), ("least",))
    with pytest.raises(ValueError, match="mutable default"):

        @dataclass(frozen=True, slots=True)
        class _:
            all: list[int] = []  # That is what is refused.

    with pytest.raises(TypeError, match="'some' is a field but has no type annotation"):

        @dataclass(frozen=True, slots=True)
        class _Unannotated:
            some = dataclasses.field(default=1)


def test_functions_are_compiled_when_they_are_called() -> None:
    _, derived, _, _, _, _ = _made(quick_dataclass.dataclass)
    names = ("__init__", "__eq__", "__hash__")
    before = [getattr(derived, name).__code__ for name in names]
    made = derived(1, (2,))
    assert made == derived(1, (2,))
    after = [getattr(derived, name).__code__ for name in names]
    assert [old is new for old, new in zip(before, after, strict=True)] == [False, False, True]
