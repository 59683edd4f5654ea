"""Worst cases over a theorem's class: semidefinite programs with rational certificates.

Modules are imported on first use, so that importing a bound, which refers to its worst case, stays fast.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submodules=["arguments", "control_variates", "exporters", "optimal_sampling", "skewed_selection"],
    submod_attrs={
        "aligned_selection": ["fedalign"],
        "biased_selection": ["power_of_choice"],
        "closed_forms": ["ClosedForm", "closed_form"],
        "comparisons": ["Comparison", "Sensitivity", "compare", "compared"],
        "compression": ["compressed_gradients", "ef21", "error_feedback"],
        "control_variates": ["scaffold"],
        "federated_averaging": ["fedavg"],
        "heterogeneous_rounds": ["heterogeneous_round"],
        "instances": ["Instance"],
        "optimal_sampling": ["optimal_client_sampling"],
        "problem": ["Problem"],
        "proofs": ["Proof"],
        "proximal_rounds": ["fedprox"],
        "rates": ["Rate", "rate"],
        "skewed_selection": ["skew_class", "skew_class_horizon"],
        "worst_cases": ["WorstCase"],
    },
)

if TYPE_CHECKING:
    from fedtheory.worst_case import arguments as arguments
    from fedtheory.worst_case import control_variates as control_variates
    from fedtheory.worst_case import exporters as exporters
    from fedtheory.worst_case import optimal_sampling as optimal_sampling
    from fedtheory.worst_case import skewed_selection as skewed_selection
    from fedtheory.worst_case.aligned_selection import fedalign as fedalign
    from fedtheory.worst_case.biased_selection import power_of_choice as power_of_choice
    from fedtheory.worst_case.closed_forms import ClosedForm as ClosedForm
    from fedtheory.worst_case.closed_forms import closed_form as closed_form
    from fedtheory.worst_case.comparisons import Comparison as Comparison
    from fedtheory.worst_case.comparisons import Sensitivity as Sensitivity
    from fedtheory.worst_case.comparisons import compare as compare
    from fedtheory.worst_case.comparisons import compared as compared
    from fedtheory.worst_case.compression import compressed_gradients as compressed_gradients
    from fedtheory.worst_case.compression import ef21 as ef21
    from fedtheory.worst_case.compression import error_feedback as error_feedback
    from fedtheory.worst_case.control_variates import scaffold as scaffold
    from fedtheory.worst_case.federated_averaging import fedavg as fedavg
    from fedtheory.worst_case.heterogeneous_rounds import heterogeneous_round as heterogeneous_round
    from fedtheory.worst_case.instances import Instance as Instance
    from fedtheory.worst_case.optimal_sampling import optimal_client_sampling as optimal_client_sampling
    from fedtheory.worst_case.problem import Problem as Problem
    from fedtheory.worst_case.proofs import Proof as Proof
    from fedtheory.worst_case.proximal_rounds import fedprox as fedprox
    from fedtheory.worst_case.rates import Rate as Rate
    from fedtheory.worst_case.rates import rate as rate
    from fedtheory.worst_case.skewed_selection import skew_class as skew_class
    from fedtheory.worst_case.skewed_selection import skew_class_horizon as skew_class_horizon
    from fedtheory.worst_case.worst_cases import WorstCase as WorstCase
