"""``dpaudit init``: a first budget, subject, test and workflow in this folder, and the gate run once on them."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpaudit.claims import DpauditError
from dpaudit.commands import Answer, Command, progress, write_report

TABLE = """\
# What each subject or ledger may cost. `dpaudit check` holds it.
[tool.dpaudit.budgets.ratings]
subject = "privacy/ratings.py:mean_rating"
epsilon = "1"
delta = "0"
"""

SUBJECT = '''\
"""An example: the mean of 500 ratings between 1 and 5, released with ε = 1. Change it into yours."""

import dpaudit as dp

PEOPLE = 500


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=PEOPLE, low=1, high=5))
def mean_rating(ratings, channel):
    """One person moves the mean by at most 4/500; noise of that scale hides it at ε = 1."""
    return channel.release("mean", ratings.mean(), dp.Laplace(scale=4 / PEOPLE), sensitivity=4 / PEOPLE)
'''

TEST = '''\
"""`pytest privacy` holds the example to its claim, and shows how it is deployed."""

import dpaudit as dp
import numpy as np
from ratings import PEOPLE, mean_rating


def test_the_mean_is_as_private_as_it_claims():
    dp.assert_private(mean_rating)


def test_it_is_deployed_behind_its_door(tmp_path):
    with dp.open_ledger(tmp_path / "today.ledger") as ledger:
        noisy = mean_rating.deploy(ledger)(np.full(PEOPLE, 4.0))
    assert 3 < noisy < 5  # noise of scale 0.008; it is off by 1 with probability e^-125
'''

WORKFLOW = """\
name: privacy
on: [push, pull_request]
permissions:
  contents: read
jobs:
  budgets:
    runs-on: ubuntu-latest
    timeout-minutes: 60
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: pip install dpaudit
      - run: dpaudit check
"""

CONFIGURATION = "pyproject.toml"
FILES = {"privacy/ratings.py": SUBJECT, "privacy/test_ratings.py": TEST, ".github/workflows/privacy.yml": WORKFLOW}


def init_command(options: argparse.Namespace) -> Answer:
    from dpaudit.gate.check import check
    from dpaudit.gate.policy import read_config
    from dpaudit.report.content.start import init_report

    done = write_first_files(Path.cwd())
    config = read_config()
    with progress("checking", total=len(config.budgets)) as tell:
        checked = check(config, tell=tell)
    return checked.exit, write_report(options, init_report(done, checked))


def write_first_files(folder: Path) -> dict[str, str]:
    """Writes what is missing and returns, for every file, what was done. A file that exists is never changed, except that the
    table is added at the end of a pyproject.toml that has none.

    Raises DpauditError, before anything is written, for a configuration that cannot be read.
    """
    from dpaudit.gate.policy import read_config

    configuration = folder / CONFIGURATION
    configured = read_config(folder).file
    done: dict[str, str] = {}
    if configured is not None:
        done[CONFIGURATION] = "kept: it has a [tool.dpaudit] already"
    elif configuration.exists():
        text = configuration.read_text(encoding="utf-8")
        with configuration.open("a", encoding="utf-8") as file:
            file.write(("" if text.endswith("\n") or not text else "\n") + "\n" + TABLE)
        done[CONFIGURATION] = "added [tool.dpaudit.budgets.ratings] at its end"
    else:
        done[CONFIGURATION] = _create(configuration, TABLE)
    for name, text in FILES.items():
        done[name] = _create(folder / name, text)
    return done


def _create(file: Path, text: str) -> str:
    """``x`` refuses a file that exists, also one that appears in this moment."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return "kept: it was there"
    except OSError as error:
        raise DpauditError(f"{file.name} cannot be written here: {error.strerror}") from None
    return "written"


COMMANDS = (Command("init", "start here: a first budget, subject, test and workflow in this folder, checked once", init_command),)
