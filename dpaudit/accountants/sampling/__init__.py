"""Releases from Poisson samples: certified ε(δ), δ(ε) and moments."""

from dpaudit.accountants.sampling.accountant import sampled_delta, sampled_epsilon, sampled_moment
from dpaudit.accountants.sampling.groups import SampledGaussian

__all__ = ["SampledGaussian", "sampled_delta", "sampled_epsilon", "sampled_moment"]
