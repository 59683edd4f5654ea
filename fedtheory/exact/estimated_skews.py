r"""Monte Carlo estimates of the selection skew over sampled models.

A minimum over sampled models can only be too large and a maximum only too small, so that these estimates are one-sided,
apart from their standard errors. ``exact.selection_skew`` is preferable where it applies, since it gives both sides.

Source: Cho, Wang, Joshi (2020), Definition 3.2; Appendix F (a grid of models, 10,000 selections at each).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.summary import Summary
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import format_value
from fedtheory.engine.trajectory import Trajectory
from fedtheory.exact._arguments import known_law
from fedtheory.exact.first_rounds import first_rounds
from fedtheory.exact.runs import made_with
from fedtheory.federation.prioritized import federation_given
from fedtheory.federation.protocol import Federation
from fedtheory.selection.rules import Strategy, rules_of

__all__ = ["estimated_selection_skew", "sampled_models"]

_UNDEFINED = "0/0: objective gap 0"
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


class OneSided(NamedTuple):
    """An extreme over sampled models, which is biased outwards by a few standard errors.

    If ``side`` is ``from above``, the infimum over all models may be smaller; ``from below``, the supremum larger.
    """

    value: float
    standard_error: float
    side: str


class SampledSkew(NamedTuple):
    r"""The skews of a strategy over sampled models; attributes as of ``SelectionSkew``.

    With objective gap 0, rho_tilde is 0/0, as its ``side`` states, and its value 0 has no meaning.
    """

    rho_bar: OneSided
    rho_tilde: OneSided
    rho_diagonal: OneSided

    def __repr__(self) -> str:
        rows = {
            name: f"{format_value(one.value)} +- {format_value(one.standard_error)}, {one.side}"
            for name, one in self._asdict().items()
        }
        return Summary("SampledSkew", rows).text


@pinned
def estimated_selection_skew(
    fed: Federation | None = None,
    strategy: Strategy | None = None,
    models: npt.ArrayLike | None = None,
    *,
    of: Trajectory | None = None,
    num_draws: int = 10_000,
    rng: RNGLike = 0,
) -> SampledSkew:
    """One-sided estimates of rho_bar, rho_tilde and rho_diagonal over sampled models only; those of a run describe it.

    They are extremes of ``rho(S(w), w') = E[1/m sum_{k in S(w)} (F_k(w') - F_k*)] / sum_k p_k (F_k(w') - F_k*)``.

    Parameters
    ----------
    fed, strategy
        The clients, and a strategy that selects by exact losses and has coefficients that do not depend on the updates.
        A strategy with a state is evaluated in its first round.
    models
        Grid or sample of models, shape (P, v) (see ``sampled_models``); w* is added to them.
    of
        A run of ``fedavg``, whose federation, strategy and recorded models are taken for those that are not given.
    num_draws
        Number of selections at each model, of a few microseconds each for compiled rules.
    rng
        Seed or Generator.

    Examples
    --------
    Clients at +1 and -1, the worse one selected: the selected client may be optimal while the other is not.

    >>> from fedtheory.federation.quadratic import QuadraticFederation
    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> estimated_selection_skew(fed, PowerOfChoice(1, 2), [[-1.0], [1.0]], num_draws=10).rho_bar
    OneSided(value=0.0, standard_error=0.0, side='from above')

    """
    fed, strategy, models = _given(of, fed, strategy, models)
    fed = federation_given(fed)
    given = validate.array("models", models, shape=(None, fed.dim))
    points = np.vstack([fed.minimizer, given])
    ratios, defined = _ratios(fed, points)
    generator = validate.generator(rng)
    bar, tilde, diagonal = (list[tuple[float, float]]() for _ in range(3))
    for i, point in enumerate(points):
        chosen, coefficients = _selections(fed, strategy, point, num_draws, generator)
        frequencies = np.bincount(chosen.ravel(), coefficients.ravel(), fed.num_clients)
        least = int(np.argmin(np.where(defined, ratios @ frequencies, np.inf)))
        for found, j in ((bar, least), (tilde, 0), (diagonal, i)):
            if defined[j]:
                found.append(_estimate(ratios[j], chosen, coefficients))
    return SampledSkew(
        _extreme(bar, min, "from above"), _extreme(tilde, max, "from below"), _extreme(diagonal, min, "from above")
    )


def _given(of: Any, fed: Any, strategy: Any, models: Any) -> tuple[Any, Any, Any]:
    """Return the federation, the strategy and the models, those that are None from the run."""
    if of is not None:
        settings = made_with(validate.instance("of", of, Trajectory, "a run of fedavg"), strategy, fed=fed)
        fed, strategy = settings["fed"], settings["strategy"]
        if models is None:
            recorded = of.recorded("models").reshape(-1, of.recorded("models").shape[-1])
            models = np.unique(recorded[np.isfinite(recorded).all(axis=1)], axis=0)
    missing = [name for name, one in (("fed", fed), ("strategy", strategy), ("models", models)) if one is None]
    if missing:
        message = f"estimated_selection_skew needs {' and '.join(missing)}, or of=, a run that recorded its models"
        raise TypeError(message)
    return fed, strategy, models


def sampled_models(fed: Federation, num_models: int = 100, *, spread: float = 2.0, rng: RNGLike = 0) -> Array:
    """Return normal models around w*, shape (num_models, v).

    The standard deviation is ``spread`` times the distance of the farthest local minimizer, or ``spread`` if all
    clients share their minimizer.

    >>> from fedtheory.federation.quadratic import QuadraticFederation
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0, 0.0], [-1.0, 0.0]], [0.5, 0.5])
    >>> sampled_models(fed, num_models=3).shape
    (3, 2)
    """
    count = validate.size("num_models", num_models)
    fed = federation_given(fed)
    reach = float(np.max(np.linalg.norm(fed.local_minimizers - fed.minimizer, axis=1)))
    shared = reach <= _ROUNDING * float(np.abs(fed.local_minimizers).max())
    scale = validate.double("spread", validate.positive("spread", spread)) * (1.0 if shared else reach)
    models: Array = fed.minimizer + scale * validate.generator(rng).standard_normal((count, fed.dim))
    return models


def _extreme(found: list[tuple[float, float]], extreme: Any, side: str) -> OneSided:
    value, error = extreme(found, default=(0.0, 0.0))
    return OneSided(value, error, side if found else _UNDEFINED)


def _ratios(fed: Federation, models: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return ``(F_k - F_k*) / sum_j p_j (F_j - F_j*)`` at each model, shape (P, K), and where it is not 0/0."""
    losses = fed.losses(models)
    # Negative values are rounding errors.
    excess = np.maximum(losses - fed.local_minima, 0.0)
    total = excess @ fed.weights
    # Rounding error of a zero: relative to the subtracted minima, and the square of the relative error of the model,
    # compared with the losses at the zero model.
    noise = _ROUNDING * np.abs(fed.local_minima).max() + _ROUNDING**2 * np.abs(fed.losses(np.zeros(fed.dim))).max()
    defined = total > noise
    return excess / np.where(defined, total, 1.0)[:, None], defined


def _estimate(ratios: Array, chosen: npt.NDArray[np.int64], coefficients: Array) -> tuple[float, float]:
    """Return the mean over the drawn selections and its standard error."""
    values = np.sum(ratios[chosen] * coefficients, axis=1)
    error = float(values.std(ddof=1)) / np.sqrt(values.size) if values.size > 1 else float("inf")
    return float(values.mean()), float(error)


def _selections(
    fed: Federation, strategy: Strategy, w: Array, num_draws: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the chosen clients and their coefficients in each draw, shape (num_draws, most), padded with zeros."""
    count = validate.size("num_draws", num_draws)
    rules = rules_of(strategy, fed.weights, 1)
    looks = rules.weigh is not None and known_law(strategy, np.array(fed.weights)) is None
    if rules.candidate_loss != "exact" or rules.attend is not None or looks:
        message = f"strategy must select by the exact losses of all clients, and not depend on updates, got {strategy}"
        raise ValueError(message)
    return first_rounds(rules, np.array(fed.weights), fed.losses(w), fed.dim, count, rng)
