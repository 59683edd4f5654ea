"""Small federations in exact arithmetic, with rounds enumerated over all random outcomes.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

if TYPE_CHECKING:
    from fedtheory.instances.draws import draw_federation as draw_federation
    from fedtheory.instances.draws import draw_model as draw_model
    from fedtheory.instances.draws import draw_noise as draw_noise
    from fedtheory.instances.federations import RationalQuadratics as RationalQuadratics
    from fedtheory.instances.stationary_points import StationaryPoints as StationaryPoints
    from fedtheory.instances.vectors import Vector as Vector
    from fedtheory.instances.vectors import combination as combination
    from fedtheory.instances.vectors import vector as vector
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submod_attrs={
            "draws": ["draw_federation", "draw_model", "draw_noise"],
            "federations": ["RationalQuadratics"],
            "stationary_points": ["StationaryPoints"],
            "vectors": ["Vector", "combination", "vector"],
        },
    )
