"""Is each variant as private as it was published to be? Transcripts in closed form against it, the argument of shifts for it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import short
from proofs_checks.sparse_vector.transcripts import Variant, loss, search
from proofs_checks.sparse_vector.variants import (
    EPSILON,
    book,
    frequent_items,
    lecture,
    no_cutoff,
    no_query_noise,
    shift_bound,
    standard,
)

PAPER = "Lyu, Su and Li 2017"
SHIFTS = (
    "shift ρ by Δ: p(ρ) ≤ e^(Δ/b_1)·p(ρ + Δ); a ⊥ stays one, as q' ≤ q + Δ; a ⊤ needs ν shifted by at most 2Δ (by Δ for monotone "
    "queries), e^(2Δ/b_2) each; at most c of them: ε = Δ/b_1 + 2cΔ/b_2"
)
Claimed = Callable[[int], Fraction]  # c → ε


def private(
    quick: bool, make: Callable[[int], Variant], claimed: Claimed, *, monotone: bool = False, instead: str | None = None
) -> Decision:
    """Refuted by a transcript that loses more than is claimed; verified if the argument of shifts gives no more than that."""
    rows: list[Row] = []
    for cutoff in (1, 2) if quick else (1, 2, 3, 5):
        variant, epsilon = make(cutoff), claimed(cutoff)
        worst = search(variant, 2, (1, 12) if quick else (1, 5, 20, 60), monotone)
        bound = shift_bound(variant, monotone)
        rows.append(
            {"c": cutoff, "claimed ε": str(epsilon), "loses": short(worst.loss),
             "proven ≤": None if bound is None else str(bound), "answers": worst.answers,
             "q(D)": worst.queries, "q(D')": worst.others}
        )  # fmt: skip
    over = [row for row in rows if row["loses"] > float(Fraction(row["claimed ε"])) * (1 + 1e-9)]
    open_ = [row for row in rows if row["proven ≤"] is None or Fraction(row["proven ≤"]) > Fraction(row["claimed ε"])]
    evidence: Row = {"transcripts that lose most": rows, "proof": SHIFTS, "range": "every c, T and queries of sensitivity 1"}
    if over:
        first = over[0]
        evidence["counterexample"] = {**first, "noise": str(make(int(first["c"])))}
        words = f"c = {first['c']}: {first['answers'][-8:]} loses {first['loses']:.6g} where {first['claimed ε']} is claimed"
        return decided("refuted", words, evidence, instead)
    if open_:
        return decided("conditional", "no transcript loses more, but the argument of shifts gives less", evidence, "a proof")
    most = max(row["loses"] / float(Fraction(row["claimed ε"])) for row in rows)
    words = f"by shifts: ρ costs Δ/b_1, each of c answers ⊤ {'Δ' if monotone else '2Δ'}/b_2, ⊥ nothing"
    return decided("verified", f"{words}; transcripts lose up to {most:.4g} of it", evidence)


def tight(quick: bool, *, make: Callable[[int], Variant] = standard) -> Decision:
    """c = 1: m answers ⊥ to queries that rise, then ⊤ to one that falls; the loss tends to ε_1 + ε_2."""
    counts = (5, 20, 60) if quick else (5, 20, 60, 120)
    rows: list[Row] = [{"m": m, "loses": loss(make(1), (False,) * m + (True,), (0,) * m + (1,), (1,) * m + (0,))} for m in counts]
    evidence: Row = {"⊥ … ⊥ ⊤, q(D) = 0, …, 0, 1, q(D') = 1, …, 1, 0": rows, "range": f"c = 1, m up to {counts[-1]}"}
    if rows[-1]["loses"] < 0.999999:
        return decided(
            "refuted", f"m = {counts[-1]} loses {rows[-1]['loses']:.6g} only", {**evidence, "counterexample": rows[-1]}
        )
    return decided("verified", f"{rows[-1]['loses']:.10g} of ε = 1 is lost at m = {counts[-1]}: no smaller ε will do", evidence)


def free_below(quick: bool, *, make: Callable[[int], Variant] = standard) -> Decision:
    """The loss of m answers ⊥ alone, for growing m: at most ε_1."""
    rows: list[Row] = [
        {"m": m, "loses": loss(make(1), (False,) * m, (0,) * m, (1,) * m)} for m in ((1, 10, 60) if quick else (1, 10, 60, 150))
    ]
    limit = float(1 / make(1).threshold)
    evidence: Row = {"⊥ … ⊥": rows, "ε_1": limit, "range": "every m, by the shift of ρ alone", "proof": SHIFTS}
    if max(row["loses"] for row in rows) > limit * (1 + 1e-9):
        return decided(
            "refuted", f"{rows[-1]['m']} answers ⊥ lose {rows[-1]['loses']:.6g}", {**evidence, "counterexample": rows[-1]}
        )
    return decided(
        "verified", f"any number of ⊥ costs ε_1 = {limit:g} together: {rows[-1]['loses']:.6g} at m = {rows[-1]['m']}", evidence
    )


def growing(quick: bool, kind: str, *, rate: Fraction = EPSILON / 2) -> Decision:
    """Loss of m answers, kind "lecture" (⊥^m, then a number) or "no cutoff" (⊥^m ⊤^m), against its stated growth."""
    rows: list[Row] = []
    many = (2, 10, 40) if kind == "lecture" else (2, 5, 10)
    for m in many:
        if kind == "lecture":
            lost = loss(lecture(1), (*(False,) * m, Fraction(0)), (0,) * m + (1,), (1,) * m + (0,))
            stated = float((m - 1) * rate)
        else:
            lost = loss(no_cutoff(), (False,) * m + (True,) * m, (0,) * (2 * m), (1,) * m + (-1,) * m)
            stated = float(m * rate)
        rows.append({"m": m, "loses": short(lost, 10), "stated ≥": stated})
    evidence: Row = {"growth": rows, "range": f"m = {rows[0]['m']}, …, {rows[-1]['m']}, in closed form, 50 digits"}
    short_of = [row for row in rows if row["loses"] < row["stated ≥"] * (1 - 1e-9)]
    if short_of:
        return decided("refuted", f"m = {short_of[0]['m']}: {short_of[0]['loses']}", {**evidence, "counterexample": short_of[0]})
    return decided("verified", f"{rows[-1]['m']} answers lose {rows[-1]['loses']:.6g}, in proportion to m: no finite ε", evidence)


def infinite(quick: bool, *, variant: Variant | None = None) -> Decision:
    """Queries without noise: ⊥⊤ on (0, 1) has a probability, on (1, 0) none."""
    chosen = variant or no_query_noise()
    lost = loss(chosen, (False, True), (0, 1), (1, 0))
    evidence: Row = {"answers": "⊥⊤", "q(D)": "(0, 1)", "q(D')": "(1, 0)", "loses": str(lost), "range": "one transcript"}
    if lost <= float(EPSILON):
        return decided("conditional", f"this transcript loses {lost:.6g}", evidence, "a proof for all others")
    words = "⊥⊤ needs 0 < ρ ≤ 1 on (0, 1), and 1 < ρ ≤ 0 on (1, 0): it cannot happen"
    return decided("refuted", words, {**evidence, "counterexample": evidence["answers"] + " on (0, 1), (1, 0)"}, standard_words())


def standard_words() -> str:
    return "Algorithm 1: Lap(Δ/ε_1) at the threshold, Lap(2cΔ/ε_2) at each query, stop after c answers ⊤"


def lecture_private(quick: bool, *, numbers: bool = True) -> Decision:
    """Lap(cΔ/ε_2) and ⊤ with its number. ``numbers``: False asks for ⊤ alone."""
    last = Fraction(0) if numbers else True
    rows: list[Row] = [
        {"m": m, "loses": short(loss(lecture(1), (*(False,) * m, last), (0,) * m + (1,), (1,) * m + (0,)), 10)}
        for m in (2, 6, 20)
    ]
    evidence: Row = {"⊥ … ⊥ and a number": rows, "range": "c = 1, m = 2, 6, 20"}
    over = [row for row in rows if row["loses"] > float(EPSILON) * (1 + 1e-9)]
    if not over:
        return decided("conditional", "no such transcript loses more than ε", evidence, "a proof for all others")
    words = f"{over[0]['m']} answers ⊥ and the number 0 lose {over[0]['loses']:.6g} where 1 is claimed"
    words += f"; {rows[-1]['m']} lose {rows[-1]['loses']:.6g}"
    return decided("refuted", words, {**evidence, "counterexample": over[0]}, "numbers with fresh noise Lap(cΔ/ε_3), paid beside")


def numbers_beside(quick: bool, *, scale: Fraction | None = None) -> Decision:
    """Algorithm 7: a ⊤ comes with q_i + Lap(cΔ/ε_3), drawn afresh: ε_1 + ε_2 + ε_3. ``scale``: of a planted noise."""
    third = EPSILON / 2
    chosen = scale or 2 / third  # c = 2
    cost = 2 / chosen  # c numbers, each moves by Δ = 1
    evidence: Row = {"c": 2, "ε_3": str(third), "cost of the numbers": str(cost), "range": "every c, by composition",
                     "proof": "given the answers, c Laplace releases of sensitivity Δ: cΔ/b = ε_3"}  # fmt: skip
    if cost > third:
        return decided("refuted", f"two numbers cost {cost}", {**evidence, "counterexample": {"cost": str(cost)}})
    return decided("verified", f"given the answers, c numbers cost cΔ/b = ε_3 = {third}; pure costs add up", evidence)


def _ids() -> tuple[Check, ...]:
    where = {n: f"{PAPER}, Algorithm {n}" for n in range(1, 8)}
    code = ("proofs_checks.sparse_vector.transcripts", "proofs_checks.sparse_vector.variants")
    one = lambda cutoff: EPSILON  # noqa: E731
    lee = partial(private, make=frequent_items, instead="(1 + 6c)ε/4, or Lap(2cΔ/ε_2)")
    general = partial(private, make=partial(standard, monotone=True), instead="Lap(2cΔ/ε_2) unless queries are monotone")
    table: list[tuple[str, int, str, Callable[[bool], Decision]]] = [
        ("svt1.privacy", 1, "Lap(Δ/ε_1), Lap(2cΔ/ε_2): (ε_1 + ε_2)-DP", partial(private, make=standard, claimed=one)),
        ("svt1.tight", 1, "no ε below ε_1 + ε_2 will do", tight),
        ("svt1.below-is-free", 1, "answers ⊥ cost nothing beyond ε_1, however many", free_below),
        ("svt1.monotone", 1, "for monotone queries Lap(cΔ/ε_2) is enough",
         partial(private, make=partial(standard, monotone=True), claimed=one, monotone=True)),
        ("svt1.half-noise", 3, "Lap(cΔ/ε_2), as the lecture notes have it, is enough for all queries",
         partial(general, claimed=one)),
        ("svt2.privacy", 2, "the book's algorithm is ε-DP", partial(private, make=book, claimed=one)),
        ("svt3.privacy", 3, "the lecture notes' algorithm is ε-DP", lecture_private),
        ("svt3.unbounded", 3, "it is ε'-DP for no ε': m answers ⊥ and a number lose (m − 1)ε/2",
         partial(growing, kind="lecture")),
        ("svt4.privacy", 4, "the algorithm of Lee and Clifton is ε-DP", partial(lee, claimed=one)),
        ("svt4.bound", 4, "it is (1 + 6c)ε/4-DP", partial(lee, claimed=lambda c: EPSILON * (1 + 6 * c) / 4)),
        ("svt4.monotone-bound", 4, "for monotone queries it is (1 + 3c)ε/4-DP",
         partial(lee, claimed=lambda c: EPSILON * (1 + 3 * c) / 4, monotone=True)),
        ("svt5.privacy", 5, "the algorithm of Stoddard et al. is ε-DP", infinite),
        ("svt6.privacy", 6, "the algorithm of Chen et al. is ε-DP",
         partial(private, make=lambda cutoff: no_cutoff(), claimed=one, instead=standard_words())),
        ("svt6.unbounded", 6, "it is ε'-DP for no ε': 2m answers lose mε/2", partial(growing, kind="no cutoff")),
        ("svt7.numbers", 7, "numbers with fresh noise Lap(cΔ/ε_3): (ε_1 + ε_2 + ε_3)-DP", numbers_beside),
    ]  # fmt: skip
    return tuple(Check(name, where[place], says, run, (__name__, *code)) for name, place, says, run in table)


CHECKS = _ids()
