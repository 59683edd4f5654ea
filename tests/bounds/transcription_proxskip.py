"""Transcription of ProxSkip: the theorem as restated, with the contraction of gradient steps, and with noise."""

LETTERS = {
    "num_steps": "T", "mu": "mu", "L": "L", "step_size": "gamma", "probability": "p", "initial_distance2": "Delta",
    "control_error2": "E", "growth": "A", "noise_floor": "C", "memory_share": "B", "memory_growth": "A1",
    "memory_rate": "B1", "memory_floor": "C1", "memory_weight": "W", "initial_memory_error": "s",
}  # fmt: skip


def fixed_step_potential__printed(T, mu, gamma, p, Delta, E):
    """(1 - zeta)^T Psi_0, zeta = min(gamma mu, p^2)."""
    return (1 - min(gamma * mu, p**2)) ** T * (Delta + (gamma / p) ** 2 * E)


def refined_fixed_step_potential__refined(T, mu, L, gamma, p, Delta, E):
    """max(q^2, 1 - p^2)^T Psi_0, q = max(|1 - gamma mu|, |1 - gamma L|)."""
    q = max(abs(1 - gamma * mu), abs(1 - gamma * L))
    return max(q**2, 1 - p**2) ** T * (Delta + (gamma / p) ** 2 * E)


def stochastic_potential__refined(T, mu, gamma, p, A, C, Delta, E):
    """Step by step: (1 - gamma mu (2 - gamma A)) or 1 - p^2 times Psi, plus gamma^2 C."""
    psi = Delta + (gamma / p) ** 2 * E
    for _ in range(T):
        psi = max(1 - 2 * gamma * mu + gamma**2 * mu * A, 1 - p**2) * psi + gamma**2 * C
    return psi


def corrected_potential__refined(T, mu, gamma, p, A, B, C, A1, B1, C1, W, Delta, E, s):
    """The form without a memory for A + W A' and C + W C', if beta = (B + W B')/W does not exceed its rate."""
    psi, beta = Delta + (gamma / p) ** 2 * E + gamma**2 * W * s, (B + W * B1) / W
    for _ in range(T):
        psi = max(1 - 2 * gamma * mu + gamma**2 * mu * (A + W * A1), 1 - p**2, beta) * psi + gamma**2 * (C + W * C1)
    return psi
