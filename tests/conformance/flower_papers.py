"""Rules of the papers that Flower names for its strategies, and the results of Flower's strategies.

The rules are written from general knowledge of the papers, without their text; the page names titles and years.

``python -m tests.conformance.flower_papers`` runs the installed Flower and stores the results for the page.
"""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from fedtheory.conformance import _selection_laws, check_aggregation
from fedtheory.conformance._checks import conformance
from fedtheory.conformance.flower_strategies import flower
from fedtheory.conformance.strategies import check_strategy
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from tests.environment import ROOT

STORED = ROOT / "docs" / "flower.json"
ROUNDS, ETA, TAU, MOMENTUM, BETA_1, BETA_2 = 3, 0.1, 1e-3, 0.9, 0.9, 0.99
Q, LEARNING_RATE = 1.0, 0.5


def plain_mean(vectors, weights):
    return vectors.mean(axis=0)


def server_momentum(vectors, weights):
    """Hsu et al.: v <- beta v + Delta w, w <- w - v with the opposite sign of Delta."""
    model = velocity = np.zeros(vectors.shape[1])
    for _ in range(ROUNDS):
        velocity = MOMENTUM * velocity + weights @ vectors
        model = model + velocity
    return model


def adaptive(kind: str, start: float, beta_1: float, correction: Callable[[int], float] = lambda _: 1.0) -> Any:
    """Reddi et al., with v_{-1} = start; Adam by Kingma and Ba has a correction of the step size."""

    def model_after(vectors, weights):
        model = m = np.zeros(vectors.shape[1])
        v = np.full(vectors.shape[1], start)
        for t in range(1, ROUNDS + 1):
            delta = weights @ vectors
            m = beta_1 * m + (1 - beta_1) * delta
            v = {
                "adagrad": v + delta**2,
                "adam": BETA_2 * v + (1 - BETA_2) * delta**2,
                "yogi": v - (1 - BETA_2) * delta**2 * np.sign(v - delta**2),
            }[kind]
            model = model + ETA * correction(t) * m / (np.sqrt(v) + TAU)
        return model

    return model_after


def kingma_ba(t: int) -> float:
    """Return ``sqrt(1 - beta_2^t) / (1 - beta_1^t)``, t = 1 in the first round."""
    return math.sqrt(1 - BETA_2**t) / (1 - BETA_1**t)


def q_fair(vectors, weights):
    """Li, Sanjabi et al.: Delta_k = F_k^q L (w - w_k), h_k = q F_k^(q-1) |L (w - w_k)|^2 + L F_k^q, w = 0."""
    steps, inverse = -vectors / LEARNING_RATE, 1 / LEARNING_RATE
    losses = some_losses(vectors, weights)["train_loss"]
    squares = (steps**2).sum(axis=1)
    h = Q * losses ** (Q - 1) * squares + inverse * losses**Q
    return -(losses**Q @ steps) / h.sum()


def some_losses(vectors, weights):
    return {"train_loss": 1 + (vectors**2).sum(axis=1) / 2}


def median(vectors, weights):
    ordered, n = np.sort(vectors, axis=0), len(vectors)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def trimmed_mean(vectors, weights, beta=Fraction(1, 5)):
    cut = math.floor(beta * len(vectors))
    return np.sort(vectors, axis=0)[cut : len(vectors) - cut].mean(axis=0)


def krum_scores(vectors):
    """Blanchard et al.: the sum of the squared distances to the n - f - 2 closest others, for f = 1."""
    distances = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.sort(distances, axis=1)[:, : len(vectors) - 3].sum(axis=1)


def krum(vectors, weights):
    return vectors[np.argmin(krum_scores(vectors))]


def multi_krum(vectors, weights):
    return vectors[np.argsort(krum_scores(vectors), kind="stable")[:3]].mean(axis=0)


def bulyan(vectors, weights):
    """El Mhamdi et al.: theta = n - 2f times Krum, then the mean of the theta - 2f nearest to the median."""
    left, theta = list(range(len(vectors))), len(vectors) - 2
    chosen = [left.pop(int(np.argmin(krum_scores(vectors[left])))) for _ in range(theta)]
    selected = vectors[chosen]
    nearest = np.argsort(np.abs(selected - np.median(selected, axis=0)), axis=0)[: theta - 2]
    return np.take_along_axis(selected, nearest, axis=0).mean(axis=0)


