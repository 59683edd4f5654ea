"""A run with what theorems ask about it: a property for each argument of a bound that can be read off."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from fedtheory._validate import Array
from fedtheory.engine.schedule import step_sizes
from fedtheory.errors import AssumptionViolated
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.exact.skew_intervals import SelectionSkew
from fedtheory.federation.constants import gradient_bound
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.scheme import Scheme

__all__ = ["Run", "Theorem"]

_OPTIONS = ("num_rounds", "local_steps", "relative_noise", "server_step_size")


class Theorem(Protocol):
    """What a bound says of itself, to be asked what it promises a run."""

    __name__: str
    statement: Any
    hypotheses: tuple[Any, ...]
    domains: Mapping[str, Any]
    step_sizes: Callable[..., Array] | None

    def terms(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the named summands, or refuse arguments that the hypotheses exclude."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run, with a property for each argument of a bound that can be read off it."""

    fed: Any
    strategy: Any
    num_rounds: int
    local_steps: int
    given_step_size: Any
    initial: Array
    gradient_noise: float
    relative_noise: float
    server_step_size: float
    bound: Theorem

    def read(self, name: str) -> Any:
        """Return the argument of that name."""
        if isinstance(getattr(type(self), name, None), property | cached_property) or name in _OPTIONS:
            return getattr(self, name)
        message = (
            f"{self.bound.__name__} needs {name}, which cannot be read off the federation and the run: give {name}="
        )
        raise TypeError(message)

    @property
    def num_steps(self) -> int:
        return self.num_rounds * self.local_steps

    @property
    def num_clients(self) -> int:
        return int(self.fed.num_clients)

    @property
    def num_selected(self) -> int:
        if self.scheme.selection == "all":
            return self.num_clients
        chosen = getattr(getattr(self.strategy, "strategy", self.strategy), "num_selected", None)
        if chosen is None:
            message = f"strategy must say num_selected, got {self.strategy!r}"
            raise TypeError(message)
        return int(chosen)

    @cached_property
    def scheme(self) -> Scheme:
        scheme = getattr(self.strategy, "scheme", None)
        if not isinstance(scheme, Scheme):
            message = f"strategy must say its scheme, a fedtheory.scheme.Scheme, got {self.strategy!r}"
            raise TypeError(message)
        return scheme

    @property
    def mu(self) -> float:
        return float(self.fed.strong_convexity)

    @property
    def L(self) -> float:  # noqa: N802
        return float(self.fed.smoothness)

    @property
    def objective_gap(self) -> float:
        return float(self.fed.objective_gap)

    @property
    def sigma2(self) -> float:
        return self.gradient_noise

    @property
    def weighted_sigma2(self) -> float:
        return self.gradient_noise * self.sum_squared_weights

    @property
    def max_weight(self) -> float:
        return float(np.max(self.fed.weights))

    @property
    def sum_squared_weights(self) -> float:
        return float(np.sum(np.square(self.fed.weights)))

    @property
    def squared_weights(self) -> float:
        """``sum_k q_k^2``, of a mean or of all clients."""
        return self.sum_squared_weights if self.scheme.selection == "all" else 1 / self.num_selected

    @property
    def initial_distance2(self) -> float:
        return float(np.sum((self.initial - self.fed.minimizer) ** 2))

    @property
    def initial_gap(self) -> float:
        return float(self.fed.excess(self.initial))

    @property
    def step_size(self) -> float:
        sizes = np.unique([] if self.given_step_size is None else self.taken_steps)
        if sizes.size != 1:
            message = f"{self.bound.__name__} needs one step_size for all steps, got {self.given_step_size!r}"
            raise ValueError(message)
        return float(sizes[0])

    @cached_property
    def taken_steps(self) -> Array:
        return step_sizes(self.given_step_size, max(self.num_rounds, 1), self.local_steps)

    @cached_property
    def prescribed_steps(self) -> Array:
        """The step sizes of the theorem, one more than the run has if it has none."""
        prescribe = self.bound.step_sizes
        assert prescribe is not None
        names = list(inspect.signature(prescribe).parameters)[1:]
        sizes: Array = prescribe(max(self.num_steps, 1), **{name: self.read(name) for name in names})
        return sizes

    @property
    def G2(self) -> float:  # noqa: N802
        if not isinstance(self.fed, QuadraticFederation):
            message = f"a bound on the gradients of a {type(self.fed).__name__} is not known: give G2="
            raise AssumptionViolated(message)
        steps = self.taken_steps if self.bound.step_sizes is None else self.prescribed_steps
        return gradient_bound(self.fed, self.initial, steps, self.gradient_noise).G2

    @cached_property
    def skew(self) -> SelectionSkew:
        try:
            # The search sharpens the sides that no bound needs.
            return selection_skew(self.fed, self.strategy, num_models=1)
        except TypeError as error:
            message = f"the skews are not known ({error}): give rho_tilde= and the others"
            raise AssumptionViolated(message) from error

    @property
    def rho_bar(self) -> float:
        return self.skew.rho_bar.lower

    @property
    def rho_diagonal(self) -> float:
        return self.skew.rho_diagonal.lower

    @property
    def rho_tilde(self) -> float:
        return self.skew.rho_tilde.upper

    @property
    def gamma(self) -> float:
        """1 for all clients; b/n for b expected clients, chosen uniformly or better."""
        if self.scheme.selection == "all":
            return 1.0
        if getattr(self.strategy, "probabilities", None) not in ("uniform", "optimal"):
            message = (
                f"the improvement of {self.strategy!r} over uniform sampling is not known: give gamma= or the like"
            )
            raise AssumptionViolated(message)
        return float(self.strategy.expected_size / self.num_clients)

    @property
    def smallest_gamma(self) -> float:
        return self.gamma

    @property
    def mean_inverse_gamma(self) -> float:
        return 1 / self.gamma

    @property
    def dissimilarity(self) -> float:
        """``sum_i w_i |grad f_i - grad f|^2``, the same everywhere if all clients have the same curvature."""
        fed = self.fed
        if not isinstance(fed, QuadraticFederation) or np.ptp(fed.matrices, axis=0).any():
            message = "dissimilarity is unbounded unless all clients have one curvature: give dissimilarity="
            raise AssumptionViolated(message)
        gradients = fed.gradients(fed.minimizer)
        return float(fed.weights @ np.sum(gradients**2, axis=1))
