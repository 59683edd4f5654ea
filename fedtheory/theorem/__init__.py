"""Theorems as functions: formulas with their source, hypotheses and symbols, and claims with their findings.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

if TYPE_CHECKING:
    from fedtheory.theorem import letters as letters
    from fedtheory.theorem.assumptions import EXACT_GRADIENTS as EXACT_GRADIENTS
    from fedtheory.theorem.assumptions import AggregationWeights as AggregationWeights
    from fedtheory.theorem.assumptions import Assumption as Assumption
    from fedtheory.theorem.assumptions import BoundedGradients as BoundedGradients
    from fedtheory.theorem.assumptions import Convex as Convex
    from fedtheory.theorem.assumptions import HalvingSteps as HalvingSteps
    from fedtheory.theorem.assumptions import Hypothesis as Hypothesis
    from fedtheory.theorem.assumptions import Noise as Noise
    from fedtheory.theorem.assumptions import Smooth as Smooth
    from fedtheory.theorem.assumptions import StronglyConvex as StronglyConvex
    from fedtheory.theorem.assumptions import knows as knows
    from fedtheory.theorem.assumptions import method_is as method_is
    from fedtheory.theorem.assumptions import selected_by as selected_by
    from fedtheory.theorem.bound import Bound as Bound
    from fedtheory.theorem.bound import Summands as Summands
    from fedtheory.theorem.bound import states as states
    from fedtheory.theorem.claims import Claim as Claim
    from fedtheory.theorem.claims import claim as claim
    from fedtheory.theorem.domains import COUNT as COUNT
    from fedtheory.theorem.domains import HORIZON as HORIZON
    from fedtheory.theorem.domains import NONNEGATIVE as NONNEGATIVE
    from fedtheory.theorem.domains import POSITIVE as POSITIVE
    from fedtheory.theorem.domains import REAL as REAL
    from fedtheory.theorem.domains import Domain as Domain
    from fedtheory.theorem.findings import Finding as Finding
    from fedtheory.theorem.findings import at_least as at_least
    from fedtheory.theorem.findings import at_most as at_most
    from fedtheory.theorem.findings import equal_to as equal_to
    from fedtheory.theorem.findings import mean_at_most as mean_at_most
    from fedtheory.theorem.findings import not_applicable as not_applicable
    from fedtheory.theorem.findings import worst_of as worst_of
    from fedtheory.theorem.left_side import LeftSide as LeftSide
    from fedtheory.theorem.paper import FEDTHEORY as FEDTHEORY
    from fedtheory.theorem.paper import Paper as Paper
    from fedtheory.theorem.paper import Statement as Statement
    from fedtheory.theorem.scheme import Scheme as Scheme
    from fedtheory.theorem.setting import SETTINGS as SETTINGS
    from fedtheory.theorem.setting import Setting as Setting
    from fedtheory.theorem.setting import obstacle as obstacle
    from fedtheory.theorem.setting import setting_of as setting_of
    from fedtheory.theorem.step_sizes import largest_step_size as largest_step_size
    from fedtheory.theorem.symbols import SYMBOLS as SYMBOLS
    from fedtheory.theorem.symbols import Symbol as Symbol
    from fedtheory.theorem.worst_case_problem import WorstCaseProblem as WorstCaseProblem
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submodules=["letters"],
        submod_attrs={
            "assumptions": [
                "EXACT_GRADIENTS",
                "AggregationWeights",
                "Assumption",
                "BoundedGradients",
                "Convex",
                "HalvingSteps",
                "Hypothesis",
                "Noise",
                "Smooth",
                "StronglyConvex",
                "knows",
                "method_is",
                "selected_by",
            ],
            "bound": ["Bound", "Summands", "states"],
            "claims": ["Claim", "claim"],
            "domains": ["COUNT", "HORIZON", "NONNEGATIVE", "POSITIVE", "REAL", "Domain"],
            "findings": ["Finding", "at_least", "at_most", "equal_to", "mean_at_most", "not_applicable", "worst_of"],
            "left_side": ["LeftSide"],
            "paper": ["FEDTHEORY", "Paper", "Statement"],
            "scheme": ["Scheme"],
            "setting": ["SETTINGS", "Setting", "obstacle", "setting_of"],
            "step_sizes": ["largest_step_size"],
            "symbols": ["SYMBOLS", "Symbol"],
            "worst_case_problem": ["WorstCaseProblem"],
        },
    )
