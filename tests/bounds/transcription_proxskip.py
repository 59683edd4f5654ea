"""Transcription of ProxSkip: the theorem as restated, and with the contraction of gradient steps."""

LETTERS = {
    "num_steps": "T", "mu": "mu", "L": "L", "step_size": "gamma", "probability": "p", "initial_distance2": "Delta",
    "control_error2": "E",
}  # fmt: skip


def fixed_step_potential__printed(T, mu, gamma, p, Delta, E):
    """(1 - zeta)^T Psi_0, zeta = min(gamma mu, p^2)."""
    return (1 - min(gamma * mu, p**2)) ** T * (Delta + (gamma / p) ** 2 * E)


def refined_fixed_step_potential__refined(T, mu, L, gamma, p, Delta, E):
    """max(q^2, 1 - p^2)^T Psi_0, q = max(|1 - gamma mu|, |1 - gamma L|)."""
    q = max(abs(1 - gamma * mu), abs(1 - gamma * L))
    return max(q**2, 1 - p**2) ** T * (Delta + (gamma / p) ** 2 * E)
