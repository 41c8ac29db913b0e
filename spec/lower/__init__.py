"""Lowering: typed IR -> `Flat` for engines that explore, `Sized` for those that prove."""

from .pipeline import PASSES, PROOF_PASSES, REPLAY_PASSES, lower, sized
from .proof_sizes import Sized

__all__ = ["PASSES", "PROOF_PASSES", "REPLAY_PASSES", "Sized", "lower", "sized"]
