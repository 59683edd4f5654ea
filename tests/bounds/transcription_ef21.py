"""Transcription of EF21 under the Polyak-Lojasiewicz condition: the recursion of the gap and the memories' error."""

LETTERS = {
    "num_rounds": "T", "mu": "mu", "step_size": "eta", "compression_error": "s", "initial_gap": "gap",
    "memory_error2": "G",
}  # fmt: skip


def polyak_gap__refined(T, mu, eta, s, gap, G):
    """The weight omega of G solves eta/2 + s omega = (1 - eta mu) omega."""
    omega = eta / 2 / (1 - eta * mu - s)
    return (1 - eta * mu) ** T * (gap + omega * G)
