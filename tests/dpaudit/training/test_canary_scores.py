"""Files of canary scores: what is read, and what is refused without showing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.training.canary_scores import UnreadableScores, read_scores


def written(folder: Path, text: str) -> Path:
    file = folder / "scores.csv"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "text",
    [
        "included,score\n1,0.5\n0,-2e3\n",
        "score,id,included\n0.5,a,1\n-2000,b,0\n",
        "\ufeffincluded,score\r\n1,0.5\r\n0,-2000\r\n",
        " included , score\n 1 , 0.5\ntrue,0.5\n".replace("true,0.5", "False,-2000.0"),
    ],
)
def test_columns_stand_in_any_order_and_coins_in_any_usual_form(tmp_path: Path, text: str) -> None:
    read = read_scores(written(tmp_path, text))
    assert read.included.tolist() == [True, False]
    assert read.scores.tolist() == [0.5, -2000.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must name the columns"),
        ("included,points\n1,2\n", "must name the columns"),
        ("included,score,score\n1,2,3\n", "must name the columns"),
        ("included,score\n", "no canaries"),
        ("included,score\n1,4711x\n", "line 2: score must be a number"),
        ("included,score\n1,nan\n", "line 2: score must be a number"),
        ("included,score\n1,1\n4711,2\n", "line 3: included must be 0 or 1"),
        ("included,score\n1\n", "line 2: as many fields"),
        ("included,score\n1,2,4711\n", "line 2: as many fields"),
    ],
)
def test_what_is_no_file_of_scores_is_refused_by_its_line_and_not_shown(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UnreadableScores, match=words) as refused:
        read_scores(written(tmp_path, text))
    assert "4711" not in str(refused.value)


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_bytes(b"\xff\xfe\x00included")
    with pytest.raises(UnreadableScores, match="UTF-8"):
        read_scores(tmp_path / "scores.csv")
