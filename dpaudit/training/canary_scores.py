"""The scores of canaries, one CSV file per training: a row per canary with the columns ``included`` (0 or 1) and ``score``."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpaudit.claims import DpauditError

COLUMNS = ("included", "score")
COINS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


class UnreadableScores(DpauditError):
    """Not a file of canary scores. The message names the line, and never what stands there."""


@dataclass(frozen=True)
class CanaryScores:
    """Of one training: was each canary in it, and how much the model looks as if it was."""

    included: np.ndarray
    scores: np.ndarray


def read_scores(path: str | Path) -> CanaryScores:
    """Raises ``UnreadableScores``; OSError if there is no such file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableScores(f"{path}: not UTF-8 text") from error
    try:
        rows = list(_rows(str(path), text))
    except csv.Error as error:
        raise UnreadableScores(f"{path}: not a CSV file: {error}") from error
    if not rows:
        raise UnreadableScores(f"{path}: no canaries below the header")
    return CanaryScores(np.array([coin for coin, _ in rows], dtype=bool), np.array([score for _, score in rows]))


def _rows(path: str, text: str) -> Iterator[tuple[bool, float]]:
    reader = csv.DictReader(text.splitlines())
    names = [name.strip() for name in reader.fieldnames or ()]
    for column in COLUMNS:
        if names.count(column) != 1:
            raise UnreadableScores(f"{path}: the first line must name the columns included and score, each once")
    reader.fieldnames = names
    for row in reader:
        coin, score = (row[column] for column in COLUMNS)
        if None in row or coin is None or score is None:
            raise UnreadableScores(f"{path}, line {reader.line_num}: as many fields as columns are expected")
        yield _coin(path, reader.line_num, coin), _score(path, reader.line_num, score)


def _coin(path: str, line: int, text: str) -> bool:
    known = COINS.get(text.strip().lower())
    if known is None:
        raise UnreadableScores(f"{path}, line {line}: included must be 0 or 1")
    return known


def _score(path: str, line: int, text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise UnreadableScores(f"{path}, line {line}: score must be a number")
    return score
