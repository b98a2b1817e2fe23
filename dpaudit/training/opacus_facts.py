"""What an Opacus optimizer is about to release, read from its own fields; what a ledger cannot express is refused by name."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpaudit.claims import Number, exact
from dpaudit.training.step_facts import CannotRecord, StepFacts

COINS = {"torch.float32": 24, "torch.float64": 53}  # bits of torch.rand
ALL = "sampling=1, which charges every step as if every record were in it"


def check_optimizer(optimizer: Any) -> None:
    """Raises ``CannotRecord`` for an optimizer whose steps are not Gaussian noise on a sum of clipped gradients."""
    from opacus.optimizers import (
        AdaClipDPOptimizer,
        DPOptimizer,
        DPOptimizerFastGradientClipping,
        DPPerLayerOptimizer,
    )

    if not isinstance(optimizer, DPOptimizer):
        raise CannotRecord(
            f"a {type(optimizer).__name__}", "give the PrivacyEngine before make_private, or the optimizer that it returns"
        )
    if isinstance(optimizer, AdaClipDPOptimizer) or hasattr(optimizer, "_adjusted_noise_multiplier"):
        raise CannotRecord(
            "adaptive clipping", 'its norm is chosen from the gradients, a release of its own; use clipping="flat" or "per_layer"'
        )
    if isinstance(optimizer, DPOptimizerFastGradientClipping):
        raise CannotRecord(
            "ghost clipping", 'how many batches a step adds up cannot be seen there; use grad_sample_mode="hooks" or "functorch"'
        )
    if type(optimizer).add_noise not in (DPOptimizer.add_noise, DPPerLayerOptimizer.add_noise):
        raise CannotRecord(f"the noise of {type(optimizer).__name__}", "its add_noise is not that of Opacus's DPOptimizer")
    if type(optimizer).__name__.startswith(("Distributed", "SimpleDistributed", "FSDP")):
        raise CannotRecord("distributed training", "one process sees a part of the batch and of the noise alone")


def refuse_arguments(arguments: Mapping[str, Any], sampling: Number | None) -> None:
    """Of ``make_private``: what no step of it shows."""
    if arguments.get("clipping") == "adaptive":
        raise CannotRecord("adaptive clipping", 'use clipping="flat" or "per_layer"')
    if arguments.get("poisson_sampling") is False and sampling != 1:
        raise CannotRecord("batches that are not Poisson samples (poisson_sampling=False)", f"leave it out, or give {ALL}")
    if str(arguments.get("grad_sample_mode", "hooks")).startswith("ghost"):
        raise CannotRecord("ghost clipping", 'use grad_sample_mode="hooks" or "functorch"')


def sample_rate(optimizer: Any, data_loader: Any, sampling: Number | None) -> Fraction:
    """The rate at which a record enters a batch; as given, else as the Poisson sampler draws it."""
    if sampling is not None:
        return exact(sampling, "sampling")
    rate = getattr(data_loader, "sample_rate", None)
    if data_loader is not None and rate is None:
        raise CannotRecord(f"the batches of a {type(data_loader).__name__}", f"use the loader of make_private, or give {ALL}")
    if rate is None and optimizer.step_hook is not None:
        rate = inspect.getclosurevars(optimizer.step_hook).nonlocals.get("sample_rate")
    if rate is None:
        raise CannotRecord("a training whose sampling rate is unknown", f"give sampling=q of its Poisson samples, or {ALL}")
    return drawn_rate(float(rate))


def drawn_rate(rate: float) -> Fraction:
    """P(U < rate) for torch.rand's uniform U, a multiple of 2^-24 (2^-53) below 1, compared in its own precision: at least q."""
    import torch

    kind = torch.get_default_dtype()
    bits = COINS.get(str(kind))
    if bits is None:
        raise CannotRecord(f"samples that are drawn in {kind}", "set the default dtype to torch.float32 or torch.float64")
    compared = Fraction(float(torch.tensor(rate, dtype=kind)))
    return Fraction(min(math.ceil(compared * 2**bits), 2**bits), 2**bits)


def read_step(optimizer: Any, rate: Fraction, accumulated: int = 1) -> StepFacts:
    """Facts of the step that is about to be noised, of so many samples. Raises ``CannotRecord`` where there is no noise."""
    multiplier, norm = float(optimizer.noise_multiplier), float(optimizer.max_grad_norm)
    if not multiplier > 0 or not math.isfinite(multiplier):
        raise CannotRecord(
            f"a step with noise_multiplier={multiplier:g}", "without noise there is no ε; give a multiplier above 0"
        )
    if not norm > 0 or not math.isfinite(norm):
        raise CannotRecord(f"a step with max_grad_norm={norm:g}", "without clipping there is no ε; give a norm above 0")
    norms = getattr(optimizer, "max_grad_norms", None)
    clip = exact(norm) if norms is None else max(exact(norm), _length([float(each) for each in norms]))
    coordinates = sum(parameter.numel() for parameter in optimizer.params)
    how = "flat" if norms is None else "per layer"
    return StepFacts(exact(multiplier) * exact(norm), clip, rate, coordinates, how, accumulated)


def _length(norms: list[float]) -> Fraction:
    """√Σ norm², rounded up in the 60th bit."""
    squares = sum((exact(norm) ** 2 for norm in norms), Fraction(0)) * 4**60
    root = math.isqrt(math.ceil(squares))
    return Fraction(root + (root * root < squares), 2**60)
