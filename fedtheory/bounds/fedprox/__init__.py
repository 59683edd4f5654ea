"""FedProx (Li, Sahu and others 2020): proximal problems around the server's model."""

from fedtheory.bounds.fedprox.paper import PAPER as PAPER
from fedtheory.bounds.fedprox.theorem_4 import loss_change as loss_change
