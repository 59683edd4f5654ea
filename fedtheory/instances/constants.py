"""Random constants of bounds: integers and fractions that satisfy the hypotheses.

Every constant has a law, which may read other constants. They are drawn when they are first read, so that the constants
of a bound fit each other: mu <= L, sigma2 <= G2, gaps between mu/2 and L/2 times squared distances, and G2 at least as
large as strong convexity requires. The laws of a paper satisfy the hypotheses of all its bounds, and no constant is
zero. A worst-case problem replaces some of them, and its shares are often 1, at the end of a hypothesis' range.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction as Q
from typing import Any

import numpy as np

from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import pick, tenths, whole

__all__ = ["Constants", "draw_constants", "draw_worst_case"]

Law = Callable[["Constants"], Any]


class Constants:
    """Constants by name, each drawn when it is first read.

    ``changed`` contains numbers, or laws that replace those of the paper. With ``at_ends`` a third of the shares is 1.

    >>> constants = Constants(np.random.default_rng(0), "sgd", {"mu": Q(2), "L": lambda c: 3 * c["mu"]})
    >>> constants["L"], "zeta2" in constants, "rho" in Constants(np.random.default_rng(0), "no-paper")
    (Fraction(6, 1), True, False)
    """

    def __init__(
        self, rng: np.random.Generator, paper: str, changed: Mapping[str, Any] | None = None, *, at_ends: bool = False
    ) -> None:
        self.rng, self.at_ends = rng, at_ends
        self.laws: dict[str, Any] = {**LAWS, **LAWS_OF_PAPERS.get(paper, {}), **(changed or {})}
        self._known: dict[str, Any] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.laws

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            law = self.laws[name]
            self._known[name] = law(self) if callable(law) else law
        return self._known[name]

    def whole(self, low: int, high: int) -> int:
        """Draw an integer from ``low`` to ``high``, both included."""
        return whole(self.rng, low, high)

    def pick(self, *options: Any) -> Any:
        """Draw one of the options."""
        return pick(self.rng, [*options])

    def tenths(self, low: int, high: int) -> Q:
        """Draw a multiple of 1/10 from ``low/10`` to ``high/10``."""
        return tenths(self.rng, low, high)

    def positive(self, high: int = 9) -> Q:
        """Draw a positive multiple of 1/10 up to ``high``."""
        return self.tenths(1, 10 * high)

    def share(self) -> Q:
        """Draw a number between 0 and 1, which may be 1 with ``at_ends`` only."""
        if self.at_ends:
            return Q(self.pick(Q(1), self.tenths(1, 9), self.tenths(1, 9)))
        return Q(self.whole(2, 39), 40)


def draw_constants(bound: Bound, rng: np.random.Generator) -> dict[str, Any]:
    """Draw nonzero arguments of a bound, by name, that satisfy its hypotheses and those of all bounds of its paper.

    ValueError if an argument has no law.

    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> drawn = draw_constants(gradient_norm, np.random.default_rng(0))
    >>> gradient_norm(**drawn) == 2 * drawn["L"] * drawn["excess"]
    True
    """
    return _arguments(bound, Constants(rng, bound.statement.topic.key))


def draw_worst_case(bound: Bound, rng: np.random.Generator) -> dict[str, Any]:
    """Draw arguments of a bound for its worst-case problem, often at the ends of the hypotheses' ranges.

    >>> from fedtheory.bounds.power_of_choice import exact_client_drift
    >>> drawn = draw_worst_case(exact_client_drift, np.random.default_rng(0))
    >>> drawn["step_size"] <= 1 / drawn["L"]
    True
    """
    problem = bound.worst_case
    if problem is None:
        message = f"bound must have a worst case, got {bound.__name__}"
        raise ValueError(message)
    return _arguments(bound, Constants(rng, bound.statement.topic.key, problem.constants, at_ends=True))


def _arguments(bound: Bound, constants: Constants) -> dict[str, Any]:
    unknown = [name for name in bound.domains if name not in constants]
    if unknown:
        message = f"every argument of {bound.__name__} must have a law, got none for {', '.join(unknown)}"
        raise ValueError(message)
    return {name: constants[name] for name in bound.domains}


def _kappa(c: Constants) -> Q:
    """Draw L/mu, which is close to 1 in a quarter of the draws."""
    return Q(c.pick(c.tenths(11, 13), *(c.tenths(12, 200) for _ in range(3))))


def _gap(c: Constants) -> Q:
    return Q(c["distance2"] / 2 * (c["mu"] + (c["L"] - c["mu"]) * c.share()))


def _largest_gradients(c: Constants) -> Q:
    """Draw G2: the mean of |grad F_k|^2 is at least 2 mu (F - F* + Gamma), and rho times that if selected."""
    return Q(max(Q(1), c["rho_tilde"]) * 2 * c["mu"] * (c["gap"] + c["objective_gap"]) * (1 + c.positive(1)))


LAWS: dict[str, Law] = {
    "mu": lambda c: c.tenths(1, 20),
    "kappa": _kappa,
    "L": lambda c: c["mu"] * c["kappa"],
    "local_steps": lambda c: c.whole(2, 5),
    "num_selected": lambda c: c.whole(2, 6),
    "left_out": lambda c: c.whole(1, 9),
    "num_clients": lambda c: c["num_selected"] + c["left_out"],
    "num_steps": lambda c: c.whole(1, 12),
    "num_rounds": lambda c: c.whole(1, 12),
    "distance2": lambda c: c.positive(),
    "initial_distance2": lambda c: c["distance2"],
    "objective_gap": lambda c: c.positive(3),
    "gap": _gap,
    "initial_gap": lambda c: c["gap"],
    "excess": lambda c: c.positive(),
    "skew": lambda c: c.share() * c["kappa"],
    "rho_bar": lambda c: c["skew"],
    "rho_diagonal": lambda c: c["skew"],
    "rho_tilde": lambda c: c["skew"] * (1 + c.positive(2)),
    "G2": _largest_gradients,
    "sigma2": lambda c: c["G2"] * c.share(),
    "weighted_sigma2": lambda c: c["sigma2"] * c.share(),
    "step_size": lambda c: c.share() / (4 * (1 + c["num_selected"]) * c["L"]),
    "elapsed_step_size": lambda c: c["step_size"] * (1 + c.share()) * c.whole(1, max(1, c["local_steps"] - 1)),
    "gamma": lambda c: 2 * c["local_steps"] * c["kappa"] * (1 + c.positive(1)),
    "squared_weights": lambda c: Q(1, c["num_selected"]) + (1 - Q(1, c["num_selected"])) * c.share(),
    "distances2": lambda c: [c.whole(1, 99) / 8 for _ in range(4)],
    "control_error2": lambda c: c.positive(),
}
"""Laws of constants by name, for bounds with or without selection skews."""


def _of_rounds(c: Constants, per_round: str) -> list[Any]:
    """Repeat the number of each round for its steps."""
    return [value for value in c[per_round] for _ in range(c["local_steps"])]


def _horizon(c: Constants) -> Q:
    return Q(c["num_steps"] + max(8 * c["L"] / c["mu"], c["local_steps"]) - 2)


def _included(c: Constants) -> list[Q]:
    """Draw the included gap of each round with 2 mu Gamma_k <= G2; dyadic rationals are exact in arrays of floats."""
    largest = Q(int(64 * min(c["G2"] / (2 * c["mu"]), 8)), 64)
    return [(1 - weight) * Q(c.whole(1, 8), 8) * largest for weight in c["joined"]]


_FEDALIGN: dict[str, Law] = {
    "joined": lambda c: [Q(c.whole(1, 31), 32) for _ in range(c.whole(1, 5))],
    "included": _included,
    "num_steps": lambda c: len(c["joined"]) * c["local_steps"],
    "num_draws": lambda c: c["num_selected"],
    "priority_weight": lambda c: c["joined"][0],
    "included_gap": lambda c: c["included"][0],
    "priority_weights": lambda c: _of_rounds(c, "joined"),
    "included_gaps": lambda c: _of_rounds(c, "included"),
    # The printed sums omit step 0; a ninth where nothing is left.
    "theta": lambda c: sum(c["priority_weights"][1:]) / _horizon(c) or Q(1, 9),
    "rho": lambda c: 2 * c["L"] / (c["mu"] * _horizon(c)) * sum(c["included_gaps"][1:]) or Q(1, 9),
    "weights": lambda _: [0.125, 0.25, 0.5, 0.125],
    "squared_weights": lambda c: c.share(),
}

_CONTROL_VARIATES: dict[str, Law] = {
    "step_size": lambda c: c.share() / (c["local_steps"] * c["L"]),
    "probability": lambda c: c.share(),
    "stationary_distance2": lambda c: c.positive(),
    "effective_steps": lambda c: 1 + c.share() * (c["local_steps"] > 1),
    # The root of surrogate_gradient2 chi2 ((beta2 - 1) surrogate_gradient2 + kappa2) is rational.
    "surrogate_gradient2": lambda c: c.positive(),
    "chi2": lambda c: c.positive(1),
    "stretch": lambda c: c["chi2"] * c.positive() ** 2,
    "beta2": lambda c: 1 + c.share() * Q(1, 2) * c["stretch"],
    "kappa2": lambda c: (c["stretch"] - c["beta2"] + 1) * c["surrogate_gradient2"],
}

_SCAFFOLD: dict[str, Law] = {
    **_CONTROL_VARIATES,
    "variate_error2": lambda c: c.positive(),
    "control_weight": lambda c: 4 + c.positive(),
    "step_size": lambda c: (
        c.share() * min(1 / (81 * c["L"]), Q(c["num_selected"], 15 * c["num_clients"]) / c["mu"]) / c["local_steps"]
    ),
}


def _client_weights(c: Constants) -> list[Q]:
    parts = [c.whole(1, 9) for _ in range(c["num_clients"])]
    return [Q(part, sum(parts)) for part in parts]


def _signed(c: Constants, high: int) -> Q:
    return Q(c.positive(high) * c.pick(-1, 1))


def _at_optimum(c: Constants) -> list[Q]:
    """Draw the clients' gradients at the minimizer, whose weighted mean is 0."""
    weights = c["client_weights"]
    drawn = [_signed(c, 2) for _ in weights[1:]]
    return [*drawn, -_mean(weights[:-1], drawn) / weights[-1]]


