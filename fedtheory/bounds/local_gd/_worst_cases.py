"""Worst-case problems of the bounds on local gradient descent of convex clients."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem


def _clients(given: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return a problem with a minimizer at the origin, its clients, and the gap as a function of the model."""
    p = worst_case.Problem()
    clients = p.clients(2, mu=0, L=given["L"])
    if given.get("zeta2", 1):
        best = clients.minimizer(p.origin)
    else:
        best = clients.minimizer(p.origin, objective_gap=0)
    if given.get("zeta2"):
        clients.heterogeneity(zeta2=given["zeta2"])
    return p, clients, lambda w: clients.value(w) - clients.value(best)


def _step(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, clients, gap = _clients(given)
    w, away = p.point("start"), clients.deviation(name="drift")
    p.at_most(w.square, given["distance2"], "distance2")
    p.at_most(away.square, given["drift"], "drift")
    p.equal_to(gap(w), given["gap"])
    p.maximize((w - given["step_size"] * clients.mean(clients.gradient(w + away))).square)
    return p.solve()


def _drift(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, clients, gap = _clients(given)
    y, drifts, gaps = p.point("start"), [], []
    for _ in range(given["local_steps"]):
        gaps.append(gap(clients.mean(y)))
        drifts.append((y - clients.mean(y)).square)
        y = y - given["step_size"] * clients.gradient(y)
    p.at_most(sum(gaps[1:], gaps[0]), given["gap_sum"], "gap_sum")
    p.maximize(sum(drifts[2:], drifts[1]))
    return p.solve()


def _averaged(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, clients, gap = _clients(given)
    y, tau = p.point("start"), given["local_steps"]
    p.at_most(y.square, given["initial_distance2"], "initial_distance2")
    models = [y]
    for t in range(1, given["num_steps"]):
        y = y - given["step_size"] * clients.gradient(y)
        y = clients.mean(y) if t % tau == 0 else y
        models.append(clients.mean(y))
    p.maximize(gap(Fraction(1, len(models)) * sum(models[1:], models[0])))
    return p.solve()


_LATER = "it counts the gap before the last step, which adds no drift, as the others"
_STEP = {"step_size": lambda c: c.share() / c["L"], "gap": lambda c: c["L"] * c["distance2"] * c.share() / 4}
_ROUND = {"step_size": lambda c: c.share() / c["L"], "local_steps": lambda c: c.whole(2, 3)}
_RUN = {
    "local_steps": lambda c: c.whole(1, 2),
    "step_size": lambda c: c.share() / (2 * c["L"]),
    "num_steps": lambda c: c.whole(1, 3),
    "zeta2": lambda c: c.pick(0, c.positive()),
}
LONG_STEP = WorstCaseProblem(_step, _STEP, num_draws=20, looseness=1.05)
ONE_STEP = WorstCaseProblem(_step, _STEP, num_draws=20)
DRIFT = WorstCaseProblem(_drift, _ROUND, num_draws=20, looseness=1.5, remark=_LATER)
AVERAGED_GAP = WorstCaseProblem(_averaged, _RUN, num_draws=20, looseness=1.5)
