"""Delayed gradients: factor by factor, with the largest delay counted in the rate."""

LETTERS = {
    "num_rounds": "T", "step_size": "eta", "mu": "mu", "L": "L", "largest_delay": "D", "initial_distance2": "Delta",
}  # fmt: skip


def fixed_step_distance__derived(T, eta, mu, L, D, Delta):
    """Every round multiplies the distance by ``(2 D + rho)/(2 D + 1)``, the mean of 2 D ones and rho."""
    rho = 1 - eta * mu + D * (eta * L) ** 2
    for _ in range(T):
        Delta = Delta * ((2 * D + rho) / (2 * D + 1)) ** 2
    return Delta
