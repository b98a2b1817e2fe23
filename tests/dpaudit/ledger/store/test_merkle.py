"""The tree against RFC 6962's own recursive definition and published test vectors."""

from __future__ import annotations

from hashlib import sha256

import pytest

from dpaudit.ledger import inclusion_proof, is_included
from dpaudit.ledger.store.merkle import MerkleTree, tree_root

# Leaves and roots of the reference implementation (google/certificate-transparency, merkle_tree_test).
VECTORS = [
    bytes.fromhex(h)
    for h in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def by_definition(entries: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word for word."""
    if not entries:
        return sha256().digest()
    if len(entries) == 1:
        return sha256(b"\x00" + entries[0]).digest()
    split = 1
    while 2 * split < len(entries):
        split *= 2
    return sha256(b"\x01" + by_definition(entries[:split]) + by_definition(entries[split:])).digest()


def test_roots_are_those_of_the_reference_implementation() -> None:
    tree = MerkleTree()
    for entry, root in zip(VECTORS, ROOTS, strict=True):
        tree.append(entry)
        assert tree.root().hex() == root


@pytest.mark.parametrize("size", [*range(18), 63, 64, 65, 100])
def test_the_incremental_root_follows_the_recursive_definition(size: int) -> None:
    entries = [b"entry %d" % i for i in range(size)]
    assert tree_root(entries) == by_definition(entries)


@pytest.mark.parametrize("size", range(1, 18))
def test_inclusion_is_proven_for_the_right_entry_place_and_root_only(size: int) -> None:
    entries = [b"entry %d" % i for i in range(size)]
    root = tree_root(entries)
    for index, entry in enumerate(entries):
        proof = inclusion_proof(entries, index)
        assert is_included(entry, index, size, proof, root)
        assert not is_included(b"another", index, size, proof, root)
        assert not is_included(entry, index, size, proof, bytes(32))
        assert not is_included(entry, index, size, [*proof, bytes(32)], root)
        assert not is_included(entry, index + size, size, proof, root)
        if size > 1:
            assert not is_included(entry, (index + 1) % size, size, proof, root)
            assert not is_included(entry, index, size, proof[:-1], root)


def test_an_entry_is_not_a_node() -> None:
    left, right = sha256(b"\x00a").digest(), sha256(b"\x00b").digest()
    assert tree_root([b"a", b"b"]) != tree_root([left + right])
    with pytest.raises(IndexError):
        inclusion_proof([b"a"], 1)
