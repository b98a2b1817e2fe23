"""Long batches: the same figures in parts as at once, and little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import long_batches
from dpaudit.channel.long_batches import in_parts, sum_by_tag
from dpaudit.noise import UnaryResponse, to_units

N = 1000


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_batches, "PART", 64)


def test_work_on_each_report_gives_the_same_in_parts(short_parts: None) -> None:
    values = np.random.default_rng(1).random(N)
    assert np.array_equal(in_parts(to_units, values), to_units(values))


@pytest.mark.parametrize("tags", [None, np.random.default_rng(2).integers(-1, 5, N)], ids=["together", "by tag"])
def test_sums_in_parts_are_exact(short_parts: None, tags: np.ndarray | None) -> None:
    units = np.random.default_rng(3).integers(-(2**40), 2**40, N)
    wanted = [sum(map(int, units))] if tags is None else [sum(map(int, units[tags == tag])) for tag in range(5)]
    assert sum_by_tag(units, tags, 5).tolist() == wanted


def test_what_does_not_fit_into_a_sum_is_clipped_by_the_number_of_all(short_parts: None) -> None:
    assert 0 < sum_by_tag(np.full(N, 2**62), None, 1)[0] <= 2**62


@pytest.mark.parametrize("kind", ["live", "simulated"])
@pytest.mark.parametrize("to", ["server", "shuffled"])
@pytest.mark.filterwarnings("ignore")
def test_a_batch_in_parts_has_every_report_and_its_sum(short_parts: None, tmp_path: Path, kind: str, to: str) -> None:
    """Each part has noise of its own: none is like another (a part drawn twice would be)."""
    ledger = dp.open_ledger(tmp_path / "a.ledger") if kind == "live" else None
    with dp.live(ledger) if ledger is not None else dp.simulate(7) as channel:
        reports = channel.reports("r", np.zeros(N), dp.Laplace(scale=1), sensitivity=1, to=to)
        values = reports.values
        assert values.shape == (N,)
        assert reports.sum()[0] == pytest.approx(values.sum())
        assert len(set(values.tolist())) > N - 5
        assert 0.8 < np.abs(values).mean() < 1.2  # six standard deviations
    if ledger is not None:
        (stored,) = ledger.releases()
        assert stored.values is not None
        assert np.array_equal(stored.values * 2.0**-20, values)
        ledger.close()


def test_bits_are_summed_in_parts(short_parts: None) -> None:
    noise = UnaryResponse(epsilon="1", k=4)
    with dp.simulate(5) as channel:
        reports: Any = channel.reports("r", np.arange(N) % 4, noise, sensitivity=1)
        bits = reports.values
        assert np.array_equal(reports.sum()[0], bits.sum(axis=0))


class LastFirst:
    """Draws the parts in the wrong order, as workers of different speed do, and hands them back in the right one."""

    def each(self, work: Any, arguments: Any) -> Any:
        asked = list(arguments)
        done = {place: work(*asked[place]) for place in reversed(range(len(asked)))}
        return iter([done[place] for place in range(len(asked))])


@pytest.mark.parametrize("noise", [dp.Laplace(scale=1), dp.RandomizedResponse(epsilon="1"), UnaryResponse(epsilon="1", k=4)])
@pytest.mark.parametrize("to", ["server", "shuffled"])
def test_a_seeded_batch_does_not_depend_on_who_draws_its_parts(short_parts: None, noise: Any, to: str) -> None:
    """Neither do batches after it; one with another seed does."""

    def drawn(seed: int, elsewhere: Any) -> list[bytes]:
        with dp.simulate(seed, elsewhere=elsewhere) as channel:
            batches = [channel.reports("r", np.arange(N) % 2, noise, sensitivity=1, to=to).values for _ in range(2)]
            return [batch.tobytes() for batch in (*batches, channel.reports("s", np.arange(9) % 2, noise, sensitivity=1).values)]

    assert drawn(7, None) == drawn(7, LastFirst())
    assert len(set(drawn(7, None))) == 3
    assert not set(drawn(7, None)) & set(drawn(8, None))


_MEMORY = """
import sys, warnings, numpy as np, dpaudit as dp
from pathlib import Path
warnings.simplefilter("ignore")
noise = {"laplace": dp.Laplace(scale=1), "rr": dp.RandomizedResponse(epsilon="1"), "unary": dp.UnaryResponse(epsilon="1", k=8)}
values = np.random.default_rng(1).integers(0, 2, 10**7, dtype=np.int8)
with dp.open_ledger(sys.argv[2]) as ledger, dp.live(ledger) as channel:
    channel.reports("r", values, noise[sys.argv[1]], sensitivity=1).sum()
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]  # ru_maxrss begins with the parent's
print(int(peak) // 1000)
"""


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace", "rr", "unary"])
def test_ten_million_reports_in_one_batch_take_less_than_500_megabytes(tmp_path: Path, mechanism: str) -> None:
    command = [sys.executable, "-c", _MEMORY, mechanism, str(tmp_path / "a.ledger")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout) < 500
