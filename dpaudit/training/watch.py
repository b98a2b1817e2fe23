"""``watched``: looks on while an Opacus training runs, and says afterwards what was checked and what was found.

It sees gradients, noise and batches in the clear, so its results are for whoever holds the data; a ledger gets the names of the
checks that were passed, and nothing measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpaudit.claims import Finding, Number
from dpaudit.training.batch_watch import watch_batches
from dpaudit.training.checks.clipping import ClippingCheck
from dpaudit.training.checks.mixing import batch_of, evaluation, mixing
from dpaudit.training.checks.noise import NoiseCheck
from dpaudit.training.checks.result import CheckResult, checks_to_json
from dpaudit.training.checks.sampling import SamplingCheck, accumulation
from dpaudit.training.opacus_facts import check_optimizer, sample_rate


def watched(model: Any, optimizer: Any, data_loader: Any, *, sampling: Number | None = None) -> TrainingWatch:
    """Check this training from here on: ``model``, ``optimizer`` and ``data_loader`` as ``make_private`` returned them.

    ``sampling``: the rate that is claimed, where the loader does not say it. Raises ``CannotRecord``.
    """
    check_optimizer(optimizer)
    return TrainingWatch(model, optimizer, data_loader, sampling)


class TrainingWatch:
    """Holds the checks of one training. A step takes about a quarter longer."""

    def __init__(self, model: Any, optimizer: Any, data_loader: Any, sampling: Number | None) -> None:
        rate = sample_rate(optimizer, None if sampling is None else data_loader, sampling)
        self._model, self._dataset = model, data_loader.dataset
        self.noise, self.clipping = NoiseCheck(), ClippingCheck()
        self.sampling = SamplingCheck(len(data_loader.dataset), float(rate))
        self._workers, self._accumulated = bool(data_loader.num_workers), 1
        self._inputs: list[Any] | None = None
        watch_batches(data_loader, self.sampling.add)
        self._watch_steps(optimizer)
        self._hook = model.register_forward_pre_hook(self._keep_inputs)

    def _keep_inputs(self, model: Any, arguments: Any) -> None:
        self._inputs = batch_of(arguments)
        if self._inputs is not None:
            self._hook.remove()

    def _watch_steps(self, optimizer: Any) -> None:
        clip, draw = optimizer.clip_and_accumulate, optimizer.add_noise

        def clip_and_accumulate() -> None:
            samples = [gradient.detach() for gradient in optimizer.grad_samples]
            before = [_copy(parameter.summed_grad) for parameter in optimizer.params]
            clip()
            after = [parameter.summed_grad for parameter in optimizer.params]
            norms = getattr(optimizer, "max_grad_norms", None) or [optimizer.max_grad_norm]
            self.clipping.add(samples, before, after, [float(norm) for norm in norms])

        def add_noise() -> None:
            sums = [parameter.summed_grad.detach().clone() for parameter in optimizer.params]
            draw()
            pairs = zip(optimizer.params, sums, strict=True)
            noises = [parameter.grad.detach() - total.reshape(parameter.grad.shape) for parameter, total in pairs]
            self.noise.add(noises, float(optimizer.noise_multiplier) * float(optimizer.max_grad_norm))

        optimizer.clip_and_accumulate, optimizer.add_noise = clip_and_accumulate, add_noise

    def results(self, *, evaluation_data: Any = None, others: Iterable[TrainingWatch] = ()) -> list[CheckResult]:
        """Every check. ``evaluation_data``: a dataset that must not be trained on; ``others``: trainings with their own noise."""
        return [
            self.noise.result(),
            self.noise.generator_result([other.noise for other in others]),
            self.clipping.result(),
            *self.sampling.results(),
            accumulation(len(self.sampling.sizes), self.noise.steps, self._accumulated, workers=self._workers),
            mixing(self._model, self._inputs),
            evaluation(self._dataset, evaluation_data),
        ]

    def write(self, path: str | Path, *, evaluation_data: Any = None, others: Iterable[TrainingWatch] = ()) -> None:
        """The results as ``dpaudit canaries --checks`` reads them."""
        results = self.results(evaluation_data=evaluation_data, others=others)
        Path(path).write_text(checks_to_json(results), encoding="utf-8")

    def findings(self, *, evaluation_data: Any = None, others: Iterable[TrainingWatch] = ()) -> list[Finding]:
        """What is wrong; empty where every check that ran was passed."""
        found = (result.finding() for result in self.results(evaluation_data=evaluation_data, others=others))
        return [finding for finding in found if finding is not None]


def _copy(tensor: Any) -> Any:
    return None if tensor is None else tensor.detach().clone()
