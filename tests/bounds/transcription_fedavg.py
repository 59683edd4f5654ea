"""Li et al. (2020) in the form of Power-of-Choice, eq. (7): m clients drawn in proportion to p_k, all skews 1."""

LETTERS = {
    "num_steps": "T",
    "mu": "mu",
    "L": "L",
    "local_steps": "tau",
    "num_selected": "m",
    "G2": "G2",
    "sigma2": "sigma2",
    "objective_gap": "Gamma",
    "initial_distance2": "Delta_0",
}


def decaying_steps_gap__derived(T, mu, L, tau, m, G2, sigma2, Gamma, Delta_0):
    """Eq. (7) at rho_bar = rho_tilde = 1: the bias is gone, kappa = L/mu collects the rest."""
    kappa = L / mu
    noise = (32 * tau**2 * G2 + sigma2 / m) / mu
    return kappa * (4 * noise / 3 + 8 * L * Gamma / mu + 2 * L * Delta_0) / (T + 4 * kappa)
