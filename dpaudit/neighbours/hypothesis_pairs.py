"""Examples of a Hypothesis strategy: reproducible from a seed, shrunk, named by their choices, and without a file left behind."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dpaudit.claims import DpauditError, InvalidValue

MOST_CHOICES = 10_000  # characters
_NOTE = re.compile(r"@reproduce_failure\('([^']+)', b'([A-Za-z0-9+/=]*)'\)")


@dataclass(frozen=True)
class Choices:
    """What makes a strategy give one example again: Hypothesis' own text for its choices, and the version that reads it."""

    version: str
    text: str


class _Found(Exception):
    """This is the example; raised to end the run."""


def draw_examples(strategy: Any, seed: int, count: int) -> list[Any]:
    """The first ``count`` examples. Raises InvalidValue for a strategy that has none."""
    import hypothesis

    examples: list[Any] = []
    try:
        _run(strategy, examples.append, count, ["generate"], hypothesis.seed(seed))
    except hypothesis.errors.HypothesisException as error:
        raise InvalidValue("neighbours", type(error).__name__, "a strategy that has examples") from error
    return examples


def climb(strategy: Any, score: Callable[[Any], Any], seed: int, count: int) -> None:
    """Show ``score`` up to ``count`` examples; Hypothesis looks for those with a large one. Raises as ``draw_examples`` does."""
    import hypothesis

    def test(example: Any) -> None:
        hypothesis.target(float(score(example)))

    try:
        _run(strategy, test, count, ["generate", "target"], hypothesis.seed(seed))
    except hypothesis.errors.HypothesisException as error:
        raise InvalidValue("neighbours", type(error).__name__, "a strategy that has examples") from error


def smallest_example(strategy: Any, wanted: Callable[[Any], bool], seed: int, count: int) -> tuple[Any, Choices] | None:
    """A wanted example, shrunk, and its choices; None when ``count`` examples hold none."""
    import hypothesis

    examples: list[Any] = []

    def test(example: Any) -> None:
        if wanted(example):
            examples.append(example)
            raise _Found

    try:
        _run(strategy, test, count, ["generate", "shrink"], hypothesis.seed(seed))
    except _Found as last:
        note = _NOTE.search("\n".join(getattr(last, "__notes__", [])))
        return None if note is None else (examples[-1], Choices(note[1], note[2]))
    except hypothesis.errors.HypothesisException:  # asked again about the same example, ``wanted`` gave another answer
        return None
    return None


def example_of(strategy: Any, choices: Choices) -> Any:
    """The example with these choices. Raises DpauditError where this strategy, in this version of Hypothesis, has none."""
    import hypothesis

    examples: list[Any] = []

    def test(example: Any) -> None:
        examples.append(example)
        raise _Found

    if len(choices.text) > MOST_CHOICES:
        raise InvalidValue("choices", f"{len(choices.text)} characters", f"at most {MOST_CHOICES} characters")
    try:
        _run(strategy, test, 1, ["explicit"], hypothesis.reproduce_failure(choices.version, choices.text.encode()))
    except _Found:
        return examples[-1]
    except Exception as error:  # errors of many kinds for a text that does not fit
        versions = f"written with Hypothesis {choices.version}, read with {hypothesis.__version__}"
        raise DpauditError(f"these neighbours have no pair with the witness's choices ({versions})") from error
    raise DpauditError("these neighbours have no pair with the witness's choices")


def _run(strategy: Any, test: Callable[[Any], None], count: int, phases: list[str], how: Callable[[Any], Any]) -> None:
    import hypothesis

    settings = hypothesis.settings(
        max_examples=count, database=None, deadline=None, print_blob=True, verbosity=hypothesis.Verbosity.quiet,
        phases=[hypothesis.Phase[phase] for phase in phases], suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip

    def named(example: Any) -> None:
        test(example)

    with _no_files():
        wrap: Any = hypothesis.given(strategy)
        how(settings(wrap(named)))()


@contextmanager
def _no_files() -> Iterator[None]:
    """Without a database Hypothesis still keeps a folder of constants that it found in the source."""
    from hypothesis import configuration

    before = getattr(configuration, "__hypothesis_home_directory", None)
    with tempfile.TemporaryDirectory(prefix="dpaudit-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)
