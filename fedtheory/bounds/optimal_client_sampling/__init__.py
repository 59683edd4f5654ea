"""Optimal Client Sampling (Chen, Horvath, Richtarik): DSGD and FedAvg with independent sampling.

Every statement holds for any independent sampling with unbiased weights ``w_i / p_i``. The sampling enters through the
relative improvement factor gamma in [m/n, 1]; optimal sampling has at least the gamma of uniform sampling.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submodules=["_worst_cases"],
    submod_attrs={
        "dsgd": ["dsgd_convex_clients", "dsgd_nonconvex", "dsgd_per_client_variant", "dsgd_strongly_convex"],
        "fedavg": [
            "fedavg_convex_clients",
            "fedavg_nonconvex",
            "fedavg_strongly_convex",
            "fedavg_strongly_convex_per_client",
        ],
        "lemmas": [
            "client_drift",
            "dsgd_second_moment",
            "estimator_error",
            "estimator_second_moment",
            "fedavg_second_moment",
            "perturbed_inner_product",
        ],
        "paper": ["PAPER"],
        "rounds": [
            "dsgd_average_gradient",
            "dsgd_contraction",
            "fedavg_average_gradient",
            "fedavg_contraction",
            "full_participation",
            "full_participation_distance",
        ],
    },
)

if TYPE_CHECKING:
    from fedtheory.bounds.optimal_client_sampling import _worst_cases as _worst_cases
    from fedtheory.bounds.optimal_client_sampling.dsgd import dsgd_convex_clients as dsgd_convex_clients
    from fedtheory.bounds.optimal_client_sampling.dsgd import dsgd_nonconvex as dsgd_nonconvex
    from fedtheory.bounds.optimal_client_sampling.dsgd import dsgd_per_client_variant as dsgd_per_client_variant
    from fedtheory.bounds.optimal_client_sampling.dsgd import dsgd_strongly_convex as dsgd_strongly_convex
    from fedtheory.bounds.optimal_client_sampling.fedavg import fedavg_convex_clients as fedavg_convex_clients
    from fedtheory.bounds.optimal_client_sampling.fedavg import fedavg_nonconvex as fedavg_nonconvex
    from fedtheory.bounds.optimal_client_sampling.fedavg import fedavg_strongly_convex as fedavg_strongly_convex
    from fedtheory.bounds.optimal_client_sampling.fedavg import (
        fedavg_strongly_convex_per_client as fedavg_strongly_convex_per_client,
    )
    from fedtheory.bounds.optimal_client_sampling.lemmas import client_drift as client_drift
    from fedtheory.bounds.optimal_client_sampling.lemmas import dsgd_second_moment as dsgd_second_moment
    from fedtheory.bounds.optimal_client_sampling.lemmas import estimator_error as estimator_error
    from fedtheory.bounds.optimal_client_sampling.lemmas import estimator_second_moment as estimator_second_moment
    from fedtheory.bounds.optimal_client_sampling.lemmas import fedavg_second_moment as fedavg_second_moment
    from fedtheory.bounds.optimal_client_sampling.lemmas import perturbed_inner_product as perturbed_inner_product
    from fedtheory.bounds.optimal_client_sampling.paper import PAPER as PAPER
    from fedtheory.bounds.optimal_client_sampling.rounds import dsgd_average_gradient as dsgd_average_gradient
    from fedtheory.bounds.optimal_client_sampling.rounds import dsgd_contraction as dsgd_contraction
    from fedtheory.bounds.optimal_client_sampling.rounds import fedavg_average_gradient as fedavg_average_gradient
    from fedtheory.bounds.optimal_client_sampling.rounds import fedavg_contraction as fedavg_contraction
    from fedtheory.bounds.optimal_client_sampling.rounds import full_participation as full_participation
    from fedtheory.bounds.optimal_client_sampling.rounds import (
        full_participation_distance as full_participation_distance,
    )
