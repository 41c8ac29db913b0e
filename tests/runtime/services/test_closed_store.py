"""A store that was closed: each use of it is a StoreError, and its instances go on unkept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lawful import Machine
from lawful.runtime.store import Store, StoreError
from tests.runtime.services.test_store import Other, Post


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / "kept.db")
    other, post = store.add(Other(), "o"), store.add(Post(), "p")
    post.put(b"one")
    other.add(1)
    store.close()
    store.close()
    heard: list[str] = []
    events: list[tuple[Machine, Callable[[], object]]] = [
        (other, lambda: other.add(2)),
        (post, lambda: post.put(b"two")),
    ]
    for machine, event in events:
        event()  # The instance goes on, and is kept nowhere.
        machine.lawful.observe(lambda done: heard.append(done.event))
        event()
    assert (other.first, post.letters) == (10, [b"one", b"two", b"two"])
    assert heard == ["add", "put"]
    uses: list[Callable[[], object]] = [
        lambda: store.add(Post(), "q"),
        lambda: store.restore(Post, "p"),
        lambda: store.snapshot("p"),
        lambda: store.release("p"),
        lambda: store.remove("p"),
        lambda: store.events("p"),
        lambda: list(store.due(Post)),
        lambda: "p" in store,
        store.names,
        store.prune,
    ]
    for use in uses:
        with pytest.raises(StoreError, match=r"^the store is closed: open it anew$"):
            use()
