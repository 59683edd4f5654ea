"""Worst-case problems of the bounds of Power-of-Choice."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds._worst_cases import as_fractions, require_0
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import curvatures, pick, step_size, tenths, whole
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__: list[str] = []

WITHOUT_G2 = "the worst case ignores the bound on gradients; the true ratio is at least this one"
_G2 = "the worst case ignores the bound on gradients that the theorem assumes"
# Lemmas about convex functions are solved over functions of this condition number, some of which attain the bound.
_CONDITION = 10


def _class(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants of the class of problems with selection skews."""
    kept = ("mu", "L", "objective_gap", "rho_tilde", "num_selected")
    found = {name: given[name] for name in kept if name in given}
    found["rho_diagonal"] = given.get("rho_diagonal", given.get("rho_bar"))
    start = given.get("distance2", given.get("initial_distance2"))
    # A gap bounds mu/2 times the squared distance, and clients of curvature mu attain this.
    found["distance2"] = 2 * given["initial_gap"] / given["mu"] if start is None else start
    return found | {"gradient_noise": given["sigma2"]}


def _round(bound: Bound, given: Mapping[str, Any]) -> Any:
    return worst_case.skew_class(given["local_steps"], given["step_size"], **_class(given))


def _first_step(bound: Bound, given: Mapping[str, Any]) -> Any:
    require_0(given, "elapsed_step_size", of="a round's first step")
    return worst_case.skew_class(1, given["step_size"], **_class(given), G2=given["G2"] - given["sigma2"])


