"""Workload F of the performance study: worst cases with proofs, against the time they may take and against PEPit."""

import importlib.util
from fractions import Fraction as Q
from functools import partial
from typing import Any

from _timing import interleaved, within

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds.power_of_choice import decaying_step_sizes
from fedtheory.worst_case._arguments import constants
from fedtheory.worst_case._coordinates import first_coordinates
from fedtheory.worst_case.federated_averaging import averaged_rounds

_CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
_SKEWED = _CLASS | {"rho_diagonal": Q(6, 5), "rho_tilde": 2}
_STEP, _SHORT, _PEERS_STEPS, _PEERS_CLIENTS = Q(1, 4), 5, 3, 4
_ROUND = "worst case, tau = {}"
_HORIZON = "worst case, {} steps"
_ASSEMBLY = "program of {} rounds"
_PEER = f"worst case, K = {_PEERS_CLIENTS}, tau = {_PEERS_STEPS}"
GOALS = {
    (_ROUND.format(_SHORT), "limit of 0.03 s"): 1.0,
    (_ROUND.format(20), "limit of 2 s"): 1.0,
    (_HORIZON.format(1000), "limit of 15 s"): 1.0,
    (_ASSEMBLY.format(10), "limit of 1 s"): 1.0,
    (_PEER, "PEPit"): 20.0,
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
    return found + (beside_pepit(config.repetitions) if importlib.util.find_spec("PEPit") else [])


def _round(local_steps: int) -> Any:
    return ft.worst_case.fedavg(local_steps, _STEP, **_CLASS)


def _horizon(sizes: Any) -> Any:
    return ft.worst_case.skew_class_horizon(len(sizes), 2, sizes, **_SKEWED)


def assembly(num_rounds: int) -> Any:
    """Write down rounds of five local steps of all clients as one program, without solving it."""
    given = constants(_SHORT * num_rounds, _STEP, **_CLASS)
    return first_coordinates(averaged_rounds(given, num_rounds=num_rounds).program()).data(pairs=False)


def beside_pepit(repetitions: int) -> list[dict[str, Any]]:
    """Time a round of four clients here, with proofs, and in PEPit, in turn."""
    ours, peers = partial(_round, _PEERS_STEPS), {"PEPit": (pepit_round, 1)}
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
