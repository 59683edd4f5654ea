"""Choice sequences: the draws of a check, and their replay for each method of a generator."""

import numpy as np
import pytest

from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.hunts import hunt
from fedtheory.verification.instances import Choice, Choices, replay, shortest

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")
RNG = np.random.default_rng(0)
ARGUMENTS = {
    "beta": (1, 2),
    "binomial": (5, 0.5),
    "bytes": (3,),
    "chisquare": (2,),
    "choice": ([3, 5, 7],),
    "dirichlet": ([1, 2],),
    "f": (2, 3),
    "gamma": (2,),
    "geometric": (0.5,),
    "hypergeometric": (3, 4, 2),
    "integers": (1, 7),
    "logseries": (0.5,),
    "multinomial": (3, [0.5, 0.5]),
    "multivariate_hypergeometric": ([3, 4], 2),
    "multivariate_normal": ([0, 0], [[1, 0], [0, 1]]),
    "negative_binomial": (3, 0.5),
    "noncentral_chisquare": (2, 1),
    "noncentral_f": (2, 3, 1),
    "pareto": (2,),
    "permutation": (5,),
    "permuted": ([1, 2, 3],),
    "poisson": (3,),
    "power": (2,),
    "shuffle": (np.arange(4),),
    "spawn": (2,),
    "standard_gamma": (2,),
    "standard_t": (3,),
    "triangular": (0, 1, 2),
    "vonmises": (0, 1),
    "wald": (1, 1),
    "weibull": (2,),
    "zipf": (2.5,),
}


def choices(*numbers: float) -> Choices:
    return Choices(numbers, np.random.default_rng(0))


@pytest.mark.parametrize("name", [name for name in dir(np.random.Generator) if not name.startswith("_")])
def test_every_method_of_a_generator_reads_choices_and_is_replayed(name: str) -> None:
    """A check may draw by any of them; what does not read choices would be the same on every instance."""

    def drawn(source: Choices) -> str:
        found = getattr(source, name)
        if name == "bit_generator":
            return str(found.random_raw())
        value = found(*ARGUMENTS.get(name, ()))
        return str(value[0].random() if name == "spawn" else value)

    source = choices()
    first = drawn(source)
    assert source.read
    assert drawn(Choices([choice.number for choice in source.read], RNG)) == first


def test_choices_are_read_like_a_generator() -> None:
    source = choices(0.0, 0.999, 0.5)
    assert [source.integers(1, 7), source.integers(6), source.random()] == [1, 5, 0.5]
    assert [choice.levels for choice in source.read] == [6, 6, 0]
    ends = choices(0.0, 0.999, 0.0, 0.999)
    assert [ends.integers(3, 7), ends.integers(3, 7), ends.integers(6), ends.integers(6)] == [3, 6, 0, 5]
    assert source.random((2, 3)).shape == (2, 3)
    drawn = source.integers(0, 4, size=50)
    assert drawn.shape == (50,)
    assert set(drawn.tolist()) <= {0, 1, 2, 3}
    assert len(source.read) == 3 + 6 + 50


def test_arguments_mean_what_they_mean_to_a_generator() -> None:
    assert choices(0.999).integers(0, 3, endpoint=True) == 3
    np.testing.assert_array_equal(choices(0.0, 0.999).integers([1, 10], [5, 20]), [1, 19])
    assert choices(0.25).uniform(2, 6) == 3
    np.testing.assert_allclose(choices(0.5, 0.25).uniform([0, 4], [2, 8]), [1, 5])
    assert choices(0.5).normal(3, 2) == 3
    np.testing.assert_allclose(choices(0.975).normal(0, 1, size=1), [1.959964], rtol=1e-6)
    out = np.empty(2)
    choices(0.25, 0.75).random(out=out)
    np.testing.assert_array_equal(out, [0.25, 0.75])
    with pytest.raises(ValueError, match="low must be below high, got 3 and 3"):
        choices(0.5).integers(3, 3)
    assert isinstance(choices(), np.random.Generator)


def test_a_check_that_draws_normal_numbers_is_hunted() -> None:
    """Of 200 normal numbers one is beyond 4 once in 80 trials; a hunt moves one there."""

    def check(rng: np.random.Generator) -> Finding:
        return at_most(float(rng.normal(size=2).sum()), 4.0)

    found = hunt(Claim("toy:normal", "a toy", STATEMENT, "inequality", check), evaluations=200, small=False)
    assert found.worst.holds is False
    again = replay(Claim("toy:normal", "a toy", STATEMENT, "inequality", check), found.choices)
    assert again == found.worst


def test_shortest_choices_stand_for_the_same_whole_numbers() -> None:
    read = [Choice((level + 0.999) / levels, levels) for levels in range(1, 40) for level in range(levels)]
    assert [int(number * choice.levels) for number, choice in zip(shortest(read), read, strict=True)] == [
        choice.level for choice in read
    ]
    assert max(len(repr(number)) for number in shortest(read)) <= len("0.12")
    assert shortest([Choice(1 / 7, 2**62)]) == (1 / 7,)  # no shorter one is among so many choices