def untied(function: Callable[..., Any]) -> Callable[..., Any]:
    """Move the vectors a little, each client's by its own amount, so that no two clients tie."""

    def moved(*arguments):
        vectors, weights = arguments[-2:]
        irregular = np.sin(1.0 + 7.0 * vectors + 50.0 * weights[:, None])
        return function(*arguments[:-2], vectors + 0.01 * irregular * np.any(vectors), weights)

    return moved


def near_1000(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let all models have 1,000 in common."""
    return lambda rng, vectors, weights: function(rng, vectors + 1000.0, weights) - 1000.0


class Asked(NamedTuple):
    """A question to a strategy: what its paper, or its documentation, says, and how that is checked."""

    strategy: str
    says: str
    source: str
    answer: Callable[[Any], Any]


def exactly(name: str, like: Any = None, **options: Any) -> Callable[[Any], Any]:
    """Ask whether a round, or a few of them, are exactly a rule."""
    given = {key: options.pop(key) for key in ("num_rounds", "metrics") if key in options}
    made = options.pop("made", {})
    return lambda flwr: check_aggregation(
        flower(getattr(flwr, name)(**made), **given).aggregate, like=like, exact=True,
        **{"min_clients": 2, **options},
    )  # fmt: skip


def krum_of(name: str, like: Any, made: dict[str, Any]) -> Callable[[Any], Any]:
    return lambda flwr: check_aggregation(
        untied(flower(getattr(flwr, name)(num_malicious_nodes=1, **made)).aggregate), like=untied(like),
        exact=True, min_clients=7, outliers=1,
    )  # fmt: skip


def single_precision(krum_function: Callable[..., Any]) -> Any:
    """Ask a Krum whether models that are near each other and far from 0 keep their distances.

    Single precision near 1,000 is off by 6e-5, which is no wrong choice of models that are about 1 apart.
    """
    return one(
        "exact",
        check_aggregation.checks(
            untied(near_1000(krum_function)), like=untied(krum), exact=True, min_clients=7, rtol=1e-3
        ),
    )


def one(name: str, checks: list[Any]) -> Any:
    """Make one check only, where drawing is slow."""
    return conformance(name, [check for check in checks if check.name == name])


ONE = {"fraction_train": 1e-3, "min_train_nodes": 1}
THREE = {"fraction_train": 1e-3, "min_train_nodes": 3}
FEDOPT = "Reddi et al. 2021"
ADAM = {"eta": ETA, "tau": TAU, "beta_1": BETA_1, "beta_2": BETA_2}
KRUM = "Blanchard et al. 2017"
QUESTIONS = [
    Asked("FedAvg", "mean weighted by examples", "McMahan et al. 2017", exactly("FedAvg")),
    Asked(
        "FedAvg", "clients uniform, without replacement", "McMahan et al. 2017",
        lambda flwr: one(
            "joint law", check_strategy.checks(flower(flwr.FedAvg(**THREE)).select, like=Uniform(3), num_draws=500)
        ),
    ),
    Asked(
        "FedAvg", "with one client a round, unbiased", "Li, Huang et al. 2020, Schemes I and II",
        lambda flwr: one(
            "unbiased",
            check_aggregation.checks(flower(flwr.FedAvg(**ONE)).aggregate, largest=4.3, num_draws=500),
        ),
    ),
    Asked("FedProx", "mean weighted by examples", "its documentation", exactly("FedProx", made={"proximal_mu": 0.1})),
    Asked(
        "FedProx", "plain mean", "Li, Sahu et al. 2020",
        exactly("FedProx", plain_mean, made={"proximal_mu": 0.1}),
    ),
    Asked(
        "FedProx", "clients drawn by their examples", "Li, Sahu et al. 2020",
        lambda flwr: one(
            "joint law",
            check_strategy.checks(
                flower(flwr.FedProx(proximal_mu=0.1, **THREE)).select, like=Proportional(3), num_draws=500
            ),
        ),
    ),
    Asked(
        "FedAvgM", "v = beta v + mean, w = w + v, three rounds", "Hsu et al. 2019",
        exactly("FedAvgM", server_momentum, num_rounds=ROUNDS, made={"server_momentum": MOMENTUM}),
    ),
    Asked(
        "FedAdagrad", "three rounds, v starts at tau^2", FEDOPT,
        exactly("FedAdagrad", adaptive("adagrad", TAU**2, 0.0), num_rounds=ROUNDS, made={"eta": ETA, "tau": TAU}),
    ),
    Asked(
        "FedAdagrad", "three rounds, v starts at 0", FEDOPT,
        exactly("FedAdagrad", adaptive("adagrad", 0.0, 0.0), num_rounds=ROUNDS, made={"eta": ETA, "tau": TAU}),
    ),
    Asked(
        "FedAdam", "three rounds, v starts at 0", FEDOPT,
        exactly("FedAdam", adaptive("adam", 0.0, BETA_1), num_rounds=ROUNDS, made=ADAM),
    ),
    Asked(
        "FedAdam", "the same with Adam's bias correction", "Kingma and Ba 2015",
        exactly("FedAdam", adaptive("adam", 0.0, BETA_1, kingma_ba), num_rounds=ROUNDS, made=ADAM),
    ),
    Asked(
        "FedAdam", "the same with the correction of the next round", "its code",
        exactly(
            "FedAdam", adaptive("adam", 0.0, BETA_1, lambda t: kingma_ba(t + 1)), num_rounds=ROUNDS, made=ADAM
        ),
    ),
    Asked(
        "FedYogi", "three rounds, v starts at 0", FEDOPT,
        exactly("FedYogi", adaptive("yogi", 0.0, BETA_1), num_rounds=ROUNDS, made=ADAM),
    ),
    Asked(
        "QFedAvg", "sum of Delta over sum of h", "Li, Sanjabi et al. 2020",
        exactly("QFedAvg", q_fair, metrics=some_losses, made={"client_learning_rate": LEARNING_RATE, "q": Q}),
    ),
    Asked(
        "QFedAvg", "with q = 0, FedAvg", "its documentation",
        exactly("QFedAvg", metrics=some_losses, made={"client_learning_rate": LEARNING_RATE, "q": 0.0}),
    ),
    Asked(
        "FedMedian", "median of each coordinate; f < n/2 harmless", "Yin et al. 2018",
        exactly("FedMedian", median, outliers=2),
    ),
    Asked(
        "FedTrimmedAvg", "a fifth cut at each end; f <= n/5 harmless", "Yin et al. 2018",
        exactly("FedTrimmedAvg", trimmed_mean, outliers=1),
    ),
    Asked("Krum", "the vector of least score; f of n >= 2f + 3 harmless", KRUM, krum_of("Krum", krum, {})),
    Asked(
        "Krum", "ties to the first client, not to the first reply", KRUM,
        lambda flwr: one(
            "exact",
            check_aggregation.checks(
                flower(flwr.Krum(num_malicious_nodes=1)).aggregate, like=krum, exact=True, min_clients=5
            ),
        ),
    ),
    Asked(
        "Krum", "single precision, models near 1,000: the same vector", KRUM,
        lambda flwr: single_precision(flower(flwr.Krum(num_malicious_nodes=1), dtype=np.float32).aggregate),
    ),
    Asked(
        "Krum", "whatever a client reports: one of the vectors", KRUM,
        lambda flwr: one(
            "shape",
            check_aggregation.checks(flower(flwr.Krum(num_malicious_nodes=1)).aggregate, like=krum, min_clients=5),
        ),
    ),
    Asked(
        "MultiKrum", "plain mean of the 3 of least score", KRUM,
        krum_of("MultiKrum", multi_krum, {"num_nodes_to_select": 3}),
    ),
    Asked("Bulyan", "n - 2f times Krum among those left", "El Mhamdi et al. 2018", krum_of("Bulyan", bulyan, {})),
]  # fmt: skip


def answers(flwr: Any, questions: list[Asked]) -> list[dict[str, Any]]:
    """Ask, with as many draws as are wanted, however long they take."""
    usual, _selection_laws._SECONDS = _selection_laws._SECONDS, math.inf  # type: ignore[misc]
    try:
        return [answer(asked, asked.answer(flwr)) for asked in questions]
    finally:
        _selection_laws._SECONDS = usual  # type: ignore[misc]


def answer(asked: Asked, found: Any) -> dict[str, Any]:
    told = [{"check": one.check, "sentence": one.sentence, "case": one.given} for one in found.failures]
    row = {"strategy": asked.strategy, "says": asked.says, "source": asked.source}
    return {**row, "checks": list(found.checks), "failures": told}


if __name__ == "__main__":
    import flwr.serverapp.strategy

    stored = {"version": version("flwr"), "answers": answers(flwr.serverapp.strategy, QUESTIONS)}
    STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
