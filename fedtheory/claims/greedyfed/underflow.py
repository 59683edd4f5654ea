"""Class shares of the base case of Tables I to IV, as gamma variables in double precision make them."""

import math
from fractions import Fraction

import numpy as np

from fedtheory.claims.greedyfed._games import GREEDYFED
from fedtheory.datasets.class_shares import underflow_probability
from fedtheory.rational.draws import whole
from fedtheory.statistics.interval import Interval
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, mean_at_most, worst_of

_SECTION = "Section IV, data heterogeneity"
_NUM_DRAWS, _WITHIN, _CONFIDENCE = 200_000, 0.01, 1 - 1e-5


@claim(
    "greedyfed:underflow",
    "all C shares of concentration a are alike with probability (2^(-1022 a) / Gamma(1 + a))^C, within 0.01",
    Statement(GREEDYFED, _SECTION, form="derived"),
    "identity",
    hypotheses=("gamma variables in double precision, raised to 2^-1022, are normalized",),
    instances=(2, 8),
    remark="0.4927 for ten classes at 1e-4; simulated gamma variables, in logarithms, lie below as often.",
)
def underflow(rng: np.random.Generator) -> Finding:
    concentration, num_classes = whole(rng, 1, 12) / 10_000, whole(rng, 2, 10)
    draw = np.random.default_rng(whole(rng, 0, 999))
    shape = (_NUM_DRAWS, num_classes)
    # In logarithms nothing underflows: log of a gamma variable of shape 1 + a, and log(u) / a.
    logs = np.log(draw.standard_gamma(1 + concentration, shape)) - draw.standard_exponential(shape) / concentration
    frequency = float((logs.max(axis=1) <= -1022 * math.log(2)).mean())
    # Hoeffding's limits, both at once.
    radius = math.sqrt(math.log(2 / (1 - _CONFIDENCE)) / (2 * _NUM_DRAWS))
    chance = underflow_probability(concentration, num_classes)
    instance = {"concentration": concentration, "classes": num_classes, "draws": _NUM_DRAWS}
    limits, mirrored = (Interval(side - radius, side + radius) for side in (frequency, -frequency))
    return worst_of((
        mean_at_most(limits, chance + _WITHIN, confidence=_CONFIDENCE, instance=instance),
        mean_at_most(mirrored, _WITHIN - chance, confidence=_CONFIDENCE, instance=instance),
    ))  # fmt: skip


@claim(
    "greedyfed:base-case",
    "at alpha = 1e-4, as drawn, a client has no class with more than half as seldom as under the Dirichlet law",
    Statement(GREEDYFED, _SECTION),
    "erratum",
    instances=(1, 1),
    remark="Half of the clients of the base case of Tables I to IV have all ten classes alike: they are i.i.d.",
)
def base_case(_: np.random.Generator) -> Finding:
    concentration, num_classes = Fraction(1, 10_000), 10
    # E sum p^2 = (a + 1)/(C a + 1); without a share above 1/2 that sum is at most 1/2, and it is never above 1.
    allowed = 2 * (num_classes - 1) * concentration / (num_classes * concentration + 1)
    # Gamma(1 + a) <= 1 for a <= 1, so that all shares are alike with probability 2^(-1022 C a) = 2^-1.022 at least.
    percent = max(n for n in range(100) if n**1000 * 2**1022 <= 100**1000)
    return at_most(Fraction(percent, 100), allowed, instance={"concentration": 1e-4, "classes": num_classes})
