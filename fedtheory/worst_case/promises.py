"""What bounds promise beside the exact worst case of the class that they speak about."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.bounds import fedavg as li
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds import power_of_choice as poc
from fedtheory.paper import Bound
from fedtheory.worst_case.full_or_uniform import fedavg
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling
from fedtheory.worst_case.skewed_selection import skew_class, skew_class_horizon
from fedtheory.worst_case.worst_cases import WorstCase

__all__ = ["CONFRONTED", "Confrontation", "confront"]


class Confrontation(NamedTuple):
    """A promise and the worst case.

    Attributes
    ----------
    promise
        The bound's value, as a squared distance where its proof bounds one and multiplies it by L/2 in the end.
    worst
        The worst case of its hypotheses.
    remark
        How the two classes differ, if they do.
    """

    promise: Any
    worst: WorstCase
    remark: str = ""

    @property
    def looseness(self) -> float:
        """By how much the promise is larger than what any federation can reach."""
        return float(self.promise) / float(self.worst.enclosure[0])

    def rows(self) -> list[dict[str, str]]:
        """Return promise, enclosure, looseness and multipliers as rows of a table."""
        lower, upper = map(float, self.worst.enclosure)
        known = {"promise": float(self.promise), "worst case, at least": lower, "worst case, at most": upper}
        known |= {"looseness": self.looseness}
        known |= {f"multiplier of {name}": float(c) for name, c in self.worst.multipliers.items()}
        return [{"what": what, "value": f"{value:.10g}"} for what, value in known.items()]


_WITHOUT_G2 = "the worst case is that without a bound on gradients, so that the looseness is at least this"


def confront(bound: Bound, **arguments: Any) -> Confrontation:
    """Evaluate a bound and the exact worst case for the same constants.

    Parameters
    ----------
    bound
        One of ``CONFRONTED``.
    arguments
        Of the bound, by name. Horizons must be whole rounds.

    Raises
    ------
    ValueError
        If no worst case of the bound is known, or an argument is unsuitable.
    AssumptionViolated
        If the bound's hypotheses do not hold.

    Examples
    --------
    >>> from fractions import Fraction as Q
    >>> found = confront(poc.one_round, distance2=Q(1), step_size=Q(1, 4), mu=Q(1, 10), L=Q(1), local_steps=1,
    ...                  num_selected=1, sigma2=Q(0), objective_gap=Q(1, 2), rho_diagonal=Q(6, 5), rho_tilde=Q(2))
    >>> found.promise, round(found.looseness, 5)
    (Fraction(491, 400), 1.0)
    """
    for known, way in CONFRONTED.items():
        if known is bound:
            return way(bound, arguments)
    names = ", ".join(sorted(f"{known.statement.paper.key}: {known.__name__}" for known in CONFRONTED))
    message = f"bound must be one whose worst case is known, got {bound.__name__} (known: {names})"
    raise ValueError(message)


def _class(given: Mapping[str, Any]) -> dict[str, Any]:
    """Constants of the skewed class, by the names of its door."""
    kept = ("mu", "L", "objective_gap", "rho_diagonal", "rho_tilde", "num_selected")
    found = {name: given[name] for name in kept}
    return found | {
        "gradient_noise": given["sigma2"],
        "distance2": given.get("distance2", given.get("initial_distance2")),
    }


def _round(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    worst = skew_class(given["local_steps"], given["step_size"], **_class(given))
    return Confrontation(bound(**given), worst)


def _first_step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    if given["elapsed_step_size"]:
        message = f"elapsed_step_size must be 0, a round's first step, got {given['elapsed_step_size']}"
        raise ValueError(message)
    worst = skew_class(1, given["step_size"], **_class(given), G2=given["G2"] - given["sigma2"])
    return Confrontation(bound(**given), worst)


def _horizon(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Compose rounds with the bound's own step sizes; the promise is a squared distance."""
    tau = given["local_steps"]
    num_steps = given["num_steps"] if "num_steps" in given else tau * given["num_rounds"]
    sizes: Any = given.get("step_size")
    if "gamma" in given:
        sizes = [1 / (Fraction(given["mu"]) * (t + Fraction(given["gamma"]))) for t in range(num_steps)]
    elif bound.step_sizes is not None:
        sizes = bound.step_sizes(num_steps, mu=float(given["mu"]), L=float(given["L"]))
    worst = skew_class_horizon(num_steps, tau, sizes, **_class(given))
    promise, remark = bound(**given), ""
    if "G2" in given:
        promise, remark = 2 * promise / given["L"], _WITHOUT_G2
    return Confrontation(promise, worst, remark)


def _all_clients(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Give Li et al.'s theorem to all clients, without noise, which has no worst case over several rounds."""
    tau, steps = given["local_steps"], given["num_steps"]
    if steps % tau or given["weighted_sigma2"]:
        message = f"num_steps must be whole rounds, and weighted_sigma2 0, got {steps} and {given['weighted_sigma2']}"
        raise ValueError(message)
    sizes = li.decaying_step_sizes(steps, mu=float(given["mu"]), L=float(given["L"]), local_steps=tau)
    constants = {name: given[name] for name in ("mu", "L", "objective_gap")}
    worst = fedavg(
        tau, sizes, **constants, distance2=given["initial_distance2"], num_rounds=steps // tau, objective="gap"
    )
    return Confrontation(bound(**given), worst, _WITHOUT_G2)


def _sampled_step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Equal weights and uniform sampling, which no optimal sampling beats in the worst case."""
    share, gamma = Fraction(given["max_weight"]), Fraction(given["smallest_gamma"])
    equal = share.numerator == 1 and given["sum_squared_weights"] == share and given["mean_inverse_gamma"] == 1 / gamma
    if not equal or given["relative_noise"] or given["sigma2"]:
        message = "weights and gammas must be equal and gradients exact for the worst case of a sampled step"
        raise ValueError(message)
    num_clients = share.denominator
    constants = {name: given[name] for name in ("mu", "L", "distance2", "objective_gap")}
    worst = optimal_client_sampling(
        [share] * num_clients, gamma * num_clients, given["step_size"], **constants, probabilities="uniform"
    )
    return Confrontation(bound(**given), worst)


CONFRONTED: Mapping[Bound, Callable[[Bound, Mapping[str, Any]], Confrontation]] = {
    poc.one_round: _round,
    poc.one_step: _first_step,
    poc.fixed_step_distance: _horizon,
    poc.decaying_steps_distance: _horizon,
    poc.decaying_steps_gap: _horizon,
    poc.refined_decaying_steps_gap: _horizon,
    poc.refined_fixed_step_gap: _horizon,
    li.full_participation_gap: _all_clients,
    ocs.dsgd_contraction: _sampled_step,
}
"""The bounds whose worst case is known, each with the way to it."""
