"""Comparisons shared by claims: steps of proofs, and bounds along exact runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.instances.observed import initial_distance2, observed_gradient_bound, observed_skews
from fedtheory.instances.run_draws import Drawn, DrawnAlignment
from fedtheory.instances.runs import distance2, gap
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import Claim, Kind, claim
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, worst_of
from fedtheory.theorem.paper import Statement

Chain = Sequence[Any]
"""Numbers with relations between them, as in print: ``(a, "=", b, "<=", c)``."""
_RELATIONS: dict[str, Callable[..., Finding]] = {"<=": at_most, "=": equal_to, ">=": at_least}


def compared(chain: Chain | list[Chain], instance: Mapping[str, Any]) -> Finding:
    """Compare neighbors in one or several chains; several comparisons are numbered in the instance.

    >>> compared((1, "<=", 2), {}).ratio
    0.5
    >>> nearest = compared([(1, "<=", 2), (3, "=", 3, "<=", 4)], {})
    >>> nearest.relation, nearest.instance
    ('<=', {'comparison': '3 of 3'})
    """
    chains = chain if isinstance(chain, list) else [chain]
    triples = [triple for one in chains for triple in zip(one[:-1:2], one[1::2], one[2::2], strict=True)]

    def place(number: int) -> dict[str, str]:
        return {"comparison": f"{number} of {len(triples)}"} if len(triples) > 1 else {}

    return worst_of(
        _RELATIONS[relation](left, right, instance={**instance, **place(number)})
        for number, (left, relation, right) in enumerate(triples, 1)
    )


def step(
    key: str,
    source: Bound | Statement,
    situations: Callable[[np.random.Generator], Iterable[Any]],
    *,
    kind: Kind = "inequality",
    looseness: float | None = None,
    **options: Any,
) -> Callable[[Callable[[Any], Chain | list[Chain]]], Claim]:
    """Claim that a step of a proof holds in all drawn situations; the docstring is the title.

    Unless ``looseness`` is given, an inequality must be attained up to one percent.
    """
    if kind == "inequality":
        looseness = looseness or 1.01

    def claimed(sides: Callable[[Any], Chain | list[Chain]]) -> Claim:
        def check(rng: np.random.Generator) -> Finding:
            return worst_of(compared(sides(here), here.instance) for here in situations(rng))

        title = " ".join((sides.__doc__ or key).split())
        return claim(key, title, source, kind, looseness=looseness, **options)(check)

    return claimed


def theorem_constants(drawn: Drawn, skew: str = "") -> dict[str, Any]:
    """Return the constants of all forms of the theorems; G2 is the smallest one that the run satisfies.

    If a skew is named, it and rho_tilde are included.
    """
    run = drawn.run
    skews = observed_skews(run) if skew else None
    return {
        **drawn.constants,
        "local_steps": run.local_steps,
        "num_selected": drawn.num_selected,
        "G2": observed_gradient_bound(run),
        **({skew: getattr(skews, skew), "rho_tilde": skews.rho_tilde} if skews else {}),
    }


def horizon_constants(drawn: Drawn, skew: str = "") -> dict[str, Any]:
    """Return the constants of the theorems, with the initial squared distance."""
    return {**theorem_constants(drawn, skew), "initial_distance2": initial_distance2(drawn.run)}


def at_steps(
    drawn: Drawn | DrawnAlignment, sides: Callable[[int], tuple[Any, Any]], steps: Iterable[int] | None = None
) -> Finding:
    """Compare ``left <= right`` at all steps of a run or at the given ones; ``sides`` returns both sides."""
    return worst_of(
        at_most(*sides(step), instance={**drawn.instance, "step": step})
        for step in (range(drawn.run.num_steps) if steps is None else steps)
    )


def one_step_distances(drawn: Drawn | DrawnAlignment, bound: Callable[[Fraction, int], Any]) -> Finding:
    """Compare ``E |w - w*|^2`` after every step of a run with a bound computed from its value before the step."""
    run = drawn.run
    return at_steps(drawn, lambda step: (distance2(run, step + 1), bound(distance2(run, step), step)))


def expected_gaps(drawn: Drawn | DrawnAlignment, bound: Callable[[int], Any]) -> Finding:
    """Compare ``E F(w_bar_T) - F*`` with a bound at every horizon of a run (at T = 0 this is smoothness only)."""
    run = drawn.run
    return at_steps(drawn, lambda step: (gap(run, step), bound(step)), range(1, run.num_steps + 1))
