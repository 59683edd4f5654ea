"""Single calls for the performance study: optimal probabilities, all coalitions, and worst cases with proofs."""

import importlib
import importlib.util
from fractions import Fraction as Q
from functools import partial
from typing import Any

import numpy as np
from _timing import has_avx512, interleaved, within

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds.power_of_choice import decaying_step_sizes
from fedtheory.sampling.reference import solver_probabilities
from fedtheory.worst_case._arguments import constants
from fedtheory.worst_case._coordinates import first_coordinates
from fedtheory.worst_case.federated_averaging import averaged_rounds

# Largest allowed difference between the probabilities of different programs.
CLOSE = 1e-12
_LABEL = "Shapley"
_SHARE = 1.0 if has_avx512() else 0.7
_CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
_SKEWED = _CLASS | {"rho_diagonal": Q(6, 5), "rho_tilde": 2}
_STEP, _SHORT, _PEERS_STEPS, _PEERS_CLIENTS = Q(1, 4), 5, 3, 4
_ROUND = "worst case, tau = {}"
_HORIZON = "worst case, {} steps"
_ASSEMBLY = "program of {} rounds"
_PEER = f"worst case, K = {_PEERS_CLIENTS}, tau = {_PEERS_STEPS}"
GOALS = {
    (_LABEL, "NumPy, a matrix product per coalition"): 8.0 * _SHARE,
    (_LABEL, "NumPy, logits computed once"): 6.0 * _SHARE,
    ("n = 100", "NumPy sort"): 10.0,
    ("n = 10000", "NumPy sort"): 12.0,
    ("n = 1000000", "NumPy sort"): 35.0,
    ("n = 10000", "Clarabel"): 10_000.0,
    (_ROUND.format(_SHORT), "limit of 0.03 s"): 1.0,
    (_ROUND.format(20), "limit of 2 s"): 1.0,
    (_HORIZON.format(1000), "limit of 15 s"): 1.0,
    (_ASSEMBLY.format(10), "limit of 1 s"): 1.0,
    (_PEER, "PEPit"): 20.0,
}
_COMMON = {"gradient descent": (5, 10, 20, 40), "proximal point": (5,), "Frank-Wolfe": (3, 4)}
GOALS |= {(f"worst case, {name}, N = {n}", "PEPit"): 1.0 for name, lengths in _COMMON.items() for n in lengths}


