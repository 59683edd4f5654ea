"""Problem families: a federation's losses, gradients, minimizers and constants.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "client_data": ["FederatedData"],
        "constants": ["GradientBound", "gradient_bound"],
        "nonconvex": ["NonconvexFederation"],
        "own_losses": ["LossFederation"],
        "perceptron": ["PerceptronFederation"],
        "prioritized": ["Prioritized", "prioritize"],
        "protocol": ["Federation"],
        "quadratic": ["QuadraticFederation"],
        "softmax": ["SoftmaxFederation"],
    },
)

if TYPE_CHECKING:
    from fedtheory.federation.client_data import FederatedData as FederatedData
    from fedtheory.federation.constants import GradientBound as GradientBound
    from fedtheory.federation.constants import gradient_bound as gradient_bound
    from fedtheory.federation.nonconvex import NonconvexFederation as NonconvexFederation
    from fedtheory.federation.own_losses import LossFederation as LossFederation
    from fedtheory.federation.perceptron import PerceptronFederation as PerceptronFederation
    from fedtheory.federation.prioritized import Prioritized as Prioritized
    from fedtheory.federation.prioritized import prioritize as prioritize
    from fedtheory.federation.protocol import Federation as Federation
    from fedtheory.federation.quadratic import QuadraticFederation as QuadraticFederation
    from fedtheory.federation.softmax import SoftmaxFederation as SoftmaxFederation
