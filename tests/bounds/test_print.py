"""Statements that rest on the print, written again as the papers print them, in their letters and indices."""

import random
from fractions import Fraction as Q

import pytest

from fedtheory.bounds import fedavg, fedprox, proxskip
from fedtheory.bounds.catalogue import known_bounds


def li_et_al(T, C, *, mu, L, E, G2, pp_sigma2, Gamma, D):
    """Theorems 1 to 3: ``kappa/(gamma + T - 1) (2 (B + C)/mu + mu gamma/2 |w_1 - w*|^2)``; w_1 is the first model."""
    kappa = L / mu
    gamma = max(8 * kappa, E)
    B = pp_sigma2 + 6 * L * Gamma + 8 * (E - 1) ** 2 * G2
    return kappa / (gamma + T - 1) * (2 * (B + C) / mu + mu * gamma / 2 * D)


def draws(number):
    rng = random.Random("print")
    for _ in range(number):
        mu = Q(rng.randint(1, 9), rng.randint(1, 9))
        K = rng.randint(1, 9)
        yield (
            rng,
            {
                "mu": mu,
                "L": mu * Q(rng.randint(8, 40), 8),
                "E": rng.randint(1, 60),
                "G2": Q(rng.randint(1, 50), 7),
                "pp_sigma2": Q(rng.randint(0, 50), 3),
                "Gamma": Q(rng.randint(0, 50), 11),
                "D": Q(rng.randint(0, 50), 13),
            },
            K,
            K + rng.randint(1, 20),
            rng.randint(1, 300),
        )


@pytest.mark.parametrize(
    ("bound", "variance", "counts"),
    [
        (fedavg.full_participation_gap, lambda K, N, E, G2: 0, ()),
        (fedavg.with_replacement_gap, lambda K, N, E, G2: Q(4, K) * E**2 * G2, ("K",)),
        (fedavg.without_replacement_gap, lambda K, N, E, G2: Q(N - K, N - 1) * Q(4, K) * E**2 * G2, ("K", "N")),
    ],
    ids=["Theorem 1", "Theorem 2", "Theorem 3"],
)
def test_the_theorems_of_li_et_al_are_those_in_print_with_one_step_less_than_their_index(bound, variance, counts):
    names = {"K": "num_selected", "N": "num_clients"}
    for _, given, K, N, T in draws(100):
        printed = li_et_al(T, variance(K, N, given["E"], given["G2"]), **given)
        letters = {
            "E": "local_steps",
            "pp_sigma2": "weighted_sigma2",
            "Gamma": "objective_gap",
            "D": "initial_distance2",
        }
        arguments = {letters.get(name, name): value for name, value in given.items()}
        arguments |= {names[letter]: {"K": K, "N": N}[letter] for letter in counts}
        # Constants that no federation has are allowed here: the formula is what is compared.
        assert bound(T - 1, **arguments, strict=False)[0] == printed


def test_theorem_4_of_fedprox_is_the_one_in_print():
    for rng, given, _, _, _ in draws(60):
        L, B, gamma, root = given["L"], Q(rng.randint(4, 12), 4), Q(rng.randint(0, 4), 4), rng.randint(1, 6)
        K = 2 * root**2  # sqrt(2 K) and sqrt(2)/sqrt(K) are rational
        less = L * Q(rng.randint(1, 4), 4)
        mu = less + Q(rng.randint(1, 80), 3)
        mubar = mu - less
        rho = 1 / mu - gamma * B / mu - B * (1 + gamma) / (mubar * root) - L * B * (1 + gamma) / (mubar * mu)
        rho -= L * (1 + gamma) ** 2 * B**2 / (2 * mubar**2)
        rho -= L * B**2 * (1 + gamma) ** 2 / (mubar**2 * K) * (2 * 2 * root + 2)
        value = fedprox.loss_change.printed(
            given["G2"], L=L, negative_curvature=less, proximal_weight=mu, gradient_dissimilarity=B, inexactness=gamma,
            num_selected=K,
        )  # fmt: skip
        assert value == -rho * given["G2"]


def test_the_theorem_of_proxskip_is_the_one_that_its_authors_quote():
    for rng, given, _, _, T in draws(60):
        mu, L, p = given["mu"], given["L"], Q(rng.randint(1, 8), 8)
        gamma, psi = 1 / L * Q(rng.randint(1, 4), 4), given["G2"]
        value = proxskip.fixed_step_potential(
            T % 7, step_size=gamma, mu=mu, L=L, probability=p, initial_distance2=given["D"], control_error2=psi
        )
        assert value == max((1 - gamma * mu) ** (T % 7), (1 - p**2) ** (T % 7)) * (given["D"] + (gamma / p) ** 2 * psi)


def test_these_statements_say_what_they_rest_on():
    basis = {name: bound.statement.basis for name, bound in known_bounds().items()}
    theorems = ("full_participation_gap", "with_replacement_gap", "without_replacement_gap")
    assert {basis[f"fedavg.{name}"] for name in theorems} == {"printed"}
    assert fedprox.loss_change.printed.statement.basis == "printed"
    assert basis["proxskip.fixed_step_potential"] == "quoted"
    assert basis["fedavg.one_step"] == "remembered"