def _probabilities(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one call for every number of clients."""
    found = []
    for size in config.sampling_sizes:
        norms = np.exp(np.random.default_rng(config.seed).normal(size=size))
        # Many consecutive calls even for the largest size, so that memory is reused, as in real use, and few of the
        # calls find the caches in the state that the other program left.
        budget, calls = size / 10, max(32, 20_000 // size)
        error = float(np.abs(ft.sampling.optimal_probabilities(norms, budget) - numpy_sort(norms, budget)).max())
        ours, sort, memory = (
            partial(_repeat, program, norms, budget, calls)
            for program in (ft.sampling.optimal_probabilities, numpy_sort, sum_and_copy)
        )
        peers = {"NumPy sort": (sort, calls)}
        if size == max(config.sampling_sizes):
            peers["NumPy sum and copy"] = (memory, calls)
        label = f"n = {size}"
        repetitions = progress(range(config.sampling_repetitions), f"sampling, {label}")
        rows = interleaved(label, ours, calls, peers, repetitions)
        found += [row | {"agreement": error / CLOSE} for row in rows]
        if size == config.solved_size:
            solve = partial(solver_probabilities, norms, budget, "CLARABEL")
            # Warm: the first call imports the solver, which takes longer than it solves.
            solve()
            found += interleaved(label, ours, calls, {"Clarabel": (solve, 1)}, range(3))
            found[-1]["agreement"] = 0.0
    return found


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time optimal probabilities, the utilities of all coalitions, and worst cases."""
    return [*_probabilities(config, progress), *coalitions(config, progress), *worst_cases(config, progress)]


def _repeat(program: Any, norms: Any, budget: float, num_calls: int) -> None:
    for _ in range(num_calls):
        program(norms, budget)


def numpy_sort(norms: Any, budget: float) -> Any:
    """Evaluate the closed form as the paper states it: sort, then find the last client that stays below 1."""
    ordered = np.sort(norms)
    sums = np.cumsum(ordered)
    room = budget - norms.size + np.arange(1, norms.size + 1)
    last = np.flatnonzero((room > 0) & (room * ordered <= sums))[-1]
    return np.minimum(1.0, room[last] * norms / sums[last])


def sum_and_copy(norms: Any, _: float) -> Any:
    """Read the norms for a threshold, then read them again and write as many numbers: the minimal memory traffic."""
    return norms.sum(), norms.copy()


def coalitions(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time the utilities of all coalitions of one round: models of shape (10, 61), 5000 samples."""
    from fedtheory.valuation.softmax import softmax_utilities

    rng = np.random.default_rng(config.seed)
    before, models = 0.2 * rng.normal(size=610), 0.2 * rng.normal(size=(config.players, 610))
    weights = rng.integers(20, 500, size=config.players).astype(float)
    features = rng.normal(size=(config.validation_samples, 60))
    game = before, models, weights, features, rng.integers(10, size=config.validation_samples)
    peers = {"NumPy, a matrix product per coalition": by_products, "NumPy, logits computed once": by_logits}
    ours = softmax_utilities(*game)
    apart = {name: float(np.abs(peer(*game) - ours).max()) for name, peer in peers.items()}
    timed = {name: (partial(peer, *game), 1) for name, peer in peers.items()}
    repetitions = progress(range(config.repetitions), "Shapley")
    rows = interleaved(_LABEL, partial(softmax_utilities, *game), 1, timed, repetitions)
    return [row | {"agreement": apart[row["peer"]] / 1e-12} for row in rows]


def _mean_loss(logits: Any, labels: Any) -> float:
    """Mean cross-entropy; the logits, shape (samples, classes), are overwritten."""
    own = logits[np.arange(len(labels)), labels]
    top = logits.max(axis=1)
    logits -= top[:, None]
    np.exp(logits, out=logits)
    return float(np.mean(top + np.log(logits.sum(axis=1)) - own))


def _shares(weights: Any) -> Any:
    """Shares of the clients in each coalition, shape (2^M, M); those of the empty one are zero."""
    members = np.arange(2**weights.size)[:, None] >> np.arange(weights.size) & 1
    return members * weights / np.maximum(members @ weights, 1)[:, None]


def by_products(before: Any, models: Any, weights: Any, features: Any, labels: Any) -> Any:
    """Average the coalition's models, then multiply with the samples."""
    inputs = np.column_stack([features, np.ones(len(features))])
    means = _shares(weights) @ models
    means[0] = before
    return np.array([-_mean_loss(inputs @ mean.reshape(-1, inputs.shape[1]).T, labels) for mean in means])


def by_logits(before: Any, models: Any, weights: Any, features: Any, labels: Any) -> Any:
    """Average the logits of the clients."""
    inputs = np.column_stack([features, np.ones(len(features))])
    logits = np.array([inputs @ model.reshape(-1, inputs.shape[1]).T for model in (before, *models)])
    flat = logits[1:].reshape(weights.size, -1)
    found = [-_mean_loss((shares @ flat).reshape(logits[0].shape), labels) for shares in _shares(weights)[1:]]
    return np.array([-_mean_loss(logits[0], labels), *found])


def worst_cases(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time rounds and a horizon with their proofs, the assembly of a long program, and a round compared with PEPit."""
    sizes = [*map(Q, decaying_step_sizes(config.worst_case_steps, mu=0.1, L=1.0).tolist())]
    proved = (
        (_ROUND.format(_SHORT), 0.03, config.repetitions, partial(_round, _SHORT)),
        (_ROUND.format(config.long_round), 2.0, config.repetitions, partial(_round, config.long_round)),
        (_HORIZON.format(config.worst_case_steps), 15.0, 1, partial(_horizon, sizes)),
    )
    found = []
    for label, limit, times, ours in progress(proved, "worst cases"):
        # The required width of enclosures, relative to the upper end, is 1e-5.
        apart = ours().relative_width / 1e-5
        found.append(within(label, ours, limit, range(times)) | {"agreement": apart})
    label, ours = _ASSEMBLY.format(config.assembled_rounds), partial(assembly, config.assembled_rounds)
    found.append(within(label, ours, 1.0, range(config.repetitions)) | {"agreement": 0.0})
    return found + (beside_pepit(config) if importlib.util.find_spec("PEPit") else [])


def _round(local_steps: int) -> Any:
    return ft.worst_case.fedavg(local_steps, _STEP, **_CLASS)


def _horizon(sizes: Any) -> Any:
    return ft.worst_case.skew_class_horizon(len(sizes), 2, sizes, **_SKEWED)


def assembly(num_rounds: int) -> Any:
    """Assemble rounds of five local steps of all clients as one program, without solving it."""
    given = constants(_SHORT * num_rounds, _STEP, **_CLASS)
    return first_coordinates(averaged_rounds(given, num_rounds=num_rounds).program()).data(pairs=False)


def beside_pepit(config: Any) -> list[dict[str, Any]]:
    """Time worst cases here, with proofs, and in PEPit, in turn: a round of four clients, and common methods."""
    pairs = {_PEER: (partial(_round, _PEERS_STEPS), pepit_round)}
    for name, lengths in _COMMON.items():
        for n in lengths[: config.common_lengths]:
            pairs[f"worst case, {name}, N = {n}"] = partial(common, name, n), partial(pepit_common, name, n)
    found = []
    for label, (ours, theirs) in pairs.items():
        value = ours().value
        # Our value is proved to 1e-5; PEPit's is the answer of a solver.
        apart = abs(theirs() - value) / (1e-5 * value)
        rows = interleaved(label, ours, 1, {"PEPit": (theirs, 1)}, range(config.repetitions))
        found += [row | {"agreement": apart} for row in rows]
    return found


def common(name: str, num_steps: int) -> Any:
    """Prove the largest gap after a number of steps of a method, from a squared distance or in a set of diameter 1."""
    p = ft.worst_case.Problem()
    f = p.function() if name == "proximal point" else p.function(L=1)
    if name == "Frank-Wolfe":
        inside = p.indicator(diameter=1)
        best, x = (f + inside).minimizer(), p.point("start")
        inside.value(x)
    else:
        best, x = f.minimizer(), p.point("start")
        p.at_most((x - best).square, 1, name="distance2")
    for i in range(num_steps):
        if name == "gradient descent":
            x = x - f.gradient(x)
        elif name == "proximal point":
            x = f.proximal(x, 1)
        else:
            x = Q(i, i + 2) * x + Q(2, i + 2) * inside.linear_minimizer(f.gradient(x))
    p.maximize(f.value(x) - f.value(best))
    return p.solve()


def pepit_common(name: str, num_steps: int) -> float:
    """Take the same method from PEPit's own examples."""
    examples: dict[str, tuple[str, str, dict[str, Any]]] = {
        "gradient descent": ("unconstrained", "wc_gradient_descent", {"L": 1, "gamma": 1}),
        "proximal point": ("unconstrained", "wc_proximal_point", {"gamma": 1}),
        "Frank-Wolfe": ("composite", "wc_frank_wolfe", {"L": 1, "D": 1, "R": np.inf, "center": None}),
    }
    folder, program, given = examples[name]
    module = importlib.import_module(f"PEPit.examples.{folder}_convex_minimization")
    return float(getattr(module, program)(n=num_steps, wrapper="cvxpy", solver="CLARABEL", verbose=-1, **given)[0])


def pepit_round() -> float:
    """Write the round client by client in PEPit."""
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
