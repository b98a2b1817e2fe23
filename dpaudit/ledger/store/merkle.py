"""The Merkle tree of RFC 6962 over a ledger's entries: an incremental root, and proofs of inclusion."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def leaf_hash(entry: bytes) -> bytes:
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class MerkleTree:
    """Holds the roots of its complete subtrees, largest first: O(log n) memory, O(1) amortised per entry."""

    def __init__(self) -> None:
        self.size = 0
        self._roots: list[bytes] = []
        self._root: bytes | None = None  # of the entries so far, once it was asked for

    def append(self, entry: bytes) -> None:
        node, full = sha256(b"\x00" + entry).digest(), self.size
        while full & 1:
            node = sha256(b"\x01" + self._roots.pop() + node).digest()
            full >>= 1
        self._roots.append(node)
        self._root = None
        self.size += 1

    def root(self) -> bytes:
        """RFC 6962, section 2.1: the hash of the empty string for no entries."""
        if self._root is None:
            node = self._roots[-1] if self._roots else sha256(b"").digest()
            for left in reversed(self._roots[:-1]):
                node = sha256(b"\x01" + left + node).digest()
            self._root = node
        return self._root

    @property
    def frontier(self) -> list[bytes]:
        """The roots of the complete subtrees: all that is needed to go on."""
        return list(self._roots)

    @classmethod
    def resumed(cls, size: int, frontier: Sequence[bytes]) -> MerkleTree:
        """The tree of so many entries, whose complete subtrees have these roots. Raises ValueError."""
        if size < 0 or len(frontier) != size.bit_count() or any(len(root) != 32 for root in frontier):
            raise ValueError
        tree = cls()
        tree.size, tree._roots = size, list(frontier)
        return tree

    def copy(self) -> MerkleTree:
        twin = MerkleTree()
        twin.size, twin._roots = self.size, list(self._roots)
        return twin


def tree_root(entries: Sequence[bytes]) -> bytes:
    tree = MerkleTree()
    for entry in entries:
        tree.append(entry)
    return tree.root()


def inclusion_proof(entries: Sequence[bytes], index: int) -> list[bytes]:
    """The audit path of RFC 6962, section 2.1.1, from the leaf upwards. Raises IndexError."""
    if not 0 <= index < len(entries):
        raise IndexError(index)
    if len(entries) == 1:
        return []
    split = 1 << (len(entries) - 1).bit_length() - 1  # the largest power of two below the size
    if index < split:
        return [*inclusion_proof(entries[:split], index), tree_root(entries[split:])]
    return [*inclusion_proof(entries[split:], index - split), tree_root(entries[:split])]


def is_included(entry: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """RFC 9162, section 2.1.3.2: does the proof show the entry at ``index`` of such a tree?"""
    if not 0 <= index < size:
        return False
    node, place, last = leaf_hash(entry), index, size - 1
    for sibling in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            node = node_hash(sibling, node)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and node == root
