"""The sums over the local steps of a round with a fixed step size, in closed form and with all their digits."""

from fedtheory.theorem.arithmetic import geometric, short_of_one

__all__ = ["of_a_round"]


def of_a_round(step_size, local_steps, *, mu, L):
    """Return c^tau, 1 - c^tau, A and theta A."""
    rest, away = short_of_one(step_size, mu), short_of_one(step_size, L)
    kept, lost = geometric(step_size * mu, local_steps, rest)
    # theta A = (1 - x) (c^tau - b^tau)/(c - b) with b = (1 - x)^2: b/c = 1 - ratio keeps the digits of short steps.
    difference = step_size * ((L - mu) + L * away)
    _, below = geometric(difference / rest, local_steps)
    return kept, lost, lost / (step_size * mu), away * kept * below / difference
