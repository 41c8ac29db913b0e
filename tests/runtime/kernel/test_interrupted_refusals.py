"""A refusal whose wording is interrupted is worded when it is read again."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from lawful import Machine, Nat, Refused, require, transition
from lawful.spec import outcomes


class Till(Machine):
    n: Nat = 0

    @transition
    def put(self, x: Nat) -> None:
        require(x < 3, "it is small")
        self.n += x


class Interrupt(BaseException):
    """In the place of a signal."""


def refused() -> Refused:
    with pytest.raises(Refused) as caught:
        Till().put(9)
    return caught.value


@pytest.mark.parametrize("number", range(12))
def test_it_is_worded_anew(number: int) -> None:
    lines = 0

    def inside(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != outcomes.__file__:
            return None
        if what == "line":
            lines += 1
            if lines == number + 1:
                raise Interrupt
        return inside

    error = refused()
    before = sys.gettrace()
    sys.settrace(inside)
    try:
        str(error)
    except Interrupt:
        pass
    finally:
        sys.settrace(before)
    assert str(error) == "put: it is small (9 < 3 is false)"
    assert (error.event, len(error.reasons)) == ("put", 1)
    assert lines > number
