"""Problem families: a federation's losses, gradients, minimizers and constants."""

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
