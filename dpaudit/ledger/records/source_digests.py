"""Which code wrote a ledger: SHA-256 of sources, so that the code that was audited can be held beside the code that released.

The digest of a file is SHA-256 of its bytes. The digest of a folder is SHA-256 over its Python files, sorted by path: for each
one its path inside the folder in UTF-8, a zero byte, and the 32 bytes of the file's digest. No path or name is kept.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from dpaudit.claims import InvalidValue


def sources(subject: str | Path | None = None) -> dict[str, str]:
    """Digests of dpaudit itself and of ``subject``, the file or folder of the algorithm. Raises InvalidValue."""
    digests = {"dpaudit": _own_digest()}
    if subject is not None:
        try:
            digests["subject"] = digest(Path(subject))
        except OSError as error:
            raise InvalidValue("code", str(subject), f"a file or folder of Python code ({error.strerror})") from None
    return digests


def digest(path: Path) -> str:
    """Of a file, or of all Python files of a folder. Raises OSError."""
    if not path.is_dir():
        return sha256(path.read_bytes()).hexdigest()
    whole = sha256()
    for name in sorted(file.relative_to(path).as_posix() for file in path.rglob("*.py") if file.is_file()):
        whole.update(name.encode() + b"\x00" + sha256((path / name).read_bytes()).digest())
    return whole.hexdigest()


@lru_cache(maxsize=1)
def _own_digest() -> str:
    """Of the code that this process runs: read once, as it was loaded once."""
    return digest(Path(__file__).resolve().parents[2])


@lru_cache(maxsize=1)
def version() -> str:
    """Of the dpaudit that is installed; empty when it runs without being installed."""
    try:
        return metadata.version("dpaudit")
    except metadata.PackageNotFoundError:
        return ""


def is_sources(value: object) -> bool:
    """Names and digests, as ``sources`` writes them?"""
    if not isinstance(value, dict) or not value.keys() <= {"dpaudit", "subject"}:
        return False
    return all(type(text) is str and len(text) == 64 and set(text) <= set("0123456789abcdef") for text in value.values())
