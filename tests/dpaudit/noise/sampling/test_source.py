"""Sources: words that cannot be foretold or repeated, and words that can be replayed."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dpaudit.claims import DpauditError, InvalidValue
from dpaudit.noise import ReplaySource, SecureSource, Source

SOURCES: list[Callable[[], Source]] = [SecureSource, lambda: ReplaySource(1)]


def in_forked_child(draw: Callable[[], bytes]) -> bytes:
    """What ``draw`` returns in a forked copy of this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, draw())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return answer


def test_forked_children_draw_different_words_from_each_other_and_from_the_parent() -> None:
    source = SecureSource()
    source.words(10)  # so that a block is already drawn when the process forks
    answers = [in_forked_child(lambda: source.words(4).tobytes()) for _ in range(3)]
    answers.append(source.words(4).tobytes())
    assert len(set(answers)) == 4


def test_the_fork_test_would_see_equal_words() -> None:
    source = ReplaySource(7)
    first, second = (in_forked_child(lambda: source.words(4).tobytes()) for _ in range(2))
    assert first == second


def test_a_child_can_draw_although_a_thread_of_the_parent_was_drawing() -> None:
    source = SecureSource()
    with source._lock:
        answer = in_forked_child(lambda: source.words(4).tobytes())
    assert len(answer) == 32


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_sources_are_never_copied_or_pickled(make: Callable[[], Source], duplicate: Callable[[object], object]) -> None:
    with pytest.raises(DpauditError, match="cannot be copied or pickled"):
        duplicate(make())


def test_replay_is_the_same_for_the_same_seed_only() -> None:
    assert (ReplaySource(5).words(100) == ReplaySource(5).words(100)).all()
    assert (ReplaySource(5).words(100) != ReplaySource(6).words(100)).all()


def test_replay_words_do_not_change_between_versions() -> None:
    # AES-256-CTR with key and counter from SHA-512("dpaudit replay source:2026"), computed with openssl
    assert ReplaySource(2026).words(2).tolist() == [15987226392991474624, 10622691243719568282]


def test_simulated_says_which_is_which() -> None:
    assert ReplaySource(1).simulated is True
    assert SecureSource().simulated is False


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_words_have_the_width_asked_for_and_fill_it(make: Callable[[], Source], bits: int) -> None:
    words = make().words(5000, bits)
    assert words.shape == (5000,)
    assert words.dtype.itemsize * 8 == bits
    ones = sum(int(word).bit_count() for word in words)
    assert abs(ones - 2500 * bits) < 6 * np.sqrt(1250 * bits)  # 6 standard deviations: wrong once in 10^9


def test_requests_of_every_size_continue_one_stream_without_overlap() -> None:
    source = ReplaySource(3)
    drawn = np.concatenate([source.words(n) for n in (0, 1, 7, 8191, 8192, 20_000, 5, 8190)])
    assert len(np.unique(drawn)) == drawn.size  # a repeated 64-bit word has probability 10^-10


def test_threads_sharing_a_source_never_see_the_same_word() -> None:
    source, drawn = SecureSource(), list[np.ndarray]()
    threads = [threading.Thread(target=lambda: drawn.extend(source.words(3) for _ in range(2000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(np.unique(np.concatenate(drawn))) == 4 * 2000 * 3


def orders(permutations: list[np.ndarray]) -> float:
    """The p-value of "all 24 orders of four are equally likely"."""
    seen = np.unique([int("".join(map(str, p))) for p in permutations], return_counts=True)[1]
    return float(stats.chisquare(np.pad(seen, (0, 24 - len(seen)))).pvalue)


def test_permutations_are_uniform() -> None:
    source = ReplaySource(11)
    assert orders([source.permutation(4) for _ in range(24_000)]) > 1e-3  # fails for one seed in 1,000


def test_a_naive_shuffle_is_told_from_a_uniform_one() -> None:
    rng = np.random.default_rng(11)
    naive = []
    for _ in range(24_000):
        order = np.arange(4)
        for i in range(4):
            j = rng.integers(4)
            order[[i, j]] = order[[j, i]]
        naive.append(order)
    assert orders(naive) < 1e-9


def test_permutation_draws_again_when_two_words_are_equal() -> None:
    answers = [np.array([4, 9, 4], dtype=np.uint64), np.array([7, 1, 3], dtype=np.uint64)]

    class Ties(ReplaySource):
        def words(self, count: int, bits: int = 64) -> np.ndarray:
            return answers.pop(0)

    assert Ties(0).permutation(3).tolist() == [1, 2, 0]
    assert answers == []


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_permutation_contains_everything_once(n: int) -> None:
    assert sorted(SecureSource().permutation(n)) == list(range(n))


def test_a_width_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidValue, match="bits must be 8, 16, 32 or 64"):
        SecureSource().words(3, bits=12)
