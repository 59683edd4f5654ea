"""Transcription of SCAFFOLD: the statements of the theory page, summed term by term."""

from fractions import Fraction

LETTERS = {
    "num_rounds": "R", "mu": "mu", "L": "L", "local_steps": "tau", "step_size": "eta", "distance2": "Delta",
    "initial_distance2": "Delta", "control_error2": "E", "variate_error2": "C", "control_weight": "omega",
    "num_clients": "N", "num_selected": "S", "sigma2": "sigma2",
}  # fmt: skip


def one_round__derived(Delta, E, eta, mu, L, tau):
    """c^(2 tau) Delta + kappa eta^2 tau^2 E, with C and d_s as sums of powers."""
    c = 1 - eta * mu
    beta = 2 * c / (eta * (L - mu)) - 1
    C = sum(c**i for i in range(tau))
    d = [sum(c ** (tau - 1 - r) for r in range(s)) for s in range(tau)]
    kappa = ((tau - C) ** 2 + sum((tau - C + one) ** 2 for one in d) / beta) / tau**2
    return c ** (2 * tau) * Delta + kappa * eta**2 * tau**2 * E


def fixed_step_potential__derived(R, Delta, E, eta, mu, L, tau):
    """c^(2 tau R) of the first potential."""
    return (1 - eta * mu) ** (2 * tau * R) * (Delta + eta**2 * tau**2 * E)


def option_one_round__derived(Delta, E, eta, mu, L, tau):
    """c^(2 tau) of |x|^2 and kappa_I of eta^2 beta c^(2 tau - 2) E."""
    c = 1 - eta * mu
    beta = 2 * c / (eta * (L - mu)) - 1
    d = [sum(c ** (tau - 1 - r) for r in range(s)) for s in range(tau)]
    kappa = sum(one**2 for one in d) / (beta**2 * c ** (2 * tau - 2))
    return c ** (2 * tau) * Delta + kappa * eta**2 * beta * c ** (2 * tau - 2) * E


def sampled_round__derived(Delta, C, omega, eta, mu, L, tau, N, S, sigma2):
    """(1 - mu h/2) of |x|^2 + omega N h^2/S C, with h = K eta_l, and noise for kappa above and below 1."""
    h, kappa = tau * eta, Fraction(1, S) + omega
    noise = kappa if kappa > 1 else kappa + (1 - kappa) * (h - eta) * L / 2
    return (1 - mu * h / 2) * (Delta + omega * N * h**2 / S * C) + h**2 * sigma2 / tau * noise
