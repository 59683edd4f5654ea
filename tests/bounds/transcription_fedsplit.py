"""Transcription of FedSplit: a round on equal parabolas of the smallest and the largest curvature."""

LETTERS = {"distance2": "Delta", "mu": "mu", "L": "L", "step_size": "s"}


def split_round__derived(Delta, s, mu, L):
    """All z_k = 1, so that w = 1 and z_k+ = 1 + 2 (prox_k(1) - 1) with prox_k(v) = v/(1 + s h)."""
    return max((1 + 2 * (1 / (1 + s * h) - 1)) ** 2 for h in (mu, L)) * Delta
