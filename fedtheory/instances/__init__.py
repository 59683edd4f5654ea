"""Small federations in exact arithmetic, with rounds enumerated over all random outcomes."""

from fedtheory.instances.control_variates import ScaffnewState as ScaffnewState
from fedtheory.instances.control_variates import disagreement_map as disagreement_map
from fedtheory.instances.control_variates import disagreement_radius as disagreement_radius
from fedtheory.instances.control_variates import mean_potentials as mean_potentials
from fedtheory.instances.draws import draw_federation as draw_federation
from fedtheory.instances.draws import draw_model as draw_model
from fedtheory.instances.federations import RationalQuadratics as RationalQuadratics
from fedtheory.instances.stationary_points import StationaryPoints as StationaryPoints
from fedtheory.instances.vectors import Vector as Vector
from fedtheory.instances.vectors import combination as combination
from fedtheory.instances.vectors import vector as vector
