"""What the random functions of the package drew when they were last looked at.

``python -m tests.draws`` writes ``draws.json``. That draws obey their laws is for other tests to say, as far as there
is a law; but every number decides which instances are ever seen, and a seed in a report stands for what it drew. Exact
numbers are told by a checksum, others by their sum and that of their sizes.
"""

import dataclasses
import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fedtheory import datasets
from fedtheory.conformance import _games, aggregation, probabilities
from fedtheory.conformance._manners import Cases, cases
from fedtheory.federation.client_data import FederatedData
from fedtheory.rational import alignment_draws, draws, norm_draws, round_draws, run_draws
from fedtheory.testing import constants, federations
from tests import recorded_hunts, recorded_rationals

FILE = Path(__file__).with_suffix(".json")
DRAWS = 100
LABELS = np.arange(600) % 5


def numbers(drawn: Any) -> Iterator[Any]:
    """Yield all numbers and words of something that was drawn, in its order."""
    if isinstance(drawn, np.ndarray):
        drawn = drawn.tolist()
    if dataclasses.is_dataclass(drawn):
        drawn = {field.name: getattr(drawn, field.name) for field in dataclasses.fields(drawn)}
    if isinstance(drawn, Mapping):
        yield from numbers([part for pair in sorted(drawn.items(), key=str) for part in pair])
    elif isinstance(drawn, list | tuple):
        for part in drawn:
            yield from numbers(part)
    elif isinstance(drawn, str | int | float | Fraction | np.number):
        yield drawn


def record(drawn: Any) -> list[Any]:
    """Return the checksum of what is exact, and two sums of what is not."""
    found = list(numbers(drawn))
    exact = [part if isinstance(part, str) else hash(part) for part in found if not isinstance(part, float)]
    floats = [part for part in found if isinstance(part, float) and math.isfinite(part)]
    sums = (math.fsum(floats), math.fsum(map(abs, floats)))
    return [f"{zlib.crc32(repr(exact).encode()):08x}", len(found), *(float(f"{value:.12g}") for value in sums)]