def _mean(weights: list[Q], values: list[Q]) -> Q:
    return sum((weight * value for weight, value in zip(weights, values, strict=True)), Q(0))


def _mean_square(c: Constants, name: str, power: int = 1) -> Q:
    """Return the mean square of the clients' gradients, for powers of the weights."""
    return _mean([weight**power for weight in c["client_weights"]], [g**2 for g in c[name]])


def _longest_step(c: Constants) -> Q:
    L, M = c["L"], c["relative_noise"]
    return Q(min(1 / (8 * L * (2 + M / c["local_steps"])), c["smallest_gamma"] / (8 * L * (1 + c["max_weight"] * M))))


_OPTIMAL_CLIENT_SAMPLING: dict[str, Law] = {
    "num_clients": lambda c: c.whole(2, 5),
    "left_out": lambda c: c.whole(1, c["num_clients"] - 1),
    "num_selected": lambda c: c["num_clients"] - c["left_out"],
    "client_weights": _client_weights,
    "client_gaps": lambda c: [c.positive(3) for _ in c["client_weights"]],
    "gradients": lambda c: [_signed(c, 3) for _ in c["client_weights"]],
    "at_optimum": _at_optimum,
    "max_weight": lambda c: max(c["client_weights"]),
    "sum_squared_weights": lambda c: _mean(c["client_weights"], c["client_weights"]),
    "smallest_gamma": lambda c: Q(c["num_selected"], c["num_clients"]),
    "gamma": lambda c: c["smallest_gamma"] + (1 - c["smallest_gamma"]) * c.share(),
    "mean_inverse_gamma": lambda c: 1 + (1 / c["smallest_gamma"] - 1) * c.share(),
    "relative_noise": lambda c: c.positive(3),
    "sigma2": lambda c: c.positive(),
    "step_size": lambda c: c.share() * _longest_step(c),
    "server_step_size": lambda c: c["num_clients"] * (1 + c.positive(1)),
    "value": lambda c: c["gap"] + c.positive(),
    "objective_gap": lambda c: _mean(c["client_weights"], c["client_gaps"]),
    "per_client_gap": lambda c: _mean([weight**2 for weight in c["client_weights"]], c["client_gaps"]),
    "gradient2": lambda c: _mean(c["client_weights"], c["gradients"]) ** 2 or Q(1, 9),
    "mean_gradient2": lambda c: _mean_square(c, "gradients"),
    "dissimilarity": lambda c: c["mean_gradient2"] + c.positive(1),
    "squared_weight_gradient2": lambda c: _mean_square(c, "gradients", 2),
    "squared_weight_optimum_gradient2": lambda c: _mean_square(c, "at_optimum", 2),
    "squared_weight_update2": lambda c: c["squared_weight_gradient2"],
    "mean_update2": lambda c: c["gradient2"],
    "sampling_error": lambda c: c.positive(),
    "update_error": lambda c: c.positive(),
    "drift": lambda c: c.positive(1),
    "value_difference": lambda c: c["L"] / 2 * _signed(c, 9),
    "displacement2": lambda c: c.positive(),
}


