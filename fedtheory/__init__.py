"""fedtheory: theory verification for federated optimization.

The nouns and verbs below are loaded on first use, so that ``import fedtheory`` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory import (
        arithmetic,
        assumptions,
        bounds,
        claims,
        conformance,
        datasets,
        domains,
        engine,
        errors,
        estimates,
        exact,
        federation,
        methods,
        paper,
        plotting,
        rational,
        sampling,
        scheme,
        selection,
        statistics,
        study,
        sweeps,
        testing,
        theorem,
        valuation,
        verification,
        worst_case,
    )
    from fedtheory.engine.simulation import fedavg
    from fedtheory.federation.perceptron import PerceptronFederation
    from fedtheory.federation.quadratic import QuadraticFederation
    from fedtheory.federation.softmax import SoftmaxFederation
    from fedtheory.sweeps.run import sweep

__version__ = "0.1.0"

_PACKAGES = frozenset(
    {
        "arithmetic",
        "assumptions",
        "bounds",
        "claims",
        "conformance",
        "datasets",
        "domains",
        "engine",
        "errors",
        "estimates",
        "exact",
        "federation",
        "methods",
        "paper",
        "plotting",
        "rational",
        "sampling",
        "scheme",
        "selection",
        "statistics",
        "study",
        "sweeps",
        "testing",
        "theorem",
        "valuation",
        "verification",
        "worst_case",
    }
)
_HOMES = {
    "PerceptronFederation": "fedtheory.federation.perceptron",
    "QuadraticFederation": "fedtheory.federation.quadratic",
    "SoftmaxFederation": "fedtheory.federation.softmax",
    "fedavg": "fedtheory.engine.simulation",
    "sweep": "fedtheory.sweeps.run",
}

__all__ = [
    "PerceptronFederation",
    "QuadraticFederation",
    "SoftmaxFederation",
    "arithmetic",
    "assumptions",
    "bounds",
    "claims",
    "conformance",
    "datasets",
    "domains",
    "engine",
    "errors",
    "estimates",
    "exact",
    "fedavg",
    "federation",
    "methods",
    "paper",
    "plotting",
    "rational",
    "sampling",
    "scheme",
    "selection",
    "statistics",
    "study",
    "sweep",
    "sweeps",
    "testing",
    "theorem",
    "valuation",
    "verification",
    "worst_case",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"fedtheory.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    from fedtheory._support.wording import close_to

    message = f"module 'fedtheory' has no attribute {name!r}{close_to(name, __all__)}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
