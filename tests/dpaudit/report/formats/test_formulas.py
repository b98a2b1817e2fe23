"""Formulas on a page: subscripts and superscripts where they are meant, and nowhere else."""

from __future__ import annotations

import pytest

from dpaudit.report.formats.formulas import formula
from dpaudit.report.markup import Html


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("γ_i, n_ia, R_T, e_2", "γ<sub>i</sub>, n<sub>ia</sub>, R<sub>T</sub>, e<sub>2</sub>"),
        ("A_{i+1} = {}", "A<sub>i+1</sub> = {}"),
        ("θ̂_i ← V^{-1}", "θ̂<sub>i</sub> ← V<sup>-1</sup>"),
        ("4m_iL_i/q^i", "4m<sub>i</sub>L<sub>i</sub>/q<sup>i</sup>"),
        ("10^-6, T^0.51, 2^9 δ", "10<sup>-6</sup>, T<sup>0.51</sup>, 2<sup>9</sup> δ"),
        ("e^ε0 and e^ε P", "e<sup>ε0</sup> and e<sup>ε</sup> P"),
        ("(3/ζ)^d + d", "(3/ζ)<sup>d</sup> + d"),
        ("e^(−c√log T)", "e<sup>(−c√log T)</sup>"),
        ("q^((i−1)/2), V^+ x", "q<sup>((i−1)/2)</sup>, V<sup>+</sup> x"),
        ("H_ε(e), N_max·T", "H<sub>ε</sub>(e), N<sub>max</sub>·T"),
        ("e^{ε_0}", "e<sup>ε<sub>0</sub></sup>"),
        ("log^{3/2}T", "log<sup>3/2</sup>T"),
    ],
)
def test_subscripts_and_superscripts_are_set(plain: str, shown: str) -> None:
    assert formula(plain) == shown


@pytest.mark.parametrize(
    "plain",
    [
        "proofs_checks.linear_bandits.theorems.central_privacy",
        "replace_one",
        "x_train",
        "a_b_c",
        "T^1/4",
        "10^6/2",
        "q^iL",
        "1e-6",
        "^2",
        "_i",
        "snake_i",
        "eps0_x",
    ],
)
def test_what_is_no_formula_or_can_be_read_in_two_ways_stays_as_it_is(plain: str) -> None:
    assert formula(plain) == plain


def test_text_stays_text() -> None:
    assert formula("x_i < y & <b>^2</b>") == "x<sub>i</sub> &lt; y &amp; &lt;b&gt;^2&lt;/b&gt;"
    assert formula("e^{<i>}") == "e<sup>&lt;i&gt;</sup>"
    assert formula("A_{<i>}") == "A<sub>&lt;i&gt;</sub>"
    assert formula(Html("<b>x_i</b>")) == "<b>x_i</b>"