def _heterogeneity(c: Constants) -> Q:
    """Draw zeta2 such that the roots of the bounds with and without replacement are rational.

    (1, 1) is on the conic ``r_2^2 - 1 = rho (r_1^2 - 1)`` of the roots, and lines through it yield all other points.
    """
    m, rho, root = c["num_selected"], Q(c["num_clients"] - c["num_selected"], c["num_clients"] - 1), Q(0)
    while root**2 <= 1:
        p, q = Q(c.whole(-9, 9)), Q(c.whole(1, 9))
        root = 1 + 2 * p * (rho * p - q) / (q * q - rho * p * p) if q * q != rho * p * p else Q(0)
    kept = (1 - c["step_size"] * (c["L"] + c["mu"]) / 2) * c["distance"]
    return Q(m * kept**2 * (root**2 - 1) / c["step_size"] ** 2)


_SGD: dict[str, Law] = {
    "distance": lambda c: c.positive(),
    "distance2": lambda c: c["distance"] ** 2,
    "step_size": lambda c: 2 * c.share() / (c["L"] + c["mu"]),
    "zeta2": _heterogeneity,
    "sampling_variance": lambda c: c["zeta2"] / c["num_selected"],
    "drift2": lambda c: c.positive() ** 2,
}


def _start(c: Constants) -> Q:
    """Draw a squared distance for which the radicand is the square of a number that is at least its floor."""
    eta, mu = c["step_size"], c["mu"]
    left = (1 - eta * mu) ** (c["local_steps"] * c["num_rounds"])
    floor = (1 - left) * eta**2 * c["L"] / mu * c["imbalance2"]
    return Q(((1 + floor) ** 2 - floor) / left)


