"""Texts: the plain list and its sealed form answer alike, and what is proven of counts is what one record can change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Leak
from dpaudit.neighbours.categories import SealedTexts, Texts, seal_texts
from dpaudit.sealed.array import Sealed, dependence, gathered, unseal

TEXTS = ("a", "b", "cc")
DATA = Texts(["a", "cc", "b", "a", "cc", "a"])


def sealed(*, removal: bool = False) -> SealedTexts:
    return seal_texts(DATA, TEXTS, removal=removal)


QUESTIONS: list[tuple[Callable[[Any], Any], int]] = [  # and how much of it one changed record moves, in L1
    (lambda x: (x == "a").sum(), 1),
    (lambda x: (x != "a").sum(), 1),
    (lambda x: x.count("cc"), 1),
    (lambda x: sum(one == "b" for one in x), 1),
    (lambda x: [x.count(text) for text in TEXTS], 2),
    (lambda x: np.array([(x == text).sum() for text in TEXTS]), 2),
    (lambda x: (x[:, None] == np.array(TEXTS)).sum(axis=0), 2),
    (lambda x: np.isin(x, ["a", "b"]).sum(), 1),
    (lambda x: (x[1:3] == "b").sum(), 1),
    (lambda x: np.where(x == "a", 2.0, 0.5).sum(), 2),
    (lambda x: sum(one.startswith("c") for one in x), 1),
    (lambda x: sum(one.count("c") for one in x), 2),
    (lambda x: sum(one.upper() == "CC" for one in x), 1),
    (lambda x: (x == "no such text").sum(), 1),
]


@pytest.mark.parametrize(("question", "moved"), QUESTIONS)
def test_sealed_texts_answer_as_plain_ones_do_and_are_traced(question: Any, moved: int) -> None:
    answer = gathered(question(sealed()))
    assert isinstance(answer, Sealed)
    np.testing.assert_array_equal(unseal(answer), np.asarray(question(DATA)))
    known = dependence(answer)
    seen = max(
        float(np.abs(np.asarray(question(other)) - np.asarray(question(DATA))).sum())
        for place in range(len(DATA))
        for text in TEXTS
        for other in [Texts([*DATA[:place], text, *DATA[place + 1 :]])]
    )
    assert seen <= known.sensitivity(1) <= moved  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("leaking", "words"),
    [
        (lambda x: Counter(x), "a Counter"),
        (lambda x: "a" in x, "whether it holds"),
        (lambda x: str(x[0]), "text"),
        (lambda x: np.asarray(x), "conversion to a plain array"),
        (lambda x: np.unique(x), "numpy.unique"),
        (lambda x: len(x[0]), "the length of a text"),
        (lambda x: {"a": 1}[x[0]], "a dict"),
        (lambda x: [one for one in x if one == "a"], "a branch"),
    ],
)
def test_a_question_that_needs_the_text_itself_is_a_leak(leaking: Any, words: str) -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(4, values=TEXTS))
    def subject(x: Any, channel: Any) -> Any:
        leaking(x)
        return channel.release("n", x.count("a"), dp.Laplace(scale=1), sensitivity=1)

    found = dp.audit(subject, samples=100, seed=1, workers=1)
    refuted = ["DPA004"] if words == "a dict" else []  # a key that is missing is an error, which half of the data sets show
    assert [finding.rule for finding in found.findings] == ["DPA002", *refuted]
    assert words in found.findings[0].message
    assert "test_categories.py" in found.findings[0].where


def test_the_number_of_texts_is_private_where_one_may_be_missing() -> None:
    with pytest.raises(Leak):
        len(sealed(removal=True))
    assert dependence(sealed(removal=True).count("a")).sensitivity(1) == 1  # type: ignore[union-attr]


def test_a_text_that_is_not_listed_is_none_of_them() -> None:
    odd = seal_texts(["a", "z", 7], TEXTS, removal=False)
    assert [int(unseal(odd.count(text))) for text in TEXTS] == [1, 0, 0]
