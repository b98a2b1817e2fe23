"""One bound from several rules whose guesses are nested: how seldom any of them is that lucky, computed and not added up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit
from scipy.stats import binom

from dpaudit.auditors.games.guess_bounds import Form, Guesses, bounds, discount

MOST_WRONG = 400  # guesses up to which a rule is computed together with the others; beyond, its error is added to theirs
HALVINGS = 30
_SAFE = 1 - 1e-9  # what floating point may have taken from a probability
_EQUAL = 1e-9  # bounds that differ by less count as reached


def nested_bound(guesses: Sequence[Guesses], shares: Sequence[float], alpha: float, delta: float, form: Form) -> float:
    """ε is at least this with confidence 1−α, for rules of which each guesses all that those before it guess, and alike.

    T is the largest of the rules' own bounds, each at its share of α. With r_k guesses, {T ≥ t} is the event that some rule k
    has c_k(t) wrong ones or fewer. Given all outputs, each guess is right with probability 1/(1+e^−ε) at most, independently
    of the others; more right guesses never lower T; so P(T ≥ t) is largest, and grows in ε, where all are right with exactly
    that probability. The bound is the ε at which it is α for the T that was seen: never less than T, as the shares add up to 1.
    For δ > 0 the D* right guesses that may have been given away, but for β of α, are taken from every rule (guess_bounds.py):
    the first r_k − D* of the others are fewer than rule k had, and hold no more wrong ones than it.
    """
    beta = form.share * alpha if delta > 0 else 0.0
    given_away = discount(guesses[0].n, guesses[0].sides, delta, beta)
    right = np.array([g.right for g in guesses], dtype=float) - given_away
    wrong = np.array([g.wrong for g in guesses], dtype=float)
    usable = right > 0
    right, wrong, level = right[usable], wrong[usable], alpha - beta
    levels = level * np.asarray(shares, dtype=float)[usable]
    if not len(right):
        return 0.0
    shown = float(_at_levels(right, wrong, levels).max())
    if shown == 0.0:
        return 0.0
    least = _most_wrong(right + wrong, levels, shown)
    answered, least = (right + wrong)[least >= 0], least[least >= 0]
    low, high = shown, shown + float(np.log(1 / min(shares))) + 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if chance_of_any(answered, least, middle) <= level * _SAFE else (low, middle)
    return low


def chance_of_any(answered: np.ndarray, most: np.ndarray, epsilon: float) -> float:
    """P(for some k, the first answered[k] guesses hold most[k] wrong ones or fewer), each wrong with probability 1/(1+e^ε)."""
    wrong = float(expit(-epsilon))
    few = most <= MOST_WRONG
    total = float(binom.cdf(most[~few], answered[~few], wrong).sum())
    width = int(most[few].max(initial=0)) + 1
    running, before = np.zeros(width), 0.0  # by wrong guesses so far; those with more are done
    running[0] = 1.0
    for guessed, enough in zip(answered[few], most[few].astype(int), strict=True):
        if guessed > before:
            running = np.convolve(running, binom.pmf(np.arange(width), guessed - before, wrong))[:width]
        total += float(running[: enough + 1].sum())
        running[: enough + 1] = 0.0
        before = guessed
    return total


def _at_levels(right: np.ndarray, wrong: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Clopper–Pearson bounds, each at its own level."""
    pure = Form("pure")
    return np.array([bounds(v, w, v + w, 2, level, 0.0, pure) for v, w, level in zip(right, wrong, levels, strict=True)])


def _most_wrong(answered: np.ndarray, levels: np.ndarray, shown: float) -> np.ndarray:
    """How many wrong guesses each rule may have for its bound to reach this; −1 where none does."""
    about = binom.ppf(levels, answered, expit(-shown))
    most = np.full(len(answered), -1.0)
    for step in (-2, -1, 0, 1):
        wrong = np.clip(about + step, 0, answered)
        reached = (answered > wrong) & (_at_levels(answered - wrong, wrong, levels) >= shown - _EQUAL)
        most = np.where(reached, np.maximum(most, wrong), most)
    return most
