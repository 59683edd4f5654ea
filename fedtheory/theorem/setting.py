"""The setting of a bound: assumptions about functions, gradients and selection, in standard terms."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from fedtheory.theorem.assumptions import EXACT_GRADIENTS, BoundedGradients, Convex, Noise, StronglyConvex

_CONVEXITY = ("non-convex", "convex", "strongly convex")
_LAWS = {
    "full participation": "all",
    "uniform": "uniform without replacement",
    "proportional": "multinomial",
    "independent": "independent",
    "power of choice": "power of choice",
    "loss matching": "loss matching",
}
SETTINGS = (*_CONVEXITY, *_LAWS, "exact", "stochastic")
"""The words of a setting that ``obstacle`` takes: convexity, selection, gradients."""


class Setting(NamedTuple):
    """The setting of a bound in words, for tables and searches.

    ``selection``, ``participation`` and ``aggregation`` may be several, separated by commas. ``gradients`` is ``any``
    if the bound assumes neither ``exact`` nor ``stochastic`` ones; ``bounded_gradients`` is whether it has a G2.
    """

    convexity: str
    selection: str
    participation: str
    aggregation: str
    gradients: str
    bounded_gradients: bool
    horizon: str


def setting_of(bound: Any) -> Setting:
    """Return the setting of a bound, from its hypotheses, schemes and arguments.

    >>> from fedtheory.bounds.optimal_client_sampling import dsgd_nonconvex
    >>> setting_of(dsgd_nonconvex)[:3]
    ('non-convex', 'independent, all', 'partial, full')
    """
    kinds = {type(assumed) for assumed in bound.hypotheses}
    laws = list(dict.fromkeys(scheme.selection for scheme in bound.statement.schemes))
    shares = dict.fromkeys({"all": "full", "any": "partial, full"}.get(law, "partial") for law in laws)
    stochastic = "stochastic" if Noise in kinds else "any"
    return Setting(
        "strongly convex" if StronglyConvex in kinds else "convex" if Convex in kinds else "non-convex",
        ", ".join(laws),
        ", ".join(shares),
        ", ".join(dict.fromkeys(scheme.aggregation for scheme in bound.statement.schemes)),
        "exact" if EXACT_GRADIENTS in bound.hypotheses else stochastic,
        BoundedGradients in kinds,
        "whole run" if {"num_steps", "num_rounds"} & set(bound.domains) else "one round",
    )


def obstacle(bound: Any, words: Iterable[str]) -> str | None:
    """Return the assumption of a bound that a setting violates, or None if the bound covers the setting.

    ``words`` are some of ``SETTINGS``, at most one each for convexity, selection and gradients.

    >>> from fedtheory.bounds.fedavg import one_round
    >>> obstacle(one_round, ["strongly convex", "full participation"])
    >>> obstacle(one_round, ["convex"]), obstacle(one_round, ["uniform"])
    ('assumes strongly convex functions', 'assumes the selection law all')
    """
    setting = setting_of(bound)
    for word in words:
        if word in _CONVEXITY and _CONVEXITY.index(word) < _CONVEXITY.index(setting.convexity):
            return f"assumes {setting.convexity} functions"
        if word in _LAWS and not {"any", _LAWS[word]} & set(setting.selection.split(", ")):
            return f"assumes the selection law {setting.selection}"
        if word == "stochastic" and setting.gradients == "exact":
            return "assumes exact gradients"
    return None
