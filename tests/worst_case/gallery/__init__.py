"""PEPit's gallery in the problem language: methods of the literature, PEPit's results, and theory.

Each example is written from the mathematics of its source. ``pepit`` is the result of PEPit 0.5.1 with Clarabel for the
same constants, a float with about six correct digits. ``theory`` is the exact value, and ``bound`` is an upper bound
from a paper, if there is one. Irrational constants are replaced by rationals (``near``), which changes values by less
than 1e-10.
"""

import importlib
import pkgutil

from tests.worst_case.gallery.examples import Example

__all__ = ["GALLERY", "NOT_DONE", "Example"]

GALLERY = [
    one
    for module in pkgutil.iter_modules(__path__)
    for one in vars(importlib.import_module(f"{__name__}.{module.name}")).values()
    if isinstance(one, Example)
]

NO_CLASS = "the language has no such class"
SLOW = "proved on both sides, but not in two seconds"
NOT_DONE: dict[str, str] = {
    "accelerated_gradient_flow_convex": "no side in 15 s: nothing bounds speed and subgradient",
    "accelerated_gradient_method (potential)": "the upper side lacks a proof after 20 s",
    "accelerated_inexact_forward_backward": "upper side 0.2593850681 for two steps, no lower one",
    "bregman_proximal_point": "no proof in 20 s for two steps; all products are free numbers, a linear program",
    "conjugate_gradient": f"{SLOW}: 8 s for two steps, where points of the line search have null squares",
    "conjugate_gradient_qg_convex": NO_CLASS,
    "epsilon_subgradient_method": NO_CLASS,
    "gradient_descent_lc": "lower side 0.1494464944 of a general map, which theory says, no upper one",
    "gradient_descent_qg_convex": NO_CLASS,
    "gradient_descent_qg_convex_decreasing": NO_CLASS,
    "gradient_descent_quadratic_lojasiewicz_expensive": "two matrices of variables for each pair of points",
    "gradient_descent_quadratic_lojasiewicz_intermediate": "a family of conditions with a parameter",
    "gradient_flow_strongly_convex": "neither side: the subgradient's products with points know no least square",
    "heavy_ball_momentum_qg_convex": NO_CLASS,
    "inconsistent_halpern_iteration": "no side has a proof; the displacement and its points share one ray",
    "no_lips_in_bregman_divergence": f"{SLOW}: 9 s, 1 to 1.00000001 for two steps",
    "optimistic_gradient": "upper side 1.298 for one step, where PEPit says 1.0625: not sharp",
    "optimistic_gradient_refined": "two matrices of variables for each pair of points",
    "optimistic_gradient_refined_cocoercive": "two matrices of variables for each pair of points",
    "proximal_gradient_quadratics": "no side has a proof: a block for the Hessian, and free subgradients",
    "robust_momentum": "lower side 0.3024999999, which theory says, no upper one",
    "subgradient_method_rsi_eb": NO_CLASS,
}
"""PEPit's examples that are not here, with the reason."""
