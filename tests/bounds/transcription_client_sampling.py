"""One step of sampled clients: the part of the curvatures, and the rest with the noise of the sampling."""

from tests.bounds.transcription_sgd import minkowski

LETTERS = {"mu": "mu", "L": "L", "step_size": "eta", "distance2": "Delta", "sampling_variance": "V"}


def one_step__derived(Delta, eta, mu, L, V):
    return minkowski(Delta, V, eta, mu, L)
