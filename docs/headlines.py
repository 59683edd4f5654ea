"""Headline theorems: what their papers print, and what happens without each hypothesis, in rational arithmetic.

A printed formula is a function of the letters of its paper. It is compared with the bound, and set from this function.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction as Q
from functools import partial
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.bounds import fedalign, fedavg, optimal_client_sampling, power_of_choice, proxskip
from fedtheory.claims.catalogue import one_claim
from fedtheory.formal import FOLDER, Theorem
from fedtheory.instances.control_variates import ScaffnewState, mean_potentials
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.vectors import vector
from fedtheory.theorem.bound import Bound


class Sides(NamedTuple):
    """The true value, the right-hand side, and the hypotheses about numbers that the constants violate."""

    truth: Q
    bound: Q
    unmet: tuple[str, ...] = ()


class Without(NamedTuple):
    """A counterexample without a hypothesis, or the reason why it is not needed with a check of the reason."""

    hypothesis: str
    words: str
    sides: Callable[[], Sides] | None = None
    needless: Callable[[], bool] | None = None


class Headline(NamedTuple):
    """A theorem with the words of its paper, its formula, and what happens without each of its hypotheses.

    ``printed`` returns the right-hand side from letters of ``LETTERS`` or of ``own``; ``left`` is the left-hand side in
    LaTeX if the paper has another one. ``claim`` compares instances with the bound, of which the one with the number
    ``index`` is shown; ``attained`` is a claim that the bound is attained. A theorem without a bound has a
    ``function``, a ``theorem`` in Coq and hypotheses.
    """

    title: str
    words: str
    bound: Bound | None
    without: tuple[Without, ...]
    claim: str = ""
    index: int = 0
    printed: Callable[..., Any] | None = None
    own: Mapping[str, tuple[str, Callable[[dict[str, Any]], Any]]] = MappingProxyType({})
    left: str = ""
    attained: str = ""
    function: Callable[..., Any] | None = None
    theorem: Theorem | None = None
    assumes: tuple[str, ...] = ()


LETTERS = {
    "T": ("T", "num_steps"), "mu": (r"\mu", "mu"), "L": ("L", "L"), "tau": (r"\tau", "local_steps"),
    "E": ("E", "local_steps"), "m": ("m", "num_selected"), "G2": ("G^2", "G2"), "sigma2": (r"\sigma^2", "sigma2"),
    "S": ("S", "weighted_sigma2"), "Gamma": (r"\Gamma", "objective_gap"), "D": (r"\|w_0-w^*\|^2", "initial_distance2"),
    "rhobar": (r"\bar\rho", "rho_bar"), "rhot": (r"\tilde\rho", "rho_tilde"), "theta": (r"\theta_T", "theta"),
    "rho": (r"\rho_T", "rho"), "p": ("p", "probability"), "E0": ("E_0", "control_error2"),
}  # fmt: skip
"""The letters of the papers in LaTeX, and the arguments of the bounds."""
_DELAY = {"gamma": (r"\gamma", lambda given: sympy.Max(8 * given["L"] / given["mu"], given["local_steps"]))}


def rows(bound: Bound, common: dict[str, Any], *found: tuple[Any, ...]) -> Iterator[Without]:
    """Yield lines from a hypothesis, words, a true value and the constants that differ, or from the key of a claim.

    Without constants the third entry is a check that the hypothesis is not needed.
    """
    for hypothesis, words, third, *more in found:
        if isinstance(third, str):
            yield Without(hypothesis, words, partial(_refuted, third))
        elif more:
            yield Without(hypothesis, words, partial(_compared, bound, third, common | more[0]))
        else:
            yield Without(hypothesis, f"not needed: {words}", needless=third)


def _compared(bound: Bound, truth: Any, given: dict[str, Any]) -> Sides:
    value, unmet = bound(**given, strict=False)
    return Sides(truth() if callable(truth) else truth, Q(value), tuple(unmet))


def _refuted(key: str) -> Sides:
    found = one_claim(key).check(np.random.default_rng(0))
    return Sides(found.measured, found.predicted)


def drifted(delay: int, factor: int, steps: int) -> Q:
    """Return the gap after a round of (w - 1)^2/2 and (w + 1)^2 from the minimizer -1/3; steps factor/(t + delay)."""
    ends = []
    for h, c in ((1, 1), (2, -1)):
        w = Q(-1, 3)
        for t in range(steps):
            w -= Q(factor, t + delay) * h * (w - c)
        ends.append(w)
    return Q(3, 4) * (sum(ends) / 2 + Q(1, 3)) ** 2


def biased(steps: int) -> Q:
    """Return the gap of w^2/2 from w = 0 if every gradient is 1 too large; steps 1/(t + 4)."""
    w = Q(0)
    for t in range(steps):
        w -= Q(1, t + 4) * (w + 1)
    return w**2 / 2


def follows_the_noise(steps: int) -> Q:
    """Return E w^2/2 from w = 0 if the noise of the average is 1/2 or -1; steps 2/(t + 8)."""
    mean = square = Q(0)
    for t in range(steps):
        eta = Q(2, t + 8)
        square = (1 - eta) ** 2 * square + eta * (1 - eta) * mean / 2 + eta**2 * Q(5, 8)
        mean = (1 - eta) * mean + eta / 4
    return square / 2


def own_coins(p: Q, steps: int) -> Q:
    """Return the expected potential of Scaffnew with gamma = 1 on (w -+ 1)^2/2 if each client has its own coin."""
    law = [(Q(1), (Q(0), Q(0)), (Q(0), Q(0)))]
    for _ in range(steps):
        after = []
        for (chance, _, variates), coins in product(law, product((True, False), repeat=2)):
            # A step of length 1 from any model ends at the client's minimizer plus its control variate.
            moved = (1 + variates[0], -1 + variates[1])
            mean = (moved[0] + moved[1]) / 2
            x = [mean if coin else old for coin, old in zip(coins, moved, strict=True)]
            h = [v + p * (new - old) for v, new, old in zip(variates, x, moved, strict=True)]
            after.append((chance * prod(p if coin else 1 - p for coin in coins), (x[0], x[1]), (h[0], h[1])))
        law = after
    errors = ((chance, x[0] ** 2 + x[1] ** 2, (h[0] + 1) ** 2 + (h[1] - 1) ** 2) for chance, x, h in law)
    return sum((chance * (distance2 + error2 / p**2) / 2 for chance, distance2, error2 in errors), Q(0))


def unbalanced() -> Q:
    """Return E Psi_1 of Scaffnew on w^2/2 from 0 with the control variate 1, for gamma = p = 1/2."""
    one = RationalQuadratics((vector(1),), (vector(0),), vector(1), vector(0))
    return mean_potentials(one, ScaffnewState((vector(0),), (vector(1),)), 1, step_size=Q(1, 2), probability=Q(1, 2))[1]


def well(w: Q) -> tuple[Q, Q]:
    """Return the value and the slope of a 1-smooth double well: minima -1 at 2 and -2, and a maximum at 0."""
    beyond = abs(w) - 2
    return (-(w**2) / 2, -w) if abs(w) <= 1 else (beyond**2 / 2 - 1, beyond * (1 if w > 0 else -1))


def resting() -> Q:
    """Return the gap of the double well at 0, which no step leaves."""
    (top, slope), (bottom, _) = well(Q(0)), well(Q(2))
    return top - bottom if slope == 0 else Q(0)


def closed_form(norms: Sequence[int], budget: Q) -> list[Q]:
    """Return eq. (7) of Optimal Client Sampling for norms in increasing order."""
    n, sums = len(norms), [sum(norms[:k]) for k in range(len(norms) + 1)]
    cut = max(k for k in range(1, n + 1) if budget + k > n and (budget + k - n) * norms[k - 1] <= sums[k])
    return [(budget + cut - n) * t / Q(sums[cut]) for t in norms[:cut]] + [Q(1)] * (n - cut)


def cost(norms: Sequence[int], probabilities: Sequence[Q]) -> Q:
    """Return the variance plus a constant: the sum of ``t_i^2/p_i`` over the clients that are ever sampled."""
    return sum((t**2 / p for t, p in zip(norms, probabilities, strict=True) if p), Q(0))


def _cheaper(*others: Q) -> Sides:
    return Sides(cost((1, 9), closed_form((1, 9), Q(3, 2))), cost((1, 9), others))


def _orders_weights() -> bool:
    """Whether the relations between the constants hold for the weights k/n and 1 - k/n."""
    some = [[Q(k, n), Q(n - k, n)] for n in range(2, 9) for k in range(1, n)]
    return all(max(w) ** 2 <= sum(p**2 for p in w) <= max(w) <= 1 for w in some)


def _proves_range() -> bool:
    """Whether Coq has the theorem on the range of gamma."""
    text = (FOLDER / "OptimalProbabilities.v").read_text(encoding="utf-8")
    return "Theorem relative_improvement_factor_range : m / INR n <= gamma_of" in text


def _value(bound: Bound, given: dict[str, Any], **changed: Any) -> Any:
    return bound(**given | changed, strict=False)[0]


_poc, _li = power_of_choice.decaying_steps_gap, fedavg.full_participation_gap
_align, _step, _skip = (
    fedalign.full_participation_gap,
    optimal_client_sampling.dsgd_strongly_convex,
    proxskip.fixed_step_potential,
)
_WELL = "a double well, -w^2/2 up to 1 and (|w| - 2)^2/2 - 1 beyond, from its maximum 0, where every step is 0"
_BIASED = "not unbiased: w^2/2 from its minimizer, every gradient is 1 too large"
_NOISY = "larger variance: w^2/2 from its minimizer, noise 1 or -1, sigma^2 stated as 0"
_DRIFTED = (
    "clients (w - 1)^2/2 and (w + 1)^2 from the minimizer -1/3, one round, G^2 stated as 0. No counterexample is known "
    "if G^2 is at least mu^2 |w_0 - w*|^2 + 2 mu Gamma, as the hypotheses imply"
)
# 32 (x + 1)^2 - 825/32 x^2 - 1 with x = tau - 1 has no negative coefficient.
_ROOM = (
    "the variance and independence. G^2 bounds the variance of a mean; with this variance the constant of the proof is "
    "825/32 (tau - 1)^2 + 1, which is at most 32 tau^2"
)
_ORDER = (
    "rho_tilde is the largest skew at w' = w*, and rho_diagonal the smallest one at w' = w, of which w = w* is one. If "
    "Gamma = 0, skews at w* are not defined, and rho_tilde has no effect"
)
_TILTED = (
    "x and x^2 - x, weights 1/2, at x* = 0, each sampled with probability 1/2; eta = 1. There is no f_1*, and "
    "objective_gap is stated as 0"
)
_AGGREGATED = (
    "w^2/2 has priority; (w - 1)^2/2, with the indicator 0 at the round's start, is aggregated at its end; w_0 = 0, "
    "T = 1"
)
_JOINS = (
    "clients w^2/2; the second, without noise, joins if the noise of the first, 1 or -1, is 1, so that the noise given "
    "the indicators has a mean; w_0 = 0, T = 80"
)
_ONE_OF_TWO = (
    "one of two clients with equal updates, each with probability 1/2, has the variance 0, independent sampling 1/2"
)
_SMOOTH, _CONVEX, _NOISE, _BOUNDED = "is L-smooth", "strongly convex", "gradients are unbiased", "|g_k|^2"
_WEIGHTS = "positive weights of sum 1 satisfy it"
_ONE = {"num_steps": 1, "mu": 1, "L": 1, "local_steps": 1, "objective_gap": 0, "G2": 64, "initial_distance2": 0}
_TWO = {"L": 2, "G2": 0, "objective_gap": Q(2, 3)}
_SKEWED = _ONE | {"num_selected": 1, "sigma2": 0, "rho_diagonal": 1, "rho_tilde": 1}
_ALIGNED = _ONE | {"sigma2": 0, "theta": 1, "rho": 0}
_LI = _ONE | {"weighted_sigma2": 0}
_STEP = {"mu": 1, "L": 1, "gamma": 1, "max_weight": 1, "sum_squared_weights": 1, "relative_noise": 0, "sigma2": 0}
_STEP |= {"objective_gap": 0, "step_size": 1, "distance2": 0, "gap": 0}
_HALF = {"max_weight": Q(1, 2), "sum_squared_weights": Q(1, 2)}
_SKIP = {"num_steps": 1, "step_size": 1, "mu": 1, "L": 1, "probability": 1, "initial_distance2": 0, "control_error2": 0}
_AVERAGING = (
    (_SMOOTH, "4 w^2, of smoothness 8, stated as 1; w_0 = 1, T = 1", 4 * (1 - Q(8, 4)) ** 2, {"initial_distance2": 1}),
    (_CONVEX, f"{_WELL}; T = 9", resting, {"num_steps": 9, "initial_distance2": 4}),
    (_NOISE, f"{_BIASED}; T = 1", Q(1, 4) ** 2 / 2, {}),
    (_NOISE, f"{_NOISY}; T = 1", Q(1, 4) ** 2 / 2, {}),
)
_LONG_ROUND = (
    _BOUNDED,
    f"{_DRIFTED}; E = T = 640",
    lambda: drifted(640, 2, 640),
    _TWO | {"num_steps": 640, "local_steps": 640},
)
HEADLINES = (
    Headline(
        "Power-of-Choice, Theorem 3.1",
        "“Under Assumptions 3.1 to 3.4, for learning rate $\\eta_t=\\frac1{\\mu(t+\\gamma)}$ with "
        "$\\gamma=\\frac{4L}\\mu$, and any client selection strategy $\\pi$, the error after $T$ iterations of "
        "federated averaging with partial device participation satisfies”",
        _poc,
        tuple(rows(
            _poc, _SKEWED,
            (_SMOOTH, "200 w^2, of smoothness 400, stated as 1; w_0 = 1, G^2 = 160000, T = 1",
             200 * (1 - Q(400, 4)) ** 2, {"G2": 400**2, "initial_distance2": 1}),
            (_CONVEX, f"{_WELL}; G^2 = 4, T = 170", resting, {"G2": 4, "num_steps": 170, "initial_distance2": 4}),
            (_NOISE, f"{_BIASED}; G^2 = 1, T = 100", lambda: biased(100), {"G2": 1, "num_steps": 100}),
            (_NOISE, _ROOM, lambda: min(32 - Q(825, 32), 64, 31) >= 0),
            (_BOUNDED, f"{_DRIFTED}; tau = T = 300", lambda: drifted(8, 1, 300),
             _TWO | {"num_steps": 300, "local_steps": 300}),
            ("depends on the past only", "two clients (w -+ 1)^2/2, one of which is never available; T = 178",
             "power-of-choice:availability-with-memory"),
            ("rho_diagonal >= 0", "the last hypothesis implies it",
             lambda: "rho_diagonal > 0" in {one.text for one in _poc.hypotheses}),
            ("rho_tilde >= rho_diagonal", _ORDER, lambda: _value(_poc, _SKEWED, rho_tilde=9) == _value(_poc, _SKEWED)),
            ("rho_diagonal <= L/mu", "the infimum over all models satisfies it, and smaller values give larger bounds",
             lambda: _value(_poc, _SKEWED, rho_diagonal=Q(1, 2)) > _value(_poc, _SKEWED)),
            ("rho_diagonal > 0", "at 0 the value is infinite",
             lambda: _value(_poc, _SKEWED, rho_diagonal=0) == float("inf")),
        )),
        "power-of-choice:theorem-3.1",
        2,
        lambda T, gamma, mu, L, tau, m, G2, sigma2, Gamma, rhobar, rhot, D: (
            (
                4 * L * (32 * tau**2 * G2 + sigma2 / m) / (3 * mu**2 * rhobar) + 8 * L**2 * Gamma / mu**2
                + L * gamma * D / 2
            ) / (T + gamma) + 8 * L * Gamma / (3 * mu) * (rhot / rhobar - 1)
        ),
        {"gamma": (r"\gamma", lambda given: 4 * given["L"] / given["mu"])},
    ),
    Headline(
        "Optimal Client Sampling, eq. (7)",
        "“It turns out that this problem has the following closed-form solution”. The text that was read has lost its "
        "formulas. As remembered, with the norms $t_i=w_i\\|U_i\\|$ in increasing order and the largest $l$ with "
        "$0<m+l-n\\le\\sum_{j\\le l}t_j/t_l$, it is $p_i=(m+l-n)\\,t_i/\\sum_{j\\le l}t_j$ for $i\\le l$, and "
        "$p_i=1$ for the others",
        None,
        (
            Without("independent", _ONE_OF_TWO, partial(_refuted, "optimal-client-sampling:lemma-1-left")),
            Without("at most 1", "norms 1 and 9, m = 3/2; q = (3/20, 27/20)", partial(_cheaper, Q(3, 20), Q(27, 20))),
            Without("positive", "norms 1 and 9, m = 3/2; q = (0, 1), which is biased", partial(_cheaper, Q(0), Q(1))),
            Without("the sum", "norms 1 and 9, m = 3/2; q = (1, 1)", partial(_cheaper, Q(1), Q(1))),
        ),
        function=closed_form,
        theorem=Theorem("OptimalProbabilities.v", "optimal_probabilities_closed_form_optimal"),
        assumes=("sampling is independent", "each probability is at most 1", "it is positive if the update is not 0",
                 "the probabilities have at most the sum m"),
    ),
    Headline(
        "Optimal Client Sampling, a step of Theorem 13",
        "The text that was read has lost the formulas of Theorem 13. This statement is derived, for every step size",
        _step,
        tuple(rows(
            _step, _STEP,
            (_SMOOTH, "x^2, of smoothness 2, stated as 1; x = 1, eta = 1", Q(1), {"distance2": 1, "gap": 1}),
            (_CONVEX, f"{_WELL}; eta = 1/2", Q(4), {"step_size": Q(1, 2), "distance2": 4, "gap": 1}),
            ("bounded below", _TILTED, Q(1, 2), _HALF | {"L": 2, "gamma": Q(1, 2)}),
            (_NOISE, f"{_BIASED}; eta = 1", Q(1), {}),
            (_NOISE, f"{_NOISY}; eta = 1", Q(1), {}),
            (_NOISE, "correlated: two clients x^2/2 from 0 with the same noise, 1 or -1; eta = 1", Q(1),
             _HALF | {"sigma2": 1}),
            ("gamma <= 1", "Coq proves it for optimal probabilities", _proves_range),
            ("max_weight^2 <= sum_squared_weights", _WEIGHTS, _orders_weights),
            ("sum_squared_weights <= max_weight", _WEIGHTS, _orders_weights),
            ("max_weight <= 1", _WEIGHTS, _orders_weights),
            ("never sampled", "(x -+ 1)^2/2, weights 1/2, at x* = 0; only the second is sampled, always; eta = 1",
             Q(1, 4), _HALF | {"objective_gap": Q(1, 2)}),
        )),
        "optimal-client-sampling:theorem-13",
        18,
        attained="optimal-client-sampling:theorem-13-attained",
    ),
    Headline(
        "FedALIGN, Theorem 1",
        "“Suppose that Assumptions 1, 2, 3, and 4 hold, and we set a decaying learning rate "
        "$\\eta_t=\\frac2{\\mu(t+\\gamma)}$, where $\\gamma=\\max\\{\\frac{8L}\\mu,E\\}$ and any "
        "$\\epsilon_t\\ge0$. The expected error following $T$ total local iterations (equivalent to $T/E$ "
        "communication rounds) for FedALIGN under full device participation satisfies”, with $C_1$ and $C_2$ inserted",
        _align,
        tuple(rows(
            _align, _ALIGNED,
            *_AVERAGING,
            (_NOISE, "independence across clients. The variance of a mean is at most sigma^2 without it",
             lambda: Q(1, 4) ** 2 / 2 <= _value(_align, _ALIGNED, sigma2=1)),
            _LONG_ROUND,
            ("the indicators I_k", _AGGREGATED, Q(1, 8) ** 2 / 2, {}),
            ("the indicators I_k", _JOINS, lambda: follows_the_noise(80), {"sigma2": 1, "num_steps": 80}),
            ("theta <= 1", "theta_T satisfies it, and the bound increases in theta",
             lambda: _value(_align, _ALIGNED, objective_gap=1, theta=2) > _value(_align, _ALIGNED, objective_gap=1)),
        )),
        "fedalign:theorem-1",
        16,
        lambda T, gamma, mu, L, E, G2, sigma2, Gamma, D, theta, rho: (
            (2 * L / mu**2 * (sigma2 + 8 * (E - 1) ** 2 * G2) + 4 * L**2 / mu * D + 12 * L**2 / mu**2 * theta * Gamma)
            / (T + gamma) + rho
        ),
        _DELAY,
    ),
    Headline(
        "Federated averaging (Li et al.), Theorem 1",
        "In our words: if all devices take part and Assumptions 1 to 4 hold, then for "
        "$\\eta_t=\\frac2{\\mu(\\gamma+t)}$, $\\kappa=\\frac L\\mu$, "
        "$\\gamma=\\max\\{8\\kappa,E\\}$, the first model $w_1$ and "
        "$S=\\sum_kp_k^2\\sigma_k^2$",
        _li,
        tuple(rows(
            _li, _LI,
            *_AVERAGING,
            (_NOISE, "not independent: noise 1 or -1, the same for ten clients w^2/2 at 0; T = 1",
             "fedavg:common-noise"),
            _LONG_ROUND,
        )),
        "fedavg:theorem-1",
        10,
        lambda T1, gamma, kappa, mu, L, E, G2, S, Gamma, D1: (
            kappa / (gamma + T1 - 1) * (2 * (S + 6 * L * Gamma + 8 * (E - 1) ** 2 * G2) / mu + mu * gamma / 2 * D1)
        ),
        _DELAY | {
            "kappa": (r"\kappa", lambda given: given["L"] / given["mu"]),
            "T1": ("T", lambda given: given["num_steps"] + 1),
            "D1": (r"\|w_1-w^*\|^2", lambda given: given["initial_distance2"]),
        },
    ),
    Headline(
        "ProxSkip, Theorem 3.6",
        "In our words, as arXiv 2207.04338 quotes it: if $f$ is $L$-smooth and $\\mu$-strongly convex, "
        "$0<\\gamma\\le\\frac1L$ and $0<p\\le1$, then with $E_0=\\|h_0-\\nabla f(x^*)\\|^2$ and "
        "$\\Psi_T=\\|x_T-x^*\\|^2+\\frac{\\gamma^2}{p^2}\\|h_T-\\nabla f(x^*)\\|^2$",
        _skip,
        tuple(rows(
            _skip, _SKIP,
            (_SMOOTH, "w^2, of smoothness 2, stated as 1; w_0 = 1, gamma = p = 1, T = 1", Q(1),
             {"initial_distance2": 1}),
            (_CONVEX, f"{_WELL}; gamma = 1/2, p = 1, T = 1", Q(4), {"step_size": Q(1, 2), "initial_distance2": 4}),
            ("gradients are exact", "w^2/2 from its minimizer; noise 1 or -1, gamma = p = 1, T = 1", Q(1), {}),
            ("run Scaffnew", "averaging, control variates stay 0; clients (w -+ 1)^2/2 from 0, gamma = p = 1, T = 1",
             Q(1), {"control_error2": 1}),
            ("run Scaffnew", "a coin for each client; clients (w -+ 1)^2/2 from 0, h_0 = 0, gamma = 1, p = 3/4, T = 3",
             lambda: own_coins(Q(3, 4), 3), {"num_steps": 3, "probability": Q(3, 4), "control_error2": 1}),
            ("probability <= 1", "it is a probability",
             lambda: "probability of a communication" in _skip.symbols["probability"].meaning),
            ("step_size <= 1/L", "w^2/2 with mu = 1/10 from 1; gamma = 2, p = 1, T = 1", Q(1),
             {"mu": Q(1, 10), "step_size": 2, "initial_distance2": 1}),
            ("have the mean 0", "w^2/2 from 0 with the control variate 1; gamma = p = 1/2, T = 1", unbalanced,
             {"step_size": Q(1, 2), "probability": Q(1, 2), "control_error2": 1}),
        )),
        "proxskip:theorem",
        16,
        lambda T, gamma, mu, p, Dx, E0: (
            sympy.Max((1 - gamma * mu) ** T, (1 - p**2) ** T) * (Dx + gamma**2 / p**2 * E0)
        ),
        {
            "gamma": (r"\gamma", lambda given: given["step_size"]),
            "Dx": (r"\|x_0-x^*\|^2", lambda given: given["initial_distance2"]),
        },
        r"\mathbb E\,\Psi_T",
    ),
)  # fmt: skip


def theorem_of(headline: Headline) -> Theorem:
    """Return the theorem in Coq of a headline."""
    found = headline.theorem or (headline.bound and headline.bound.statement.formal_proof)
    if not found:
        message = f"{headline.title} must have a theorem in Coq, got none"
        raise ValueError(message)
    return found
