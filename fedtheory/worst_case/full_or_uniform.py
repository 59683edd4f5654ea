"""Federated averaging with all clients, or with clients that are sampled uniformly: its exact worst cases."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.worst_case._embedding import Embedding, Places, vertices
from fedtheory.worst_case._exchangeable import FIRST_NOISE, Scene, averaged_rounds
from fedtheory.worst_case._nested_noises import Noises
from fedtheory.worst_case._settings import Setting, check_block, setting
from fedtheory.worst_case._trees import Branch, independent_draws, largest_block, tree, uniform_subsets
from fedtheory.worst_case.enclosures import Proof, prove
from fedtheory.worst_case.instances import ClientFunction, Instance, Outcome
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["fedavg"]

_SAMPLINGS, _OBJECTIVES, _FUNCTIONS = ("all", "distinct", "independent"), ("distance", "gap"), ("all", "quadratic")


class _Scheme(NamedTuple):
    """A way of sampling; the number of clients is None where it does not matter."""

    sampling: str
    num_clients: int | None
    num_selected: int

    @property
    def factors(self) -> tuple[Fraction, Fraction]:
        """Return the factors of deviations and of noise in the squared length of an average."""
        K, m = self.num_clients, self.num_selected
        if self.sampling == "independent" or K is None:
            return (Fraction(self.sampling == "independent", m), Fraction(1, m))
        return Fraction(K - m, m * (K - 1)) if m < K else Fraction(0), Fraction(1, m)

    def branches(self, num_clients: int) -> list[Branch]:
        """Return the outcomes of a round's sampling."""
        if self.sampling == "independent":
            return independent_draws(num_clients, self.num_selected)
        return uniform_subsets(num_clients, num_clients if self.sampling == "all" else self.num_selected)


def fedavg(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    sampling: str = "all",
    num_selected: int | None = None,
    num_clients: int | None = None,
    num_rounds: int = 1,
    gradient_noise: Any = 0,
    objective: str = "distance",
    functions: str = "all",
    max_block: int = 50,
) -> WorstCase:
    r"""Exact worst case of federated averaging over all federations with these constants.

    The largest ``E |w_T - w*|^2``, or ``E F(w_T) - F*``, over all dimensions and all L-smooth, mu-strongly convex
    clients of equal weight with ``|w_0 - w*|^2 <= distance2`` and ``F* - mean F_k* <= objective_gap``.

    One round, and any number of rounds of all clients, takes two small blocks whatever the number of clients; with
    all clients the worst case is that of any number of clients from two on, and a bound for any weights. Several rounds
    of sampled clients, or ``objective="gap"`` after sampling, take a tree over all outcomes: few clients and rounds.

    Parameters
    ----------
    local_steps, num_rounds
        Steps of a round, and rounds.
    step_size
        One number, or one for each of the ``local_steps * num_rounds`` steps.
    mu, L
        Strong convexity and smoothness, ``0 < mu < L``.
    distance2, objective_gap
        Squared distance of the first model from w*, positive, and Gamma, which is imposed exactly where it is 0.
    sampling
        All clients; ``distinct`` ones, uniformly; or ``independent`` draws of one client each.
    num_selected, num_clients
        How many are sampled, of how many. Independent draws of one round need no number of clients, nor do all.
    gradient_noise
        Largest variance sigma2 of a stochastic gradient, in one round; the server averages it over the clients. The
        worst case is that of noises with many outcomes; its instance has two for each step, which approach it.
    objective
        What is maximized: ``distance``, squared, or ``gap``.
    functions
        ``all``, or only ``quadratic`` ones.
    max_block
        Largest number of rows of a block; the time grows with its sixth power.

    Returns
    -------
    WorstCase
        Its value in a proved enclosure, the lemma, the instance. Numbers are taken as the exact rationals they are.

    Raises
    ------
    ValueError
        If an argument is unsuitable or the program too large.
    OracleError
        If no proof was found.

    Examples
    --------
    One local step of all clients is a step of gradient descent on F, and contracts by ``(1 - step_size mu)^2``:

    >>> from fractions import Fraction as Q
    >>> worst = fedavg(1, Q(1, 4), mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2))
    >>> lower, upper = worst.enclosure
    >>> lower <= (1 - Q(1, 40)) ** 2 <= upper, round(worst.value, 4)
    (True, 0.9506)
    """
    num_steps = validate.count("local_steps", local_steps) * validate.count("num_rounds", num_rounds)
    constants = {"distance2": distance2, "objective_gap": objective_gap, "gradient_noise": gradient_noise}
    given = setting(num_steps, step_size, mu=mu, L=L, **constants)
    scheme = _scheme(sampling, num_selected, num_clients, noisy=given["gradient_noise"] > 0)
    validate.choice("objective", objective, _OBJECTIVES)
    validate.choice("functions", functions, _FUNCTIONS)
    if given["gradient_noise"] and (num_rounds > 1 or functions == "quadratic" or objective == "gap"):
        message = (
            "gradient_noise must be 0 but for the distance after one round over all functions: later rounds mix a "
            "client's own noise with the others' (skew_class_horizon has fresh clients in every round)"
        )
        raise ValueError(message)
    as_one = sampling == "all" or (num_rounds == 1 and objective == "distance")
    if as_one:
        check_block(num_steps + 2 + (objective == "gap"), max_block)
        scene = averaged_rounds(given, num_rounds, objective, functions, scheme.factors)
    else:
        scene = _sampled_tree(given, scheme, num_rounds, objective, functions, max_block)
    quadratic = functions == "quadratic"
    attain = partial(_instance, scene, given, scheme, num_rounds, objective, alike=as_one, quadratic=quadratic)
    return worst_of([prove(scene.program)], given, objective, attain)


