"""The noisy gradient is divided by the size of the data, which is private: the width of what comes out tells it.

Opacus issue 571: the expected size of a batch is the sampling rate times the number of records.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA002"), "repaired": ("certified", "")}
PUBLIC_SIZE = 2
few_records = dp.add_remove(n=2, low=-1, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=few_records)
def bug(gradients: Any, channel: Any, trials: Any) -> Any:
    noisy = channel.release("gradient", gradients.sum(), dp.Laplace(scale=1), sensitivity=1)
    return noisy / len(gradients)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=few_records)
def repaired(gradients: Any, channel: Any, trials: Any) -> Any:
    noisy = channel.release("gradient", gradients.sum(), dp.Laplace(scale=1), sensitivity=1)
    return noisy / PUBLIC_SIZE
