"""Variants of Power-of-Choice: their selection laws, enumerated for small cases, and availability."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedtheory import federation
from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.instances.draws import draw_shares
from fedtheory.sampling.cohorts import power_of_choice
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

if TYPE_CHECKING:
    from fedtheory._support.validate import Array
    from fedtheory.selection.rules import Strategy

_ROUNDS = 50_000
_FALSE_ALARM = 1e-9
# So short that no model moves; rounds are independent draws from one law.
_NO_STEP = 1e-300


def _largest_deviation(deviations: "Array", instance: dict[str, Any]) -> Finding:
    """Compare mean deviations from conditional probabilities with Azuma's bound, exceeded once in 10^9 runs."""
    radius = float(np.sqrt(np.log(2 * deviations.size / _FALSE_ALARM) / (2 * _ROUNDS)))
    return at_most(float(np.abs(deviations).max()), radius, instance=instance)


def _followed(p: Sequence[Fraction], num_candidates: int, cohorts: npt.NDArray[np.int64], losses: "Array") -> "Array":
    """Return the mean of ``1{k is selected} - P(k | reports so far)``, by order of the reports and by client."""
    num_rounds, size = losses.shape
    taken = np.where(cohorts[:, None] == np.arange(size), np.arange(num_rounds)[:, None], -1)
    latest = np.maximum.accumulate(np.vstack([np.full(size, -1), taken[:-1]]))
    reports = np.where(latest < 0, np.inf, losses[latest, np.arange(size)])
    # Ranks are equivalent to the reports, since only their order matters.
    ranks = (reports[:, None, :] < reports[:, :, None]).sum(axis=2)
    orders, place, often = np.unique(ranks, axis=0, return_inverse=True, return_counts=True)
    laws = np.zeros(orders.shape)
    for law, order in zip(laws, orders.tolist(), strict=True):
        for cohort, chance in power_of_choice(p, list(map(Fraction, order)), 1, num_candidates).items():
            law[cohort] = chance
    sums: Array = -often[:, None] * laws
    np.add.at(sums, (place.ravel(), cohorts), 1)
    sums /= num_rounds
    return sums


@claim(
    "power-of-choice:rpow-d",
    "rpow-d ranks its candidates by the loss of their last participation, and by infinity before the first",
    Statement(FEDTHEORY, "", related=(PAPER, "Appendix F, Algorithm 2"), form="derived"),
    "identity",
    hypotheses=("one client selected, law given the reports by enumeration",),
    instances=(6, 40),
    remark="50,000 rounds against the conditional laws given the reports, within a radius exceeded once in 10^9 runs",
)
def rpow_d(rng: np.random.Generator) -> Finding:
    from fedtheory.engine.simulation import fedavg
    from fedtheory.selection.power_of_choice import PowerOfChoice

    size = whole(rng, 3, 4)
    d = whole(rng, 1, size)
    p, centers = draw_shares(rng, size, largest=6), np.arange(1.0, size + 1) ** 2
    fed = federation.QuadraticFederation(np.ones(size), centers[:, None], np.array(p, dtype=np.float64))
    run = fedavg(
        fed, PowerOfChoice(1, d, loss="last"), num_rounds=_ROUNDS, step_size=0.5, record=("models",),
        rng=whole(rng, 0, 2**31),
    )  # fmt: skip
    # A step of 1/2 goes halfway to the client's center, so that the model reveals the client.
    models = run.models[0, :, 0]
    halfway = 2 * models[1:] - models[:-1]
    cohorts = np.abs(halfway[:, None] - centers).argmin(axis=1)
    # Before its only step, client k reports F_k at the model of the round.
    deviations = _followed(p, d, cohorts, (models[:-1, None] - centers) ** 2 / 2)
    return _largest_deviation(deviations, {"p": [str(share) for share in p], "d": d, "centers": centers.tolist()})


