"""What fedtheory.federation offers; written by ``python -m tests.stubs``."""

from fedtheory.federation import client_data as client_data
from fedtheory.federation import constants as constants
from fedtheory.federation import nonconvex as nonconvex
from fedtheory.federation import own_losses as own_losses
from fedtheory.federation import perceptron as perceptron
from fedtheory.federation import prioritized as prioritized
from fedtheory.federation import protocol as protocol
from fedtheory.federation import quadratic as quadratic
from fedtheory.federation import softmax as softmax
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