def _scheme(sampling: str, num_selected: int | None, num_clients: int | None, *, noisy: bool) -> _Scheme:
    validate.choice("sampling", sampling, _SAMPLINGS)
    clients = None if num_clients is None else validate.count("num_clients", num_clients, low=2)
    if sampling == "all":
        if num_selected not in (None, num_clients):
            message = f"num_selected must be left out with sampling='all', got {num_selected}"
            raise ValueError(message)
        if noisy and clients is None:
            message = "num_clients must be given where noise is averaged over all clients, got None"
            raise ValueError(message)
        return _Scheme(sampling, clients, clients or 1)
    if num_selected is None or (sampling == "distinct" and clients is None):
        message = f"num_selected and, for distinct clients, num_clients must be given with sampling={sampling!r}"
        raise ValueError(message)
    most = clients if sampling == "distinct" else None
    return _Scheme(sampling, clients, validate.count("num_selected", num_selected, high=most))


def _sampled_tree(
    given: Setting, scheme: _Scheme, num_rounds: int, objective: str, functions: str, max_block: int
) -> Scene:
    if scheme.num_clients is None:
        message = "num_clients must be given for several rounds of sampled clients, got None"
        raise ValueError(message)
    branches = scheme.branches(scheme.num_clients)
    per_round = len(given.steps) // num_rounds
    check_block(largest_block(scheme.num_clients, per_round, num_rounds, len(branches), objective), max_block)
    return tree(given, scheme.num_clients, num_rounds, lambda _: branches, objective=objective, functions=functions)


def _instance(
    scene: Scene,
    given: Setting,
    scheme: _Scheme,
    num_rounds: int,
    objective: str,
    proof: Proof,
    *,
    alike: bool,
    quadratic: bool,
) -> Instance:
    """Place the clients: those that cannot be told apart on the vertices of a simplex."""
    space = Embedding(proof, given)
    num_clients = scheme.num_clients or 2
    # Blocks that only say that clients are quadratic hold none of their vectors.
    empty = {block: np.zeros(0) for block in range(len(scene.program.sizes))}
    client = space.parabola if quadratic else space.client
    if alike:
        places = [{**empty, 0: np.ones(1), 1: vertex} for vertex in vertices(num_clients)]
        if given["gradient_noise"]:
            return _noisy_instance(scene, space, given, scheme, places)
        clients = tuple(client(scene.points[0], place) for place in places)
    else:
        places = [{**empty, 0: np.ones(1)}]
        clients = tuple(client(points, places[0]) for points in scene.points)
    return _cast(clients, space.place(scene.start, places[0]), given, scheme, num_rounds, objective)


def _noisy_instance(
    scene: Scene, space: Embedding, given: Setting, scheme: _Scheme, places: Sequence[Places]
) -> Instance:
    """Give every client noises of two outcomes in each step, which come near to noises of many."""
    tree_of = Noises(FIRST_NOISE, len(given.steps))
    clients = tuple(tree_of.client(space, scene.points[0], place) for place in places)
    start = space.place(scene.start, tree_of.along((), places[0]))
    found = replace(_cast(clients, start, given, scheme), noises=tree_of.noises(space, places[0]))
    return _every_draw_for_itself(found, scheme.num_selected) if scheme.sampling == "independent" else found


def _every_draw_for_itself(found: Instance, num_selected: int) -> Instance:
    """Take each client so often that several draws of it have noises of their own."""
    draws = np.arange(num_selected)
    outcomes = [
        outcome._replace(
            coefficients=np.concatenate(
                [(draws < round(c * num_selected)) / num_selected for c in outcome.coefficients]
            )
        )
        for outcome in found.selection(np.zeros(len(found.clients)), ())
    ]
    return replace(
        found,
        clients=tuple(client for client in found.clients for _ in draws),
        weights=np.repeat(found.weights / num_selected, num_selected),
        selection=lambda _losses, _history: outcomes,
    )


def _cast(
    clients: Sequence[ClientFunction],
    start: Array,
    given: Setting,
    scheme: _Scheme,
    num_rounds: int = 1,
    objective: str = "distance",
) -> Instance:
    outcomes = [Outcome(float(p), np.array(c) / sum(c)) for p, c in scheme.branches(len(clients))]
    return Instance(
        clients=tuple(clients),
        weights=np.full(len(clients), 1 / len(clients)),
        start=start,
        step_sizes=tuple(float(eta / given.L) for eta in given.steps),
        num_rounds=num_rounds,
        selection=lambda _losses, _history: outcomes,
        objective=objective,
    )
