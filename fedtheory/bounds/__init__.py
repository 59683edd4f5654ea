"""Bounds of published theorems, one package for each paper.

Papers are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__all__: list[str]

if TYPE_CHECKING:
    from fedtheory.bounds import average_drift as average_drift
    from fedtheory.bounds import client_sampling as client_sampling
    from fedtheory.bounds import delayed as delayed
    from fedtheory.bounds import ef21 as ef21
    from fedtheory.bounds import error_feedback as error_feedback
    from fedtheory.bounds import fedalign as fedalign
    from fedtheory.bounds import fedavg as fedavg
    from fedtheory.bounds import fedexp as fedexp
    from fedtheory.bounds import fedlin as fedlin
    from fedtheory.bounds import fedopt as fedopt
    from fedtheory.bounds import fedprox as fedprox
    from fedtheory.bounds import fedsplit as fedsplit
    from fedtheory.bounds import local_gd as local_gd
    from fedtheory.bounds import optimal_client_sampling as optimal_client_sampling
    from fedtheory.bounds import participation as participation
    from fedtheory.bounds import power_of_choice as power_of_choice
    from fedtheory.bounds import proxskip as proxskip
    from fedtheory.bounds import recursion as recursion
    from fedtheory.bounds import scaffold as scaffold
    from fedtheory.bounds import sgd as sgd
    from fedtheory.bounds import stationary as stationary
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submodules=[
            "average_drift",
            "client_sampling",
            "delayed",
            "ef21",
            "error_feedback",
            "fedalign",
            "fedavg",
            "fedexp",
            "fedlin",
            "fedopt",
            "fedprox",
            "fedsplit",
            "local_gd",
            "optimal_client_sampling",
            "participation",
            "power_of_choice",
            "proxskip",
            "recursion",
            "scaffold",
            "sgd",
            "stationary",
        ],
    )
