"""Transcription of FedLin: a round as so many steps of gradient descent."""

LETTERS = {"distance2": "Delta", "mu": "mu", "L": "L", "step_size": "eta", "local_steps": "tau"}


def corrected_round__derived(Delta, eta, mu, tau):
    """All clients mu/2 |w|^2, step by step."""
    w = 1
    for _ in range(tau):
        w -= eta * mu * w
    return w**2 * Delta
