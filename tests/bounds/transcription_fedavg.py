"""Transcription of Li et al. (2020), in their form and in that of Power-of-Choice with skew 1."""

from fractions import Fraction as Q

LETTERS = {
    "num_steps": "T", "num_rounds": "R", "mu": "mu", "L": "L", "local_steps": "E", "step_size": "eta",
    "num_clients": "N", "weighted_sigma2": "p2_sigma2", "distance2": "Delta", "num_selected": "m", "G2": "G2",
    "sigma2": "sigma2", "objective_gap": "Gamma", "initial_distance2": "Delta_0",
    "max_weight": "p_max", "min_weight": "p_min", "weighted_G2": "N_p2_G2",
}  # fmt: skip


def decaying_steps_gap__derived(T, mu, L, E, m, G2, sigma2, Gamma, Delta_0):
    """Eq. (7) at rho_bar = rho_tilde = 1: the bias is gone, kappa = L/mu collects the rest."""
    kappa = L / mu
    noise = (32 * E**2 * G2 + sigma2 / m) / mu
    return kappa * (4 * noise / 3 + 8 * L * Gamma / mu + 2 * L * Delta_0) / (T + 4 * kappa)


# Li et al. in their own form. Theorems 1 to 3 are as in print; the lemmas follow the theory page.


def one_step__printed(Delta, eta, mu, L, E, G2, p2_sigma2, Gamma):
    """Lemmas 1 to 3: (1 - eta mu) Delta + eta^2 B, B = sum p_k^2 sigma_k^2 + 6 L Gamma + 8 (E - 1)^2 G^2."""
    return (1 - eta * mu) * Delta + eta**2 * _one_step_constant(L, E, G2, p2_sigma2, Gamma)


def with_replacement_variance__printed(eta, E, m, G2):
    """Lemma 5, Scheme I.

    Derived here: a draw has moved by at most E steps of at most 2 eta, and a mean of m draws has 1/m of its variance.
    """
    return (E * 2 * eta) ** 2 * G2 / m


def without_replacement_variance__printed(eta, E, N, m, G2):
    """Lemma 5, Scheme II: sampling without replacement has the factor (N - m)/(N - 1)."""
    return with_replacement_variance__printed(eta, E, m, G2) * Q(N - m, N - 1)


def full_participation_gap__printed(T, mu, L, E, G2, p2_sigma2, Gamma, Delta_0):
    """Theorem 1, with C = 0."""
    return _theorem(0, T, mu, L, E, G2, p2_sigma2, Gamma, Delta_0)


def with_replacement_gap__printed(T, mu, L, E, m, G2, p2_sigma2, Gamma, Delta_0):
    """Theorem 2, with C = 4 E^2 G^2 / m."""
    return _theorem(Q(4, m) * E**2 * G2, T, mu, L, E, G2, p2_sigma2, Gamma, Delta_0)


def without_replacement_gap__printed(T, mu, L, E, N, m, G2, p2_sigma2, Gamma, Delta_0):
    """Theorem 3, with C = (N - m)/(N - 1) 4 E^2 G^2 / m."""
    return _theorem(Q(N - m, N - 1) * Q(4, m) * E**2 * G2, T, mu, L, E, G2, p2_sigma2, Gamma, Delta_0)


def transformed_gap__printed(T, mu, L, E, N, m, p_max, p_min, G2, sigma2, Gamma, Delta_0):
    """Theorem 3 with nu L, s mu, sqrt(nu) sigma and sqrt(nu) G; N variances of nu sigma^2/N^2 add up."""
    nu, s = N * p_max, N * p_min
    variances = sum(Q(1, N) ** 2 * nu * sigma2 for _ in range(N))
    return without_replacement_gap__printed(T, s * mu, nu * L, E, N, m, nu * G2, variances, Gamma, Delta_0)


def transformed_gap__derived(T, mu, L, E, N, m, p_max, p_min, N_p2_G2, p2_sigma2, Gamma, Delta_0):
    """Theorem 3 for the objectives N p_k F_k with their mean squared gradient."""
    nu, s = N * p_max, N * p_min
    return without_replacement_gap__printed(T, s * mu, nu * L, E, N, m, N_p2_G2, p2_sigma2, Gamma, Delta_0)


def _theorem(C, T, mu, L, E, G2, p2_sigma2, Gamma, Delta_0):
    # As printed, t = T + 1: kappa/(gamma + t - 1) (2 (B + C)/mu + mu gamma/2 |w_1 - w*|^2), w_1 being the first model.
    kappa, gamma = L / mu, max(8 * L / mu, E)
    B = _one_step_constant(L, E, G2, p2_sigma2, Gamma)
    return kappa / (gamma + T) * (2 * (B + C) / mu + mu * gamma / 2 * Delta_0)


def _one_step_constant(L, E, G2, p2_sigma2, Gamma):
    return p2_sigma2 + 6 * L * Gamma + 8 * (E - 1) ** 2 * G2


def decaying_step_sizes(T, mu, L, E):
    """The step sizes 2/(mu (t + gamma)), gamma = max{8 L/mu, E}, of all three theorems, for t < T."""
    return [2 / (mu * (t + max(8 * L / mu, E))) for t in range(T)]


# The page on worst cases: without bounded gradients.


def one_round__derived(Delta, eta, mu, L, E, Gamma):
    """Gamma costs 2 L eta^2 <d, (beta I + 1 1')^-1 d>, beta = 2 c/(eta (L - mu)) - 1, d_s = c^(E-s) + ... + c^(E-1)."""
    c = 1 - eta * mu
    beta = 2 * c / (eta * (L - mu)) - 1
    d = [sum(c ** (E - 1 - r) for r in range(s)) for s in range(E)]
    # What solves (beta I + 1 1') x = d is (d - mean)/beta, and mean/(beta + E) for its mean.
    mean = sum(d) / Q(E)
    x = [(one - mean) / beta + mean / (beta + E) for one in d]
    return c ** (2 * E) * Delta + 2 * L * eta**2 * sum(one * other for one, other in zip(d, x, strict=True)) * Gamma


def fixed_step_distance__derived(R, eta, mu, L, E, Gamma, Delta_0):
    """R times the inequality of a round."""
    for _ in range(R):
        Delta_0 = one_round__derived(Delta_0, eta, mu, L, E, Gamma)
    return Delta_0


def sampled_step__derived(Delta, eta, mu, L, N, m, Gamma):
    """(1 - eta mu)^2 Delta + alpha eta^2 A/(A - alpha eta^2) 2 L Gamma with A = 2 eta (1 - eta mu)/(L - mu)."""
    alpha, A = Q(N - m, m * (N - 1)), 2 * eta * (1 - eta * mu) / (L - mu)
    return (1 - eta * mu) ** 2 * Delta + alpha * eta**2 * A / (A - alpha * eta**2) * 2 * L * Gamma


def gap_after_step__derived(Delta, eta, mu, L):
    """The form of Taylor, Hendrickx and Glineur: mu/2 over mu/L - 1 + (1 - eta mu)^-2."""
    return mu / 2 / (mu / L - 1 + (1 - eta * mu) ** -2) * Delta
