"""The variants of Power-of-Choice select by their laws, enumerated on tiny cases, and nobody who is absent."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._validate import Array
from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.engine.simulation import fedavg
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.federation.softmax import SoftmaxFederation
from fedtheory.paper import Statement
from fedtheory.rational.draws import whole
from fedtheory.sampling.selections import power_of_choice
from fedtheory.selection.active_federated import ActiveFederated
from fedtheory.selection.availability import AlternatingGroups
from fedtheory.selection.available import Available
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.rules import Strategy
from fedtheory.selection.uniform import Uniform
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to

_REPLICATES = 2500
_FALSE_ALARM = 1e-9


def _largest_deviation(shares: Array, law: Array, instance: dict[str, Any]) -> Finding:
    """Compare frequencies with probabilities: by Hoeffding and a union bound all are near but once in 10^9 runs."""
    radius = float(np.sqrt(np.log(2 * law.size / _FALSE_ALARM) / (2 * _REPLICATES)))
    return at_most(float(np.abs(shares - law).max()), radius, instance=instance)


def _weights(rng: np.random.Generator, num_clients: int) -> list[Fraction]:
    sizes = [whole(rng, 1, 6) for _ in range(num_clients)]
    return [Fraction(size, sum(sizes)) for size in sizes]


def _two_cohorts(p: list[Fraction], reports: list[Fraction], num_candidates: int) -> Array:
    """P(first cohort {j}, second cohort {k}) of rpow-d with m = 1, shape (K, K)."""
    size = len(p)
    law = np.zeros((size, size))
    unknown = [max(reports) + 1] * size  # as good as infinity: only the order matters
    for (first,), chance in power_of_choice(p, unknown, 1, num_candidates).items():
        memory = list(unknown)
        memory[first] = reports[first]
        for (second,), then in power_of_choice(p, memory, 1, num_candidates).items():
            law[first, second] = chance * then
    return law


@claim(
    "power-of-choice:rpow-d",
    "rpow-d ranks its candidates by the loss of their last participation, and by infinity before the first",
    Statement(PAPER, "Appendix F", equation="Algorithm 2", form="derived"),
    "identity",
    hypotheses=("two rounds, one client selected, law by enumeration",),
    instances=(6, 40),
    remark="frequencies of 2,500 runs against the exact law, within a radius exceeded once in 10^9",
)
def rpow_d(rng: np.random.Generator) -> Finding:
    size = whole(rng, 3, 4)
    d = whole(rng, 1, size)
    p, centers = _weights(rng, size), np.arange(1.0, size + 1)
    fed = QuadraticFederation(np.ones(size), centers[:, None], np.array(p, dtype=np.float64))
    run = fedavg(
        fed, PowerOfChoice(1, d, loss="last"), num_rounds=2, step_size=0.5, record=("models",),
        num_replicates=_REPLICATES, rng=whole(rng, 0, 2**31),
    )  # fmt: skip
    # A step of 1/2 goes halfway to the center of the client: which one it was can be read off.
    halfway = 2 * run.models[:, 1:, 0] - run.models[:, :-1, 0]
    cohorts = np.rint(halfway).astype(np.int64) - 1
    shares = np.zeros((size, size))
    np.add.at(shares, (cohorts[:, 0], cohorts[:, 1]), 1 / _REPLICATES)
    # Before its only step in the first round client k reports F_k(0).
    law = _two_cohorts(p, [Fraction(k * k, 2) for k in range(1, size + 1)], d)
    return _largest_deviation(shares, law, {"p": [str(share) for share in p], "d": d, "F_k(0)": "1/2, 2, 9/2, ..."})


@claim(
    "power-of-choice:cpow-d",
    "cpow-d ranks its candidates by the mean loss of one mini-batch each, drawn without replacement",
    Statement(PAPER, "Appendix F", equation="Algorithm 1", form="derived"),
    "identity",
    hypotheses=("two clients, both candidates, all pairs of mini-batches enumerated",),
    instances=(6, 40),
    remark="frequencies of 2,500 runs against the exact law, within a radius exceeded once in 10^9",
)
def cpow_d(rng: np.random.Generator) -> Finding:
    count, batch = 3, whole(rng, 1, 2)
    x = rng.integers(-8, 9, size=(2, count, 1)) / 4
    y = rng.integers(2, size=(2, count))
    fed = SoftmaxFederation(FederatedData.from_clients(list(zip(x, y, strict=True)), num_classes=2))
    w = 4 * (rng.random(4) - 0.5)
    logits = fed.inputs @ w.reshape(2, -1).T
    sample_losses = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(2 * count), fed.data.labels]
    means = [[float(np.mean(b)) for b in itertools.combinations(part, batch)] for part in np.split(sample_losses, 2)]
    # Equal samples on both sides tie, up to rounding.
    beats = [0.5 if abs(a - b) < 1e-9 else float(a > b) for a, b in itertools.product(*means)]
    run = fedavg(
        fed, PowerOfChoice(1, 2, loss="minibatch"), num_rounds=1, step_size=0.1, initial=w, batch_size=batch,
        num_replicates=_REPLICATES, rng=whole(rng, 0, 2**31), record=("evaluations",),
    )  # fmt: skip
    instance = {"x": x[..., 0].tolist(), "y": y.tolist(), "w": w.tolist(), "batch": batch}
    return _largest_deviation(run.counts[:, :1].mean(axis=0), np.array([np.mean(beats)]), instance)


def _strategies(num_clients: int) -> list[Strategy]:
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
    "among groups that take turns no strategy selects a client whose turn it is not",
    Statement(PAPER, "Appendix G.3", form="derived"),
    "identity",
    hypotheses=("strategies of this package, in Available",),
)
def availability(rng: np.random.Generator) -> Finding:
    size = whole(rng, 3, 7)
    strategies = _strategies(size)
    strategy = strategies[whole(rng, 0, len(strategies) - 1)]
    groups = [0, *(whole(rng, 0, 2) for _ in range(size - 1))]
    fed = QuadraticFederation(
        np.ones(size), np.eye(size), [float(share) for share in _weights(rng, size)], normalize=True
    )
    availability = AlternatingGroups(dropout=whole(rng, 0, 4) / 10, groups=groups)
    run = fedavg(
        fed, Available(strategy, availability, shortfall="allow"), num_rounds=1, step_size=0.1,
        num_replicates=50, rng=whole(rng, 0, 2**31), record=("uplink",),
    )  # fmt: skip
    absent = np.flatnonzero(np.array(groups))  # the first round is the turn of group 0
    instance = {"strategy": repr(strategy), "groups": groups, "dropout": availability.dropout}
    return equal_to(int(run.counts[:, absent].sum()), 0, instance=instance)
