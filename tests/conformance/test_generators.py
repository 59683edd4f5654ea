"""Statistics of Synthetic(alpha, beta): normal variables, likelihoods of both readings of beta, margins."""

from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import check_generator, generators
from fedtheory.conformance._checks import FALSE_ALARMS, Failed
from fedtheory.conformance.generators import Client
from tests.conformance.defects import synthetic

SEEDS, LEVEL = np.random.SeedSequence(0), 1e-6

# Two samples with the mean 3.5 of all features, and one with -0.75.
CLIENTS = (
    Client(np.array([[5.0, 1.0], [7.0, 1.0]]), np.zeros(2)),
    Client(np.array([[-2.0, 0.5]]), np.zeros(1)),
)


def made_of(*clients: Client) -> Any:
    """Return what answers every question with these clients."""
    return SimpleNamespace(clients=lambda *_: list(clients), num_clients=len(clients))


def deviation(spread: float, num_samples: int) -> float:
    """Return that of the mean of two features: (B_k + noise of the centers and of the samples) / 2."""
    return float(np.sqrt(spread**2 + (2 + (1 + 2**-1.2) / num_samples) / 4))


@pytest.fixture
def compared(monkeypatch) -> list[Any]:
    """Keep what is compared with the normal law, and at which level."""
    seen: list[Any] = []
    monkeypatch.setattr(generators, "_compare", lambda normal, level, _: seen.append((normal.tolist(), level)))
    return seen


@pytest.mark.parametrize(("reading", "mine", "theirs"), [("std", 4.0, 2.0), ("variance", 2.0, 4.0)])
def test_the_evidence_for_the_other_reading_is_the_ratio_of_likelihoods(
    reading: str, mine: float, theirs: float, monkeypatch, compared
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(generators, "rejects", lambda log_evidence, level: seen.append((log_evidence, level)))
    generators._means(reading, made_of(*CLIENTS), SEEDS, LEVEL)
    [(ratio, level)], [(normal, other_level)] = seen, compared
    assert level + other_level == LEVEL
    pairs = [
        [NormalDist(0, deviation(spread, n)).pdf(mean) for spread in (mine, theirs)]
        for mean, n in ((3.5, 2), (-0.75, 1))
    ]
    np.testing.assert_allclose(ratio, np.cumsum([np.log(other / own) for own, other in pairs]), rtol=1e-12)
    np.testing.assert_allclose(normal, [3.5 / deviation(mine, 2), -0.75 / deviation(mine, 1)], rtol=1e-14)


def test_the_random_checks_of_a_call_share_its_rate_of_false_alarms(monkeypatch) -> None:
    spent: list[float] = []
    monkeypatch.setattr(generators, "rejects", lambda _, level: spent.append(level))
    assert check_generator(synthetic.right, num_clients=50).holds
    assert len(spent) == 6  # of five checks, one asks twice
    assert sum(spent) == pytest.approx(FALSE_ALARMS)


def test_a_number_that_is_far_out_belongs_to_the_last_cell() -> None:
    normal = NormalDist()
    usual = [normal.inv_cdf((i + 0.5) / 200) for i in np.random.default_rng(0).permutation(199)]
    for far_out in (9.0, -9.0, 1e300):
        generators._compare(np.array([*usual, far_out]), 1e-6, "numbers must be normal")
    with pytest.raises(Failed, match=r"numbers must be normal, got standard deviation 1\.9"):
        generators._compare(2 * np.array(usual), 1e-6, "numbers must be normal")


def failed(function: Any) -> list[str]:
    return [failure.check for failure in check_generator(function, num_clients=50).failures]


def test_one_array_that_differs_in_the_same_state_is_seen() -> None:
    calls: list[int] = []

    def other_labels_each_time(alpha, beta, num_clients, rng):
        clients = synthetic.right(alpha, beta, num_clients, rng)
        calls.append(num_clients)
        clients[2 % num_clients][1][0] = len(calls) % 7
        return clients

    assert "same generator" in failed(other_labels_each_time)


def test_one_client_that_is_always_the_same_is_seen() -> None:
    def with_an_old_friend(alpha, beta, num_clients, rng):
        friend = synthetic.right(alpha, beta, 1, np.random.default_rng(0))
        return friend + synthetic.right(alpha, beta, num_clients - 1, rng)

    assert "new draws" in failed(with_an_old_friend)


def test_first_labels_are_compared_with_all_labels_that_there_are() -> None:
    def clients(first: Any) -> Any:
        return made_of(*(Client(np.zeros((3, 1)), np.array([first(k), 0, 1])) for k in range(200)))

    shuffled = np.random.default_rng(0).permutation(np.arange(200) % 5)
    generators._labels(clients(lambda k: shuffled[k]), SEEDS, LEVEL)
    with pytest.raises(Failed, match=r"must be uniform, since their models have one law, got \[67, 0, 67, 0, 66\]"):
        generators._labels(clients(lambda k: 2 * (k % 3)), SEEDS, LEVEL)


def line(half_gap: float, side: float, num_samples: int) -> Client:
    """One feature: label 0 is 1/2 minus, label 1 is 1/2 plus half the gap (or the other way), and a 2 in between."""
    labels = np.arange(num_samples) % 5 % 2
    x = 0.5 + side * half_gap * (2.0 * labels - 1)
    return Client(np.append(x, 0.5)[:, None], np.append(labels, 2))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_labels_are_parted_by_a_margin_of_a_millionth(side: float) -> None:
    """The margin is half the gap: with the weight 1 and the intercept -1/2, or their opposites."""
    level: Any = None  # nothing is left to chance
    generators._linear(made_of(line(1.1e-6, side, 40)), SEEDS, level)
    with pytest.raises(Failed, match=r"got inseparable labels \[0, 1\] of a client with 41 samples"):
        generators._linear(made_of(line(0.9e-6, side, 40)), SEEDS, level)
