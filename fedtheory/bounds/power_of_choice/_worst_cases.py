"""Worst-case problems of the bounds of Power-of-Choice."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.bounds._worst_cases import as_fractions, require_0
from fedtheory.theorem import Bound, WorstCaseProblem

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


def _rho_tilde(c):
    """Draw a skew at w* that is often the smallest one."""
    # At rho = rho_tilde = L/mu the class has no interior, so that a numerical solution cannot be rounded to a proof.
    closest = 1 if c["skew"] < c["kappa"] else Fraction(101, 100)
    return c["skew"] * c.pick(closest, c.tenths(11, 30), c.tenths(11, 30))


def _least_gradients(c):
    """Return the smallest G2 for which the class is not empty."""
    return max(1, c["skew"]) * c["mu"] * (c["mu"] * c["distance2"] + 2 * c["objective_gap"])


# Constants that some federation has.
_CLASS = {
    "rho_tilde": _rho_tilde,
    "num_selected": lambda c: c.whole(1, 5),
    "sigma2": 0,
    "local_steps": lambda c: c.whole(1, 3),
    "num_rounds": lambda c: c.whole(1, 3),
    "squared_weights": lambda c: Fraction(1, c["num_selected"]),
    "step_size": lambda c: c.share() / c["L"],
}
_SHORT = _CLASS | {"step_size": lambda c: c.share() / (4 * c["L"])}
_STEP = _SHORT | {"elapsed_step_size": 0, "G2": lambda c: _least_gradients(c) * c.tenths(11, 60)}
_HORIZON = _SHORT | {
    "num_steps": lambda c: c["local_steps"] * c["num_rounds"],
    "G2": lambda c: _least_gradients(c) * c.tenths(10, 20),
    "initial_gap": lambda c: c["mu"] / 2 * c["distance2"],
}
_DECAYING = _CLASS | {"gamma": lambda c: 2 * c["local_steps"] * c["kappa"] * c.pick(1, c.tenths(11, 30))}
_AVERAGED = _CLASS | {
    "num_rounds": lambda c: c.whole(1, 2),
    "local_steps": lambda c: c.whole(1, 2),
    "step_size": lambda c: c.tenths(1, 9) / c["L"],
}
_DRIFT = _CLASS | {"local_steps": lambda c: c.whole(2, 4), "G2": lambda c: c.positive()}
GRADIENT_NORM: WorstCaseProblem = WorstCaseProblem(_gradient_norm)
LOSS_AFTER_STEP: WorstCaseProblem = WorstCaseProblem(_loss_after_step, _CLASS)
DRIFT: WorstCaseProblem = WorstCaseProblem(_drift, _DRIFT)
ONE_STEP: WorstCaseProblem = WorstCaseProblem(_first_step, _STEP)
WEIGHTED_STEP: WorstCaseProblem = WorstCaseProblem(_weighted, _STEP)
ONE_ROUND: WorstCaseProblem = WorstCaseProblem(_round, _CLASS | {"sigma2": lambda c: c.tenths(0, 9)})
FIXED_ROUNDS: WorstCaseProblem = WorstCaseProblem(_rounds, _CLASS)
DECAYING_ROUNDS: WorstCaseProblem = WorstCaseProblem(_rounds, _DECAYING)
AVERAGED_ROUNDS: WorstCaseProblem = WorstCaseProblem(_averaged, _AVERAGED, looseness=1.05)
DECAYING_STEPS: WorstCaseProblem = WorstCaseProblem(_rounds, _HORIZON, looseness=1.2, remark=_G2)
REFINED_DECAYING_STEPS: WorstCaseProblem = WorstCaseProblem(_rounds, _HORIZON, looseness=1.05, remark=_G2)
FIXED_STEPS: WorstCaseProblem = WorstCaseProblem(_rounds, _HORIZON, remark=_G2)
WEIGHTED_AVERAGE: WorstCaseProblem = WorstCaseProblem(_weighted, _HORIZON, remark=_G2)
DERIVED_WEIGHTED_AVERAGE: WorstCaseProblem = WorstCaseProblem(
    _weighted, _HORIZON | {"num_selected": lambda c: c.whole(2, 5)}, looseness=4, remark=_G2
)