def often(draw: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Draw many times from one generator."""
    rng = np.random.default_rng(7)
    return [draw(rng, *arguments, **options) for _ in range(DRAWS)]


def worlds(draw: Callable[[Random], Any], **options: Any) -> Any:
    """Draw many times from one generator of the standard library."""
    rng = Random(7)
    return [draw(rng, **options) for _ in range(DRAWS)]


EXAMPLES: dict[str, Callable[[], Any]] = {
    "rational models": partial(often, draws.draw_model, 3),
    "rational noise": partial(often, draws.draw_noise, 2),
    "rational federations": partial(often, draws.draw_federation),
    "rational wells": partial(often, draws.draw_phi, 3),
    "rational norms": partial(often, norm_draws.draw_norms),
    "rational budgets": partial(often, norm_draws.draw_budget, 7),
    "rational updates": partial(often, norm_draws.draw_updates, 4),
    "rational laws": partial(often, norm_draws.draw_law, 3),
    "rational runs": partial(often, run_draws.draw_run),
    "rational runs of larger cohorts": partial(often, run_draws.draw_run, smallest_cohort=2, longest_round=2),
    "rational alignment": partial(often, alignment_draws.draw_alignment),
    "rational alignment with draws": partial(often, alignment_draws.draw_alignment, most_draws=3, longest_round=2),
    "rational rounds": partial(often, round_draws.draw_quadratic_round, longest_round=3),
    "rational rounds that lack curvature": partial(often, round_draws.draw_quadratic_round, flat=True),
    "rational rounds of wells": partial(often, round_draws.draw_phi_round, longest_round=3),
    "constants of Power-of-Choice": partial(worlds, constants.power_of_choice),
    "constants of FedAvg": partial(worlds, constants.fedavg),
    "constants of FedAvg with everybody": partial(worlds, constants.fedavg, num_selected="all"),
    "constants of FedALIGN": partial(worlds, constants.fedalign),
    "constants of Optimal Client Sampling": partial(worlds, constants.optimal_client_sampling),
    "constants of Optimal Client Sampling with everybody": partial(
        worlds, constants.optimal_client_sampling, num_selected="all"
    ),
    **{
        f"{form} quadratics": partial(federations.draw_quadratics, form, 7)
        for form in ("isotropic", "diagonal", "matrix")
    },
    "quadratics of Power-of-Choice": partial(datasets.power_of_choice_quadratics, rng=7),
    "weights of a power law": partial(datasets.power_law_weights, 20, 7),
    "clients of Synthetic(1, 2)": partial(datasets.synthetic_clients, 1.0, 2.0, rng=7, sizes="power_law"),
    "data of Synthetic(1, 2)": partial(datasets.synthetic, 1.0, 2.0, 3, 7, num_features=4, num_classes=3),
    "data of Synthetic(1, 2), variances": partial(
        datasets.synthetic, 1.0, 2.0, 3, 7, num_features=4, dispersion="variance", sizes="power_law", test_fraction=0.3
    ),
    "clients made when they are asked for": lambda: [lazy().client(k) for k in (0, 3)],
    "parts by Dirichlet": partial(datasets.dirichlet_partition, LABELS, 9, 0.3, min_samples=20, rng=7),
    "parts of one class": partial(datasets.shard_partition, LABELS, 9, rng=7),
    "parts of any classes": partial(datasets.shard_partition, LABELS, 9, 3, single_class=False, rng=7),
    "parts by a power law": partial(datasets.power_law_partition, LABELS, 9, rng=7),
    "parts by a power law and Dirichlet": partial(
        datasets.power_law_partition, LABELS, 9, concentration=0.4, min_samples=5, rng=7
    ),
    "flipped labels": lambda: datasets.flip_labels(data(), [0.1, 0.5, 0.9], 7),
    "shifted labels": lambda: datasets.shift_labels(data(), [0.0, 1.0, 3.0], 7),
    "irrelevant samples": lambda: datasets.add_irrelevant_samples(data(), [0.0, 0.5, 1.0], 7),
    "misaligned clients": lambda: datasets.with_misaligned_clients(data(), 4, 7),
    "updates of the kit": partial(often, aggregation._cases),
    "games of the kit": partial(often, _games.drawn_games),
    "norms of the kit": partial(often, probabilities._usual),
    "weights and losses of the kit": lambda: [in_digits(cases(num_clients)) for num_clients in (2, 5, 6, 300)],
    "losses of the kit for weights of one's own": lambda: in_digits(cases(4, np.array([0.4, 0.3, 0.2, 0.1]))),
    **recorded_hunts.examples(),
    **recorded_rationals.examples(),
}


def in_digits(known: Cases) -> dict[str, list[str]]:
    """Return cases by name in words, since no sum tells 1e-300 beside 1e300."""
    return {name: [f"{x:.12g}" for x in (*case.weights, *case.losses)] for name, case in known.items()}


def data() -> FederatedData:
    """Return what is corrupted."""
    return datasets.synthetic(0.5, 0.5, 3, 11, num_features=2, num_classes=4, max_samples=80)


def lazy() -> Any:
    """Return data that are made anew whenever a client is asked for."""
    sizes: Any = {"min_samples": 5, "max_samples": 9}
    return datasets.lazy_synthetic(0.7, 1.3, 4, 7, num_features=3, num_classes=4, **sizes)


def recorded() -> dict[str, list[Any]]:
    """Return the records by name."""
    known: dict[str, list[Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


if __name__ == "__main__":
    told = (f"{json.dumps(name)}: {json.dumps(record(draw()))}" for name, draw in EXAMPLES.items())
    FILE.write_text("{\n" + ",\n".join(told) + "\n}\n", encoding="utf-8")
