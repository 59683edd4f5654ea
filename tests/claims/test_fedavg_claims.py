"""The theorems of Li et al. on instances computed by hand, and wrong constants in their claims."""

from fractions import Fraction as Q
from types import SimpleNamespace
from typing import Any

import pytest

from fedtheory.bounds import fedavg
from fedtheory.claims import fedavg as claims
from fedtheory.claims.fedavg import own_constants, own_steps
from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.noise import no_noise
from fedtheory.instances.run_draws import Drawn
from fedtheory.instances.runs import RationalRun, constant_law, gap
from fedtheory.instances.vectors import vector
from fedtheory.sampling.cohorts import uniform_subsets, with_replacement
from fedtheory.theorem.findings import Finding, at_most
from tests.claims.refutation import refuted, scaled


def opposite(law: Any) -> Drawn:
    """One of two opposite clients, two steps from 0: own steps are 2/8 and 2/9."""
    run = RationalRun(opposite_clients(), constant_law(law), 2, lambda _: Q(0), vector(0), 2, no_noise(1))
    return own_steps(Drawn(run, 1, {}), is_balanced=True)


def test_theorems_2_and_3_on_two_opposite_clients() -> None:
    # The model goes 1 - (3/4)(7/9) = 5/12 of the way to its client: F - F* = (25/144)/2.
    for law in (with_replacement(vector("1/2", "1/2"), 1), uniform_subsets(2, 1)):
        drawn = opposite(law)
        assert gap(drawn.run, 2) == Q(25, 288)
        known = own_constants(drawn, "num_selected")
        # G2 = 1: B = 6/2 + 8, C = 4 * 4 (times (2 - 1)/(2 - 1)), and (1/(2 + 8)) 2 (11 + 16).
        assert known["G2"] == 1
        assert fedavg.with_replacement_gap(2, **known) == Q(27, 5)
        assert fedavg.without_replacement_gap(2, num_clients=2, **known) == Q(27, 5)


@pytest.mark.parametrize(
    "summands", [("noise",), ("contraction",), pytest.param(("drift", "heterogeneity"), marks=pytest.mark.slow)]
)
def test_the_one_step_inequality_needs_its_summands(monkeypatch: pytest.MonkeyPatch, summands: tuple[str, ...]) -> None:
    monkeypatch.setattr(claims, "fedavg", SimpleNamespace(one_step=scaled(fedavg.one_step, *summands)))
    assert refuted(claims.one_step)


def test_the_variance_of_draws_is_attained_up_to_its_factor_four_and_has_no_smaller_one() -> None:
    # (2 eta)^2 for a last step eta: a quarter of the bound is attained in rounds of one step. (N - K)/N is too small.
    def check(rng: Any) -> Finding:
        finding = claims.variance_without_replacement.check(rng)
        num_clients = len(finding.instance["weights"].split(","))
        return at_most(finding.measured, finding.predicted / 4 * (num_clients - 1) / num_clients)

    assert refuted(claims.variance_without_replacement, check)
