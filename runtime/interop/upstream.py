"""The classes of transitions' extensions that classes here are derived from."""

from transitions.extensions.asyncio import AsyncEvent, AsyncMachine, AsyncTransition
from transitions.extensions.locking import LockedEvent, LockedMachine

__all__ = ["AsyncEvent", "AsyncMachine", "AsyncTransition", "LockedEvent", "LockedMachine"]
