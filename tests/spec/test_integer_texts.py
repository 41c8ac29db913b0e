"""Integers as texts: every integer has one, whatever the limit of Python's own texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.spec.integer_texts import BITS, beyond, is_text, read, written


@pytest.fixture
def least() -> Iterator[int]:
    """The least limit that Python has: of 640 digits."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.str_digits_check_threshold)
    yield sys.int_info.str_digits_check_threshold
    sys.set_int_max_str_digits(before)


@settings(max_examples=200)
@given(st.integers(0, 20_000), st.integers(-2, 2), st.sampled_from((1, -1)))
def test_a_text_gives_the_integer_back(bits: int, more: int, sign: int) -> None:
    value = sign * ((1 << bits) + more)
    assert read(written(value)) == value
    assert is_text(written(value))


def test_texts_do_not_depend_on_the_limit(least: int) -> None:
    largest = (1 << BITS) - 1
    assert (written(largest), len(written(largest))) == (str(largest), 640)
    assert written(largest + 1) == f"0x4{'0' * (BITS // 4)}"
    assert written(-largest - 1) == f"-0x4{'0' * (BITS // 4)}"
    assert [read(written(each)) for each in (largest, -largest - 1)] == [largest, -largest - 1]
    with pytest.raises(ValueError, match=r'more than 640 digits.*write it as {"\$int": "0x..."}'):
        read("1" * (least + 1))


@pytest.mark.parametrize(
    "text", ["", "-", "-0", "01", "0x", "0x0", "0x01", "0xAB", "1e5", " 1", "-0x"]
)
def test_other_texts_are_none(text: str) -> None:
    assert not is_text(text)
    with pytest.raises(ValueError, match="expected the digits of an integer, found"):
        read(text)


def test_the_words_name_the_limit() -> None:
    assert beyond().startswith("an integer of more than 4,300 digits, which Python does not read:")
