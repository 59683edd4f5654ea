"""Transcription of local gradient descent: Lemmas 1 and 2, Theorem 1, and the derivations on the theory page."""

LETTERS = {
    "num_steps": "T", "L": "L", "local_steps": "H", "step_size": "g", "distance2": "r2", "initial_distance2": "r2",
    "zeta2": "s2", "drift": "V", "gap": "D", "gap_sum": "S",
}  # fmt: skip


def long_step__printed(r2, g, L, V, D):
    """r^2 + g L (1 + 2 g L) V - 2 g (1 - 2 g L) D."""
    return r2 + g * L * V + 2 * g**2 * L**2 * V - 2 * g * D + 4 * g**2 * L * D


def one_step__printed(r2, g, L, V, D):
    """The choice g <= 1/(4 L) in the first form."""
    return r2 + g * (3 * L * V / 2 - D)


def one_step__derived(r2, g, L, V, D):
    """Minus twice the gap and L V from three points of each client, times g."""
    return r2 - g * (2 * D - L * V)


def round_drift__printed(S, g, L, H, s2):
    """8 g^2 H^2 s2 in each of H steps."""
    return 5 * L * g**2 * H**2 * S + sum(8 * g**2 * H**2 * s2 for _ in range(H))


def round_drift__derived(S, g, L, H, s2):
    """2 g^2 t (2 L times the gaps + s2) from all steps before t; a gap is in the drifts of the later steps."""
    return g**2 * sum(4 * L * t * S + 2 * t**2 * s2 for t in range(1, H))


def averaged_gap__printed(T, g, L, H, s2, r2):
    return 2 * r2 / (g * T) + 24 * g**2 * s2 * H**2 * L


def averaged_gap__derived(T, g, L, H, s2, r2):
    """2 g S <= r2 + g L (sum of the drifts): T/H rounds of ``round_drift``, solved for S/T."""
    kept = 2 - L * round_drift__derived(1, g, L, H, 0)
    return (r2 / (g * T) + L * round_drift__derived(0, g, L, H, s2) / H) / kept
