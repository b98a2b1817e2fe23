"""The line of a release in an account: what it costs by itself, by which theorem, and what that needs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.least_epsilon import Least, least
from dpaudit.accountants.losses.parts import AnyPart
from dpaudit.accountants.readings.reads import AnyRead, Read
from dpaudit.accountants.shuffle.amplifier import best_theorem
from dpaudit.accountants.stated_releases import StatedRead
from dpaudit.channel.release_cost import gaussian_epsilon
from dpaudit.claims import Line, show
from dpaudit.ledger import Release

BLANKET = "privacy blanket, exact (Balle et al. 2019; Su et al. 2025)"
SAMPLED = ", on Poisson samples (Zhu, Dong, Wang 2022)"
SAMPLED_PURE = ", on Poisson samples: ln(1 + q(e^ε − 1)) each (Li, Qardaji, Su 2012)"
COINS = (
    "every record enters each sample by its own secret coin with probability {}, fresh each time; neighbours add or remove one "
    "record, or zero it out; the batch's size and ids stay secret; rate and noise constant"
)
TREE = "a stream of {} running sums by a binary tree: one record is in at most {} noisy sums (Chan, Shi, Song 2011)"
THRESHOLDED = "counts of unknown keys above a threshold (Korolova et al. 2009)"
CLONES = "clones, exact (Feldman–McMillan–Talwar 2021)"
SAME = "one randomiser for all reports, exact (claim shuffle.same-randomiser; Balle et al. 2019)"
RESPONSES = "privacy blanket of k-ary randomised response, exact (Balle et al. 2019)"
BITS = "privacy blanket of unary encodings, exact (Balle et al. 2019)"
AMPLIFIED = {"laplace": BLANKET, "krr": RESPONSES, "unary": BITS, "oue": BITS, "same": SAME, "clone": CLONES}


def line_of(read: AnyRead, delta: Fraction) -> Line:
    if isinstance(read, StatedRead):
        return read.line(delta)
    release, pure = read.release, read.noise.epsilon(read.steps)
    if read.sampling is not None or read.count > 1:
        return _repeated_line(read, pure, delta)
    if read.failure and pure is not None:
        enough = read.failure <= delta
        needs = f"sensitivity {_known(release)}" if enough else f"needs δ of at least {show(read.failure)}"
        theorem = read.noise.theorem if read.noise.fails else THRESHOLDED
        return Line(release.name, read.clients, pure, enough, pure, theorem, needs, read.failure)
    if release.kind == "shuffled" and pure is not None:
        return _shuffled_line(read, pure, delta)
    if pure is None:
        epsilon = gaussian_epsilon(read.noise, read.steps, delta, read.coordinates) if delta else None
        if epsilon is None:
            return Line(
                release.name,
                read.clients,
                Fraction(0),
                False,
                Fraction(0),
                f"{read.noise.words.split()[0]} mechanism",
                "needs δ > 0; give --delta",
            )
        return Line(
            release.name,
            read.clients,
            epsilon,
            True,
            epsilon,
            read.noise.theorem,
            "L2 sensitivity " + _known(release),
            delta,
        )
    theorem = read.noise.theorem + (", local" if release.kind == "reports" else "")
    return Line(release.name, read.clients, pure, True, pure, theorem, "sensitivity " + _known(release))


def _repeated_line(read: Read, pure: Fraction | None, delta: Fraction) -> Line:
    """Several equal releases, or releases from Poisson samples, in one entry: one plan with constant parameters."""
    release, sensitivity = read.release, ("L2 " if pure is None else "") + "sensitivity " + _known(read.release)
    conditions = ([COINS.format(show(read.sampling))] if read.sampling is not None else []) + [sensitivity]
    times = f"{read.count} × " if read.count > 1 else ""
    if release.leaves is not None:
        conditions.append(TREE.format(release.leaves, read.count))
    amplified_by = (SAMPLED if pure is None else SAMPLED_PURE) if read.sampling is not None else ""
    theorem = times + read.noise.theorem + amplified_by
    if pure is None and not delta:
        words = f"{read.noise.words.split()[0]} mechanism"
        return Line(release.name, read.clients, Fraction(0), False, Fraction(0), words, "needs δ > 0; give --delta")
    shuffled = read.crowd if release.kind == "shuffled" else None
    bound = _least_alone(read.part(shuffled), delta)
    if pure is not None and shuffled is not None and bound.delta:
        theorem += f", shuffled: {AMPLIFIED[best_theorem(read.noise, pure, shuffled, delta)[1]]}"
        conditions = [_clients(read) + _named(read)]
    own = bound.epsilon if pure is None else pure
    return Line(release.name, read.clients, own, True, bound.epsilon, theorem, "; ".join(conditions), bound.delta)


@lru_cache(maxsize=1024)
def _least_alone(part: AnyPart, delta: Fraction) -> Least:
    """A plan of samples has thousands of equal lines."""
    return least([Counter([part])], delta, fixed=True)


def _shuffled_line(read: Read, pure: Fraction, delta: Fraction) -> Line:
    release = read.release
    if not delta:
        return Line(release.name, release.n, pure, True, pure, "local randomiser", "δ = 0: shuffling gives nothing")
    if read.crowd < 2 <= release.n:
        why = "a report alone with its tag is not hidden by shuffling, nor are values that are not known to share one interval"
        return Line(release.name, release.n, pure, True, pure, "local randomiser", why + _named(read))
    epsilon, method = best_theorem(read.noise, pure, read.crowd, delta)
    if epsilon < pure:
        conditions = _clients(read) + _named(read)
        return Line(release.name, release.n, pure, True, epsilon, AMPLIFIED[method], conditions, delta)
    return Line(release.name, release.n, pure, True, pure, "local randomiser", "too few reports for amplification" + _named(read))


def _clients(read: Read) -> str:
    """What amplification asks of the clients."""
    values = ", values in one interval" if read.noise.alphabet is None else ""
    return f"n honest clients, one report each, by one randomiser{values}; sensitivity {_known(read.release)}"


def _named(read: Read) -> str:
    """Said where a cohort names fewer clients than there are reports: nobody else is known to have sent one."""
    named = read.release.cohort.size
    return f"; hidden among the {named} clients of its cohort, not n" if named and named < read.release.n else ""


def _known(release: Release) -> str:
    return f"{show(release.derived)} proven" if release.derived is not None else f"{show(release.sensitivity)} declared"
