"""The guessing game: a fair coin chooses the data set, a score guesses which one, and counts of right and wrong guesses give
a lower bound on ε that holds with the stated confidence, whatever the score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

TRAINING = 0.2  # share of the runs on which score, thresholds and form are chosen; the bound uses the rest


@dataclass(frozen=True)
class Guesses:
    """Out of ``n`` runs with a fair coin each: ``right`` and ``wrong`` guesses; one-sided when only one answer is ever given."""

    right: int
    wrong: int
    n: int
    sides: int


def pure_bound(g: Guesses, alpha: float) -> float:
    """Right guesses are dominated by Bin(r, 1/(1+e^−ε)), so one Clopper–Pearson bound serves both directions."""
    if g.right == 0:
        return 0.0
    p = betaincinv(g.right, g.wrong + 1, alpha)
    return max(0.0, float(math.log(p) - math.log1p(-p)))


def two_intervals(g: Guesses, alpha: float, delta: float) -> float:
    """P(right) ≤ e^ε P(wrong) + δ·sides/2, with a Clopper–Pearson bound on each probability."""
    if g.right == 0:
        return 0.0
    low = betaincinv(g.right, g.n - g.right + 1, alpha / 2) - delta * g.sides / 2
    high = betaincinv(g.wrong + 1, g.n - g.wrong, 1 - alpha / 2) if g.wrong < g.n else 1.0
    return max(0.0, float(math.log(low / high))) if low > 0 else 0.0


def one_interval(g: Guesses, alpha: float, delta: float) -> float:
    """Given r = right + wrong guesses, right is dominated by Bin(r, (e^ε w+δ)/((1+e^ε)w+δ)), w = P(wrong) bounded below
    with β = α/10 (Berger & Boos 1994)."""
    if g.right == 0 or g.wrong == 0:
        return 0.0
    beta = alpha / 10
    share = betaincinv(g.right, g.wrong + 1, alpha - beta)
    wrong = betaincinv(g.wrong, g.n - g.wrong + 1, beta)
    inside = share / (1 - share) - delta * g.sides / 2 / wrong
    return max(0.0, float(math.log(inside))) if inside > 0 else 0.0


def bound(g: Guesses, alpha: float, delta: float, form: str) -> float:
    if delta == 0:
        return pure_bound(g, alpha)
    return one_interval(g, alpha, delta) if form == "one interval" else two_intervals(g, alpha, delta)


@dataclass(frozen=True)
class Rule:
    """Guess 1 at a score of ``high`` or more, 0 at ``low`` or less, abstain between. Chosen on training data."""

    low: float
    high: float
    form: str

    def count(self, scores: np.ndarray, coins: np.ndarray) -> Guesses:
        one, zero = scores >= self.high, scores <= self.low
        right = int((one & coins).sum() + (zero & ~coins).sum())
        wrong = int((one & ~coins).sum() + (zero & coins).sum())
        return Guesses(right, wrong, len(scores), int(math.isfinite(self.high)) + int(math.isfinite(self.low)))


def choose_rule(scores: np.ndarray, coins: np.ndarray, delta: float, scale: float) -> tuple[Rule, float]:
    """The rule with the best bound on the training data (and that bound), counts scaled up to the size of the test part."""
    candidates = np.unique(
        np.quantile(
            scores,
            [
                0.0,
                0.0005,
                0.001,
                0.002,
                0.005,
                *np.linspace(0.01, 0.99, 99),
                0.995,
                0.998,
                0.999,
                0.9995,
                1.0,
            ],
        )
    )
    forms = ("pure",) if delta == 0 else ("one interval", "two intervals")

    def value(rule: Rule) -> float:
        g = rule.count(scores, coins)
        grown = Guesses(int(g.right * scale), math.ceil(g.wrong * scale), int(g.n * scale), g.sides)
        return bound(grown, 0.05, delta, rule.form)

    best = max((Rule(-math.inf, c, form) for c in candidates for form in forms), key=value)
    other = max((Rule(c, math.inf, form) for c in candidates for form in forms), key=value)
    pairs = [best, other]
    if other.low < best.high:
        pairs += [Rule(other.low, best.high, form) for form in forms]
        pairs += [Rule(c, best.high, best.form) for c in candidates if c < best.high]
        pairs += [Rule(other.low, c, other.form) for c in candidates if c > other.low]
    chosen = max(pairs, key=value)
    return chosen, value(chosen)


@dataclass(frozen=True)
class Outcome:
    """A finished game: the bound at the confidence asked for, and the function that gives it at any other."""

    epsilon: float
    guesses: Guesses
    rule: Rule
    delta: float

    def at(self, alpha: float) -> float:
        return bound(self.guesses, alpha, self.delta, self.rule.form)


Scorer = Callable[[np.ndarray], np.ndarray]


def play_game(candidates: Sequence[np.ndarray], coins: np.ndarray, delta: float, alpha: float, *, trained: int) -> Outcome:
    """The game on ready scores; the first ``trained`` entries choose among the candidate scores and rules."""
    rounded = [np.round(scores, 6) for scores in candidates]  # finer differences are floating-point leaks (DPA006)
    grow = (len(coins) - trained) / max(trained, 1)
    chosen = [choose_rule(scores[:trained], coins[:trained], delta, grow) for scores in rounded]
    (rule, _), scores = max(zip(chosen, rounded, strict=True), key=lambda pair: pair[0][1])
    guesses = rule.count(scores[trained:], coins[trained:])
    return Outcome(bound(guesses, alpha, delta, rule.form), guesses, rule, delta)


def detectable(guesses: Guesses, claim: float, delta: float, alpha: float) -> float:
    """The least true ε that this many guesses would have refuted at level α with 80 % power."""
    answered = max(guesses.right + guesses.wrong, 1)

    def refutes(epsilon: float) -> bool:
        p = 1 / (1 + math.exp(-epsilon))
        right = math.floor(answered * p - 0.8416 * math.sqrt(answered * p * (1 - p)))
        if right <= 0:
            return False
        g = Guesses(right, answered - right, guesses.n, guesses.sides)
        return bound(g, alpha, delta, "one interval") > claim

    low, high = claim, claim + 1.0
    while not refutes(high):
        high += 1.0
        if high > claim + 60 or high == high + 1.0:  # out of reach; beyond 2^53 there is no next one
            return high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return high


def learn_scores(table: np.ndarray, coins: np.ndarray) -> list[Scorer]:
    """Scores for transcripts of unknown law, from training data (runs, features): candidates to choose from."""
    if table.shape[1] == 0:
        return [lambda x: np.zeros(len(x))]
    distinct = [np.unique(column) for column in table.T]
    few = [c for c, values in enumerate(distinct) if 1 < len(values) <= max(50, len(table) // 20)]
    found: list[Scorer] = []
    rows = np.unique(table, axis=0)
    if len(rows) <= max(50, len(table) // 20):
        found.append(_categories(rows, table, coins))
    elif few:
        best = max(few, key=lambda c: _separation(table[:, c], coins))
        column = _categories(distinct[best][:, None], table[:, [best]], coins)
        found.append(lambda x: column(x[:, [best]]))
    if table.shape[1] == 1 and not found:
        return [_bins(table[:, 0], coins)]
    return found if len(few) == table.shape[1] and found else [*found, _logistic(table, coins)]


def _separation(column: np.ndarray, coins: np.ndarray) -> float:
    """Total variation between the two sides of one discrete column."""
    _, codes = np.unique(column, return_inverse=True)
    ones, zeros = (np.bincount(codes[side], minlength=codes.max() + 1) / max(side.sum(), 1) for side in (coins, ~coins))
    return float(np.abs(ones - zeros).sum())


def _categories(distinct: np.ndarray, table: np.ndarray, coins: np.ndarray) -> Scorer:
    """Log-ratios per category, shrunken by half a count."""
    keys = {row.tobytes(): place for place, row in enumerate(np.ascontiguousarray(distinct))}

    def place(x: np.ndarray) -> np.ndarray:
        return np.array([keys.get(row.tobytes(), len(keys)) for row in np.ascontiguousarray(x)])

    codes = place(table)
    ones = np.bincount(codes[coins], minlength=len(keys) + 1) + 0.5
    zeros = np.bincount(codes[~coins], minlength=len(keys) + 1) + 0.5
    ratio = np.log(ones / coins.sum()) - np.log(zeros / (~coins).sum())
    ratio[-1] = 0.0
    return lambda x: ratio[place(x)]


def _bins(column: np.ndarray, coins: np.ndarray) -> Scorer:
    """Quantile bins in one dimension."""
    edges = np.unique(np.quantile(column, np.linspace(0, 1, 41)[1:-1]))
    codes = np.searchsorted(edges, column, side="right")
    ones = np.bincount(codes[coins], minlength=len(edges) + 1) + 0.5
    zeros = np.bincount(codes[~coins], minlength=len(edges) + 1) + 0.5
    ratio = np.log(ones / coins.sum()) - np.log(zeros / (~coins).sum())
    return lambda x: ratio[np.searchsorted(edges, x[:, 0], side="right")]


def _logistic(table: np.ndarray, coins: np.ndarray) -> Scorer:
    """Ridge logistic regression on clipped, standardised values and their magnitudes, by Newton's method."""
    finite = np.where(np.isfinite(table), table, 0.0)
    centre = np.median(finite, axis=0)
    spread = np.maximum(np.quantile(np.abs(finite - centre), 0.75, axis=0), 1e-12)

    def features(x: np.ndarray) -> np.ndarray:
        z = np.clip((np.where(np.isfinite(x), x, 0.0) - centre) / spread, -20, 20)
        flags = ~np.isfinite(x)
        return np.concatenate([np.ones((len(x), 1)), z, np.abs(z), np.tanh(z), flags], axis=1)

    x, y = features(table), coins.astype(float)
    weights = np.zeros(x.shape[1])
    for _ in range(12):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (y - p) - weights
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(weights))
        weights += np.linalg.solve(hessian, gradient)
    return lambda new: features(new) @ weights
