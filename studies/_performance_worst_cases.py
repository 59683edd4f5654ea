"""Worst cases with proofs for the performance study, against the time they may take and against PEPit."""

import importlib
import importlib.util
from collections.abc import Callable
from fractions import Fraction as Q
from functools import partial
from typing import Any

import numpy as np
from _timing import interleaved, timed, within

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds.power_of_choice import decaying_step_sizes
from fedtheory.worst_case._coordinates import first_coordinates
from fedtheory.worst_case._settings import setting
from fedtheory.worst_case.full_or_uniform import averaged_rounds

_CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
_SKEWED = _CLASS | {"rho_diagonal": Q(6, 5), "rho_tilde": 2}
_STEP, _SHORT, _PEERS_STEPS, _PEERS_CLIENTS = Q(1, 4), 5, 3, 4
_ROUND = "worst case, tau = {}"
_HORIZON = "worst case, {} steps"
_ASSEMBLY = "program of {} rounds"
MEDIAN, PEPIT = "worst cases, median", "PEPit"
_PEER = f"worst case, K = {_PEERS_CLIENTS}, tau = {_PEERS_STEPS}"
GOALS = {
    (_ROUND.format(_SHORT), "limit of 0.03 s"): 1.0,
    (_ROUND.format(20), "limit of 2 s"): 1.0,
    (_HORIZON.format(1000), "limit of 15 s"): 1.0,
    (_ASSEMBLY.format(10), "limit of 1 s"): 1.0,
    (_PEER, PEPIT): 20.0,
    (MEDIAN, PEPIT): 1.0,
}


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time rounds and a horizon with their proofs, the assembly of a long program, and a round beside PEPit."""
    sizes = [*map(Q, decaying_step_sizes(config.worst_case_steps, mu=0.1, L=1.0).tolist())]
    proved = (
        (_ROUND.format(_SHORT), 0.03, config.repetitions, partial(_round, _SHORT)),
        (_ROUND.format(config.long_round), 2.0, config.repetitions, partial(_round, config.long_round)),
        (_HORIZON.format(config.worst_case_steps), 15.0, 1, partial(_horizon, sizes)),
    )
    found = []
    for label, limit, times, ours in progress(proved, "worst cases"):
        # Enclosures are to be 1e-5 wide, relative to their upper end.
        apart = ours().relative_width / 1e-5
        found.append(within(label, ours, limit, range(times)) | {"agreement": apart})
    label, ours = _ASSEMBLY.format(config.assembled_rounds), partial(assembly, config.assembled_rounds)
    found.append(within(label, ours, 1.0, range(config.repetitions)) | {"agreement": 0.0})
    if importlib.util.find_spec(PEPIT):
        found += beside_pepit(config.repetitions)
    return found + gallery(config, progress)


def _round(local_steps: int) -> Any:
    return ft.worst_case.fedavg(local_steps, _STEP, **_CLASS)


def _horizon(sizes: Any) -> Any:
    return ft.worst_case.skew_class_horizon(len(sizes), 2, sizes, **_SKEWED)


def assembly(num_rounds: int) -> Any:
    """Write down rounds of five local steps of all clients as one program, without solving it."""
    given = setting(_SHORT * num_rounds, _STEP, **_CLASS, gradient_noise=0)
    program, *_ = averaged_rounds(given, num_rounds=num_rounds).program()
    return first_coordinates(program).data(pairs=False)


def beside_pepit(repetitions: int) -> list[dict[str, Any]]:
    """Time a round of four clients here, with proofs, and in PEPit, in turn."""
    ours, peers = partial(_round, _PEERS_STEPS), {PEPIT: (pepit_round, 1)}
    value = ours().value
    # Ours is proved to 1e-5, PEPit's is what a solver says.
    apart = abs(pepit_round() - value) / (1e-5 * value)
    return [row | {"agreement": apart} for row in interleaved(_PEER, ours, 1, peers, range(repetitions))]


def pepit_round() -> float:
    """Write the round client by client, as one does in PEPit."""
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction

    problem = PEP()
    clients = [
        problem.declare_function(SmoothStronglyConvexFunction, mu=float(_CLASS["mu"]), L=1.0)
        for _ in range(_PEERS_CLIENTS)
    ]
    objective = sum(clients[1:], start=clients[0]) / _PEERS_CLIENTS
    best, start = objective.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((start - best) ** 2 <= 1)
    excess = [client(best) - client(client.stationary_point()) for client in clients]
    problem.set_initial_condition(sum(excess[1:], start=excess[0]) / _PEERS_CLIENTS <= float(_CLASS["objective_gap"]))
    moved = start - start
    for client in clients:
        w = start
        for _ in range(_PEERS_STEPS):
            w = w - float(_STEP) * client.gradient(w)
        moved = moved + w / _PEERS_CLIENTS
    problem.set_performance_metric((moved - best) ** 2)
    return float(problem.solve(solver="CLARABEL", verbose=0))


_FOLDERS = ("unconstrained_convex_minimization", "fixed_point_problems", "composite_convex_minimization")
SAME = 1e-5
"""Of the value: PEPit's numbers are what a solver says in doubles."""


