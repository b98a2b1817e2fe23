"""What is read from an optimizer, and what is refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpaudit.training.opacus_facts import check_optimizer, drawn_rate, read_step, sample_rate
from dpaudit.training.step_facts import CannotRecord

Make = Callable[..., Any]


@pytest.mark.parametrize("rate", [0.1, 1 / 3, 0.25, 1e-3, 1 / 300, 1e-9, 1.0])
def test_the_rate_is_that_of_torchs_coins(rate: float) -> None:
    """torch.rand gives multiples of 2^-24 below 1: the first that is not below the rate counts them."""
    import torch

    drawn = drawn_rate(rate)
    below = int(drawn * 2**24)
    grid = torch.arange(max(0, below - 2), min(below + 2, 2**24), dtype=torch.float32) / 2**24
    assert (grid < rate).tolist() == [place < below for place in range(max(0, below - 2), min(below + 2, 2**24))]
    assert drawn >= Fraction(rate) - Fraction(1, 2**24)
    sample = torch.rand(10_000, generator=torch.Generator().manual_seed(1))
    assert torch.equal(sample * 2**24, (sample * 2**24).round()), "the premise"


def test_noise_and_clip_are_read_exactly(make_training: Make) -> None:
    training = make_training(noise_multiplier=1.1, max_grad_norm=0.3)
    facts = read_step_after_backward(training)
    assert (facts.noise, facts.clip, facts.coordinates) == (Fraction("0.33"), Fraction("0.3"), 18)


def test_per_layer_norms_add_up_as_a_length_rounded_up(make_training: Make) -> None:
    training = make_training(clipping="per_layer", max_grad_norm=[0.3, 0.7], noise_multiplier=2.0)
    facts = read_step_after_backward(training)
    assert facts.clip**2 >= Fraction("0.58")
    assert math.isclose(float(facts.clip), math.sqrt(0.58), rel_tol=1e-7)
    assert facts.clipping == "per layer"
    assert math.isclose(float(facts.noise), 2 * math.sqrt(0.58), rel_tol=1e-6)


def read_step_after_backward(training: Any) -> Any:
    from torch.nn.functional import cross_entropy

    data, labels = next(iter(training.loader))
    cross_entropy(training.model(data), labels).backward()
    return read_step(training.optimizer, Fraction(1, 10))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"clipping": "adaptive", "target_unclipped_quantile": 0.5, "clipbound_learning_rate": 0.2, "max_clipbound": 10.0,
          "min_clipbound": 0.1, "unclipped_num_std": 2.0}, "adaptive clipping"),
        ({"grad_sample_mode": "ghost"}, "ghost clipping"),
    ],
)  # fmt: skip
def test_what_a_ledger_cannot_express_is_refused_by_name(make_training: Make, arguments: dict[str, Any], named: str) -> None:
    if "grad_sample_mode" in arguments:
        from dpaudit.training.opacus_facts import refuse_arguments

        with pytest.raises(CannotRecord, match=named):
            refuse_arguments(arguments, None)
        return
    with pytest.raises(CannotRecord, match=named):
        check_optimizer(make_training(**arguments).optimizer)


def test_an_optimizer_without_privacy_is_refused() -> None:
    import torch

    with pytest.raises(CannotRecord, match="SGD"):
        check_optimizer(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0))


def test_no_noise_is_refused(make_training: Make) -> None:
    with pytest.raises(CannotRecord, match="noise_multiplier=0"):
        read_step_after_backward(make_training(noise_multiplier=0.0))


def test_the_rate_comes_from_the_loader_the_accountant_or_the_caller(make_training: Make) -> None:
    training = make_training()
    tenth = drawn_rate(0.1)
    assert sample_rate(training.optimizer, training.loader, None) == tenth
    assert sample_rate(training.optimizer, None, None) == tenth
    assert sample_rate(training.optimizer, None, "1/7") == Fraction(1, 7)
    training.optimizer.step_hook = None
    with pytest.raises(CannotRecord, match="sampling=1"):
        sample_rate(training.optimizer, None, None)
