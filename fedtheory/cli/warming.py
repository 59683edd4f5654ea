"""``warm``: compile the package, so that later processes load the compiled code."""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory._support.console import say
from fedtheory._support.progress import reported

__all__ = ["warm_up"]

_CLIENTS = 6


def warm_up(arguments: argparse.Namespace) -> int:  # noqa: ARG001
    """Run all compiled code once, on the smallest problems."""
    calls = list(_calls())
    with reported("compiling", len(calls)) as report:
        for done, call in enumerate(calls):
            call()
            report(done + 1)
    say("compiled code is kept; NUMBA_CACHE_DIR names another folder for it")
    return 0


def _calls() -> Iterator[Callable[[], Any]]:
    methods, quadratics = ft.methods, _quadratics()
    data = _samples()
    for fed in (*quadratics, ft.SoftmaxFederation(data, l2=0.1), ft.PerceptronFederation(data, hidden=(3,))):
        yield partial(_run, fed, ft.selection.PowerOfChoice(2, 3))
    for strategy in _strategies():
        yield partial(_run, quadratics[0], strategy)
    priority = (True, True, False, False, False, False)
    matched = ft.selection.LossMatching(priority, (0.5,) * _CLIENTS, 1.5)
    yield partial(_run, ft.federation.prioritize(quadratics[0], priority).federation, matched)
    valued = ft.SoftmaxFederation(data, l2=0.1)
    yield partial(_run, valued, ft.selection.GreedyShapley(2), validation=valued)
    for method in (
        methods.Scaffold(), methods.Scaffnew(0.5), methods.FedNova(), methods.EF21(methods.TopK(1)),
        methods.FedAvgM(0.5), methods.FedDyn(1.0), methods.FedOpt(), methods.Delayed((0.5, 0.5)),
        methods.ErrorFeedback(methods.RandK(1)), methods.Compressed(methods.TopK(1)),
    ):  # fmt: skip
        yield partial(_run, quadratics[0], ft.selection.Full(), method=method)
    yield partial(_run, quadratics[0], ft.selection.Full(), returned_noise=0.1, record=("gap", "models", "selected"))
    norms, losses = range(1, 21), range(20, 0, -1)  # for few clients Python and NumPy are used
    yield partial(ft.sampling.optimal_probabilities, norms, 2)
    yield partial(ft.sampling.approximate_probabilities, norms, 2)
    yield partial(ft.sampling.power_of_choice_inclusion, norms, losses, num_selected=1, num_candidates=2)
    for fed in quadratics[:2]:
        yield partial(ft.exact.subset_minima, fed)
    yield partial(
        ft.exact.estimated_selection_skew, quadratics[0], ft.selection.PowerOfChoice(2, 3), [[0.0, 0.0]], num_draws=2
    )


def _run(fed: Any, strategy: Any, **options: Any) -> None:
    ft.fedavg(fed, strategy, **{"num_rounds": 2, "step_size": 0.01, "record": ("loss",), "num_threads": 1, **options})


def _quadratics() -> list[Any]:
    centers, weights = np.arange(2.0 * _CLIENTS).reshape(_CLIENTS, 2), np.full(_CLIENTS, 1 / _CLIENTS)
    matrices = np.tile([[2.0, 1.0], [1.0, 3.0]], (_CLIENTS, 1, 1))
    curvatures = [np.arange(1.0, _CLIENTS + 1), np.ones((_CLIENTS, 2)) + centers, matrices]
    return [ft.QuadraticFederation(each, centers, weights) for each in curvatures]


def _samples() -> Any:
    rng = np.random.default_rng(0)
    return ft.federation.FederatedData.from_clients([(rng.normal(size=(6, 3)), [0, 1, 2, 0, 1, 2])] * _CLIENTS)


def _strategies() -> list[Any]:
    selection = ft.selection
    return [
        selection.Full(), selection.Uniform(2), selection.Proportional(2), selection.PowerOfChoice(2, 3),
        selection.PowerOfChoice(2, 3, loss="last"), selection.Independent(2.5),
        selection.Independent(2.5, probabilities="approximate"), selection.ActiveFederated(2, (10,) * _CLIENTS),
        selection.ActiveFederatedByReports(2), selection.GreedyShapley(2), selection.UpperConfidenceShapley(2),
        selection.SoftmaxShapley(2), selection.SizeWeighted(selection.Uniform(2)),
        selection.Available(selection.PowerOfChoice(1, 2), selection.BernoulliAvailability(0.7), "allow"),
    ]  # fmt: skip
