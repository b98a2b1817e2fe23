"""What Opacus and dp-accounting say about the same releases, and whether that can be true.

Both state upper bounds. A figure below our certified lower end, which an attack on the same releases attains, cannot be one:
that is a finding about the peer. A larger figure is compatible with ours, and merely looser.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import logging
import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpaudit.accountants.losses.parts import Part
from dpaudit.accountants.peers.calls import CannotExpress, Method, dp_accounting, opacus
from dpaudit.claims import Enclosure, Finding, show

INSTALL = "pip install 'dpaudit[peers]'"
# A peer is given continuous noise, ours is on a grid (2^-20 unless said otherwise), and peers solve for ε in floats.
SLACK = 1e-6


@dataclass(frozen=True)
class Peer:
    """A library, what to import of it, and its methods."""

    name: str
    module: str
    methods: Mapping[str, Method]
    cannot: Mapping[str, str]  # what it has no words for, and why

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.module.partition(".")[0]) is not None

    @property
    def version(self) -> str | None:
        return importlib.metadata.version(self.name) if self.installed else None


@dataclass(frozen=True)
class Figure:
    """What one method of one peer says. ``agrees``: it may be an upper bound; None when there is no figure."""

    peer: str
    method: str
    version: str | None
    epsilon: float | None = None
    seconds: float | None = None
    agrees: bool | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


_NO_CLIENTS = "it has no clients; it was given what touches the worst one"
PEERS = (
    Peer("opacus", "opacus.accountants", {
        "RDP": opacus("RDPAccountant"), "GDP": opacus("GaussianAccountant"), "PRV": opacus("PRVAccountant"),
    }, {
        "Laplace noise": "its one mechanism is the Gaussian with Poisson sampling",
        "randomised response": "its one mechanism is the Gaussian with Poisson sampling",
        "shuffled batches": "it has no shuffler",
        "local reports": _NO_CLIENTS, "disjoint cohorts": _NO_CLIENTS,
    }),
    Peer("dp-accounting", "dp_accounting", {
        "PLD": dp_accounting("PLDAccountant"), "RDP": dp_accounting("RdpAccountant"),
    }, {
        "shuffled batches": "it has no shuffler",
        "local reports": _NO_CLIENTS, "disjoint cohorts": _NO_CLIENTS,
        "randomised response beside other noise": "PLD takes the one under replace-one only, and Laplace noise not under it",
    }),
)  # fmt: skip


def ask_peers(
    parts: Sequence[Part], delta: Fraction, ours: Enclosure, pure: Fraction | None
) -> tuple[list[Figure], list[Finding]]:
    """Every method of every peer on these parts, judged by ``ours`` and the pure sum (None: some part has no pure ε)."""
    figures, findings = [], []
    for peer in PEERS:
        for name, method in peer.methods.items():
            figure = _ask(peer, name, method, parts, float(delta))
            if figure.epsilon is not None:
                figure, finding = judge(figure, ours, pure)
                findings += [finding] if finding else []
            figures.append(figure)
    return figures, findings


def _ask(peer: Peer, name: str, method: Method, parts: Sequence[Part], delta: float) -> Figure:
    if not peer.installed:
        return Figure(peer.name, name, None, note=f"not installed: {INSTALL}")
    figure = Figure(peer.name, name, peer.version)
    try:
        method.check(parts, delta)
        with _quiet():
            importlib.import_module(peer.module)  # not part of its time
            started = time.perf_counter()
            value = method.compute(parts, delta)
            seconds = time.perf_counter() - started
    except CannotExpress as reason:
        return replace(figure, note=f"cannot express {reason}")
    except (ImportError, ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
        return replace(figure, note=f"raised {type(error).__name__}")
    if not math.isfinite(value):
        return replace(figure, seconds=seconds, note="says that no finite ε holds at this δ")
    return replace(figure, epsilon=value, seconds=seconds)


def judge(figure: Figure, ours: Enclosure, pure: Fraction | None) -> tuple[Figure, Finding | None]:
    """The figure with its agreement and what is remarkable about it; a finding if it cannot be an upper bound."""
    value, note, finding = figure.epsilon or 0.0, "", None
    low, high = float(ours.lower), float(ours.upper)
    below = value < low * (1 - SLACK) or value < 0
    if below:
        note = "negative" if value < 0 else "below what an attack attains"
        proven = f"at least {show_down(ours.lower)}, the certified lower end of ours"
        message = f"{figure.peer} {figure.version} says ε ≤ {value:.7g}, which is {note}: {proven}"
        note = f"unsafe: {note}"
        finding = Finding("DPA004", message, f"{figure.peer} {figure.method}")
    elif pure is not None and value > float(pure) * (1 + SLACK):
        note = f"above the pure sum {show(pure)}"
    elif high and value > high * (1 + 1e-4):
        note = f"{(value / high - 1) * 100:.2g} % above ours" if value < 10 * high else f"{value / high:.0f} times ours"
    return replace(figure, agrees=not below, note=note), finding


def show_down(value: Fraction) -> str:
    """Seven decimals, rounded down."""
    return f"{math.floor(value * 10**7) / 10**7:.7f}".rstrip("0").rstrip(".")


@contextmanager
def _quiet() -> Iterator[None]:
    """Peers warn and log about their own limits; what matters of it stands in the note."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
