"""Transcription of EF21: the recursions of the gap and the memories' error."""

LETTERS = {
    "num_rounds": "T", "mu": "mu", "step_size": "eta", "compression_error": "s", "initial_gap": "gap",
    "memory_error2": "G",
}  # fmt: skip


def average_gradient__refined(T, eta, s, gap, G):
    """T eta/2 times the mean is at most the first potential; the weight omega of G solves eta/2 + s omega = omega."""
    omega = eta / 2 / (1 - s)
    return (gap + omega * G) / (eta / 2 * T)


def polyak_gap__refined(T, mu, eta, s, gap, G):
    """The weight omega of G solves eta/2 + s omega = (1 - eta mu) omega."""
    omega = eta / 2 / (1 - eta * mu - s)
    return (1 - eta * mu) ** T * (gap + omega * G)
