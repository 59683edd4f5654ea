"""Transcription of FedProx, Theorem 4: rho as printed, and the derivation on the theory page."""

from fractions import Fraction as Q
from math import isqrt

LETTERS = {
    "gradient2": "g2", "L": "L", "negative_curvature": "L_minus", "proximal_weight": "mu",
    "gradient_dissimilarity": "B", "inexactness": "gam", "num_selected": "K",
}  # fmt: skip


def loss_change__printed(g2, L, L_minus, mu, B, gam, K):
    """Minus rho: 1/mu - gam B/mu - B (1 + gam) sqrt 2/(mu' sqrt K) and three more, mu' = mu - L_minus."""
    mub = mu - L_minus
    root = isqrt(2 * K)
    assert root**2 == 2 * K
    rho = 1 / mu - gam * B / mu - B * (1 + gam) * Q(root, K) / mub - L * B * (1 + gam) / (mub * mu)
    rho -= L * (1 + gam) ** 2 * B**2 / (2 * mub**2) + L * B**2 * (1 + gam) ** 2 / (mub**2 * K) * (2 * root + 2)
    return -rho * g2


def loss_change__derived(g2, L, L_minus, mu, B, gam):
    """A step of |y - w| <= r = (1 + gam) B g/mu', off the direction of the gradient by L r + gam B g, over mu."""
    r = (1 + gam) * B / (mu - L_minus)
    return g2 * (-1 / mu + (L * r + gam * B) / mu + L * r**2 / 2)
