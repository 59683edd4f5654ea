"""Multinomial and uniform client sampling: a reading of an abstract that is false."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import client_sampling as cs
from fedtheory.instances.vectors import Vector
from fedtheory.sampling.aggregation_weights import multinomial_covariance, uniform_covariance
from fedtheory.theorem.claims import claim
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement


@claim(
    "client-sampling:unequal-data-guess",
    "Multinomial weights have at most the variance of uniform ones unless all clients have equally much data",
    Statement(FEDTHEORY, "uniform sampling, one reading", related=(cs.PAPER, "Abstract"), form="derived"),
    "refuted conjecture",
    hypotheses=("uniform sampling is without replacement, with the weights K p_k / m",),
    remark="uniform sampling has the smaller sum of variances whenever |p|^2 < 1/(K - m + 1), also for unequal p",
)
def unequal_data_guess() -> Finding:
    p = Vector([Fraction(3, 10), Fraction(3, 10), Fraction(4, 10)])
    sides = (Fraction(np.trace(one(p, 2))) for one in (multinomial_covariance, uniform_covariance))
    return at_most(*sides, instance={"weights": str(p), "num_selected": "2"})
