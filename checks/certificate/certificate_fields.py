"""The fields of a certificate and their types: anybody may have written the file."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

Fields = Mapping[str, tuple[type, ...]]

WHOLE: Fields = {"machine": (str,), "fingerprint": (str,), "given": (list,), "any_size": (list,)}
STATES: Fields = {
    "engine": (str,),
    "complete": (bool,),
    "distinct": (int,),
    "generated": (int,),
    "depth": (int,),
    "cuts": (int,),
    "sha256": (str,),
    "verdicts": (dict,),
}
PROOFS: Fields = {"second": (str, NoneType), "properties": (dict,), "scripts": (list,)}
PROPERTY: Fields = {"verdict": (str,), "method": (str,), "covers": (str,)}
SCRIPT: Fields = {"file": (str,), "answer": (str, NoneType)}


def is_well_formed(kept: Any) -> bool:
    """Whether the JSON value has the fields that verification reads, each of its type."""
    if not _has(kept, WHOLE) or not {"states", "proofs"} & kept.keys():
        return False
    if not all(isinstance(text, str) for text in (*kept["given"], *kept["any_size"])):
        return False
    if "states" in kept and not _has(kept["states"], STATES):
        return False
    if "proofs" not in kept:
        return True
    proofs = kept["proofs"]
    return (
        _has(proofs, PROOFS)
        and all(_has(row, PROPERTY) for row in proofs["properties"].values())
        and all(_has(row, SCRIPT) for row in proofs["scripts"])
    )


def _has(row: Any, fields: Fields) -> bool:
    return isinstance(row, dict) and all(
        name in row and isinstance(row[name], kinds) for name, kinds in fields.items()
    )
