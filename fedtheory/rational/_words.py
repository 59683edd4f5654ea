"""The numbers that define a random instance, in words: they go into the findings of claims."""

from typing import Any

from fedtheory.rational._rounds import Run
from fedtheory.rational._sampled_rounds import SampledRound
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector
from fedtheory.statistics.law import Law

__all__: list[str] = []


def in_words(numbers: Vector) -> str:
    """Write a vector of rationals.

    >>> from fractions import Fraction
    >>> in_words((Fraction(1, 2), Fraction(3)))
    '(1/2, 3)'
    """
    return "(" + ", ".join(str(number) for number in numbers) + ")"


def law_in_words(law: Law[Vector]) -> str:
    """Write a law of vectors.

    >>> from fractions import Fraction
    >>> law_in_words(Law.uniform([(Fraction(2),), (Fraction(3),)]))
    '(2) with probability 1/2; (3) with probability 1/2'
    """
    return "; ".join(f"{in_words(value)} with probability {chance}" for value, chance in law.items())


def federation_in_words(fed: RationalQuadratics) -> dict[str, str]:
    """Name the numbers that define a federation.

    >>> from fedtheory.rational.quadratics import opposite_clients
    >>> federation_in_words(opposite_clients())
    {'curvatures': '(1), (1)', 'centers': '(1), (-1)', 'weights': '(1/2, 1/2)', 'minima': '(0, 0)'}
    """
    return {
        "curvatures": ", ".join(in_words(diagonal) for diagonal in fed.curvatures),
        "centers": ", ".join(in_words(center) for center in fed.centers),
        "weights": in_words(fed.weights),
        "minima": in_words(fed.minima),
    }


def run_in_words(run: Run, **who: Any) -> dict[str, Any]:
    """Name the numbers that define a run; ``who`` says how its clients are chosen.

    >>> from fractions import Fraction
    >>> from fedtheory.rational._alignment import two_parabolas
    >>> words = run_in_words(two_parabolas((Fraction(1),), local_steps=3), law="all")
    >>> words["centers"], words["law"], words["num_steps"], words["first_step_size"], words["initial"]
    ('(0), (1)', 'all', 3, '1/4', '(0)')
    """
    return {
        **federation_in_words(run.federation),
        **who,
        "local_steps": run.local_steps,
        "num_steps": run.num_steps,
        "first_step_size": str(run.step_size(0)),
        "initial": in_words(run.initial),
        "noise": law_in_words(run.noise),
    }


def round_in_words(drawn: SampledRound, law: str) -> dict[str, Any]:
    """Name the numbers that define a round with independent sampling, apart from its clients.

    >>> import numpy as np
    >>> from fedtheory.rational._run_draws import draw_quadratic_round
    >>> drawn = draw_quadratic_round(np.random.default_rng(0))
    >>> sorted(round_in_words(drawn.round, "optimal"))
    ['law', 'local_steps', 'model', 'relative_noise', 'server_step_size', 'sigma2', 'step_size']
    """
    return {
        "model": in_words(drawn.model),
        "law": law,
        "step_size": str(drawn.step_size),
        "local_steps": drawn.local_steps,
        "server_step_size": str(drawn.server_step_size),
        "relative_noise": str(drawn.noise_factor**2),
        "sigma2": str(drawn.noise_length**2),
    }
