"""Ed25519 keys in PEM files, as ``dpaudit keygen`` writes them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from dpaudit.claims import DpauditError

LARGEST_KEY = 10_000


def read_private_key(path: str | Path) -> Ed25519PrivateKey:
    """Raises DpauditError for what holds none and for a file that others can read; OSError if it cannot be read."""
    _refuse_readable(Path(path))
    key = _load_key(path, lambda data: load_pem_private_key(data, None))
    if not isinstance(key, Ed25519PrivateKey):
        raise _wrong(path)
    return key


def read_public_key(path: str | Path) -> Ed25519PublicKey:
    """Raises DpauditError for what holds none; OSError if it cannot be read."""
    key = _load_key(path, load_pem_public_key)
    if not isinstance(key, Ed25519PublicKey):
        raise _wrong(path)
    return key


def read_key_pair(path: str | Path) -> tuple[Ed25519PublicKey, Ed25519PrivateKey | None]:
    """The key of a file of either kind, as what it verifies with, and as what it signs with where it can."""
    place = Path(path)
    if place.is_file() and b"PRIVATE KEY" in place.read_bytes()[:LARGEST_KEY]:
        private = read_private_key(place)
        return private.public_key(), private
    return read_public_key(place), None


def _refuse_readable(place: Path) -> None:
    """A key that others can read may have signed anything. Where a file system knows no owners, nothing can be said."""
    if os.name == "posix" and place.is_file() and place.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise DpauditError(f"{place.name} holds a private key that others can read: chmod 600 it, or make a new one")


def _wrong(path: str | Path) -> DpauditError:
    return DpauditError(f"{path} holds no Ed25519 key of the right kind; make one with dpaudit keygen")


def _load_key(path: str | Path, load: Callable[[bytes], object]) -> object:
    place = Path(path)
    if place.exists() and (not place.is_file() or place.stat().st_size > LARGEST_KEY):
        raise DpauditError(f"{path} holds no Ed25519 key: it is not a file of at most {LARGEST_KEY} bytes")
    data = place.read_bytes()
    try:
        return load(data)
    except (ValueError, TypeError):
        return None
    except Exception as error:  # cryptography raises its own types for other kinds of keys
        raise DpauditError(f"{path} holds no Ed25519 key that dpaudit can read ({type(error).__name__})") from error
