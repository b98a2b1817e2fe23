"""The batches that were drawn against Poisson samples: sizes, how often each sample was in, and what neighbours share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom, chi2, norm

from dpaudit.training.checks.result import CheckResult

SIZES, INCLUSION, EPOCHS, ACCUMULATION = "batch sizes", "inclusion", "shuffled epochs", "accumulation"


class SamplingCheck:
    """Every record is in each batch by its own coin of probability ``rate``."""

    def __init__(self, records: int, rate: float) -> None:
        self.records, self.rate = records, rate
        self.sizes: list[int] = []
        self.times = np.zeros(records, dtype=np.int64)
        self.shared = self.pairs = 0
        self._last: np.ndarray | None = None

    def add(self, batch: Sequence[int]) -> None:
        """The indices of one batch. Every second batch is compared with the one before: pairs are independent."""
        members = np.asarray(batch, dtype=np.int64)
        self.sizes.append(len(members))
        np.add.at(self.times, members, 1)
        if self._last is None:
            self._last = members
            return
        self.shared += len(np.intersect1d(self._last, members))
        self.pairs, self._last = self.pairs + 1, None

    def results(self) -> list[CheckResult]:
        if not 0 < self.rate < 1 or not self.sizes:
            why = (
                "no batch was drawn" if not self.sizes else "every record is charged in every step: nothing is claimed of batches"
            )
            return [CheckResult.not_run(name, "DPA005", why) for name in (SIZES, INCLUSION, EPOCHS)]
        return [self._of_sizes(), self._of_inclusion(), self._of_epochs()]

    def _of_sizes(self) -> CheckResult:
        """Their mean and their spread against Bin(N, q)."""
        sizes, n, q = np.array(self.sizes), self.records, self.rate
        variance = n * q * (1 - q)
        middle = 2 * norm.sf(abs(sizes.sum() - len(sizes) * n * q) / np.sqrt(len(sizes) * variance))
        spread = _two_sided(float(((sizes - n * q) ** 2).sum() / variance), len(sizes))
        said = f"{len(sizes)} batches, mean {sizes.mean():.2f} and variance {sizes.var():.2f}; Bin({n}, {q:.4g}) has {n * q:.2f} "
        return CheckResult.by_chance(SIZES, "DPA005", min(1.0, 2 * float(min(middle, spread))), said + f"and {variance:.2f}")

    def _of_inclusion(self) -> CheckResult:
        """How often each sample was in: T coins each, so Σ(c − Tq)²/(Tq(1−q)) is about χ² with N degrees of freedom."""
        steps, q = len(self.sizes), self.rate
        variance = steps * q * (1 - q)
        # its own variance, with the fourth moment of a binomial: 2 + (1 − 6q(1−q))/(Tq(1−q)) a sample
        statistic = float(((self.times - steps * q) ** 2).sum() / variance)
        excess = (1 - 6 * q * (1 - q)) / variance
        scale = max(1.0, 1 + excess / 2)
        p_value = _two_sided(statistic / scale, self.records / scale)
        extreme = int(self.times.max())
        top = min(1.0, self.records * float(binom.sf(extreme - 1, steps, q)))
        said = f"each of {self.records} samples was in {steps} batches {steps * q:.1f} times on average; "
        said += f"the counts vary by {statistic / self.records:.3f} times what coins do, the largest is {extreme}"
        return CheckResult.by_chance(INCLUSION, "DPA005", min(1.0, 2 * min(p_value, top)), said)

    def _of_epochs(self) -> CheckResult:
        """Neighbouring batches share Bin(N·pairs, q²) samples; batches of one shuffled epoch share none."""
        if not self.pairs:
            return CheckResult.not_run(EPOCHS, "DPA005", "fewer than two batches were drawn")
        trials, each = self.records * self.pairs, self.rate**2
        below, above = binom.cdf(self.shared, trials, each), binom.sf(self.shared - 1, trials, each)
        said = (
            f"neighbouring batches share {self.shared} samples in {self.pairs} pairs; Poisson samples share {trials * each:.1f}"
        )
        p_value = min(1.0, 2 * float(min(below, above)))
        if p_value < 1e-6 and not self.shared:
            said += ": these are the batches of a shuffled epoch"
        return CheckResult.by_chance(EPOCHS, "DPA005", p_value, said)


def accumulation(draws: int, releases: int, claimed: int, *, workers: bool) -> CheckResult:
    """Batches per step against what is charged: a record in two batches of a step moves it twice, and noise σC covers once."""
    if not releases:
        return CheckResult.not_run(ACCUMULATION, "DPA003", "no step was made")
    most = draws / releases
    said = f"{draws} samples in {releases} steps, charged as {claimed} a step"
    slack = 1 / releases + (0.5 if workers else 0)  # one batch may be drawn and not used; workers draw ahead
    if most > claimed + slack:
        said += f": a record may be in {round(most)} samples of a step and move it by as many norms; the noise is for {claimed}"
    return CheckResult.by_gap(ACCUMULATION, "DPA003", most, claimed + slack, said)


def _two_sided(statistic: float, freedom: float) -> float:
    return float(min(1.0, 2 * min(chi2.cdf(statistic, freedom), chi2.sf(statistic, freedom))))
