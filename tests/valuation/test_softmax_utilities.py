"""The table of a softmax round equals one matrix product per coalition, and invalid arguments are rejected."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.softmax import SoftmaxFederation
from fedtheory.valuation.games import utility_table
from fedtheory.valuation.softmax import softmax_utilities

EPS = np.finfo(np.float64).eps


def draw(num_models: int, num_samples: int, *, classes: int = 3, features: int = 2, scale: float = 1.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    dim = classes * (features + 1)
    models = scale * rng.normal(size=(num_models + 1, dim))
    weights = rng.integers(1, 50, size=num_models).astype(float)
    x, y = rng.normal(size=(num_samples, features)), rng.integers(classes, size=num_samples)
    return models[0], models[1:], weights, x, y


def naive(before, models, weights, x, y) -> Any:
    """Utility of one coalition as its definition has it, with the federation's own loss."""
    classes = models.shape[1] // (x.shape[1] + 1)
    server = SoftmaxFederation(FederatedData(x, y, np.array([0, len(y)]), classes))

    def utility(players: frozenset[int]) -> float:
        chosen = sorted(players)
        if not chosen:
            return -float(server.loss(before))
        return -float(server.loss(weights[chosen] @ models[chosen] / weights[chosen].sum()))

    return utility


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 6),
    st.sampled_from([1, 2, 63, 64, 65, 130]),
    st.sampled_from([2, 3, 7]),
    st.sampled_from([0.0, 1e-3, 1.0, 30.0, 1e3, 1e6]),
    st.integers(0, 2**32),
)
def test_the_fast_table_equals_one_matrix_product_per_coalition(players, samples, classes, scale, seed):
    game = draw(players, samples, classes=classes, scale=scale, seed=seed)
    fast, slow = softmax_utilities(*game), utility_table(naive(*game), players)
    largest = np.abs(game[1]).max() * (np.abs(game[3]).sum(axis=1).max() + 1) + np.log(classes)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=40 * EPS * largest + 10 * EPS)


def test_clients_of_very_different_sizes_do_not_blur_each_other():
    """No coalition is another one less a client: what a large client adds would leave its roundings behind."""
    before, models, _, x, y = draw(4, 20, seed=3)
    weights = np.array([1.0, 1e12, 3.0, 1e6])
    fast = softmax_utilities(before, models, weights, x, y)
    slow = utility_table(naive(before, models, weights, x, y), 4)
    np.testing.assert_allclose(fast, slow, atol=60 * EPS)


def test_weights_may_differ_by_the_whole_factor_that_is_allowed():
    before, models, _, x, y = draw(3, 9)
    table = softmax_utilities(before, models, [1e100, 1.0, 1.0], x, y)
    np.testing.assert_allclose(table[[1, 3, 5, 7]], table[1], rtol=1e-14)  # whoever is with the first has its model


@pytest.mark.parametrize("exponent", [16, 100])
def test_logits_are_taken_up_to_their_limit(exponent: int) -> None:
    """Of weights 21, 24, 36 the second has one large logit, of a class that is no sample's: losses are its share."""
    before, models, weights, x, y = draw(3, 2)
    models[1] = 0
    alone = {0b010: 1, 0b011: 24 / 45, 0b110: 24 / 60, 0b111: 24 / 81}
    for part in np.linspace(0.5, 1, 20):
        models[1, 2] = part * 10.0**exponent  # the intercept of class 0, where both samples are of class 2
        found = softmax_utilities(before, models, weights, x, y)
        np.testing.assert_allclose(found[list(alone)], [-share * models[1, 2] for share in alone.values()], rtol=1e-14)
        assert found[[0b001, 0b100, 0b101]].min() > -10


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"features": np.ones((0, 2)), "labels": []}, "at least one validation sample"),
        ({"labels": [0, 3]}, r"labels must be in 0..2, got 3 at index 1"),
        ({"weights": [1.0, 0.0, 1.0]}, "got 0.0 at index 1"),
        ({"models": np.full((3, 9), -1e200)}, r"logits of models must be at most 1e\+100"),
        ({"models": np.ones((21, 9)), "weights": np.ones(21)}, "at most 20"),
        ({"features": np.ones((2, 3))}, r"columns with f = 3"),
    ],
)
def test_impossible_rounds_are_refused(change: dict[str, Any], sentence: str):
    before, models, weights, x, y = draw(3, 2)
    arguments = {"before": before, "models": models, "weights": weights, "features": x, "labels": y}
    with pytest.raises(ValueError, match=sentence):
        softmax_utilities(**(arguments | change))
