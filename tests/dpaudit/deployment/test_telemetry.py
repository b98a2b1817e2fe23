"""Metrics and spans tell what a ledger tells: counts, costs, times; no canary is found in either."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest

import dpaudit as dp
from dpaudit.channel.release_log import LISTENERS
from dpaudit.claims import DpauditError
from dpaudit.deployment.telemetry import Telemetry
from dpaudit.ledger import MemoryLedger

UNITS = 771917
CANARY = UNITS / 2**20  # on the grid, so that nothing rounds it away
WORD = "canary-in-a-text"


class Seen:
    """A telemetry with a registry and an exporter of its own."""

    def __init__(self) -> None:
        self.registry, self.exporter, provider = CollectorRegistry(), InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.telemetry = Telemetry(self.registry, provider)

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)

    def texts(self) -> str:
        """All that leaves, but for times and random ids, whose digits can be anything: the scraped page, and the spans."""
        page = [
            line for line in generate_latest(self.registry).decode().splitlines() if not re.search(r"_created|_sum[{ ]", line)
        ]
        spans = [json.loads(span.to_json()) for span in self.exporter.get_finished_spans()]
        timed = {"context", "parent_id", "start_time", "end_time", "resource"}
        return "\n".join([*page, *(json.dumps({key: span[key] for key in span.keys() - timed}) for span in spans)])


@pytest.fixture
def seen() -> Iterator[Seen]:
    made = Seen()
    with made.telemetry:
        yield made
    assert LISTENERS == []


def test_releases_refusals_and_the_budget_are_told(seen: Seen) -> None:
    ledger = MemoryLedger(kind="deployment")
    seen.telemetry.watch("service", ledger)
    data, server = dp.seal(np.ones(10), -1, 1), {"mechanism": "laplace", "to": "server"}
    with dp.live(ledger, ("1", "1e-6")) as channel:
        channel.release("sum", data.sum(), dp.Laplace(scale=3), sensitivity=2)
        with pytest.raises(dp.BudgetExceeded):
            channel.release("more", data.sum(), dp.Laplace(scale=1), sensitivity=2)
    assert seen.value("dpaudit_releases_total", **server) == 1
    assert seen.value("dpaudit_refused_total", **server) == 1
    assert seen.value("dpaudit_release_seconds_count", **server) == 2
    spent, left = seen.value("dpaudit_spent_epsilon", ledger="service"), seen.value("dpaudit_left_epsilon", ledger="service")
    assert spent is not None
    assert left is not None
    assert Fraction(spent) >= Fraction(2, 3) >= Fraction(spent) - Fraction(1, 10**15), "spent is rounded up"
    assert Fraction(left) <= Fraction(1, 3) <= Fraction(left) + Fraction(1, 10**15), "left is rounded down"
    assert seen.value("dpaudit_left_delta", ledger="service") == 1e-6
    first, refused = seen.exporter.get_finished_spans()
    assert first.attributes is not None
    assert dict(first.attributes) == {
        "dpaudit.name": "sum", "dpaudit.to": "server", "dpaudit.mechanism": "laplace", "dpaudit.epsilon": "2/3",
        "dpaudit.delta": "0",
    }  # fmt: skip
    assert refused.attributes is not None
    assert refused.attributes["dpaudit.error"] == "BudgetExceeded"
    assert not refused.status.is_ok
    assert refused.events == (), "no message and no traceback"


CALLS: dict[str, Any] = {
    "sealed": lambda c: c.release("s", dp.seal(np.full(4, CANARY), -1, 1).sum(), dp.Laplace(scale=8), sensitivity=2),
    "plain": lambda c: c.release("s", CANARY, dp.Laplace(scale=8), sensitivity=2),
    "over budget": lambda c: c.release("s", CANARY, dp.Laplace(scale=1), sensitivity=90),
    "too little": lambda c: c.release("s", dp.seal(np.full(4, CANARY), -1, 1).sum(), dp.Laplace(scale=8), sensitivity=1),
    "reports": lambda c: c.reports("s", np.full(4, CANARY), dp.Laplace(scale=8), sensitivity=2).values,
    "shuffled": lambda c: (
        c.reports("s", np.full(4, CANARY), dp.Laplace(scale=8), sensitivity=2, to="shuffled", delta="1e-7").values
    ),
    "select": lambda c: c.select("s", [CANARY, 0.0], epsilon="1/4", sensitivity=1),
    "noisy max": lambda c: c.noisy_max("s", [CANARY, 0.0], dp.Laplace(scale=8), sensitivity=2),
    "threshold": lambda c: c.above("s", epsilon="1/4", sensitivity=1, threshold=0).ask(CANARY),
    "counts": lambda c: c.threshold_counts("s", [WORD] * 4, epsilon="1/4", delta="1e-7"),
    "stream": lambda c: c.tree("s", steps=4, noise=dp.Laplace(scale=30), sensitivity=1).add(CANARY),
    "known": lambda c: c.known("s", lambda data: 1 / 0, [CANARY], epsilon="1/4"),
}


@pytest.mark.filterwarnings("ignore")
def test_no_canary_is_found_in_metrics_or_spans(seen: Seen) -> None:
    """The ledger's values too: a noisy value is public, and still nobody's metric."""
    ledger = MemoryLedger(kind="deployment")
    seen.telemetry.watch("service", ledger)
    raised = []
    with dp.live(ledger, ("20", "1e-5")) as channel:
        for name, call in CALLS.items():
            try:
                call(channel)
            except (DpauditError, ZeroDivisionError):
                raised.append(name)
    assert set(raised) == {"over budget", "too little", "known"}
    told = seen.texts()
    forms = (str(CANARY)[:8], str(UNITS), str(4 * UNITS), str(4 * CANARY)[:8], CANARY.hex(), WORD)
    assert [form for form in forms if form in told] == []
    values = [str(number) for release in ledger.releases() for number in np.ravel(np.asarray(release.values))]
    assert [number for number in values if len(number) > 4 and number in told] == []
    assert len(seen.exporter.get_finished_spans()) >= len(CALLS) - 2
    assert "laplace" in told, "the twin: what is public is found by the same search"


def test_an_error_that_quotes_its_data_is_told_by_its_type_alone(seen: Seen) -> None:
    class Broken(MemoryLedger):
        def charge(self, *arguments: Any, **terms: Any) -> Any:
            raise RuntimeError(f"{WORD} {CANARY}")

    with dp.live(Broken(kind="deployment")) as channel, pytest.raises(RuntimeError):
        channel.release("s", dp.seal(np.full(4, CANARY), -1, 1).sum(), dp.Laplace(scale=8), sensitivity=2)
    assert WORD not in seen.texts()
    assert str(CANARY)[:8] not in seen.texts()
    assert seen.value("dpaudit_failed_total", mechanism="laplace", to="server") == 1
    (span,) = seen.exporter.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["dpaudit.error"] == "RuntimeError"


def test_without_the_extra_nothing_is_imported_and_the_telemetry_says_what_it_needs() -> None:
    script = """
import sys
sys.modules["prometheus_client"] = sys.modules["opentelemetry"] = None
import dpaudit as dp
from dpaudit.ledger import MemoryLedger
with dp.live(MemoryLedger(kind="deployment"), "1") as channel:
    channel.release("s", dp.seal([1.0], -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)
assert not [name for name in sys.modules if name.startswith(("opentelemetry.", "prometheus_client."))]
from dpaudit.deployment.telemetry import Telemetry
try:
    Telemetry()
except dp.DpauditError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "metrics and spans need the extra: pip install 'dpaudit[telemetry]'")
