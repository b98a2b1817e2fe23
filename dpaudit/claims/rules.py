"""The rules, by id: what each says, why it matters, what to do. Ids never change meaning."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from dpaudit.claims import InvalidValue


@dataclass(frozen=True)
class Rule:
    id: str
    title: str
    why: str
    remedy: str


RULES = {
    rule.id: rule
    for rule in (
        Rule(
            "DPA001",
            "budget exceeded",
            "A record would pay more than its budget allows. A door refuses such a release before noise is drawn; `account` and "
            "`check` find it in a ledger that was written without that budget.",
            "Release less, add more noise, split the records into disjoint cohorts, or decide on a larger budget. "
            "With dp.live(ledger, budget=…) it cannot happen again.",
        ),
        Rule(
            "DPA002",
            "data leaves by another way than the door",
            "Something that depends on private data became plain numbers, decided a branch, or changed what is released.",
            "Release the quantity through channel.release, or compute on the sealed array until you do.",
        ),
        Rule(
            "DPA003",
            "proven or observed sensitivity exceeds the declared one",
            "One record can move the released value further than `sensitivity` says, so the noise hides less than claimed. "
            "Rewards in [−1, 1], for example, move a sum by 2, not by 1.",
            "Declare the sensitivity that is shown, and scale the noise with it.",
        ),
        Rule(
            "DPA004",
            "audited lower bound beats the claim",
            "An attack on neighbouring data showed more than the claim allows: exactly, or at confidence 1 − 10^-6.",
            "Look at the witness (`dpaudit audit TARGET` shows it, `--witness FILE` keeps it), add noise, or claim less.",
        ),
        Rule(
            "DPA005",
            "a theorem's precondition does not hold",
            "The bound was asked for outside the range in which its theorem is proven, so it proves nothing there.",
            "Use a method that holds (`--method clone`), more reports, or a smaller ε0. At channel.select, leave monotone=True "
            "out unless all scores move one way for every pair of neighbours.",
        ),
        Rule(
            "DPA006",
            "porous noise (floating point)",
            "The low bits of the released number tell which value it was made from (Mironov 2012). A claim about floats, the "
            "default, is refuted by them when they tell more than it allows.",
            "Use dp.Laplace or dp.Gaussian through the channel: their noise lives on a grid, exactly. A black box can round to a "
            "grid after adding its noise. If the claim is about real numbers and not about this code's floats, say so with "
            'dp.Claim(…, arithmetic="ideal"), or arithmetic = "ideal" in the gate\'s table: it is a note then.',
        ),
        Rule(
            "DPA007",
            "ledger or certificate tampered",
            "An entry was changed, removed, reordered or cut off, or a signature does not fit.",
            "Restore the file from a copy and hold it to a checkpoint (`dpaudit verify LEDGER --checkpoint FILE --key PUB`); "
            "if there is none, treat its budget as spent. It cannot be waived.",
        ),
        Rule(
            "DPA008",
            "waiver expired or unused",
            "A waiver is a decision with an end. This one has ended, or nothing needs it any more.",
            "Remove its [[tool.dpaudit.waive]] from pyproject.toml, or renew it with a later day, a reason and an owner.",
        ),
        Rule(
            "DPA009",
            "the policy was loosened against the base branch",
            "Beside the code, this change edits what the code is held to: a budget was raised or removed, is about another "
            "subject, observer, number of records or narrower bounds, a waiver is new or runs longer, a key is newly trusted, "
            "the baseline or the seed was edited. A pull request must not decide by itself what it is checked for.",
            "Take the edit back, or let whoever answers for the base branch allow it there first: a [[tool.dpaudit.waive]] with "
            "this rule and fingerprint, committed on the base branch. One in the pull request itself has no effect.",
        ),
    )
}


# Words of verdicts that are explained like a rule; nothing is found or waived under them.
WORDS = {
    word.id: word
    for word in (
        Rule(
            "certified",
            "proven on every path, by a door or by a plan",
            "Runs show the paths that they took; another may release more. So every certificate says what bounds the others. "
            "Certified behind its door: budget ε, proven releases only: a door with the claim as its budget refuses whatever "
            "would exceed it, on every path, and the runs of the audit passed such a door. Certified: its releases are fixed "
            "by its plan: every door refuses what is not the next release of the declared plan, so what the plan costs holds on "
            "every path, and may be composed numerically. audit, assert_private, check and certify mean the same by certified; "
            "the key door of a gate's budget, which had to be set for the first kind, has no effect any more.",
            "Deploy behind dp.live(ledger, budget=…, proven=True) or dp.live_certified. Where releases are the same on every "
            "path, declare them: @dp.subject(plan=[…]); where that would certify more, the verdict prints the plan. A "
            "certificate of an earlier dpaudit with path single and no plan rests on what runs showed: certify it again.",
        ),
    )
}


def explained(word: str) -> Rule:
    """The rule with this id, or the word of a verdict, in any case. Raises InvalidValue."""
    return WORDS[word.lower()] if word.lower() in WORDS else rule(word)


def rule(identifier: str) -> Rule:
    """The rule with this id, in any case. Raises InvalidValue."""
    entry = RULES.get(identifier.upper())
    if entry is None:
        near = get_close_matches(identifier.upper(), RULES, n=1) or get_close_matches(identifier.lower(), WORDS, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise InvalidValue("rule", identifier, "one of " + ", ".join((*RULES, *WORDS)) + meant)
    return entry
