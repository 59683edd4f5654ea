"""Client selection strategies, selection laws and availability models.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "active_federated": ["ActiveFederated", "ActiveFederatedByReports"],
        "availability": ["AlternatingGroups", "Availability", "Available", "BernoulliAvailability"],
        "full": ["Full"],
        "greedy_shapley": ["GreedyShapley", "SoftmaxShapley", "UpperConfidenceShapley"],
        "independent": ["Independent"],
        "laws": ["Fixed", "Moments", "Ranked", "Scheduled"],
        "loss_matching": ["AnnealedThreshold", "LossMatching", "matches"],
        "periodic": ["Periodic"],
        "power_of_choice": ["DecayingCandidates", "HalfTimeCandidates", "HalvingCandidates", "PowerOfChoice"],
        "proportional": ["Proportional"],
        "rules": ["Rules", "Strategy"],
        "size_weighted": ["SizeWeighted"],
        "uniform": ["Uniform"],
    },
)

if TYPE_CHECKING:
    from fedtheory.selection.active_federated import ActiveFederated as ActiveFederated
    from fedtheory.selection.active_federated import ActiveFederatedByReports as ActiveFederatedByReports
    from fedtheory.selection.availability import AlternatingGroups as AlternatingGroups
    from fedtheory.selection.availability import Availability as Availability
    from fedtheory.selection.availability import Available as Available
    from fedtheory.selection.availability import BernoulliAvailability as BernoulliAvailability
    from fedtheory.selection.full import Full as Full
    from fedtheory.selection.greedy_shapley import GreedyShapley as GreedyShapley
    from fedtheory.selection.greedy_shapley import SoftmaxShapley as SoftmaxShapley
    from fedtheory.selection.greedy_shapley import UpperConfidenceShapley as UpperConfidenceShapley
    from fedtheory.selection.independent import Independent as Independent
    from fedtheory.selection.laws import Fixed as Fixed
    from fedtheory.selection.laws import Moments as Moments
    from fedtheory.selection.laws import Ranked as Ranked
    from fedtheory.selection.laws import Scheduled as Scheduled
    from fedtheory.selection.loss_matching import AnnealedThreshold as AnnealedThreshold
    from fedtheory.selection.loss_matching import LossMatching as LossMatching
    from fedtheory.selection.loss_matching import matches as matches
    from fedtheory.selection.periodic import Periodic as Periodic
    from fedtheory.selection.power_of_choice import DecayingCandidates as DecayingCandidates
    from fedtheory.selection.power_of_choice import HalfTimeCandidates as HalfTimeCandidates
    from fedtheory.selection.power_of_choice import HalvingCandidates as HalvingCandidates
    from fedtheory.selection.power_of_choice import PowerOfChoice as PowerOfChoice
    from fedtheory.selection.proportional import Proportional as Proportional
    from fedtheory.selection.rules import Rules as Rules
    from fedtheory.selection.rules import Strategy as Strategy
    from fedtheory.selection.size_weighted import SizeWeighted as SizeWeighted
    from fedtheory.selection.uniform import Uniform as Uniform
