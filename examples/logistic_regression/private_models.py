"""Logistic regression, private in three ways. `dpaudit audit private_models.py` judges them.

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
def objective_perturbation(data, channel):
    """The coefficients of the objective are perturbed, and what is minimised is public (Zhang et al. 2012: functional mechanism).

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