def _rounds(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve several rounds with the bound's own step sizes; squared distances are compared."""
    tau = given["local_steps"]
    num_steps = given["num_steps"] if "num_steps" in given else tau * given["num_rounds"]
    worst = worst_case.skew_class_horizon(num_steps, tau, _sizes(bound, given, num_steps), **_class(given))
    if "G2" not in given:
        return worst
    return worst_case.Comparison(2 * bound(**given) / given["L"], worst, WITHOUT_G2)


def _sizes(bound: Bound, given: Mapping[str, Any], num_steps: int) -> Any:
    if "gamma" in given:
        return [1 / (Fraction(given["mu"]) * (t + Fraction(given["gamma"]))) for t in range(num_steps)]
    if bound.step_sizes is None:
        return given["step_size"]
    counts = {"num_selected": given["num_selected"]} if "weighted" in bound.__name__ else {}
    return as_fractions(bound.step_sizes(num_steps, mu=float(given["mu"]), L=float(given["L"]), **counts))


def _weighted(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve the problem of the plain mean, which has the same skews; noise must be 0."""
    require_0(given, "sigma2", of="selection with weights")
    return (_first_step if "elapsed_step_size" in given else _rounds)(bound, given)


def _averaged(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve for the objective at the rounds' starting models in one program; selected clients have weights near 0."""
    require_0(given, "sigma2", of="averaged models")
    tau, num_rounds, eta = given["local_steps"], given["num_rounds"], given["step_size"]
    known = {name: given[name] for name in ("mu", "L", "objective_gap")} | {"distance2": given["initial_distance2"]}
    units, c = worst_case.arguments.constants(tau * num_rounds, eta, **known), 1 - eta * Fraction(given["mu"])
    ratios = worst_case.skewed_selection.skews(units, given["rho_diagonal"], given["rho_tilde"], given["num_selected"])
    return worst_case.skewed_selection.averaged_gap(units, ratios, [c ** (-tau * r) for r in range(num_rounds)]).solve()


def _gradient_norm(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve Lemma B.1 over strongly convex functions."""
    p, f, w = _above_the_least(given)
    p.maximize(f.gradient(w).square)
    return p.solve()


def _loss_after_step(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, f, w = _above_the_least(given)
    p.maximize(f.value(w) - f.value(f.step(w, given["step_size"])))
    remark = "the values compared are the largest decrease of the loss in one step"
    return worst_case.Comparison(given["excess"] - bound(**given), p.solve(), remark)


def _above_the_least(given: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return a problem, a function, and a model whose loss exceeds the minimum by at most ``excess``."""
    p = worst_case.Problem()
    f, w = p.function(Fraction(given["L"]) / _CONDITION, given["L"], minimum=0), p.point("w")
    p.at_most(f.value(w) - f.value(f.minimizer(p.origin)), given["excess"], "excess")
    return p, f, w


def _drift(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Maximize the mean squared distance of the clients' models from their mean just before the last step."""
    p = worst_case.Problem()
    clients, w = p.clients(2, given["mu"], given["L"]), p.origin
    p.at_most(clients.gradient(w).square, given["G2"], "G2")
    for _ in range(given["local_steps"] - 1):
        w = clients.step(w, given["step_size"])
    p.maximize((w - clients.mean(w)).square)
    return p.solve()


def _draw_class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants that some federation has; skews are often equal, and often as large as L/mu."""
    known = curvatures(rng)
    kappa = known["L"] / known["mu"]
    rho = kappa * pick(rng, [Fraction(1), *(tenths(rng, 1, 9) for _ in range(3))])
    # At rho = rho_tilde = L/mu the class has no interior, so that a numerical solution cannot be rounded to a proof.
    closest = Fraction(1) if rho < kappa else Fraction(101, 100)
    return known | {
        "objective_gap": tenths(rng, 1, 30),
        "rho_diagonal": rho,
        "rho_tilde": rho * pick(rng, [closest, tenths(rng, 11, 30), tenths(rng, 11, 30)]),
        "num_selected": whole(rng, 1, 5),
        "sigma2": Fraction(0),
        "local_steps": whole(rng, 1, 3),
    }


def _least_gradients(given: dict[str, Any], distance2: Fraction) -> Fraction:
    """Return the smallest G2 for which the class is not empty."""
    mu, gap, rho = given["mu"], given["objective_gap"], given["rho_diagonal"]
    return Fraction(max(1, rho) * mu * (mu * distance2 + 2 * gap))


def _draw_one_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_class(rng) | {"distance2": tenths(rng, 1, 90), "elapsed_step_size": Fraction(0)}
    del given["local_steps"]
    G2 = _least_gradients(given, given["distance2"]) * tenths(rng, 11, 60)
    return given | {"G2": G2, "step_size": step_size(rng, 1 / (4 * given["L"]))}


def _draw_weighted_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_one_step(rng)
    return given | {"squared_weights": Fraction(1, given.pop("num_selected"))}


def _draw_rounds(rng: np.random.Generator) -> dict[str, Any]:
    return _draw_class(rng) | {"initial_distance2": tenths(rng, 1, 90), "num_rounds": whole(rng, 1, 3)}


def _draw_horizon(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants of a theorem with bounded gradients; G2 is at most twice its smallest value."""
    given = _draw_rounds(rng)
    given["num_steps"] = given["local_steps"] * given.pop("num_rounds")
    return given | {"G2": _least_gradients(given, given["initial_distance2"]) * tenths(rng, 10, 20)}


def _draw_fixed_horizon(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_horizon(rng)
    return given | {"step_size": step_size(rng, 1 / (4 * given["L"]))}


def _draw_gradient(rng: np.random.Generator) -> dict[str, Any]:
    return {"excess": tenths(rng, 1, 90), "L": tenths(rng, 1, 90)}


def _draw_round(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_class(rng) | {"distance2": tenths(rng, 1, 90), "sigma2": tenths(rng, 0, 9)}
    return given | {"step_size": step_size(rng, 1 / given["L"])}


def _draw_fixed_rounds(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_rounds(rng)
    return given | {"step_size": step_size(rng, 1 / given["L"])}


def _draw_decaying_rounds(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_rounds(rng)
    least = 2 * given["local_steps"] * given["L"] / given["mu"]
    return given | {"gamma": least * pick(rng, [Fraction(1), tenths(rng, 11, 30)])}


def _draw_averaged(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_rounds(rng) | {"num_rounds": whole(rng, 1, 2), "local_steps": whole(rng, 1, 2)}
    return given | {"step_size": tenths(rng, 1, 9) / given["L"]}


def _draw_gap_horizon(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_fixed_horizon(rng)
    return given | {"initial_gap": given["mu"] / 2 * given.pop("initial_distance2")}


def _draw_weighted(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_horizon(rng)
    return given | {"squared_weights": Fraction(1, given["num_selected"])}


def _draw_derived_weighted(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_horizon(rng)
    return given | {"rho_bar": given.pop("rho_diagonal"), "num_selected": whole(rng, 2, 5)}


def _draw_loss_after_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_gradient(rng)
    return given | {"step_size": step_size(rng, 1 / given["L"])}


def _draw_drift(rng: np.random.Generator) -> dict[str, Any]:
    known = curvatures(rng)
    size, steps = step_size(rng, 1 / known["L"]), whole(rng, 2, 4)
    return known | {"step_size": size, "local_steps": steps, "G2": tenths(rng, 1, 90)}


GRADIENT_NORM: WorstCaseProblem = WorstCaseProblem(_gradient_norm, _draw_gradient)
LOSS_AFTER_STEP: WorstCaseProblem = WorstCaseProblem(_loss_after_step, _draw_loss_after_step)
DRIFT: WorstCaseProblem = WorstCaseProblem(_drift, _draw_drift)
ONE_STEP: WorstCaseProblem = WorstCaseProblem(_first_step, _draw_one_step)
WEIGHTED_STEP: WorstCaseProblem = WorstCaseProblem(_weighted, _draw_weighted_step)
ONE_ROUND: WorstCaseProblem = WorstCaseProblem(_round, _draw_round)
FIXED_ROUNDS: WorstCaseProblem = WorstCaseProblem(_rounds, _draw_fixed_rounds)
DECAYING_ROUNDS: WorstCaseProblem = WorstCaseProblem(_rounds, _draw_decaying_rounds)
AVERAGED_ROUNDS: WorstCaseProblem = WorstCaseProblem(_averaged, _draw_averaged, looseness=1.05)
DECAYING_STEPS: WorstCaseProblem = WorstCaseProblem(_rounds, _draw_horizon, looseness=1.2, remark=_G2)
REFINED_DECAYING_STEPS: WorstCaseProblem = WorstCaseProblem(_rounds, _draw_horizon, looseness=1.05, remark=_G2)
FIXED_STEPS: WorstCaseProblem = WorstCaseProblem(_rounds, _draw_gap_horizon, remark=_G2)
REFINED_FIXED_STEPS: WorstCaseProblem = WorstCaseProblem(_rounds, _draw_fixed_horizon, remark=_G2)
WEIGHTED_AVERAGE: WorstCaseProblem = WorstCaseProblem(_weighted, _draw_weighted, remark=_G2)
DERIVED_WEIGHTED_AVERAGE: WorstCaseProblem = WorstCaseProblem(
    _weighted, _draw_derived_weighted, looseness=4, remark=_G2
)
