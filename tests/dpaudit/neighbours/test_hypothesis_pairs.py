"""Examples of a strategy: the same from the same seed, small, found again by their choices, and no file left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from dpaudit.claims import DpauditError, InvalidValue
from dpaudit.neighbours.hypothesis_pairs import Choices, draw_examples, example_of, smallest_example

PAIRS = st.lists(st.integers(-9, 9), min_size=1, max_size=8).map(lambda records: (records, [*records[:-1], 0]))


def far_apart(pair: tuple[list[int], list[int]]) -> bool:
    return abs(sum(pair[0]) - sum(pair[1])) >= 3


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_seed_repeats_the_examples_and_another_seed_gives_others() -> None:
    assert draw_examples(PAIRS, 1, 20) == draw_examples(PAIRS, 1, 20)
    assert draw_examples(PAIRS, 1, 20) != draw_examples(PAIRS, 2, 20)


def test_the_smallest_example_is_small_and_its_choices_give_it_again() -> None:
    found = smallest_example(PAIRS, far_apart, 1, 100)
    assert found is not None
    pair, choices = found
    assert pair == ([3], [0])
    assert example_of(PAIRS, choices) == pair
    assert smallest_example(PAIRS, far_apart, 1, 100) == found


def test_what_no_example_fulfils_is_not_found() -> None:
    assert smallest_example(PAIRS, lambda pair: len(pair[0]) > 8, 1, 50) is None
    with pytest.raises(InvalidValue):
        draw_examples(st.nothing(), 1, 5)


@pytest.mark.parametrize(
    "choices",
    [
        Choices("0.1", "AAFBAwBBAA=="),
        Choices("6.170.15", "AAAA"),
        Choices("6.170.15", "not base64!"),
        Choices("6.170.15", ""),
        Choices("6.170.15", "A" * 20_000),
    ],
    ids=["other version", "other choices", "no base64", "empty", "long"],
)
def test_choices_that_do_not_fit_are_refused(choices: Choices) -> None:
    with pytest.raises(DpauditError):
        example_of(st.integers(0, 3).map(lambda _: 1 / 0), choices)


def test_a_wavering_wish_finds_nothing() -> None:
    answers = iter([True] + [False] * 10_000)
    assert smallest_example(PAIRS, lambda _: next(answers), 1, 50) is None


def test_no_folder_is_left_and_the_users_own_setting_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hypothesis import configuration

    before = configuration.storage_directory("examples").path
    draw_examples(PAIRS, 1, 20)
    found = smallest_example(PAIRS, far_apart, 1, 100)
    assert found is not None
    example_of(PAIRS, found[1])
    assert list(tmp_path.iterdir()) == []
    assert configuration.storage_directory("examples").path == before
    assert capsys.readouterr().out == ""
