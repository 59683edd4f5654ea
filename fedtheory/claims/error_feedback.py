"""False conjectures about compressed gradient descent."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import error_feedback
from fedtheory.instances.vectors import Vector, average, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement
from fedtheory.worst_case.compression import compressed_gradients

_PAPER = error_feedback.PAPER
_TENTH = {"mu": Fraction(1, 10), "L": Fraction(1), "compression_error": Fraction(1, 2)}


def _top_1(x: Vector) -> Vector:
    """Keep the first of the entries of largest absolute value."""
    largest = max(range(len(x)), key=lambda i: abs(x[i]))
    return Vector(entry if i == largest else 0 for i, entry in enumerate(x))


@claim(
    "error-feedback:cgd-of-three-clients",
    "Compressed gradient descent of three clients with one minimizer converges at a short step size",
    Statement(FEDTHEORY, "several clients, a conjecture", related=(_PAPER, "CGD"), form="derived"),
    "refuted conjecture",
    instances=(5, 50),
    remark="<a_k, w>^2 + |w|^2/4 if the largest entry is sent: the model is multiplied by 1 + 11 eta/6 for every eta",
)
def cgd_of_three_clients(rng: np.random.Generator) -> Finding:
    eta, x = Fraction(1, whole(rng, 1, 10**6)), vector(1, 1, 1)
    rows = (vector(-3, 2, 2), vector(2, -3, 2), vector(2, 2, -3))
    after = x - eta * average([_top_1(2 * (a @ x) * a + x / 2) for a in rows])
    # The gap is a quadratic form with one value along (1, 1, 1), so that it grows like |w|^2.
    return at_most(norm2(after), norm2(x), instance={"step_size": str(eta)})


@claim(
    "error-feedback:cgd-distance",
    "Compressed gradient descent contracts distances at the rate at which it contracts losses",
    Statement(FEDTHEORY, "for distances, a conjecture", related=(_PAPER, "CGD"), form="derived"),
    "refuted conjecture",
    remark="in a certified worst case the distance grows",
)
def cgd_distance() -> Finding:
    worst = compressed_gradients(1, Fraction(40, 31), gap=1, error="distance2", **_TENTH)
    bound = error_feedback.cgd_gap(1, initial_gap=1, step_size=Fraction(40, 31), **_TENTH)
    return at_most(worst.enclosure[0], bound, instance=as_texts(_TENTH))
