"""What fedtheory.rational offers; written by ``python -m tests.stubs``."""

from fedtheory.rational import draws as draws
from fedtheory.rational import quadratics as quadratics
from fedtheory.rational import scaffnew as scaffnew
from fedtheory.rational import stationary_points as stationary_points
from fedtheory.rational import vectors as vectors
from fedtheory.rational.draws import draw_federation as draw_federation
from fedtheory.rational.draws import draw_model as draw_model
from fedtheory.rational.quadratics import RationalQuadratics as RationalQuadratics
from fedtheory.rational.scaffnew import ScaffnewState as ScaffnewState
from fedtheory.rational.scaffnew import disagreement_map as disagreement_map
from fedtheory.rational.scaffnew import disagreement_radius as disagreement_radius
from fedtheory.rational.scaffnew import mean_potentials as mean_potentials
from fedtheory.rational.stationary_points import StationaryPoints as StationaryPoints
from fedtheory.rational.vectors import combination as combination
from fedtheory.rational.vectors import difference as difference
from fedtheory.rational.vectors import inner as inner
from fedtheory.rational.vectors import scaled as scaled
