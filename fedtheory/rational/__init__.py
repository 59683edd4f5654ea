"""Small federations in rational arithmetic: rounds are followed along every path."""

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
