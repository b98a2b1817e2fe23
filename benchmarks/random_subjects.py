"""Programs drawn from a grammar over the door's verbs and numpy, on tiny data, each with its true ε (``subject_truths``).

An audit may be unable to decide, but it must never certify a program that costs more than its claim or leaks, nor refute one that
keeps its claim. ``python -m benchmarks.soak subjects --count 1000``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from benchmarks.subject_truths import (
    LEAK,
    Data,
    Law,
    Measure,
    Pair,
    Record,
    Step,
    Truth,
    neighbouring_pairs,
    pure_loss,
    squared_shift,
    truth_of,
)

Leak = Literal["", "harmless", "raw", "float", "branch", "text", "print", "rare", "index", "kept"]
LEAKS: tuple[Leak, ...] = ("harmless", "raw", "float", "branch", "text", "print", "rare", "index", "kept")
NUMBERS: tuple[tuple[int, ...], ...] = ((0, 1), (-1, 1), (-1, 0, 1), (0, 1, 2), (0, 3), (-2, 1, 3))
ROWS: tuple[tuple[tuple[int, int], ...], ...] = (
    ((2, 0), (0, -2)),
    ((1, 0), (-1, 0), (0, 3)),
    ((1, 1), (-2, -2)),
    ((0, 0), (3, 4)),
)
CLAIMS = tuple(Fraction(text) for text in ("1", "1", "1", "1/2", "3/4", "99/100", "101/100", "5/4", "2"))  # times the truth
FACTORS = tuple(Fraction(text) for text in ("1", "1", "1/2", "2", "4"))  # scale over sensitivity
DECLARED = tuple(Fraction(text) for text in ("1", "1", "1", "1/2", "2"))  # sensitivity over the true one


@dataclass(frozen=True)
class World:
    """The data: n records, each one of a few values."""

    n: int
    values: tuple[Record, ...]
    removal: bool
    pairs: list[Pair]

    @property
    def wide(self) -> bool:
        return len(self.values[0]) > 1

    def code(self) -> str:
        listed = ", ".join(str(tuple(map(int, value))) if self.wide else str(value[0]) for value in self.values)
        return f"dp.{'add_remove' if self.removal else 'replace_one'}({self.n}, values=[{listed}])"


@dataclass(frozen=True)
class Query:
    code: str
    measure: Measure
    laws: tuple[Law, ...] = ("laplace", "laplace", "gaussian")
    categories: int = 2
    scalar: bool = True


@dataclass(frozen=True)
class Release:
    name: str
    query: Query
    step: Step
    sensitivity: Fraction

    def noise(self) -> str:
        size = f'"{self.step.size}"'
        return {
            "laplace": f"dp.Laplace(scale={size})",
            "gaussian": f"dp.Gaussian(sigma={size})",
            "response": f"dp.RandomizedResponse(epsilon={size})",
            "kary": f"dp.KaryResponse(epsilon={size}, k={self.step.categories})",
        }[self.step.law]

    def code(self) -> str:
        return f'channel.release("{self.name}", {self.query.code}, {self.noise()}, sensitivity="{self.sensitivity}")'

    def planned(self) -> str:
        return f'("{self.name}", {self.noise()}, "{self.sensitivity}")'


@dataclass(frozen=True)
class Program:
    """A module that holds one subject, ``program``."""

    text: str
    claim: Fraction
    truth: Truth
    leak: Leak


def draw_program(rng: random.Random) -> Program:
    world = _draw_world(rng)
    first = [_draw_release(rng, world, name) for name in rng.choice(("a", "a", "ab"))]
    later: tuple[list[Release], list[Release]] | None = None
    if rng.random() < 0.3:
        first[-1] = _draw_release(rng, world, "c", scalar=True)
        later = ([_draw_release(rng, world, "d")], rng.choice(([], [_draw_release(rng, world, "e")])))
    every = [*first, *(later[0] + later[1] if later else [])]
    gaussian = any(release.step.law == "gaussian" for release in every)
    delta = Fraction(rng.choice(("1/100000", "1/100")) if gaussian or rng.random() < 0.1 else 0)
    leak = rng.choice(LEAKS) if rng.random() < 0.3 else ""
    if leak == "rare" and (delta or first[-1].step.law != "laplace" or not first[-1].query.scalar):
        leak = "raw"
    above, below = [[release.step for release in side] for side in later] if later else (None, None)
    truth = truth_of(world.pairs, [release.step for release in first], above, below, delta)
    claim = _draw_claim(rng, truth)
    leaks = leak not in ("", "harmless")
    text = _module(rng, world, (claim, delta), first, later, leak)
    return Program(text, claim, LEAK if leaks else truth, leak)


def _draw_claim(rng: random.Random, truth: Truth) -> Fraction:
    cost = Fraction(truth.high) if truth.high not in (0, float("inf")) else Fraction(1)
    exact = truth.low == truth.high
    return cost * rng.choice(CLAIMS) if exact else Fraction(f"{float(cost * rng.choice(CLAIMS)):.4f}") + Fraction(1, 10**4)


def _draw_world(rng: random.Random) -> World:
    n, removal = rng.choice((1, 2, 2, 3)), rng.random() < 0.25
    rows = rng.choice(ROWS) if rng.random() < 0.15 else [(value,) for value in rng.choice(NUMBERS)]
    values = tuple(tuple(Fraction(number) for number in row) for row in rows)
    n = max(n, 2) if removal else n
    return World(n, values, removal, list(neighbouring_pairs(n, values, removal=removal)))


def _draw_release(rng: random.Random, world: World, name: str, *, scalar: bool = False) -> Release:
    choices = _row_queries(rng) if world.wide else _queries(rng, world)
    query = rng.choice([query for query in choices if query.scalar or not scalar])
    law = rng.choice(query.laws)
    if law in ("response", "kary"):
        size = Fraction(rng.choice(("1/2", "1", "2")))
        return Release(name, query, Step(query.measure, law, size, query.categories), Fraction(1))
    unit = Step(query.measure, law, Fraction(1))
    if law == "laplace":
        most = max(pure_loss(unit, pair) for pair in world.pairs)
    else:
        squared = max(squared_shift(unit, pair) for pair in world.pairs)
        most = Fraction(squared**0.5).limit_denominator(10**4) + (0 if (squared**0.5).is_integer() else Fraction(1, 10**4))
    most = most or Fraction(1)
    return Release(name, query, Step(query.measure, law, most * rng.choice(FACTORS)), most * rng.choice(DECLARED))


def _sum(function: Measure) -> Measure:
    """The sum of a function of each record, in as many numbers as it has."""

    def measure(data: Data) -> tuple[Fraction, ...]:
        return tuple(sum(column, Fraction(0)) for column in zip(*(function((record,)) for record in data), strict=True))

    return measure


def _queries(rng: random.Random, world: World) -> list[Query]:
    low, high = min(world.values)[0], max(world.values)[0]
    limit, weight = rng.choice((low, (low + high) / 2, low + Fraction(1, 2))), Fraction(rng.choice(("3", "1/2", "-2", "1/4")))
    ends = sorted((Fraction(rng.choice(("-1", "0"))), Fraction(rng.choice(("1/2", "1", "2")))))
    place, t, w = rng.randrange(world.n), float(limit), float(weight)
    queries = [
        Query("x.sum()", _sum(lambda d: (d[0][0],))),
        Query(f"{w} * x.sum()", _sum(lambda d: (weight * d[0][0],))),
        Query(f"np.clip(x, {float(ends[0])}, {float(ends[1])}).sum()", _sum(lambda d: (min(max(d[0][0], ends[0]), ends[1]),))),
        Query(f"(x > {t}).sum()", _sum(lambda d: (Fraction(d[0][0] > limit),))),
        Query(f"np.where(x > {t}, x, 0).sum()", _sum(lambda d: (d[0][0] * (d[0][0] > limit),))),
        Query("np.abs(x).sum()", _sum(lambda d: (abs(d[0][0]),))),
        Query("(x * x).sum()", _sum(lambda d: (d[0][0] ** 2,))),
        Query("dp.clip_rows(x, 1).sum()", _sum(lambda d: (min(max(d[0][0], Fraction(-1)), Fraction(1)),))),
        Query(
            f"np.stack([(x > {t}).sum(), (x <= {t}).sum()])",
            _sum(lambda d: (Fraction(d[0][0] > limit), Fraction(d[0][0] <= limit))),
            scalar=False,
        ),
    ]
    if world.removal:
        return queries
    categories = max(2, int(high) + 1)
    return [
        *queries,
        Query("x.mean()", lambda d: (sum((r[0] for r in d), Fraction(0)) / len(d),)),
        Query(f"x[:{place + 1}].sum()", lambda d: (sum((r[0] for r in d[: place + 1]), Fraction(0)),)),
        Query(f"x[{place}:].sum()", lambda d: (sum((r[0] for r in d[place:]), Fraction(0)),)),
        Query("x", lambda d: tuple(r[0] for r in d), scalar=False),
        Query(f"x[{place}] > {t}", lambda d: (Fraction(d[place][0] > limit),), ("response",)),
        Query(f"x > {t}", lambda d: tuple(Fraction(r[0] > limit) for r in d), ("response",), scalar=False),
        Query(f"x[{place}]", lambda d: (max(d[place][0], Fraction(0)),), ("kary",), categories),
    ]


def _row_queries(rng: random.Random) -> list[Query]:
    """Rows of two numbers: clipped in L1 exactly; in L2 only where the row lies on an axis, or Gaussian noise leaves room."""

    def shorten(d: Data) -> tuple[Fraction, ...]:
        length = abs(d[0][0]) + abs(d[0][1])
        return tuple(value / max(length, Fraction(1)) for value in d[0])

    def shorten_by_square(d: Data) -> tuple[Fraction, ...]:
        length = Fraction(float(d[0][0] ** 2 + d[0][1] ** 2) ** 0.5)
        return tuple(value / max(length, Fraction(1)) for value in d[0])

    place = rng.randrange(2)
    return [
        Query("x.sum(axis=0)", _sum(lambda d: d[0]), scalar=False),
        Query(f"x[:, {place}].sum()", _sum(lambda d: (d[0][place],))),
        Query("dp.clip_rows(x, 1).sum(axis=0)", _sum(shorten_by_square), ("gaussian",), scalar=False),
        Query("dp.clip_rows(x, 1, order=1).sum(axis=0)", _sum(shorten), ("gaussian",), scalar=False),
    ]


def _module(
    rng: random.Random,
    world: World,
    claim: tuple[Fraction, Fraction],
    first: list[Release],
    later: tuple[list[Release], list[Release]] | None,
    leak: Leak,
) -> str:
    body = [f"{release.name} = {release.code()}" for release in first]
    names = [release.name for release in first]
    plan = [release.planned() for release in first]
    if later is not None:
        for head, side in zip((f"if {names[-1]} > 0:", "else:"), later, strict=True):
            body += [head, *(f"    last = {release.code()}" for release in side or ()), *([] if side else ["    last = None"])]
        names.append("last")
        plan += [release.planned() for release in later[0]] if not later[1] else []
    planned = later is None or not later[1]
    declared = f",\n    plan=[{', '.join(plan)}]" if planned and rng.random() < 0.4 else ""
    body = _with_leak(body, names, leak, world, names[-1 if later is None else -2])
    head = "import numpy as np\n\nimport dpaudit as dp\n\nkept = []\n\n\n"
    marks = f'@dp.subject(claim=dp.Claim("{claim[0]}", "{claim[1]}"), neighbours={world.code()}{declared})\n'
    return head + marks + "def program(x, channel):\n" + "".join(f"    {line}\n" for line in body)


def _with_leak(body: list[str], names: list[str], leak: Leak, world: World, number: str) -> list[str]:
    """``number`` names an output that the rare path looks at."""
    record = "x[0, 0]" if world.wide else "x[0]"
    limit = float(min(value[0] for value in world.values) + max(value[0] for value in world.values)) / 2
    result = f"return {', '.join(names)}"
    least = "min(map(float, kept[0:1]), default=0.0)"
    lines: dict[Leak, list[str]] = {
        "": [result],
        "harmless": [f"if {record} > {limit}:", f"    {result}", result],
        "raw": [f"{result}, x.sum()"],
        "float": [f"{result}, float({record})"],
        "branch": [f"{result}, 1 if {record} > {limit} else 2"],
        "text": [f'{result}, f"{{x}}"'],
        "print": [f"print({record})", result],
        "rare": [f"if {number} > 300:", f"    return {record}", result],
        "index": [f"{result}, list(range(100))[int({record})]"],
        "kept": [f"kept.append({record})", f"{result}, {least}"],
    }
    return [*body, *lines[leak]]
