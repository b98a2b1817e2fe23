"""Packed texts are the texts that were put in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dpaudit.ledger.books.packed_texts import PackedTexts

texts = st.lists(st.text(max_size=5), max_size=8)


@given(st.lists(texts, max_size=4))
def test_texts_come_back_in_their_order(parts: list[list[str]]) -> None:
    packed, expected = PackedTexts(), [text for part in parts for text in part]
    for number, part in enumerate(parts):
        if number % 2:
            for text in part:
                packed.append(text.encode())
        else:
            packed.extend(text.encode() for text in part)
    assert list(packed) == expected
    assert len(packed) == len(expected)
    assert list(PackedTexts(bytes(packed.letters), packed.ends)) == expected


@given(texts)
def test_equal_texts_have_equal_digests_and_others_do_not(given_texts: list[str]) -> None:
    packed = PackedTexts()
    packed.extend(text.encode() for text in given_texts)
    digests = packed.digests().tolist()
    for i, one in enumerate(given_texts):
        assert [digest == digests[i] for digest in digests] == [text == one for text in given_texts]
