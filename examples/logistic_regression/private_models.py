"""Logistic regression, private in four ways. `dpaudit audit private_models.py` judges them.

What leaves through the door is certified: the functional mechanism and output perturbation. Objective perturbation and
scikit-learn's own fit return a minimiser, whose distribution no trace of the data shows: they are black boxes, which can be
refuted and are never certified.

Records are rows (x, y): d features in [−1, 1] and a label −1 or 1. Features are clipped to L2 norm 1.
"""

import numpy as np

import dpaudit as dp

PEOPLE, FEATURES = 400, 2
RECORDS = dp.replace_one(n=PEOPLE, low=[-1] * (FEATURES + 1), high=[1] * (FEATURES + 1))


def rows_and_labels(data):
    """Rows of norm at most 1, and labels −1 or 1; of plain and of sealed data alike."""
    return dp.clip_rows(data[:, :FEATURES], 1), np.where(data[:, FEATURES] > 0, 1.0, -1.0)


@dp.subject(
    claim=dp.Claim(epsilon="1", delta="1e-6"), neighbours=RECORDS,
    plan=[("first order", dp.Gaussian(16), 2), ("second order", dp.Gaussian(16), 2)],
)  # fmt: skip
def functional_mechanism(data, channel):
    """The coefficients of the objective are perturbed, and what is minimised is public (Zhang et al. 2012).

    log(1 + exp(−yθ·x)) is log 2 − yθ·x/2 + (θ·x)²/8 up to third order, so that Σ yx and Σ xxᵀ are all that it takes.
    """
    rows, labels = rows_and_labels(data)
    first = channel.release("first order", dp.clip_rows(rows * labels[:, None], 1).sum(axis=0), dp.Gaussian(16), sensitivity=2)
    squares = (rows[:, :, None] * rows[:, None, :]).reshape(PEOPLE, FEATURES * FEATURES)
    second = channel.release("second order", dp.clip_rows(squares, 1).sum(axis=0), dp.Gaussian(16), sensitivity=2)
    curvature = np.reshape(second, (FEATURES, FEATURES))
    curvature = (curvature + curvature.T) / 8 + PEOPLE / 50 * np.eye(FEATURES)
    return np.linalg.solve(curvature, first / 2)


@dp.subject(claim=dp.Claim(epsilon="1", delta="1e-6"), neighbours=RECORDS, plan=[("model", dp.Gaussian(9), 2)])
def output_perturbation(data, channel):
    """The model itself is perturbed: one step of Newton's method from 0 with the public bound 1/4 on the curvature.

    It is 2/n·Σ yx, and a record moves Σ yx by at most 2 in L2.
    """
    rows, labels = rows_and_labels(data)
    noisy = channel.release("model", dp.clip_rows(rows * labels[:, None], 1).sum(axis=0), dp.Gaussian(9), sensitivity=2)
    return 2 * noisy / PEOPLE


ONES, OTHER = np.ones((20, FEATURES + 1)), np.ones((20, FEATURES + 1))
OTHER[0] = [*[1] * FEATURES, -1]  # one person with the other label


def objective_with_noise(strength):
    """Objective perturbation: the objective gets a random linear term, and its exact minimiser is published.

    Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2. The minimiser of (1/n)·Σ log(1 + exp(−yθ·x)) + λ/2·‖θ‖² + b·θ/n is ε-DP for
    rows of norm 1 where b has the density ∝ exp(−β‖b‖) with β = ε'/2 and ε' = ε − 2·log(1 + c/(nλ)) > 0; c = 1/4 is the largest
    curvature of the loss. The theorem is about the density of exact minimisers, so nothing of it passes a door: dpaudit attacks
    it, and can only refute. ``strength`` is the part of the noise that is added.
    """

    @dp.subject(claim=dp.Claim(epsilon="1", arithmetic="ideal"), neighbours=[(ONES, OTHER)])
    def minimised(data, rng, trials):
        regularisation, n = 0.1, len(data)
        rows, labels = rows_and_labels(data)
        rate = (1 - 2 * np.log(1 + 0.25 / (n * regularisation))) / 2
        direction = rng.normal(size=(trials, FEATURES))
        length = rng.gamma(FEATURES, 1 / rate, size=(trials, 1))  # the norm under a density ∝ exp(−rate·‖b‖)
        linear = strength * length * direction / np.linalg.norm(direction, axis=1, keepdims=True)
        return minimisers(rows * labels[:, None], linear / n, regularisation)

    return minimised


def minimisers(signed_rows, linear, regularisation, steps=50):
    """Newton's method for all trials at once; a step is halved while it makes the objective worse."""
    models, n = np.zeros_like(linear), len(signed_rows)

    def value(models):
        losses = np.logaddexp(0, -models @ signed_rows.T).mean(axis=1)
        return losses + regularisation / 2 * (models**2).sum(axis=1) + (linear * models).sum(axis=1)

    for _ in range(steps):
        wrong = 1 / (1 + np.exp(models @ signed_rows.T))
        gradient = linear + regularisation * models - wrong @ signed_rows / n
        curvature = np.einsum("tn,ni,nj->tij", wrong * (1 - wrong), signed_rows, signed_rows) / n
        step = np.linalg.solve(curvature + regularisation * np.eye(FEATURES), gradient[:, :, None])[:, :, 0]
        size = np.ones((len(models), 1))
        for _ in range(20):
            worse = value(models - size * step) > value(models) + 1e-12
            size[worse] /= 2
        models = models - size * step
        if np.abs(gradient).max() < 1e-10:
            break
    return models


perturbed_objective = objective_with_noise(1)


def noisy_fit(strength):
    """scikit-learn's own fit with Gaussian noise on its coefficients, as a black box: nothing of it passes a door.

    The minimiser of the mean loss + λ/2·‖θ‖² moves by at most 2/(nλ) in L2 (Chaudhuri, Monteleoni, Sarwate 2011), for
    rows of norm 1. scikit-learn's C is 1/(nλ). σ = 4.3·Δ keeps ε = 1 at δ = 1e-5; ``strength`` is the part of it that is added.
    With ``trials``, one call serves many runs: the fit is the same in all of them, the noise is not.
    """

    @dp.subject(claim=dp.Claim(epsilon="1", delta="1e-5", arithmetic="ideal"), neighbours=[(ONES, OTHER)])
    def fitted(data, rng, trials):
        from sklearn.linear_model import LogisticRegression

        regularisation, n = 0.1, len(data)
        rows, labels = rows_and_labels(data)
        rows, labels = (
            np.vstack([rows, np.zeros((2, FEATURES))]),
            np.append(labels, [-1, 1]),
        )
        model = LogisticRegression(C=1 / (n * regularisation), fit_intercept=False, tol=1e-8).fit(rows, labels)
        return model.coef_[0] + strength * 4.3 * 2 / (n * regularisation) * rng.normal(size=(trials, FEATURES))

    return fitted


fit_with_noise = noisy_fit(1)
