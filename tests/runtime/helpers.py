"""What several tests of the executor need."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lawful import Refused


def refused(call: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as caught:
        call()
    return caught.value
