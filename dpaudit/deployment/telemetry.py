"""Metrics for Prometheus and spans for OpenTelemetry, of what live doors release and refuse (extra ``telemetry``).

    with Telemetry() as telemetry, dp.open_ledger("service.ledger") as ledger:
        telemetry.watch("service", ledger)              # spent and left, read when somebody scrapes
        with dp.live(ledger, "1") as channel: ...       # every release of the process: counted, timed, a span

Neither holds a private value: a label or an attribute is a name, a mechanism, an observer or a cost that stands in the ledger;
of an error only its type. Times are times: how long a release takes may depend on its data, as everywhere (docs/threat-model.md).
A charge for a whole plan, and reports that a server of the local model writes down, pass no door: they count as spent alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Self

from dpaudit.channel.release_log import LISTENERS, Passage
from dpaudit.claims import BudgetExceeded, DpauditError, float_down, float_up, show
from dpaudit.ledger import Ledger

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Telemetry:
    """Listens to every live door of this process, from ``with`` to its end.

    ``registry``: of prometheus_client, its global one by default; ``tracer_provider``: of OpenTelemetry, likewise.
    Raises DpauditError without the extra.
    """

    def __init__(self, registry: Any = None, tracer_provider: Any = None) -> None:
        try:
            import prometheus_client
            from opentelemetry import trace
        except ImportError:
            raise DpauditError("metrics and spans need the extra: pip install 'dpaudit[telemetry]'") from None
        self._registry = prometheus_client.REGISTRY if registry is None else registry
        self._tracer, self._kinds = trace.get_tracer("dpaudit", tracer_provider=tracer_provider), trace
        self._ledgers: dict[str, Ledger] = {}
        labels = ("mechanism", "to")
        self._released = prometheus_client.Counter("dpaudit_releases", "Releases that passed a live door", labels, registry=None)
        self._refused = prometheus_client.Counter("dpaudit_refused", "Releases refused by a budget", labels, registry=None)
        self._failed = prometheus_client.Counter("dpaudit_failed", "Releases that failed otherwise", labels, registry=None)
        self._seconds = prometheus_client.Histogram(
            "dpaudit_release_seconds", "From charge to stored", labels, buckets=BUCKETS, registry=None
        )

    def __enter__(self) -> Self:
        self._registry.register(self)
        LISTENERS.append(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        LISTENERS.remove(self._listen)
        self._registry.unregister(self)

    def watch(self, name: str, ledger: Ledger) -> None:
        """Show what this ledger has spent and has left, under a name; spent is rounded up, left down."""
        self._ledgers[name] = ledger

    def describe(self) -> Iterable[Any]:
        """Nothing: no ledger is read when the registry takes it in."""
        return []

    def collect(self) -> Iterable[Any]:
        """All metrics, as a registry asks for them."""
        for counter in (self._released, self._refused, self._failed, self._seconds):
            yield from counter.collect()
        yield from self._budgets()

    def _budgets(self) -> Iterable[Any]:
        from prometheus_client.core import GaugeMetricFamily

        for place, unit in enumerate(("epsilon", "delta")):
            spent = GaugeMetricFamily(f"dpaudit_spent_{unit}", f"Largest {unit} that a record has spent", labels=["ledger"])
            left = GaugeMetricFamily(f"dpaudit_left_{unit}", f"Least {unit} that a record has left", labels=["ledger"])
            for name, ledger in self._ledgers.items():
                used, budget = ledger.spent()[place], ledger.budget
                spent.add_metric([name], float_up(used))
                if budget is not None:
                    allowed: Fraction = (budget.epsilon, budget.delta)[place]
                    left.add_metric([name], float_down(max(allowed - used, Fraction(0))))
            yield from (spent, left)

    def _listen(self, passage: Passage, ledger: Ledger, work: Callable[[], Any]) -> Any:
        """Do the work inside a span; count it and time it."""
        labels, started, outcome = (passage.mechanism, passage.to), time.perf_counter(), self._failed
        cost = {} if passage.epsilon is None else {"dpaudit.epsilon": show(passage.epsilon)}
        facts = {"name": passage.name, "to": passage.to, "mechanism": passage.mechanism, "delta": show(passage.delta)}
        with self._tracer.start_as_current_span(
            "dpaudit.release", attributes={**{f"dpaudit.{key}": value for key, value in facts.items()}, **cost},
            record_exception=False, set_status_on_exception=False,  # a message or a traceback is not ours to hand on
        ) as span:  # fmt: skip
            try:
                result = work()
                outcome = self._released
                return result
            except BaseException as error:
                outcome = self._refused if isinstance(error, BudgetExceeded) else self._failed
                span.set_attribute("dpaudit.error", type(error).__name__)
                span.set_status(self._kinds.StatusCode.ERROR)
                raise
            finally:
                outcome.labels(*labels).inc()
                self._seconds.labels(*labels).observe(time.perf_counter() - started)
