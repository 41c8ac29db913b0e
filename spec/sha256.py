"""SHA-256 (FIPS 180-4). Its library is loaded for the first that somebody asks for: most checks ask
for none, and loading it takes some of the time that a small one has."""

from __future__ import annotations


def digest(content: bytes) -> bytes:
    """The 32 bytes for this content."""
    import hashlib

    return hashlib.sha256(content).digest()


def hexdigest(content: bytes) -> str:
    """The same as 64 characters."""
    return digest(content).hex()
