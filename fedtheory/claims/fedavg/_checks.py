"""What the claims about the theorems and lemmas of Li et al. share: runs with their step sizes, and their constants."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedtheory.claims._checks import theorem_constants
from fedtheory.rational._constants import initial_distance2
from fedtheory.rational._run_draws import Drawn
from fedtheory.rational._step_sizes import delayed
from fedtheory.rational._words import federation_in_words
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import norm2

__all__ = ["balanced", "own_constants", "own_steps"]


def balanced(fed: RationalQuadratics) -> RationalQuadratics:
    """Return the same clients with equal weights."""
    return replace(fed, weights=(Fraction(1, fed.num_clients),) * fed.num_clients)


def own_steps(drawn: Drawn, *, is_balanced: bool) -> Drawn:
    """Return the run with the step sizes ``2/(mu (t + max(8 L/mu, E)))``, on clients of equal weights if asked for."""
    run = drawn.run
    fed = balanced(run.federation) if is_balanced else run.federation
    steps = delayed()(fed, run.local_steps)
    words = {**drawn.instance, **federation_in_words(fed), "first_step_size": str(steps(0))}
    return Drawn(replace(run, federation=fed, step_size=steps), drawn.num_selected, words)


def own_constants(drawn: Drawn, *counts: str) -> dict[str, Any]:
    """Constants of the theorems on a run, with the counts asked for.

    G2 bounds the mean over the clients, which is all that the proofs need.
    """
    fed, known = drawn.run.federation, theorem_constants(drawn)
    sigma2, num_selected = known.pop("sigma2"), known.pop("num_selected")
    numbers = {"num_selected": num_selected, "num_clients": fed.num_clients}
    return {
        **known,
        "weighted_sigma2": norm2(fed.weights) * sigma2,
        "initial_distance2": initial_distance2(drawn.run),
        **{name: numbers[name] for name in counts},
    }