def _begun(best: Callable[[Any], Any], make: Callable[[Any, Any, Any, Any], None], **kind: Any) -> Any:
    """Return a problem about one function, from a squared distance of at most 1."""
    p = ft.worst_case.Problem()
    f = p.operator(**kind) if "nonexpansive" in kind else p.function(**kind)
    at, x = best(f), p.point("start")
    p.at_most((x - at).square, 1, name="distance2")
    make(p, f, at, x)
    return p


def _descent(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        for _ in range(num_steps):
            x = x - Q(1, 3) * f.gradient(x)
        p.maximize(f.value(x) - f.value(best))

    return _begun(lambda f: f.minimizer(), make, L=3)


def _fast(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        y = x
        for i in range(num_steps):
            before, x = x, y - f.gradient(y)
            y = x + Q(i, i + 3) * (x - before)
        p.maximize(f.value(x) - f.value(best))

    return _begun(lambda f: f.minimizer(), make, L=1)


def _proximal(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        for _ in range(num_steps):
            x = f.proximal(x, 3)
        p.maximize(f.value(x) - f.value(best))

    return _begun(lambda f: f.minimizer(), make)


def _subgradients(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        gaps = [f.value(x) - f.value(best)]
        for _ in range(num_steps):
            x = x - Q(1, 4) * f.gradient(x)
            gaps.append(f.value(x) - f.value(best))
        p.maximize(*gaps)

    return _begun(lambda f: f.minimizer(), make, lipschitz=2)


def _halpern(num_steps: int) -> Any:
    def make(p: Any, T: Any, fixed: Any, x: Any) -> None:  # noqa: ARG001
        first = x
        for k in range(num_steps):
            x = Q(1, k + 2) * first + Q(k + 1, k + 2) * T(x)
        p.maximize((x - T(x)).square)

    return _begun(lambda T: T.fixed_point(), make, nonexpansive=True)


def _proximal_gradients(num_steps: int) -> Any:
    p = ft.worst_case.Problem()
    f, g = p.function(mu=Q(1, 10), L=1), p.function()
    best, x = (f + g).minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    for _ in range(num_steps):
        x = g.proximal(x - f.gradient(x), 1)
    p.maximize((x - best).square)
    return p


EXAMPLES: dict[str, tuple[Callable[[int], Any], tuple[int, ...], str, dict[str, float]]] = {
    "gradient descent": (_descent, (4, 10), "wc_gradient_descent", {"L": 3, "gamma": 1 / 3}),
    "fast gradients": (_fast, (4, 8), "wc_accelerated_gradient_convex_simplified", {"mu": 0, "L": 1}),
    "proximal point": (_proximal, (4, 10), "wc_proximal_point", {"gamma": 3}),
    "subgradients": (_subgradients, (3,), "wc_subgradient_method", {"M": 2, "gamma": 1 / 4}),
    "Halpern": (_halpern, (3, 10), "wc_halpern_iteration", {}),
    "proximal gradients": (_proximal_gradients, (2,), "wc_proximal_gradient", {"L": 1, "mu": 0.1, "gamma": 1}),
}


def gallery(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time each example of PEPit, proofs included, beside PEPit where that is installed; add the median ratio."""
    found: list[dict[str, Any]] = []
    repetitions = config.repetitions
    has_peer = importlib.util.find_spec("PEPit") is not None
    for name, (make, lengths, called, constants) in progress(EXAMPLES.items(), "common worst cases"):
        for n in lengths:
            label = f"worst case of {name}, {n} steps"

            def ours(make: Any = make, n: int = n) -> Any:
                return make(n).solve()

            if not has_peer:
                found.append(_alone(label, [timed(ours)[0] for _ in range(repetitions)]))
                continue

            def theirs(called: str = called, n: int = n, constants: dict[str, float] = constants) -> float:
                return float(_of_pepit(called)(n=n, wrapper="cvxpy", solver="CLARABEL", verbose=-1, **constants)[0])

            value = ours().value
            apart = abs(theirs() - value) / (SAME * max(1.0, abs(value)))
            rows = interleaved(label, ours, 1, {PEPIT: (theirs, 1)}, range(repetitions))
            found += [row | {"agreement": apart} for row in rows]
    times, ratios = ([row[key] for row in found] for key in ("ours_us", "ratio"))
    median = _alone(MEDIAN, np.array(times) / 1e6)
    if has_peer:
        median |= {"peer": PEPIT, "ratio": float(np.median(ratios)), "lowest": min(ratios), "highest": max(ratios)}
    return [*found, median]


def _of_pepit(called: str) -> Any:
    """Return one of PEPit's examples."""
    folders = (importlib.import_module(f"PEPit.examples.{folder}") for folder in _FOLDERS)
    return next(getattr(folder, called) for folder in folders if hasattr(folder, called))


def _alone(label: str, seconds: Any) -> dict[str, Any]:
    """Return the row of an example without a peer, which says so."""
    nothing = float("nan")
    return {
        "workload": label, "peer": f"{PEPIT}, not installed", "ours_us": 1e6 * float(np.median(seconds)),
        "ratio": nothing, "lowest": nothing, "highest": nothing, "agreement": 0.0,
    }  # fmt: skip
