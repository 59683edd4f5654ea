"""FedProx (Li, Sahu and others 2020): proximal problems around the server's model."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.fedprox.paper import PAPER as PAPER
from fedtheory.bounds.fedprox.theorem_4 import loss_change as loss_change

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
