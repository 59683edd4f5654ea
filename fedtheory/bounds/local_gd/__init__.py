"""Local gradient descent of convex clients (Khaled, Mishchenko, Richtarik 2019)."""

from fedtheory.bounds.local_gd.averaged import averaged_gap as averaged_gap
from fedtheory.bounds.local_gd.lemmas import long_step as long_step
from fedtheory.bounds.local_gd.lemmas import one_step as one_step
from fedtheory.bounds.local_gd.lemmas import round_drift as round_drift
from fedtheory.bounds.local_gd.paper import PAPER as PAPER
