"""The ownership of a queue as its callers see it: what exploration finds."""

from __future__ import annotations

import pytest

from lawful.machines.queue_cluster.subscribers import SubscribersFixed, SubscribersInTime
from tests.machines.checked import checked, counts


def test_everything_is_as_expected() -> None:
    assert counts(checked(SubscribersFixed)) == (535, 4_763, 16)


@pytest.mark.nightly
def test_slices_have_their_length() -> None:
    assert counts(checked(SubscribersInTime)) == (9_324, 127_427, 18)
