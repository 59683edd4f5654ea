"""Methods that solve proximal problems: FedDyn's server state, FedProx's limit, FedExProx's guarantee, ADMM's steps."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fedtheory.bounds.fedexp.paper import FEDEXPROX
from fedtheory.bounds.fedsplit import PAPER as FEDSPLIT
from fedtheory.instances.draws import draw_model
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.vectors import Vector, average, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

FEDDYN = Paper(
    "feddyn",
    "Federated Learning Based on Dynamic Regularization",
    "Acar, Zhao, Navarro, Mattina, Whatmough, Saligrama",
    2021,
    "https://arxiv.org/abs/2111.04263",
    basis="quoted",
)
ADMM_REVIEW = Paper(
    "admm-review",
    "Distributed Optimization and Statistical Learning via the Alternating Direction Method of Multipliers",
    "Boyd, Parikh, Chu, Peleato, Eckstein",
    2011,
    basis="quoted",
)


class FedDyn:
    """FedDyn with all clients, whose losses are parabolas ``h_k (w - c_k)^2/2``, from a model with states 0."""

    def __init__(self, curvatures: Vector, centers: Vector, alpha: Fraction, model: Fraction) -> None:
        self.curvatures, self.centers, self.alpha, self.model = curvatures, centers, alpha, model
        self.gradients, self.state = Vector([0] * len(centers)), Fraction(0)

    def round(self, *, as_printed: bool) -> None:
        """Take a round; as printed, the server subtracts the previous model from the sum once, not for each client."""
        previous, m = self.model, len(self.centers)
        known = zip(self.curvatures, self.centers, self.gradients, strict=True)
        models = [(h * c + g + self.alpha * previous) / (h + self.alpha) for h, c, g in known]
        self.gradients = Vector(g - self.alpha * (w - previous) for g, w in zip(self.gradients, models, strict=True))
        self.state -= self.alpha / m * (sum(models) - (1 if as_printed else m) * previous)
        self.model = sum(models, Fraction(0)) / m - self.state / self.alpha


@claim(
    "feddyn:server-state",
    "With the server state h - (alpha/m) (sum_k w_k - w) of Algorithm 1, FedDyn converges on quadratics",
    Statement(FEDDYN, "Algorithm 1"),
    "erratum",
    hypotheses=("all clients take part and solve their problems exactly",),
    remark=(
        "parentheses are missing: with sum_k (w_k - w) the model is at the minimizer 1 from the first round on; as"
        " printed it is 1.5^(t-1) after t rounds"
    ),
)
def server_state() -> Finding:
    run = FedDyn(vector(1, 1), vector(0, 2), Fraction(1), Fraction(0))
    for _ in range(10):
        run.round(as_printed=True)
    known = {"curvatures": "(1, 1)", "centers": "(0, 2)", "alpha": 1, "w_0": 0, "rounds": 10}
    return at_most((run.model - 1) ** 2, Fraction(1), instance=known)


@claim(
    "feddyn:server-state-corrected",
    "With sum_k (w_k - w), the server state is the mean of the gradients that the clients store",
    Statement(FEDDYN, "Algorithm 1", form="corrected"),
    "identity",
    hypotheses=("all clients take part and solve their problems exactly",),
)
def server_state_corrected(rng: np.random.Generator) -> Finding:
    m = whole(rng, 1, 3)
    curvatures = Vector(Fraction(whole(rng, 1, 8), 4) for _ in range(m))
    run = FedDyn(curvatures, draw_model(rng, m), Fraction(whole(rng, 1, 8), 2), draw_model(rng, 1)[0])
    known = {"curvatures": str(curvatures), "centers": str(run.centers), "alpha": str(run.alpha), "w_0": str(run.model)}
    for _ in range(whole(rng, 1, 4)):
        run.round(as_printed=False)
    return equal_to(run.state, sum(run.gradients) / m, instance=known)


@claim(
    "fedsplit:fedprox-limit",
    "FedProx with exact proximal steps of all clients converges to the minimizer of the mean loss",
    Statement(FEDTHEORY, "the belief that it refutes", related=(FEDSPLIT, "Abstract"), form="derived"),
    "refuted conjecture",
    remark="a round maps w = 3/5 to itself, and the minimizer is 3/4; the limit minimizes the mean Moreau envelope",
)
def fedprox_limit() -> Finding:
    curvatures, centers, weight = vector(1, 3), vector(0, 1), Fraction(1)
    w = Fraction(3, 5)
    answers = [(h * c + weight * w) / (h + weight) for h, c in zip(curvatures, centers, strict=True)]
    known = {"curvatures": "(1, 3)", "centers": "(0, 1)", "proximal_weight": 1}
    return equal_to(sum(answers) / 2, curvatures @ centers / sum(curvatures), instance=known)


def _guarantee(hessians: Sequence[Vector], step_size: Fraction) -> tuple[Fraction, Fraction]:
    """Return the constants L_gamma (1 + gamma L_max) of FedExProx and L of gradient descent on diagonal quadratics."""
    envelopes = [Vector(h / (1 + step_size * h) for h in curve) for curve in hessians]
    largest = max(max(curve) for curve in hessians)
    return max(average(envelopes)) * (1 + step_size * largest), max(average(hessians))


@claim(
    "fedexprox:better-than-gradient-descent",
    "On quadratics, the guarantee L_gamma (1 + gamma L_max) |w_0 - w*|^2/T of FedExProx is better than that with L",
    Statement(FEDTHEORY, "its constant as later papers quote it", related=(FEDEXPROX, "Theorem"), form="derived"),
    "refuted conjecture",
    remark=(
        "7 against 5; no quadratic has a better one. The method itself is better here: its steps depend on the"
        " condition number 14/13, those of gradient descent on 2"
    ),
)
def better_than_gradient_descent() -> Finding:
    hessians = [vector(4, 1), vector(1, 9)]
    ours, theirs = _guarantee(hessians, Fraction(1))
    return at_most(ours, theirs, instance={"hessians": format_vectors(hessians), "gamma": 1})


@claim(
    "fedexprox:guarantee",
    "L <= L_gamma (1 + gamma L_max) for all quadratics and all gamma",
    Statement(FEDTHEORY, "its constant as later papers quote it", related=(FEDEXPROX, "Theorem"), form="derived"),
    looseness=1.01,
)
def guarantee(rng: np.random.Generator) -> Finding:
    hessians = [Vector(Fraction(whole(rng, 0, 8), 4) for _ in range(2)) for _ in range(whole(rng, 1, 3))]
    step_size = Fraction(whole(rng, 1, 40), 4)
    ours, theirs = _guarantee(hessians, step_size)
    return at_most(theirs, ours, instance={"hessians": format_vectors(hessians), "gamma": str(step_size)})


def _best_update(v: int) -> Fraction:
    """Return the smallest value of ``u^2/v + (u - 1)^2/2`` over u."""
    u = Fraction(v, v + 2)
    return u**2 / v + (u - 1) ** 2 / 2


@claim(
    "admm-review:solvable-updates",
    "If f is closed, proper and convex, then f(x) + |A x - b|^2/2 has a minimizer, so that an update of ADMM exists",
    Statement(ADMM_REVIEW, "Section 3.2", "Assumption 1"),
    "erratum",
    hypotheses=("f(u, v) = u^2/v for v > 0, and its closure, and A (u, v) = u", "the Lagrangian has a saddle point"),
    remark="the smallest value for a given v is 1/(v + 2): it decreases to 0, which no v attains",
)
def solvable_updates() -> Finding:
    return at_most(_best_update(1000), _best_update(2000), instance={"v": 1000, "a better v": 2000, "b": 1})