_PARTICIPATION: dict[str, Law] = {
    **_SGD,
    "step_size": lambda c: c.share() * Q(39, 40) / c["L"],
    "imbalance2": lambda c: c.positive() ** 2,
    "initial_distance2": _start,
}


def _longest_update(c: Constants) -> Q:
    """Draw a mean squared update that leaves a quarter of the distance."""
    rate = c["step_size"] * c["L"]
    return Q(Q(3, 4) * c["distance2"] / (c["server_step_size"] * (1 + (2 - rate) / (c["local_steps"] * rate))))


_FEDEXP: dict[str, Law] = {
    **_SGD,
    "server_step_size": lambda c: 1 + c.positive(3),
    "update2": lambda c: c.share() * _longest_update(c),
    "mean_update2": lambda c: c.share() * c["update2"],
}


def _compressed_step(c: Constants) -> Q:
    """Draw a step size, below or above the best one, at which the rate is rational."""
    s, L, mu = c["compression_error"], c["L"], c["mu"]
    z = c["largest_rate"] * Q(c.whole(2, 39), 40)
    while z - s / z < (1 - s) * (L - mu) / (L + mu):
        z = (c["largest_rate"] + z) / 2
    t = z - s / z
    longer = (t + 1 - s) / ((1 + s) * L)
    return Q(c.pick(longer, (1 - s - t) / ((1 + s) * mu)) if t < 1 - s else longer)


_ERROR_FEEDBACK: dict[str, Law] = {
    "compression_error": lambda c: c.tenths(1, 9),
    "largest_rate": lambda _: Q(1),
    "step_size": _compressed_step,
    "potential": lambda c: c.positive(),
    "initial_potential": lambda c: c.positive(),
}

