"""What fedtheory.rational offers; written by ``python -m tests.stubs``."""

from fedtheory.rational import averaging as averaging
from fedtheory.rational import draws as draws
from fedtheory.rational import noises as noises
from fedtheory.rational import quadratics as quadratics
from fedtheory.rational import vectors as vectors
from fedtheory.rational.averaging import RationalRun as RationalRun
from fedtheory.rational.averaging import constant_law as constant_law
from fedtheory.rational.draws import draw_federation as draw_federation
from fedtheory.rational.draws import draw_model as draw_model
from fedtheory.rational.noises import Noise as Noise
from fedtheory.rational.noises import no_noise as no_noise
from fedtheory.rational.noises import two_point_noise as two_point_noise
from fedtheory.rational.noises import variance_of as variance_of
from fedtheory.rational.quadratics import RationalQuadratics as RationalQuadratics
from fedtheory.rational.quadratics import opposite_clients as opposite_clients
from fedtheory.rational.vectors import Vector as Vector
from fedtheory.rational.vectors import added as added
from fedtheory.rational.vectors import combination as combination
from fedtheory.rational.vectors import difference as difference
from fedtheory.rational.vectors import inner as inner
from fedtheory.rational.vectors import norm2 as norm2
from fedtheory.rational.vectors import scaled as scaled
from fedtheory.rational.vectors import vector as vector
