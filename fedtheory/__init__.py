"""fedtheory: theory verification for federated optimization.

Packages and names are imported on first use, so that ``import fedtheory`` stays light.
"""

from typing import TYPE_CHECKING

from fedtheory import _storage as _storage  # notes the time
from fedtheory._support import lazy

__version__ = "0.1.0"
__all__: list[str]

if TYPE_CHECKING:
    from fedtheory import arithmetic as arithmetic
    from fedtheory import bounds as bounds
    from fedtheory import claims as claims
    from fedtheory import conformance as conformance
    from fedtheory import datasets as datasets
    from fedtheory import engine as engine
    from fedtheory import errors as errors
    from fedtheory import exact as exact
    from fedtheory import federation as federation
    from fedtheory import formal as formal
    from fedtheory import instances as instances
    from fedtheory import methods as methods
    from fedtheory import plotting as plotting
    from fedtheory import sampling as sampling
    from fedtheory import selection as selection
    from fedtheory import statistics as statistics
    from fedtheory import study as study
    from fedtheory import sweeps as sweeps
    from fedtheory import theorem as theorem
    from fedtheory import valuation as valuation
    from fedtheory import verification as verification
    from fedtheory import worst_case as worst_case
    from fedtheory.engine.simulation import fedavg as fedavg
    from fedtheory.federation import PerceptronFederation as PerceptronFederation
    from fedtheory.federation import QuadraticFederation as QuadraticFederation
    from fedtheory.federation import SoftmaxFederation as SoftmaxFederation
    from fedtheory.referee import referee as referee
    from fedtheory.sweeps import sweep as sweep
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submodules=[
            "arithmetic",
            "bounds",
            "claims",
            "conformance",
            "datasets",
            "engine",
            "errors",
            "exact",
            "federation",
            "formal",
            "instances",
            "methods",
            "plotting",
            "sampling",
            "selection",
            "statistics",
            "study",
            "sweeps",
            "theorem",
            "valuation",
            "verification",
            "worst_case",
        ],
        submod_attrs={
            "engine.simulation": ["fedavg"],
            "federation": ["PerceptronFederation", "QuadraticFederation", "SoftmaxFederation"],
            "referee": ["referee"],
            "sweeps": ["sweep"],
        },
    )
