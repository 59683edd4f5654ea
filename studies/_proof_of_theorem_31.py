"""The proof of Theorem 3.1 of Power-of-Choice as a chain of inequalities, and the loss of each on an instance.

Quadratics are isotropic, and gradients have no noise. The state of a run at the start of a round is a weighted set of
models; expectations over the selected cohort are sums over all cohorts.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import power_of_choice as poc

DRIFT = (
    ("(13)-(16)", "Jensen, and the whole round"),
    ("(17)-(19)", "Cauchy-Schwarz over steps and clients"),
    ("(20)-(21)", "gradients by G2"),
    ("(22)-(23)", "step sizes by 2 eta_t"),
)
INEQUALITIES = (
    ("(33)", "Cauchy-Schwarz and AM-GM"),
    ("(35)", "Lemma B.1"),
    ("(36)", "strong convexity"),
    *((f"(37) {number}", reason) for number, reason in DRIFT),
    ("(38)", "Jensen"),
    ("(39)", "Lemma B.1"),
    ("(44)", "Lemma B.3"),
    ("(48)", "strong convexity"),
    ("(49)", "Cauchy-Schwarz and AM-GM"),
    ("(49) again", "Lemma B.1"),
    ("(51)", "coefficient by 1"),
    *((f"(53) {number}", reason) for number, reason in DRIFT),
    ("(54)", "cohort independent of the model"),
    ("(55)", "skew by rho_bar"),
    ("(55) again", "skew by rho_tilde"),
    ("(60)", "strong convexity"),
    ("(61)", "coefficient by 3/4 eta"),
    ("(62)", "coefficient by 1 - 3 L eta"),
)


class Cohorts(NamedTuple):
    """Shares of each client in every possible cohort, (C, K), and their probabilities at each model, (P, C)."""

    shares: Any
    chances: Any


class State(NamedTuple):
    """Models u at the start of a round, (P, v), and their probabilities, (P,)."""

    models: Any
    masses: Any


class Constants(NamedTuple):
    """Arguments of the bounds: G2 and the two skews are certified on the safe side."""

    local_steps: int
    num_selected: int
    G2: float
    rho_bar: float
    rho_tilde: float


class Values(NamedTuple):
    """Exact expectations at one step; "mean" is over the cohort, ``average`` is the mean model.

    Attributes
    ----------
    distance2, spread
        ``E |average - w*|^2`` and ``E mean |w_k - average|^2``.
    gradient2, mean_gradient2, gradient2_at_average
        ``E mean |grad F_k(w_k)|^2``, ``E |mean grad F_k(w_k)|^2`` and ``E mean |grad F_k(average)|^2``.
    pull, local_pull, cross
        ``E <average - w*, mean grad F_k(w_k)>``, ``E mean <w_k - w*, grad F_k(w_k)>`` and
        ``E mean <grad F_k(average), w_k - average>``.
    excess, excess_at_average, excess_of_others, excess_at_minimizer
        ``E mean (F_k - F_k*)`` at w_k, at the average, at the average of another cohort from the same start, at w*.
    """

    distance2: float
    spread: float
    gradient2: float
    mean_gradient2: float
    gradient2_at_average: float
    pull: float
    local_pull: float
    cross: float
    excess: float
    excess_at_average: float
    excess_of_others: float
    excess_at_minimizer: float


class Round(NamedTuple):
    """Values at the steps 0..tau of a round, and final models less w*, (P, C, v), with probabilities, (P, C)."""

    values: list[Values]
    ends: Any
    chances: Any


def follow_round(fed: Any, cohorts: Cohorts, state: State, etas: Any) -> Round:
    """Take the local steps of one round for all models and cohorts at once."""
    joint = state.masses[:, None] * cohorts.chances
    shrinkage, values = np.ones(fed.num_clients), []
    for step in range(len(etas) + 1):
        values.append(_values(fed, cohorts, joint, state, shrinkage))
        if step < len(etas):
            shrinkage = shrinkage * (1 - etas[step] * fed.curvatures)
    moved = (shrinkage - 1)[:, None] * (state.models[:, None, :] - fed.centers)
    return Round(values, cohorts.shares @ moved + (state.models - fed.minimizer)[:, None, :], joint)


def _values(fed: Any, cohorts: Cohorts, joint: Any, state: State, shrinkage: Any) -> Values:
    h, d = fed.curvatures, fed.centers - fed.minimizer
    offsets = state.models[:, None, :] - fed.centers
    y, g = (shrinkage - 1)[:, None] * offsets, (h * shrinkage)[:, None] * offsets
    start = (state.models - fed.minimizer)[:, None, :]
    share = cohorts.shares
    frequencies = state.masses[:, None] * (cohorts.chances @ share)
    y_bar, g_bar = share @ y, share @ g
    x_bar = y_bar + start

    def over_clients(per_client: Any) -> float:
        return float(np.sum(frequencies * per_client))

    def over_cohorts(per_cohort: Any) -> float:
        return float(np.sum(joint * per_cohort))

    def at_average(factors: Any, mix: Any) -> float:
        """Average ``sum_k mix_k factors_k |average - c_k|^2``."""
        constant, slope, bend = mix @ (factors * _square(d)), mix @ (factors[:, None] * d), mix @ factors
        return over_cohorts(bend * _square(x_bar) - 2 * np.sum(x_bar * slope, axis=-1) + constant)

    others = (cohorts.chances @ share)[:, None, :]
    pulled = share @ (h[:, None] * y)
    level = (share @ np.sum(h[:, None] * d * y, axis=-1)[..., None])[..., 0]
    slope = (share @ h)[:, None] * x_bar - share @ (h[:, None] * d)
    return Values(
        distance2=over_cohorts(_square(x_bar)),
        spread=over_clients(_square(y)) - over_cohorts(_square(y_bar)),
        gradient2=over_clients(_square(g)),
        mean_gradient2=over_cohorts(_square(g_bar)),
        gradient2_at_average=at_average(h**2, share),
        pull=over_cohorts(np.sum(x_bar * g_bar, axis=-1)),
        local_pull=over_clients(np.sum((y + start) * g, axis=-1)),
        cross=over_cohorts(np.sum(x_bar * pulled, axis=-1) - level - np.sum(y_bar * slope, axis=-1)),
        excess=over_clients(0.5 * _square(g) / h),
        excess_at_average=0.5 * at_average(h, share),
        excess_of_others=0.5 * at_average(h, others),
        excess_at_minimizer=over_clients(0.5 * h * _square(d)),
    )


def _square(x: Any) -> Any:
    return np.sum(x**2, axis=-1)


def losses_of_round(fed: Any, known: Constants, values: list[Values], etas: Any) -> Any:
    """Amount by which every inequality raises the bound on ``E |w_bar_{t+1} - w*|^2``, shape (tau, inequalities)."""
    return np.array(
        [
            _losses(fed, known, now, eta, _drift_chain(known, values, etas, step))
            for step, (now, eta) in enumerate(zip(values[:-1], etas, strict=True))
        ]
    )


def _drift_chain(known: Constants, values: list[Values], etas: Any, step: int) -> list[float]:
    """Sides of the proof of Lemma B.2 from (12) to (23), without noise."""
    tau, m, before = known.local_steps, known.num_selected, values[:-1]
    others = 4 * (m - 1) / m
    sides = [
        values[step].spread,
        2 * values[-1].spread,
        others * tau * etas[0] ** 2 * sum(now.gradient2 for now in before),
        others * tau**2 * etas[0] ** 2 * known.G2,
        16 * tau**2 * etas[step] ** 2 * known.G2,
    ]
    return list(np.diff(sides))


def _losses(fed: Any, known: Constants, now: Values, eta: float, drift: list[float]) -> list[float]:
    mu, L, gap = fed.strong_convexity, fed.smoothness, fed.objective_gap
    nu = 2 * eta * (1 - 2 * L * eta)
    slope = nu * (1 - eta * L)
    excess_of_average = 0.5 * float(fed.weights @ fed.curvatures) * now.distance2
    local_distance2 = now.distance2 + now.spread
    decrease = now.excess - now.excess_at_minimizer
    return [
        now.spread + eta**2 * now.gradient2 + 2 * eta * (now.pull - now.local_pull),
        eta**2 * (2 * L * now.excess - now.gradient2),
        2 * eta * (now.local_pull - decrease - mu / 2 * local_distance2),
        *drift,
        eta**2 * (now.gradient2 - now.mean_gradient2),
        eta**2 * (2 * L * now.excess - now.gradient2),
        eta * mu * now.spread,
        nu * (now.excess - now.excess_at_average - now.cross - mu / 2 * now.spread),
        nu * (now.cross + eta / 2 * now.gradient2_at_average + now.spread / (2 * eta)),
        nu * eta / 2 * (2 * L * now.excess_at_average - now.gradient2_at_average),
        now.spread * (1 - nu * (1 / (2 * eta) - mu / 2)),
        *drift,
        slope * (now.excess_at_average - now.excess_of_others),
        slope * (now.excess_of_others - known.rho_bar * (excess_of_average + gap)),
        2 * eta * (known.rho_tilde * gap - now.excess_at_minimizer),
        slope * known.rho_bar * (excess_of_average - mu / 2 * now.distance2),
        known.rho_bar * mu / 2 * now.distance2 * (slope - 0.75 * eta),
        known.rho_bar * gap * (slope - 2 * eta + 6 * eta**2 * L),
    ]


class Ledger(NamedTuple):
    """Losses propagated by the recursion (65) to every step, with the exact distances.

    Attributes
    ----------
    carried, sampling
        Propagated losses, (T + 1, inequalities), and the propagated sampling errors of the models at the starts of
        rounds, (T + 1,), which are zero if these are exact.
    distance2
        Exact ``E |w_bar_t - w*|^2``, (T + 1,).
    smallest
        Smallest loss of each inequality at any step, as a share of the one-step bound.
    mismatch
        Largest relative difference between the exact distance with all losses and the library's one-step bound.
    """

    carried: Any
    sampling: Any
    distance2: Any
    smallest: Any
    mismatch: float


def carry(fed: Any, known: Constants, etas: Any, rounds: Iterable[tuple[list[Values], Any]]) -> Ledger:
    """Process all rounds, each with the values at its steps and its step sizes."""
    contraction = 1 - etas * fed.strong_convexity * (1 + 0.375 * known.rho_bar)
    history, distances = [np.zeros(len(INEQUALITIES) + 1)], [float("nan")]
    smallest, mismatch = np.full(len(INEQUALITIES), np.inf), 0.0
    for values, sizes in rounds:
        now = np.array([value.distance2 for value in values])
        if len(history) > 1:
            history[-1][-1] += distances[-1] - now[0]
        bound, losses = one_step(fed, known, now[:-1], sizes), losses_of_round(fed, known, values, sizes)
        mismatch = max(mismatch, float(np.max(np.abs((now[1:] + losses.sum(axis=1)) / bound - 1))))
        smallest = np.minimum(smallest, (losses / bound[:, None]).min(axis=0))
        distances[-1:] = now
        for added in losses:
            history.append(contraction[len(history) - 1] * history[-1] + np.append(added, 0.0))
    carried = np.array(history)
    return Ledger(carried[:, :-1], carried[:, -1], np.array(distances), smallest, mismatch)


def constants(fed: Any, known: Constants) -> dict[str, Any]:
    """Arguments that all bounds of the theorem share."""
    curvature = {"mu": fed.strong_convexity, "L": fed.smoothness}
    return {**curvature, "sigma2": 0.0, "objective_gap": fed.objective_gap, **known._asdict()}


def one_step(fed: Any, known: Constants, distance2: Any, step_size: Any) -> Any:
    """Right-hand side of (64), by the library."""
    return poc.one_step.printed(distance2, step_size=step_size, **constants(fed, known))
