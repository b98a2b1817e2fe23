"""The paper's claims, rated by the rules of ``dpaudit.papers.severity``; ``basis`` is what the check shows if it verifies."""

from __future__ import annotations

from proofs_checks.shared.ratings import Rating


def _fatal(*needs: str) -> Rating:
    return Rating("fatal", "range", needs)


def _repairable(*needs: str, basis: str = "range") -> Rating:
    return Rating("repairable", basis, needs)


def _slip(*needs: str, basis: str = "proven") -> Rating:
    return Rating("slip", basis, needs)


def _constant(*needs: str) -> Rating:
    return Rating("constant", "range", needs)


def _figure(*needs: str) -> Rating:
    return Rating("measured", "measured", needs)


def _proven(*needs: str) -> Rating:
    """The argument covers all parameters; were it to break, a step would have to change."""
    return Rating("repairable", "proven", needs)


def _whole(*needs: str, repairs: tuple[str, ...]) -> Rating:
    """A theorem put right with all its parts."""
    return Rating("repairable", "proven", needs, repairs)


def _checked(*needs: str) -> Rating:
    """Holds on the range that the evidence states."""
    return Rating("repairable", "range", needs)


_CHAIN = (  # the steps that all three regret proofs share
    "proof1.gap-index", "proof1.geometric-sum", "proof1.net-loss", "proof1.net-count", "proof1.small-batches",
    "lemma-core.leverage",
)  # fmt: skip

RATINGS = {
    "lemma-net.size": _proven(),
    "lemma-net.spans": _proven("lemma-net.size"),
    "lemma-core.leverage": _repairable(basis="proven"),
    "remark-fw.iterations": _proven(),
    "remark-fw.support": _repairable("remark-fw.iterations"),
    "remark-fw.initialisation": _proven("remark-fw.iterations"),
    "alg.q-range": _proven(),
    "alg.batch-count": _slip("alg.q-range", basis="range"),
    "alg.horizon": _repairable("alg.batch-count"),
    "fix.batches": _proven("alg.q-range"),
    "alg.singular-design": _slip("lemma-net.spans", basis="range"),
    "alg1.elimination": _slip(),
    "alg2.elimination": _proven(),
    "alg3.elimination": _slip(),
    "fix.elimination": _proven(),
    "thm1.sensitivity": _repairable(),
    "thm1.privacy": _fatal("thm1.sensitivity"),
    "proof1.gap-threshold": _slip(basis="range"),
    "proof1.gap-index": _slip("proof1.gap-threshold", basis="range"),
    "proof1.geometric-sum": _constant("alg.q-range"),
    "proof1.net-loss": _proven("lemma-net.size"),
    "proof1.net-count": _proven("lemma-net.size"),
    "proof1.small-batches": _constant("lemma-core.leverage"),
    "lemma-central.quantifier": _slip(basis="range"),
    "lemma-central.concentration": _proven("lemma-core.leverage", "alg.q-range"),
    "lemma-central.noise-tail": _repairable("lemma-laplace.branch1", "lemma-laplace.branch2"),
    "lemma-laplace.mgf-step": _repairable(),
    "lemma-laplace.branch1": _repairable("lemma-laplace.mgf-step"),
    "lemma-laplace.branch2": _repairable("lemma-laplace.mgf-step"),
    "fix.laplace-sum": _proven(),
    "lemma-local.concentration": _repairable("lemma-core.leverage", "lemma-local.noise-tail"),
    "lemma-local.noise-tail": _repairable("lemma-laplace.branch1"),
    "thm1.regret": _slip(
        "alg1.elimination", "alg.horizon", "alg.singular-design", "lemma-central.concentration", "lemma-central.noise-tail",
        "lemma-central.quantifier", *_CHAIN,
    ),
    "thm1.expectation": _slip("thm1.regret"),
    "thm1.optimality": _repairable("thm1.regret"),
    "thm2.regret": _repairable(
        "alg2.elimination", "alg2.sum-index", "alg.horizon", "alg.singular-design", "lemma-local.concentration", *_CHAIN
    ),
    "thm2.expectation": _repairable("thm2.regret"),
    "remark-local.order": _slip("thm2.regret", basis="range"),
    "thm3.regret": _repairable(
        "alg3.elimination", "alg2.sum-index", "alg.horizon", "alg.singular-design", "lemma-local.concentration", "thm3.domain",
        *_CHAIN,
    ),
    "intro.shuffled-regret": _repairable("thm3.regret"),
    "thm2.privacy": _fatal("thm1.sensitivity"),
    "alg2.sum-index": _slip(basis="range"),
    "thm3.privacy": _fatal("thm2.privacy", "thm3.domain", "thm3.reduction", "thm3.one-batch-per-client"),
    "thm3.domain": _fatal(),
    "thm3.reduction": _repairable(),
    "remark-shuffled.permute-rewards": _proven(),
    "thm3.one-batch-per-client": _proven(),
    "remark-shuffled.variance": _constant("thm3.domain"),
    "remark-shuffled.low-privacy": _repairable("thm3.domain"),
    "table1.central": _fatal("thm1.privacy"),
    "table1.local": _fatal("thm2.privacy"),
    "table1.shuffled-eps0": _repairable("thm3.domain"),
    "table1.peers": _repairable(),
    "figure.converges": _figure(),
    "figure.central-close": _figure(),
    "figure.shuffled-close": _figure(),
    "figure.core-set": _figure("lemma-core.leverage"),
    "fix.noise": _proven(),
    "fix.span": _proven(),
    "fix.central-gamma": _proven("fix.noise", "fix.laplace-sum", "fix.span"),
    "fix.local-gamma": _proven("fix.noise", "fix.laplace-sum", "fix.span"),
    "fix.tight-gamma": _proven("fix.noise", "fix.span", "fix.batches", "fix.elimination"),
    "fix.eps0-closed": _proven(),
    "fix.eps0-clones": _checked(),
    "fix.known-actions": _checked("fix.eps0-clones"),
    "tight.endpoint-pair": _proven(),
    "shuffle.same-randomiser": _proven(),
    "fix.theorem1": _whole(
        "fix.noise", "fix.central-gamma", "fix.tight-gamma", "fix.laplace-sum", "fix.elimination", "fix.batches", "fix.span",
        "remark-fw.initialisation", "proof1.net-loss",
        repairs=("thm1.privacy", "thm1.regret", "alg.horizon"),
    ),
    "fix.theorem2": _whole(
        "fix.noise", "fix.local-gamma", "fix.tight-gamma", "fix.laplace-sum", "fix.elimination", "fix.batches", "fix.span",
        "remark-fw.initialisation", "proof1.net-loss",
        repairs=("thm2.privacy", "thm2.regret", "alg2.sum-index"),
    ),
    "fix.theorem3": _whole(
        "fix.noise", "fix.eps0-closed", "fix.local-gamma", "fix.laplace-sum", "fix.elimination", "fix.batches", "fix.span",
        "thm3.one-batch-per-client", "thm3.reduction", "tight.endpoint-pair", "shuffle.same-randomiser",
        "remark-fw.initialisation", "proof1.net-loss",
        repairs=("thm3.privacy", "thm3.domain", "thm3.reduction", "thm3.regret"),
    ),
}  # fmt: skip
