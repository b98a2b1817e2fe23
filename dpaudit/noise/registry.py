"""The mechanisms by the name that stands in a ledger. To add one: its file, its test, a line here, and the docs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpaudit.claims import InvalidValue, WrittenForm
from dpaudit.noise.coins.binomial import Binomial
from dpaudit.noise.encodings.optimized_unary_response import OptimizedUnaryResponse
from dpaudit.noise.encodings.unary_response import UnaryResponse
from dpaudit.noise.gaussian import Gaussian
from dpaudit.noise.kary_response import KaryResponse
from dpaudit.noise.laplace import Laplace
from dpaudit.noise.mechanism import Noise
from dpaudit.noise.randomized_response import RandomizedResponse
from dpaudit.noise.selection.registry import SELECTIONS

_CLASSES: tuple[type[Noise], ...] = (
    Laplace, Gaussian, RandomizedResponse, KaryResponse, UnaryResponse, OptimizedUnaryResponse, Binomial,
)  # fmt: skip
MECHANISMS: Mapping[str, type[Noise]] = MappingProxyType({each.name: each for each in _CLASSES})


def noise_from(name: str, parameters: Mapping[str, str]) -> Noise:
    """The mechanism with this ``name`` and these ``parameters()``; raises ``InvalidValue`` for any other."""
    mechanism = MECHANISMS.get(name) or SELECTIONS.get(name)
    noise = None if mechanism is None else mechanism.read(parameters)
    if noise is None:
        *others, last = *MECHANISMS, *SELECTIONS
        known = ", ".join(others) + f" or {last}"
        raise InvalidValue("noise", (name, sorted(parameters)), f"{known} with its parameters")
    return noise


def mechanism_of(noise: object) -> type[Noise]:
    """The registered class that this noise is exactly of; only its sampler is drawn from. Raises ``InvalidValue``."""
    name = getattr(type(noise), "name", "")
    mechanism = MECHANISMS.get(name) or SELECTIONS.get(name)
    if mechanism is None or type(noise) is not mechanism:
        shown = noise.__name__ if isinstance(noise, type) else type(noise).__name__
        own = ", ".join(f"dp.{each.__name__}" for each in _CLASSES)
        raise InvalidValue("noise", shown, f"a mechanism such as dp.Laplace(scale): exactly one of {own}, which alone are proven")
    return mechanism


def written_forms() -> Mapping[str, list[WrittenForm]]:
    """How releases are written by hand: by what stands as "mechanism", the form with the most fields first."""
    forms: dict[str, list[WrittenForm]] = {}
    for each in (*_CLASSES, *SELECTIONS.values()):
        for written, form in each.forms.items():
            forms.setdefault(written, []).append(form)
    return {written: sorted(some, key=lambda form: -len(form.needs)) for written, some in forms.items()}
