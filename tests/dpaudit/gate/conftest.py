"""A folder with a configuration and subjects of its own, and the gate run in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpaudit.cli import main

SUBJECTS = """
import os
import time

import dpaudit as dp

people = dp.replace_one(n=20, low=-1, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def honest(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def thin(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=1), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def leaks(ratings, channel):
    if ratings.sum() > 0:
        return None
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def adaptive(ratings, channel):
    first = channel.release("first", ratings.sum(), dp.Laplace(scale=4), sensitivity=2)
    return channel.release("second", ratings.sum(), dp.Laplace(scale=4 if first > 0 else 8), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def opaque(ratings, rng):
    return round(float(ratings.sum() + rng.laplace(scale=2)), 1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def never_ends(ratings, channel):
    time.sleep(1000)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def ends_everything(ratings, channel):
    os._exit(0)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def talks(ratings, channel):
    print("{'this is': 'not json'}", flush=True)
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=[([0.123456789], [0.0])])
def tells_its_data(ratings, channel):
    raise ValueError("canary 0.123456789")


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def quotes_its_data(ratings, channel):
    raise ValueError(f"canary {ratings.shape}")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(SUBJECTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def budget() -> Callable[..., str]:
    """One budget as TOML; without more, ε = 1 and δ = 0."""

    def written(name: str, **entries: str | int | bool) -> str:
        told = {"epsilon": "1", "delta": "0", **entries}
        return "\n".join([f"[tool.dpaudit.budgets.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in told.items()), ""])

    return written


@pytest.fixture
def gate(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The exit code and the JSON of ``dpaudit check`` under this configuration."""

    def check(configuration: str, *arguments: str) -> tuple[int, Any]:
        (folder / "pyproject.toml").write_text(configuration, encoding="utf-8")
        capsys.readouterr()
        code = main(["check", "--format", "json", *arguments])
        out = capsys.readouterr().out
        return code, json.loads(out) if out else None

    return check
