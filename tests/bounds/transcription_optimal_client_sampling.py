"""Independent transcription of Optimal Client Sampling from the theory page.

Chen, Horvath, Richtarik (2022); the constants are those proved on the page (Theorems 13, 13b, 15, 17, 17b, 17c and 18,
Lemmas 21, D and S, eq. (3) and the starred identity), derived again where a docstring says so. Letters are those of the
page, except that ``gap`` is its R^k and ``R`` its number of local steps. ``r2`` is the squared distance |r|^2, ``Z``
the weighted mean of the Z_i, and ``Z2`` their sum with squared weights. Numbers are ``Fraction``. This module does not
import the library.
"""

from fractions import Fraction as Q

LETTERS = {
    "num_rounds": "k", "distance2": "r2", "initial_distance2": "r2", "gap": "gap", "initial_gap": "gap",
    "value": "f", "step_size": "eta", "server_step_size": "eta_g", "local_steps": "R", "mu": "mu", "L": "L",
    "gamma": "gamma", "mean_inverse_gamma": "inverse_gamma", "max_weight": "W", "sum_squared_weights": "S2",
    "relative_noise": "M", "sigma2": "sigma2", "objective_gap": "Z", "per_client_gap": "Z2", "dissimilarity": "rho",
    "gradient2": "g2", "mean_gradient2": "mean_g2", "squared_weight_gradient2": "w2_g2",
    "squared_weight_optimum_gradient2": "w2_g2_at_optimum", "squared_weight_update2": "w2_Delta2",
    "mean_update2": "mean_Delta2", "sampling_error": "sampling_error", "update_error": "update_error",
    "drift": "drift", "value_difference": "h_z_minus_h_y", "displacement2": "z_minus_x_2",
}  # fmt: skip


def estimator_error__printed(sampling_error, update_error):
    """Eq. (3)."""
    return sampling_error + update_error


def estimator_second_moment__derived(w2_Delta2, mean_Delta2, gamma):
    """The starred identity: (1/gamma - 1) sum w_i^2 E|Delta_i|^2 + E|sum w_i Delta_i|^2."""
    return w2_Delta2 / gamma - w2_Delta2 + mean_Delta2


def perturbed_inner_product__printed(h_z_minus_h_y, r2, z_minus_x_2, mu, L):
    """Lemma 21, eq. (35), a lower bound."""
    return h_z_minus_h_y + mu / 4 * r2 - L * z_minus_x_2


def dsgd_second_moment__derived(w2_g2, g2, gamma, S2, M, sigma2):
    """In the proof of Theorem 13: noise is uncorrelated; client i brings (1 + M)|grad f_i|^2 + sigma^2 into (*)."""
    sampled = (1 / gamma - 1) * ((1 + M) * w2_g2 + S2 * sigma2)
    averaged = g2 + M * w2_g2 + S2 * sigma2
    return sampled + averaged


def dsgd_strongly_convex__derived(r2, gap, eta, mu, L, gamma, W, S2, M, sigma2, Z):
    """Theorem 13, eqs. (19)-(20)."""
    beta_1, beta_2 = 2 * L * (1 + M) * W * Z + sigma2 * S2, 2 * L * W * Z
    return (
        (1 - mu * eta) * r2 - 2 * eta * (1 - eta * (1 + W * M) * L / gamma) * gap + eta**2 * (beta_1 / gamma - beta_2)
    )


def dsgd_per_client_variant__variant(r2, gap, eta, mu, L, gamma, W, S2, M, sigma2, Z2):
    """Theorem 13 with beta_1 = sum w_i^2 (2 L (1 + M) Z_i + sigma^2) and beta_2 = 2 L sum w_i^2 Z_i."""
    return dsgd_strongly_convex__derived(r2, gap, eta, mu, L, gamma, W, S2, M, sigma2, Z2 / W)


def dsgd_convex_clients__derived(r2, gap, eta, mu, L, gamma, W, S2, M, sigma2, w2_g2_at_optimum):
    """Theorem 13b."""
    c = (1 + M) / gamma - 1
    return (
        (1 - mu * eta) * r2
        - 2 * eta * (1 - eta * L * (1 + 2 * W * c)) * gap
        + eta**2 * (2 * c * w2_g2_at_optimum + sigma2 * S2 / gamma)
    )


def dsgd_nonconvex__derived(f, g2, eta, L, gamma, W, S2, M, sigma2, rho):
    """Theorem 15, eq. (24): descent lemma, the second moment, and sum w_i^2 |grad f_i|^2 <= W (|grad f|^2 + rho)."""
    second_moment = dsgd_second_moment__derived(W * (g2 + rho), g2, gamma, S2, M, sigma2)
    return f - eta * g2 + L * eta**2 / 2 * second_moment


def dsgd_contraction__derived(r2, eta, mu, L, inverse_gamma, W, S2, M, sigma2, Z):
    """Theorem 13 unrolled: (1 - mu eta) E|r|^2 + eta^2 (beta_1 E[1/gamma] - beta_2)."""
    beta_1, beta_2 = W * 2 * L * (1 + M) * Z + S2 * sigma2, W * 2 * L * Z
    return r2 - mu * eta * r2 + eta**2 * beta_1 * inverse_gamma - eta**2 * beta_2


