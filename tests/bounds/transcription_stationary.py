"""Transcription of stationary points: each round contracts by the product of the factors of its steps."""

from fractions import Fraction as Q
from math import isqrt

LETTERS = {
    "num_rounds": "R", "mu": "mu", "L": "L", "local_steps": "tau", "step_size": "eta", "stationary_distance2": "D",
    "effective_steps": "tau_eff", "surrogate_gradient2": "eps", "chi2": "chi2", "beta2": "beta2", "kappa2": "kappa2",
}  # fmt: skip


def averaging_distance__derived(R, mu, L, tau, eta, D):
    """The distance, not squared, is multiplied by max(|1 - eta mu|, |1 - eta L|) tau R times."""
    factor = 1
    for _ in range(tau * R):
        factor *= max(abs(1 - eta * mu), abs(1 - eta * L))
    return factor**2 * D


def normalized_round__derived(mu, L, tau_eff, tau, eta, D):
    """The larger of 1 - tau_eff eta mu (1 + c + ... + c^(tau-1))/tau and the overshoot, squared."""
    pull = sum(eta * mu * (1 - eta * mu) ** s for s in range(tau)) / tau
    return max(1 - tau_eff * pull, eta * tau_eff * L - 1) ** 2 * D


def inconsistency__printed(eps, chi2, beta2, kappa2):
    return 2 * (chi2 * (beta2 - 1) + 1) * eps + 2 * chi2 * kappa2


def inconsistency__derived(eps, chi2, beta2, kappa2):
    """The square of |grad F~| + chi s; the ratio of chi s to |grad F~| is rational here."""
    ratio2 = Q(chi2 * ((beta2 - 1) * eps + kappa2) / eps)
    ratio = Q(isqrt(ratio2.numerator), isqrt(ratio2.denominator))
    assert ratio**2 == ratio2
    return (1 + ratio) ** 2 * eps
