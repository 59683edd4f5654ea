"""FedALIGN, Assumptions 1 and 2: as printed they speak of no strongly convex function; as meant, of all quadratics."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.claims._instances import draw_federation, draw_model, federation_in_words, in_words
from fedtheory.paper import Statement
from fedtheory.verification.claim import FAILS, Claim, Finding, at_least, at_most, worst_of
from fedtheory.verification.rational import RationalQuadratics, Vector, difference, norm2, vector

_SECTION = "Section 3.2"
_PARABOLA = RationalQuadratics((vector(1),), (vector(0),), vector(1), vector(0))


def tangent(fed: RationalQuadratics, client: int, at: Vector, to: Vector) -> Fraction:
    """Return ``<to - at, grad F_k(at)>``."""
    terms = zip(difference(to, at), fed.gradient(client, at), strict=True)
    return sum((step * slope for step, slope in terms), start=Fraction(0))


def _as_printed(u: int, v: int, *, smooth: bool) -> Finding:
    fed, at_u, at_v = _PARABOLA, vector(u), vector(v)
    # The gradient is taken at v, and the step is u - v.
    right = fed.excess(0, at_u) + tangent(fed, 0, at_v, at_u) + norm2(difference(at_u, at_v)) / 2
    instance = {"f(w)": "w^2/2", "mu = L": "1", "u": str(u), "v": str(v)}
    return (at_most if smooth else at_least)(fed.excess(0, at_v), right, instance=instance)


_REMARK = "u and v are exchanged on one side: with them the gradient belongs to u, and the step is v - u"

ASSUMPTION_1_PRINTED = Claim(
    key="fedalign:assumption-1-printed",
    title="f(v) <= f(u) + (u - v)' grad f(v) + L/2 |u - v|^2 for an L-smooth f",
    statement=Statement(fa.PAPER, _SECTION, "Assumption 1"),
    kind="erratum",
    check=lambda _: _as_printed(0, 1, smooth=True),
    expected=FAILS,
    instances=(1, 1),
    remark=_REMARK,
)

ASSUMPTION_2_PRINTED = Claim(
    key="fedalign:assumption-2-printed",
    title="f(v) >= f(u) + (u - v)' grad f(v) + mu/2 |u - v|^2 for a mu-strongly convex f",
    statement=Statement(fa.PAPER, _SECTION, "Assumption 2"),
    kind="erratum",
    check=lambda _: _as_printed(1, 0, smooth=False),
    expected=FAILS,
    instances=(1, 1),
    remark=_REMARK,
)


def _as_meant(rng: np.random.Generator) -> Finding:
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


ASSUMPTIONS_1_2 = Claim(
    key="fedalign:assumptions-1-2",
    title="mu/2 |u - v|^2 <= F_k(v) - F_k(u) - (v - u)' grad F_k(u) <= L/2 |u - v|^2 for quadratics",
    statement=Statement(fa.PAPER, _SECTION, "Assumptions 1 and 2", form="corrected"),
    kind="inequality",
    check=_as_meant,
)