_FEDOPT: dict[str, Law] = {
    "epsilon": lambda c: c.positive(2),
    "initial_gap": lambda c: c.positive() ** 2 / (2 * c["L"]),  # with a rational root of 2 L times it
    "adaptive_step_size": lambda c: 2 * c.share() * c["epsilon"] / (c["step_size"] * c["L"]),
}


def _longest_delayed_step(c: Constants) -> Q:
    """Return the end of the step sizes for which delayed steps converge."""
    end = 2 / (c["L"] + c["mu"])
    return Q(end if c["largest_delay"] == 0 else min(end, c["mu"] / (c["largest_delay"] * c["L"] ** 2)))


_DELAYED: dict[str, Law] = {
    "largest_delay": lambda c: c.whole(1, 3),
    "longest_step": _longest_delayed_step,
    "step_size": lambda c: c.share() * c["longest_step"],
}

_FEDPROX: dict[str, Law] = {
    "gradient2": lambda c: c.positive(),
    "negative_curvature": lambda c: c["L"] * c.share(),
    "proximal_weight": lambda c: c["negative_curvature"] + c.positive(6),
    "gradient_dissimilarity": lambda c: 1 + c.positive(2),
    "inexactness": lambda c: c.share() / 2,
    "num_selected": lambda c: 2 * c.whole(1, 6) ** 2,  # so that 2 K is a square
}

_LOCAL_GD: dict[str, Law] = {
    "step_size": lambda c: c.share() / (4 * c["local_steps"] * c["L"]),
    "zeta2": lambda c: c.positive(),
    "drift": lambda c: c.positive(),
    "gap_sum": lambda c: c.positive(),
}

_FEDAVG: dict[str, Law] = {
    "max_weight": lambda c: (1 + c.share()) / c["num_clients"],
    "min_weight": lambda c: c.share() / c["num_clients"],
    "weighted_G2": lambda c: c["num_clients"] * c["max_weight"] * c["G2"] * c.share(),
}

_EF21: dict[str, Law] = {
    "client_L": lambda c: c["L"] * (1 + c.share()),
    "compression_error": lambda c: c.tenths(1, 9),
    "memory_error2": lambda c: c.positive(),
    # At most the printed step sizes, with 3/2 in place of the root of 2.
    "step_size": lambda c: (
        c.share()
        * min(
            (1 - c["compression_error"]) / (2 * c["mu"]),
            1 / (c["L"] + Q(3, 2) * c["client_L"] * c["compression_error"] / (1 - c["compression_error"])),
        )
    ),
}

_PROXSKIP: dict[str, Law] = {
    **_CONTROL_VARIATES,
    "growth": lambda c: c["L"] * (1 + c.positive(1)),
    "noise_floor": lambda c: c.positive(),
    "memory_share": lambda c: c.positive(2),
    "memory_growth": lambda c: c["L"] * c.share(),
    "memory_rate": lambda c: c.share() / 2,
    "memory_floor": lambda c: c.positive(),
    "memory_weight": lambda c: c["memory_share"] / (1 - c["memory_rate"]) * (1 + c.positive(1)),
    "initial_memory_error": lambda c: c.positive(),
    "step_size": lambda c: c.share() / (c["growth"] + c["memory_weight"] * c["memory_growth"]),
}

LAWS_OF_PAPERS: dict[str, dict[str, Law]] = {
    "ef21": _EF21,
    "fedlin": {"step_size": lambda c: c.share() / (6 * c["local_steps"] * c["L"])},
    "fedsplit": {"step_size": lambda c: c.share() / c["L"]},
    "fedavg": _FEDAVG,
    "fedalign": _FEDALIGN,
    "optimal-client-sampling": _OPTIMAL_CLIENT_SAMPLING,
    "sgd": _SGD,
    "average-drift": _SGD,
    "client-sampling": _SGD,
    "participation": _PARTICIPATION,
    "fedexp": _FEDEXP,
    "error-feedback": _ERROR_FEEDBACK,
    "fedopt": _FEDOPT,
    "delayed": _DELAYED,
    "fedprox": _FEDPROX,
    "local-gd": _LOCAL_GD,
    "scaffold": _SCAFFOLD,
    "proxskip": _PROXSKIP,
    "stationary": _CONTROL_VARIATES,
}
"""Laws of constants that are specific to a paper, by its key."""
