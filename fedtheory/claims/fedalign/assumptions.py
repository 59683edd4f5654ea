"""FedALIGN, Assumptions 1 and 2: as printed they speak of no strongly convex function; as meant, of all quadratics."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, difference, inner, norm2, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, worst_of

_SECTION = "Section 3.2"
_PARABOLA = RationalQuadratics((vector(1),), (vector(0),), vector(1), vector(0))


def tangent(fed: RationalQuadratics, client: int, at: Vector, to: Vector) -> Fraction:
    """Return ``<to - at, grad F_k(at)>``."""
    return inner(difference(to, at), fed.gradient(client, at))


def _as_printed(u: int, v: int, *, smooth: bool) -> Finding:
    fed, at_u, at_v = _PARABOLA, vector(u), vector(v)
    # The gradient is taken at v, and the step is u - v.
    right = fed.excess(0, at_u) + tangent(fed, 0, at_v, at_u) + norm2(difference(at_u, at_v)) / 2
    instance = {"f(w)": "w^2/2", "mu = L": "1", "u": str(u), "v": str(v)}
    return (at_most if smooth else at_least)(fed.excess(0, at_v), right, instance=instance)


_REMARK = "u and v are exchanged on one side: with them the gradient belongs to u, and the step is v - u"

assumption_1_printed = claim(
    "fedalign:assumption-1-printed",
    "f(v) <= f(u) + (u - v)' grad f(v) + L/2 |u - v|^2 for an L-smooth f",
    Statement(fa.PAPER, _SECTION, "Assumption 1"),
    "erratum",
    instances=(1, 1),
    remark=_REMARK,
)(lambda _: _as_printed(0, 1, smooth=True))

assumption_2_printed = claim(
    "fedalign:assumption-2-printed",
    "f(v) >= f(u) + (u - v)' grad f(v) + mu/2 |u - v|^2 for a mu-strongly convex f",
    Statement(fa.PAPER, _SECTION, "Assumption 2"),
    "erratum",
    instances=(1, 1),
    remark=_REMARK,
)(lambda _: _as_printed(1, 0, smooth=False))


@claim(
    "fedalign:assumptions-1-2",
    "mu/2 |u - v|^2 <= F_k(v) - F_k(u) - (v - u)' grad F_k(u) <= L/2 |u - v|^2 for quadratics",
    Statement(fa.PAPER, _SECTION, "Assumptions 1 and 2", form="corrected"),
    looseness=1.01,
)
def assumptions_1_2(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    u, v = draw_model(rng, fed.dim), draw_model(rng, fed.dim)
    instance = {**federation_in_words(fed), "u": in_words(u), "v": in_words(v)}
    findings = []
    for k in range(fed.num_clients):
        linear = fed.excess(k, u) + tangent(fed, k, u, v)
        square = norm2(difference(u, v)) / 2
        findings.append(at_most(fed.excess(k, v), linear + max(fed.curvatures[k]) * square, instance=instance))
        findings.append(at_least(fed.excess(k, v), linear + min(fed.curvatures[k]) * square, instance=instance))
    return worst_of(findings)
