"""Does what the model says of one sample depend on the others of its batch? And is evaluation data among what is trained on?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dpaudit.training.checks.result import CheckResult

MIXING, EVALUATION = "mixing", "evaluation data"
TOLERANCE = 1e-4  # relative: other shapes of a matrix product round differently
LARGEST = 16  # samples of the batch that is looked at


def mixing(model: Any, inputs: Sequence[Any] | None) -> CheckResult:
    """Run a batch twice, the second time with other samples behind the first one: its output must stay as it is.

    The same random numbers (dropout) both times; parameters and buffers are left as they were.
    """
    if inputs is None:
        return CheckResult.not_run(MIXING, "DPA003", "no batch of two or more samples was seen")
    import torch

    changed = [_others_changed(each) for each in inputs]
    with torch.no_grad(), _as_it_was(model):
        state = torch.get_rng_state()
        first = model(*inputs)
        torch.set_rng_state(state)
        second = model(*changed)
    one, other = (_first_of(each) for each in (first, second))
    if one is None or other is None or one.shape != other.shape:
        return CheckResult.not_run(MIXING, "DPA003", "the model's output has no first sample to look at")
    gap = float((one.double() - other.double()).abs().max())
    size = float(one.double().abs().max())
    said = f"the output of a sample moves by {gap:.3g} when the others of its batch change (its size {size:.3g})"
    if gap > TOLERANCE * max(size, 1e-6):
        said += ": clipping each gradient does not bound what one record does (BatchNorm, or another mean over the batch)"
    return CheckResult.by_gap(MIXING, "DPA003", gap, TOLERANCE * max(size, 1e-6), said)


def batch_of(arguments: Sequence[Any]) -> list[Any] | None:
    """A few samples of a forward pass, copied; None where there are not two."""
    import torch

    if not arguments or not all(isinstance(each, torch.Tensor) and each.ndim and len(each) > 1 for each in arguments):
        return None
    return [each[:LARGEST].detach().clone() for each in arguments]


def _others_changed(batch: Any) -> Any:
    """The first sample stays; each of the others becomes another of the batch, numbers also turned and larger."""
    changed = batch.clone()
    changed[1:] = batch[0:1] if not batch.is_floating_point() else 3 - 2 * batch[1:].flip(0)
    return changed


def _first_of(output: Any) -> Any:
    import torch

    while isinstance(output, tuple | list) and output:
        output = output[0]
    return output[0] if isinstance(output, torch.Tensor) and output.ndim and len(output) else None


@contextmanager
def _as_it_was(model: Any) -> Iterator[None]:
    import torch

    held, state = [buffer.clone() for buffer in model.buffers()], torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)
        for buffer, before in zip(model.buffers(), held, strict=True):
            buffer.copy_(before)


def evaluation(trained: Any, held_out: Any) -> CheckResult:
    """How many samples of the held-out data are, byte for byte, among those that are trained on."""
    if held_out is None:
        return CheckResult.not_run(EVALUATION, "DPA005", "no evaluation data was given")
    known = {_digest(trained[place]) for place in range(len(trained))}
    again = sum(_digest(held_out[place]) in known for place in range(len(held_out)))
    said = f"{again} of {len(held_out)} evaluation samples are in the training data"
    return CheckResult.by_gap(EVALUATION, "DPA005", again, 0, said + (": what is measured on them is memory" if again else ""))


def _digest(sample: Any) -> bytes:
    """Of the inputs of a sample; the label is left out."""
    first = sample[0] if isinstance(sample, tuple | list) else sample
    held = first.detach().cpu().contiguous().numpy().tobytes() if hasattr(first, "detach") else repr(first).encode()
    return hashlib.sha256(held).digest()
