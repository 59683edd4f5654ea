"""Runs of every strategy and option on parabolas of which no two are alike, and of one strategy on other losses."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory import datasets, federation, selection, valuation
from fedtheory.engine.heterogeneity import Stragglers
from fedtheory.engine.schedule import Halving, InverseTime

WEIGHTS = np.array([0.07, 0.23, 0.13, 0.19, 0.11, 0.16, 0.11])


def quadratics(form: str = "isotropic", **options: Any) -> Any:
    """Return seven parabolas in the plane, of which no two have anything in common."""
    rng = np.random.default_rng(3)
    eigenvalues = rng.uniform(0.4, 3.0, (7, 2))
    turns = np.linalg.qr(rng.normal(size=(7, 2, 2)))[0]
    curvatures = {
        "isotropic": eigenvalues[:, 0],
        "diagonal": eigenvalues,
        "matrix": turns @ (eigenvalues[..., None] * turns.transpose(0, 2, 1)),
    }[form]
    return ft.QuadraticFederation(curvatures, rng.normal(size=(7, 2)), WEIGHTS, **options)


FED = quadratics(minima=[0.1, 0.4, 0.0, 0.3, 0.2, 0.6, 0.5])


def run(strategy: Any, fed: Any = FED, **options: Any) -> Any:
    """Return the counts of a few rounds, what the run says of itself, and its records."""
    given = {"num_rounds": 6, "local_steps": 3, "step_size": 0.07, "num_replicates": 2, "rng": 5}
    wanted: Any = options.pop("record", ("gap", "loss", "models", "uplink", "selected", "coefficients"))
    made = ft.fedavg(fed, strategy, **{**given, "record": wanted, "num_threads": 1, **options})
    return [made.counts, made.config, *(made.recorded(name) for name in wanted)]


STRATEGIES: dict[str, Any] = {
    "everybody": selection.Full(),
    "uniform": selection.Uniform(3),
    "uniform, weighted": selection.Uniform(3, "weighted"),
    "proportional": selection.Proportional(3),
    "largest losses": selection.PowerOfChoice(2, 4),
    "largest losses of halving candidates": selection.PowerOfChoice(2, selection.HalvingCandidates(every=2)),
    "largest losses of decaying candidates": selection.PowerOfChoice(2, selection.DecayingCandidates(0.7)),
    "largest losses of half the time": selection.PowerOfChoice(2, selection.HalfTimeCandidates()),
    "largest last losses": selection.PowerOfChoice(2, 4, loss="last"),
    "largest clipped losses": selection.PowerOfChoice(2, 4, transform=selection.ClippedLoss(0.9)),
    "largest fair losses": selection.PowerOfChoice(2, 4, transform=selection.FairLoss(2.0)),
    "independent": selection.Independent(2.3),
    "independent, approximate": selection.Independent(2.3, "approximate", max_iterations=2),
    "independent, uniform": selection.Independent(2.3, "uniform"),
    "independent, of candidates": selection.Independent(1.3, num_candidates=5),
    "active": selection.ActiveFederated(3, (5, 7, 11, 13, 17, 19, 23), 0.4, 0.3, 0.2, 0.7),
    "active by reports": selection.ActiveFederatedByReports(3, 0.4, 0.3, 0.2),
    "valued": selection.GreedyShapley(3, averaging=0.6),
    "valued with bonus": selection.UpperConfidenceShapley(3, exploration=0.4),
    "valued by chance": selection.SoftmaxShapley(3, averaging=0.4),
    "valued exactly": selection.GreedyShapley(3, valuation=valuation.Valuation("exact")),
    "by size": selection.SizeWeighted(selection.Uniform(3)),
    "present": selection.Available(selection.Uniform(2), selection.BernoulliAvailability(0.6), "allow"),
    "coming and going": selection.Available(selection.Uniform(2), selection.MarkovAvailability(0.3, 0.6), "allow"),
    "in groups": selection.Available(
        selection.PowerOfChoice(2, 3), selection.AlternatingGroups(0.3, (0, 1, 0, 1, 1, 0, 1)), "allow"
    ),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "noise": {"gradient_noise": 0.3, "relative_noise": 0.2},
    "momentum and proximity": {"momentum": 0.6, "proximal_weight": 0.4},
    "server steps": {"server_step_size": 1.3, "returned_noise": 0.2},
    "inverse time": {"step_size": InverseTime(0.4, 30.0, 1.7), "record_every": 2},
    "halving": {"step_size": Halving(0.11, (2, 3)), "initial": [0.7, -1.9]},
    "stragglers": {"local_steps": Stragglers(0.6, 4)},
}


def data(**options: Any) -> Any:
    """Return samples of seven clients of different sizes."""
    return datasets.synthetic(0.7, 0.4, 7, 13, num_features=3, num_classes=4, min_samples=5, max_samples=9, **options)


def aligned(**options: Any) -> Any:
    """Return a run in which three of seven clients are the ones that count."""
    priority = (True, False, True, False, False, True, False)
    prioritized = federation.prioritize(FED, priority)
    strategy = selection.LossMatching(prioritized.priority, prioritized.shares, **options)
    return run(strategy, prioritized.federation, num_rounds=4)


def examples() -> dict[str, Callable[[], Any]]:
    choice = STRATEGIES["largest losses"]
    softmax, perceptron = ft.SoftmaxFederation(data(), l2=0.3), federation.PerceptronFederation(data(), (4,), l2=0.3)
    start = np.linspace(-0.4, 0.5, perceptron.dim)
    families = {
        "diagonal": (quadratics("diagonal"), {}),
        "matrix": (quadratics("matrix"), {}),
        "softmax": (softmax, {}),
        "softmax, batches": (softmax, {"batch_size": 3}),
        "softmax, epochs": (softmax, {"num_batches": 2, "batches": "epoch", "momentum": 0.3}),
        "perceptron": (perceptron, {"initial": start, "record": ("loss", "models", "coefficients")}),
    }
    found: dict[str, Callable[[], Any]] = {
        f"run of {name}": partial(run, strategy) for name, strategy in STRATEGIES.items()
    }
    found |= {f"run with {name}": partial(run, choice, **options) for name, options in OPTIONS.items()}
    return found | {f"run on {name}": partial(run, choice, fed, **options) for name, (fed, options) in families.items()}