def dsgd_average_gradient__derived(k, gap, eta, L, inverse_gamma, W, S2, M, sigma2, rho):
    """Theorem 15 summed over k rounds.

    Derived here: (18) leaves -eta/2 |grad f|^2 in every round, the values telescope to at most the initial gap, so the
    mean of E|grad f|^2 is at most 2/eta of gap/k plus (eta^2 L/2) (W c rho + sigma^2 S2/gamma).
    """
    per_round = eta**2 * L / 2 * (W * rho * ((1 + M) * inverse_gamma - 1) + sigma2 * S2 * inverse_gamma)
    return 2 / eta * (gap / k + per_round)


def full_participation__printed(r2, eta, mu, S2, sigma2):
    """Eq. (21)."""
    return r2 * (1 - mu * eta) + eta**2 * sigma2 * S2


def full_participation_distance__printed(k, r2, eta, mu, S2, sigma2):
    """Eq. (22)."""
    return (1 - mu * eta) ** k * r2 + eta * sigma2 * S2 / mu


def client_drift__derived(mean_g2, eta, eta_g, R, M, sigma2):
    """Lemma D."""
    B = 1 + M / R
    return Q(7, 8) * (1 - Q(1, R)) * (eta / eta_g) ** 2 * (2 * B * mean_g2 + sigma2 / R)


def fedavg_second_moment__derived(drift, w2_g2, g2, gamma, R, L, W, S2, M, sigma2):
    """Lemma S, with B = 1 + M/R and tau = (1 + W M/R)/gamma."""
    B, tau = 1 + M / R, (1 + W * M / R) / gamma
    return 2 * (B / gamma - 1) * w2_g2 + Q(3, 2) * g2 + 6 * L**2 * tau * drift + Q(4, 3) * sigma2 * S2 / (R * gamma)


def fedavg_strongly_convex__derived(r2, gap, eta, eta_g, R, mu, L, gamma, W, S2, M, sigma2, Z):
    """Theorem 17.

    Derived here: the drift enters with 11/4 eta L, of which Lemma D takes 7/8 (eta/eta_g)^2 2 B 2 L Z: 77/8 in all.
    """
    brackets = 4 * L * (M / R + 1 - gamma) / gamma * W * Z + Q(3, 2) * sigma2 * S2 / (gamma * R)
    return (
        (1 - mu * eta / 2) * r2
        - Q(23, 16) * eta * gap
        + eta**2 * brackets
        + Q(11, 4) * Q(7, 8) * 4 * L**2 * (1 + M / R) * Z * eta**3 / eta_g**2
    )


def fedavg_strongly_convex_per_client__derived(r2, gap, eta, eta_g, R, mu, L, gamma, W, S2, M, sigma2, Z, Z2):
    """Theorem 17b."""
    brackets = 4 * L * (M / R + 1 - gamma) / gamma * Z2 + Q(3, 2) * sigma2 * S2 / (gamma * R)
    return (
        (1 - mu * eta / 2) * r2
        - Q(5, 8) * eta * gap
        + eta**2 * brackets
        + 12 * L**2 * (1 + M / R) * Z * eta**3 / eta_g**2
    )


def fedavg_convex_clients__derived(r2, gap, eta, eta_g, R, mu, L, gamma, W, S2, M, sigma2, Z):
    """Theorem 17c: Theorem 17 with -7/16 eta R^k, eta R^k having been spent on the contraction."""
    theorem_17 = fedavg_strongly_convex__derived(r2, gap, eta, eta_g, R, mu, L, gamma, W, S2, M, sigma2, Z)
    return theorem_17 + (Q(23, 16) - Q(7, 16)) * eta * gap


def fedavg_nonconvex__derived(f, g2, eta, eta_g, R, L, gamma, W, S2, M, sigma2, rho):
    """Theorem 18.

    Derived here: the drift enters with 7/8 eta L^2, of which Lemma D takes 7/8 (eta/eta_g)^2 2 B rho: 49/32 in all.
    """
    brackets = (M / R + 1 - gamma) / gamma * W * rho + Q(3, 4) * sigma2 * S2 / (gamma * R)
    return (
        f
        - Q(23, 64) * eta * g2
        + L * eta**2 * brackets
        + Q(7, 8) * Q(7, 8) * 2 * L**2 * (1 + M / R) * rho * eta**3 / eta_g**2
    )


def fedavg_contraction__derived(r2, eta, eta_g, R, mu, L, inverse_gamma, W, S2, M, sigma2, Z):
    """Theorem 17 without its descent term, expected over all rounds so far: 1/gamma becomes E[1/gamma]."""
    B = 1 + M / R
    return (
        (1 - mu * eta / 2) * r2
        + eta**2 * (4 * L * (B * inverse_gamma - 1) * W * Z + 3 * sigma2 * S2 * inverse_gamma / (2 * R))
        + Q(77, 8) * L**2 * B * Z * eta**3 / eta_g**2
    )


def fedavg_average_gradient__derived(k, gap, eta, eta_g, R, L, inverse_gamma, W, S2, M, sigma2, rho):
    """Theorem 18 summed over k rounds.

    Derived here as for DSGD: 23/64 eta times the mean of E|grad f|^2 is at most gap/k plus what one round adds.
    """
    B = 1 + M / R
    per_round = (
        L * eta**2 * ((B * inverse_gamma - 1) * W * rho + Q(3, 4) * sigma2 * S2 * inverse_gamma / R)
        + Q(49, 32) * L**2 * B * rho * eta**3 / eta_g**2
    )
    return (gap / k + per_round) * 64 / (23 * eta)