@claim(
    "power-of-choice:cpow-d",
    "cpow-d ranks its candidates by their mean loss on one mini-batch each, drawn without replacement",
    Statement(FEDTHEORY, "", related=(PAPER, "Appendix F, Algorithm 1"), form="derived"),
    "identity",
    hypotheses=("two clients, both candidates, all pairs of mini-batches enumerated",),
    instances=(6, 40),
    remark="frequencies of 50,000 rounds against the exact law, within a radius exceeded once in 10^9 runs",
)
def cpow_d(rng: np.random.Generator) -> Finding:
    from fedtheory.engine.simulation import fedavg
    from fedtheory.selection.power_of_choice import PowerOfChoice

    count, batch = 3, whole(rng, 1, 2)
    x = rng.integers(-8, 9, size=(2, count, 1)) / 4
    y = rng.integers(2, size=(2, count))
    fed = federation.SoftmaxFederation(
        federation.FederatedData.from_clients(list(zip(x, y, strict=True)), num_classes=2)
    )
    w = 4 * (rng.random(4) - 0.5)
    logits = fed.inputs @ w.reshape(2, -1).T
    sample_losses = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(2 * count), fed.data.labels]
    means = [[float(np.mean(b)) for b in itertools.combinations(part, batch)] for part in np.split(sample_losses, 2)]
    # Equal samples on both sides are a tie, up to rounding.
    beats = [0.5 if abs(a - b) < 1e-9 else float(a > b) for a, b in itertools.product(*means)]
    run = fedavg(
        fed, PowerOfChoice(1, 2, loss="minibatch"), num_rounds=_ROUNDS, step_size=_NO_STEP, initial=w,
        batch_size=batch, rng=whole(rng, 0, 2**31), record=("evaluations",),
    )  # fmt: skip
    instance = {"x": x[..., 0].tolist(), "y": y.tolist(), "w": w.tolist(), "batch": batch}
    return _largest_deviation(run.counts[0, :1] / _ROUNDS - np.mean(beats), instance)


def _strategies(num_clients: int) -> "list[Strategy]":
    from fedtheory.selection import ActiveFederated, Full, Independent, PowerOfChoice, Proportional, Uniform

    return [
        Proportional(2),
        Uniform(2),
        Full(),
        PowerOfChoice(2, "all"),
        PowerOfChoice(1, 2),
        PowerOfChoice(1, 3, loss="last"),
        ActiveFederated(2, np.arange(1, num_clients + 1)),
        Independent(1),
    ]


@claim(
    "power-of-choice:availability",
    "with alternating groups no strategy selects a client outside the available group",
    Statement(FEDTHEORY, "", related=(PAPER, "Appendix G.3"), form="derived"),
    "identity",
    hypotheses=("strategies of this package, in Available",),
)
def availability(rng: np.random.Generator) -> Finding:
    from fedtheory.engine.simulation import fedavg
    from fedtheory.selection.availability import AlternatingGroups, Available

    size = whole(rng, 3, 7)
    strategies = _strategies(size)
    strategy = strategies[whole(rng, 0, len(strategies) - 1)]
    groups = [0, *(whole(rng, 0, 2) for _ in range(size - 1))]
    fed = federation.QuadraticFederation(
        np.ones(size), np.eye(size), [float(share) for share in draw_shares(rng, size, largest=6)], normalize=True
    )
    availability = AlternatingGroups(dropout=whole(rng, 0, 4) / 10, groups=groups)
    run = fedavg(
        fed, Available(strategy, availability, shortfall="allow"), num_rounds=1, step_size=0.1,
        num_replicates=50, rng=whole(rng, 0, 2**31), record=("uplink",),
    )  # fmt: skip
    absent = np.flatnonzero(np.array(groups))  # group 0 is available in the first round
    instance = {"strategy": repr(strategy), "groups": groups, "dropout": availability.dropout}
    return equal_to(int(run.counts[:, absent].sum()), 0, instance=instance)
