"""Arguments of strategies and their parts outside of their ranges, or that do not go together, are refused."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import selection as s

K, NAN = 4, float("nan")
FED = ft.QuadraticFederation(np.ones(K), np.arange(float(K))[:, None], np.full(K, 1 / K), minima=[-5.0, -1.0, 0.0, 0.0])
ALIGNED = ft.federation.prioritize(FED, [True, True, False, False])


@dataclass(frozen=True)
class Given:
    """A part of a strategy with the given answers."""

    answer: Any

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Any:
        return self.answer


aligned = partial(s.LossMatching, ALIGNED.priority, ALIGNED.shares)
pair = partial(s.LossMatching, [True, False])
REFUSED: dict[str, Any] = {
    "ActiveFederated": [
        lambda: s.ActiveFederated(0, [1] * K), lambda: s.ActiveFederated(1, [1, 2]),
        lambda: s.ActiveFederated(K + 1, [1] * K),
        lambda: s.ActiveFederated(1, [1, 2, 3, 0]), lambda: s.ActiveFederated(1, [1] * K, dropped=1.5),
        lambda: s.ActiveFederated(1, [1] * K, explored=1.5), lambda: s.ActiveFederated(1, [1] * K, sharpness=-1.0),
    ],
    "ActiveFederatedByReports": [
        lambda: s.ActiveFederatedByReports(0), lambda: s.ActiveFederatedByReports(K + 1),
        lambda: s.ActiveFederatedByReports(1, dropped=1.5),
        lambda: s.ActiveFederatedByReports(1, sharpness=-1.0), lambda: s.ActiveFederatedByReports(1, explored=2.0),
    ],
    "Available": [
        lambda: s.Available(s.Full(), s.BernoulliAvailability(1.0), "maybe"),
        lambda: s.Available(s.Available(s.Full(), s.BernoulliAvailability(1.0)), s.BernoulliAvailability(1.0)),
        lambda: s.Available(s.Full(), s.AlternatingGroups(1.5)),
        lambda: s.Available(s.Full(), s.BernoulliAvailability([0.5, 0.5, 0.5, -0.1])),
    ],
    "Independent": [
        lambda: s.Independent(0), lambda: s.Independent(2, "best"), lambda: s.Independent(2, "approximate", 0),
        lambda: s.Independent(2.5, num_candidates=2), lambda: s.Independent(2, num_candidates=K + 1),
        lambda: s.Independent(2, "uniform", num_candidates=3), lambda: s.Independent(K + 0.5, "uniform"),
    ],
    "LossMatching": [
        lambda: s.LossMatching([False, False], [1.0, 1.0]), lambda: s.LossMatching([True] * 5, [0.2] * 5),
        lambda: pair([0.5, 1.0]), lambda: pair([1.0]),
        lambda: pair([1.0, -1.0]), lambda: aligned(warmup_rounds=-1), lambda: aligned(num_draws=1, fraction=0.5),
        lambda: aligned(match="gradient"), *(partial(aligned, eps) for eps in (-0.1, NAN, (0.1, 0.2))),
        lambda: aligned(num_draws=0), lambda: aligned(fraction=0.0), lambda: aligned(fraction=1.5),
        lambda: aligned(s.AnnealedThreshold(-1.0)), lambda: aligned(s.AnnealedThreshold(1.0, end=0.0)),
    ],
    "Periodic": [
        lambda: s.Periodic(np.eye(K + 1)), lambda: s.Periodic([[0.5, 0.4, 0.0, 0.0]]),
        lambda: s.Periodic([[1.5, -0.5, 0.0, 0.0]]),
        lambda: s.Periodic(np.zeros((0, K))), lambda: s.Periodic(FED.weights),
        lambda: s.Periodic([[NAN, 1.0, 0.0, 0.0]]),
    ],
    "PowerOfChoice": [
        lambda: s.PowerOfChoice(3, 2), lambda: s.PowerOfChoice(0, 2), lambda: s.PowerOfChoice(K + 1, "all"),
        lambda: s.PowerOfChoice(1, 2, "guessed"), lambda: s.PowerOfChoice(1, 2, "minibatch"),
        *(lambda counts=counts: s.PowerOfChoice(2, Given(counts))
          for counts in ([3, 3, -5], [3, 3, 5], [], [3.0, 3.0, 3.0], 3)),
    ],
    "Uniform": [lambda: s.Uniform(2, "median"), lambda: s.Uniform(K + 1), lambda: s.SizeWeighted(s.Uniform(K + 1))],
    "values": [
        lambda: s.GreedyShapley(K + 1), lambda: s.UpperConfidenceShapley(K + 1), lambda: s.SoftmaxShapley(K + 1),
        lambda: s.GreedyShapley(0), lambda: s.GreedyShapley(2, averaging=1.0),
        lambda: s.GreedyShapley(2, averaging="median"),
        lambda: s.GreedyShapley(2, valuation="guess"), lambda: s.UpperConfidenceShapley(2, exploration=-1),
        lambda: s.SoftmaxShapley(2, averaging="mean"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "place"), [(kind, i) for kind, makes in REFUSED.items() for i in range(len(makes))])
def test_what_no_strategy_can_do_is_refused(kind: str, place: int) -> None:
    with pytest.raises((TypeError, ValueError), match=r"must|availability already"):
        ft.fedavg(
            FED if kind != "LossMatching" else ALIGNED.federation, REFUSED[kind][place](), num_rounds=3, step_size=0.1
        )


@pytest.mark.parametrize("weights", [[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
@pytest.mark.parametrize("strategy", [s.PowerOfChoice(2, 3), s.PowerOfChoice(1, "all")], ids=repr)
def test_candidates_are_drawn_among_clients_with_a_positive_weight(strategy: Any, weights: Any) -> None:
    with pytest.raises(ValueError, match="num_candidates must be at most"):
        strategy.rules(np.array(weights), 1)


@pytest.mark.parametrize(
    "strategy",
    [
        s.PowerOfChoice(1, 2, "last"), s.PowerOfChoice(2, s.HalfTimeCandidates()), s.Independent(2),
        aligned(s.AnnealedThreshold(1.0)), aligned((1.0, 2.0)),
    ],
    ids=repr,
)  # fmt: skip
def test_no_law_of_the_losses_alone_is_claimed_where_more_than_the_losses_decides(strategy: Any) -> None:
    with pytest.raises(TypeError, match=r"must|need|schedule"):
        strategy.inclusion_probabilities(ALIGNED.federation.weights, np.ones(K))
