"""Signs, clipped gradients and compressed gradients are biased: means of signs, and stored errors of compression."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.vectors import Vector, average, inner, norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

SSDM = Paper(
    "ssdm",
    "Stochastic Sign Descent Methods: New Algorithms and Better Theory",
    "Safaryan, Richtarik",
    2021,
    "https://arxiv.org/abs/1905.12938",
    basis="quoted",
)
SIGN_DESCENT = Paper(
    "sign-descent",
    "Error Feedback Fixes SignSGD and other Gradient Compression Schemes",
    "Karimireddy, Rebjock, Stich, Jaggi",
    2019,
    "https://arxiv.org/abs/1901.09847",
    basis="abstract",
)
DIST_EF_SGD = Paper(
    "dist-ef-sgd",
    "Communication-Efficient Distributed Blockwise Momentum SGD with Error-Feedback",
    "Zheng, Huang, Kwok",
    2019,
    "https://arxiv.org/abs/1905.10936",
    basis="quoted",
)
CLIPPING = Paper(
    "clipping",
    "Revisiting Gradient Clipping: Stochastic bias and tight convergence guarantees",
    "Koloskova, Hendrikx, Stich",
    2023,
    "https://arxiv.org/abs/2305.01588",
    basis="abstract",
)


def _sign(x: Fraction) -> Fraction:
    return Fraction((x > 0) - (x < 0))


@claim(
    "ssdm:heterogeneous",
    "The mean gradient norm of stochastic sign descent with momentum falls below half its first value, for any clients",
    Statement(SSDM, "Theorem 8", "in its first form"),
    "erratum",
    hypotheses=("smooth losses", "exact gradients, whose variance is 0"),
    remark=(
        "at 0 the clients send opposite signs, and the model stays there for every step size, momentum and number of"
        " rounds; the gradient is -1"
    ),
)
def heterogeneous() -> Finding:
    step_size, beta, num_rounds = Fraction(1, 10), Fraction(9, 10), 100
    halves, w, momenta, norms = vector("1/2", "1/2"), Fraction(0), vector(0, 0), []
    for _ in range(num_rounds):
        slopes = Vector((3 * (w - 1), w + 1))
        norms.append(abs(inner(halves, slopes)))
        momenta = beta * momenta + (1 - beta) * slopes
        # In one dimension the stochastic sign is the sign.
        w -= step_size * inner(halves, [_sign(m) for m in momenta])
    known = {"F_1": "3/2 (w - 1)^2", "F_2": "1/2 (w + 1)^2", "w_0": 0, "rounds": num_rounds}
    return at_most(sum(norms) / num_rounds, norms[0] / 2, instance=known)


def _mean_sign(entry: Fraction, size: Fraction) -> Fraction:
    """Mean of the stochastic sign of an entry of a vector of norm ``size``: 1 with probability 1/2 + entry/(2 size)."""
    up = (1 + entry / size) / 2
    return Fraction(Law({1: up, -1: 1 - up}).mean(Fraction))


@claim(
    "ssdm:norms-sent",
    "If every client sends the norm of its momentum with the stochastic signs, their mean is the mean momentum",
    Statement(FEDTHEORY, "different clients", related=(SSDM, "Theorem 8"), form="derived"),
    "identity",
)
def norms_sent(rng: np.random.Generator) -> Finding:
    sizes = [Fraction(whole(rng, 1, 9), 2) for _ in range(2)]
    momenta = [size * pick(rng, [vector("3/5", "4/5"), vector("-5/13", "12/13"), vector(0, -1)]) for size in sizes]
    pairs = zip(momenta, sizes, strict=True)
    means = [Vector(size * _mean_sign(entry, size) for entry in momentum) for momentum, size in pairs]
    return equal_to(
        norm2(average(means) - average(momenta)), Fraction(0), instance={"momenta": format_vectors(momenta)}
    )


@claim(
    "sign-descent:one-sample",
    "A step along the sign of an unbiased gradient of bounded variance decreases a convex loss in expectation",
    Statement(FEDTHEORY, "the belief that it refutes", related=(SIGN_DESCENT, "Abstract"), form="derived"),
    "refuted conjecture",
    remark="of four clients three send the wrong sign: every step increases the mean loss, by 1/8 of the step size",
)
def one_sample() -> Finding:
    slopes, step_size = vector(4, -1, -1, -1), Fraction(1, 10)
    slope = sum(slopes, Fraction(0)) / 4
    after = Law.uniform(range(4)).mean(lambda k: slope * -step_size * _sign(slopes[k]))
    return at_most(after, Fraction(0), instance={"F_k": "4 w, -w, -w, -w", "w": 0, "step_size": str(step_size)})


def _clipped(x: Fraction) -> Fraction:
    return min(max(x, Fraction(-1)), Fraction(1))


@claim(
    "clipping:short-steps",
    "The mean clipped gradient vanishes at the minimizer, so that clipped steps converge to it if they are short",
    Statement(FEDTHEORY, "the belief that it refutes", related=(CLIPPING, "Abstract"), form="derived"),
    "refuted conjecture",
    remark="three clients (w - a_k)^2/2 with a = 0, 0, 3, clipped at 1: it vanishes at 1/2, and the minimizer is 1",
)
def short_steps() -> Finding:
    centers = vector(0, 0, 3)
    minimizer = sum(centers, Fraction(0)) / 3
    known = {"centers": str(centers), "threshold": 1, "w": str(minimizer)}
    return equal_to(sum(_clipped(minimizer - a) for a in centers) / 3, Fraction(0), instance=known)


def _stored(rates: Sequence[Fraction], gradients: Sequence[Fraction], errors: Sequence[Fraction]) -> Fraction:
    """Return the error that error feedback stores at the end, if step t loses a share ``errors[t]`` of its message."""
    stored, before = Fraction(0), rates[0]
    for rate, gradient, error in zip(rates, gradients, errors, strict=True):
        stored, before = error * (gradient + before / rate * stored), rate
    return stored


@claim(
    "dist-ef-sgd:stored-error",
    "For all learning rates, the stored error is at most a constant times the gradients, s/(1 - s) for equal ones",
    Statement(DIST_EF_SGD, "error bound"),
    "erratum",
    hypotheses=("|C(v) - v| <= s |v|", "gradients of norm at most 1"),
    remark="no constant suffices: it is (1 + r/2)/2 after two rounds whose learning rates have the ratio r",
)
def stored_error() -> Finding:
    rates, s = [Fraction(1), Fraction(1, 10)], Fraction(1, 2)
    known = {"gradients": "(1, 1)", "learning rates": "(1, 1/10)", "C(v)": "v/2"}
    return at_most(_stored(rates, vector(1, 1), [s, s]), s / (1 - s), instance=known)


@claim(
    "dist-ef-sgd:stored-error-in-steps",
    "Times the last learning rate, it is at most s eta_t + s^2 eta_(t-1) + ... if the gradients have norm at most 1",
    Statement(FEDTHEORY, "in terms of the learning rates", related=(DIST_EF_SGD, "error bound"), form="derived"),
    hypotheses=("|C(v) - v| <= s |v|",),
    looseness=1.01,
)
def stored_error_in_steps(rng: np.random.Generator) -> Finding:
    s, count = Fraction(whole(rng, 1, 9), 10), whole(rng, 1, 5)
    rates = [Fraction(whole(rng, 1, 9), 10) for _ in range(count)]
    gradients = [Fraction(whole(rng, -4, 4), 4) for _ in range(count)]
    errors = [s * Fraction(whole(rng, -4, 4), 4) for _ in range(count)]
    bound = sum(s ** (t + 1) * rate for t, rate in enumerate(reversed(rates)))
    known = {"s": s, "learning rates": Vector(rates), "gradients": Vector(gradients), "errors": Vector(errors)}
    return at_most(rates[-1] * abs(_stored(rates, gradients, errors)), bound, instance=as_texts(known))
