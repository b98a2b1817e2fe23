"""torch functions of sealed data trace as numpy's do, and what has no trace says what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dpaudit as dp
from dpaudit.sealed import Sealed
from dpaudit.sealed.array import unseal
from dpaudit.sealed.foreign.torch_functions import UntracedTorch, as_tensor

VALUES = np.array([[0.5, -0.25], [1.0, 0.125], [-1.0, 0.75]])
WEIGHTS = torch.tensor([[0.5], [2.0]], dtype=torch.float64)


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: torch.matmul(x, WEIGHTS),
        lambda x: torch.mm(x, WEIGHTS),
        lambda x: torch.sum(x, dim=0),
        lambda x: torch.sum(input=x),
        lambda x: torch.clamp(x, -0.5, 0.5),
        lambda x: torch.clamp(x, min=-0.5, max=0.5),
        lambda x: torch.sigmoid(x),
        lambda x: torch.mul(x, 2.0),
        lambda x: torch.tanh(x),
        lambda x: torch.abs(x),
    ],
)
def test_a_function_is_sealed_and_equals_torchs(compute: object) -> None:
    sealed = compute(dp.seal(VALUES, -1, 1))  # type: ignore[operator]
    expected = compute(torch.tensor(VALUES))  # type: ignore[operator]
    assert isinstance(sealed, Sealed)
    assert np.allclose(np.asarray(unseal(sealed), dtype=float), expected.numpy(), atol=2**-18)


def test_a_tensor_is_sealed_as_an_array_is() -> None:
    sealed = dp.seal(torch.tensor(VALUES), -1, 1)
    assert isinstance(sealed, Sealed)
    assert sealed.shape == (3, 2)


def test_other_functions_say_what_to_do() -> None:
    with pytest.raises(UntracedTorch, match=r"torch\.svd.*release first"):
        torch.svd(dp.seal(VALUES, -1, 1))


def test_the_clipped_gradients_of_a_logistic_model_are_certified() -> None:
    @dp.subject(
        claim=dp.Claim(epsilon="5", delta="1e-5"),
        neighbours=dp.replace_one(n=20, low=-1, high=1),
        plan=[("gradient", dp.Gaussian(sigma=2), 2)],
    )
    def step(data: object, channel: object) -> object:
        points = as_tensor(data)
        weight = torch.tensor(0.3, dtype=torch.float64)
        residual = torch.sigmoid(torch.mul(points, weight)) - 1
        each = torch.unsqueeze(torch.mul(residual, points), 1)
        total = dp.clip_rows(each, 1).sum()
        return channel.release("gradient", total, dp.Gaussian(sigma=2), sensitivity=2)  # type: ignore[attr-defined]

    verdict = dp.audit(step, samples=200, seed=1)
    assert str(verdict.verdict) == "certified"


def test_a_black_box_of_tensors_is_attacked() -> None:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=5, low=-1, high=1))
    def raw(points: np.ndarray, rng: np.random.Generator) -> torch.Tensor:
        return torch.as_tensor(points).sum()

    assert str(dp.audit(raw, samples=300, seed=1).verdict) == "refuted"
