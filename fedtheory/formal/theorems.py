"""Table of the theorems proved in Coq."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Theorem(NamedTuple):
    """A theorem of the Coq development.

    Attributes
    ----------
    file, name
        File in `FOLDER`, and name of the theorem.
    assumes
        Assumptions of the theorem that are not hypotheses of the bound; usually none.
    """

    file: str
    name: str
    assumes: str = ""


FOLDER = Path(__file__).parent
FOUNDATION = ("Space", "Functions", "Certificate", "Conditions", "Calls", "Laws", "Families")
"""The files that an exported theorem needs, in the order in which they are compiled."""
AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
    }
)
"""The axioms of Coq's classical real numbers, on which the theorems rest."""

# The bounds of each file; a theorem has the name of its bound, with _ in place of the dot.
_FILES = {
    "AverageDrift": "average_drift.fixed_step_distance",
    "Averages": """fedalign.aggregated_distance fedalign.client_drift fedalign.gradient_variance
        power_of_choice.averaged_distance power_of_choice.client_drift""",
    "Cgd": "error_feedback.cgd_gap",
    "DecayingRounds": "power_of_choice.decaying_steps_distance",
    "Draws": "fedalign.sampling_variance fedavg.with_replacement_variance fedavg.without_replacement_variance",
    "ErrorFeedback": """error_feedback.ef_round error_feedback.ef_distance error_feedback.ef21_round
        error_feedback.ef21_gradient2""",
    "ExactDrift": "power_of_choice.exact_client_drift",
    "Extrapolation": "fedexp.one_round",
    "FedAlignSteps": "fedalign.one_step fedalign.refined_one_step fedalign.partial_one_step",
    "FedAlignTheorems": """fedalign.recursion_gap fedalign.full_participation_gap
        fedalign.partial_participation_gap""",
    "FedAvgTheorems": "fedavg.full_participation_gap fedavg.with_replacement_gap fedavg.without_replacement_gap",
    "FedProx": "fedprox.loss_change",
    "Gradients": """fedalign.gradient_norm fedavg.gap_after_step optimal_client_sampling.perturbed_inner_product
        power_of_choice.gradient_norm power_of_choice.loss_after_step""",
    "LocalSampling": "optimal_client_sampling.client_drift optimal_client_sampling.fedavg_second_moment",
    "LocalSamplingRounds": """optimal_client_sampling.fedavg_contraction
        optimal_client_sampling.fedavg_average_gradient""",
    "LocalSamplingTheorems": """optimal_client_sampling.fedavg_strongly_convex
        optimal_client_sampling.fedavg_convex_clients optimal_client_sampling.fedavg_strongly_convex_per_client
        optimal_client_sampling.fedavg_nonconvex""",
    "OneStepBounds": "fedavg.one_step power_of_choice.one_step power_of_choice.weighted_one_step",
    "Participation": "participation.fixed_step_distance",
    "PowerOfChoiceTheorems": """fedavg.decaying_steps_gap power_of_choice.decaying_steps_gap
        power_of_choice.refined_decaying_steps_gap power_of_choice.fixed_step_gap
        power_of_choice.refined_fixed_step_gap power_of_choice.weighted_average_gap
        power_of_choice.derived_weighted_average_gap""",
    "ProxSkip": "proxskip.fixed_step_potential proxskip.refined_fixed_step_potential",
    "Rounds": "fedavg.one_round fedavg.fixed_step_distance sgd.local_steps_round",
    "Sampling": """optimal_client_sampling.estimator_error optimal_client_sampling.estimator_second_moment
        optimal_client_sampling.dsgd_second_moment optimal_client_sampling.dsgd_strongly_convex
        optimal_client_sampling.dsgd_convex_clients optimal_client_sampling.dsgd_nonconvex""",
    "SamplingRounds": """optimal_client_sampling.dsgd_contraction optimal_client_sampling.dsgd_average_gradient
        optimal_client_sampling.full_participation optimal_client_sampling.full_participation_distance""",
    "Scaffold": "scaffold.one_round scaffold.option_one_round",
    "ScaffoldHorizon": "scaffold.fixed_step_potential",
    "Sgd": """client_sampling.one_step fedavg.sampled_step sgd.drawn_step sgd.subset_step
        sgd.fixed_step_distance""",
    "Stationary": "stationary.averaging_distance stationary.normalized_round",
    "WholeRuns": """power_of_choice.one_round power_of_choice.fixed_step_distance
        power_of_choice.averaged_rounds_gap""",
}
# Assumptions of the theorems that are not hypotheses of the bounds.
_ASSUMED = {
    "not mu = L with step_size = 1/L, where the bound is infinite": """fedavg.one_round fedavg.fixed_step_distance
        fedavg.sampled_step""",
    "as many clients are active in every outcome; weights may be 0": """power_of_choice.weighted_one_step
        power_of_choice.weighted_average_gap power_of_choice.derived_weighted_average_gap""",
    "the first control variates have the mean 0, as Scaffnew requires": """proxskip.fixed_step_potential
        proxskip.refined_fixed_step_potential""",
    "a client that is never sampled has an update of 0, without which the estimate is biased": """
        optimal_client_sampling.estimator_second_moment optimal_client_sampling.dsgd_second_moment
        optimal_client_sampling.dsgd_strongly_convex optimal_client_sampling.dsgd_convex_clients
        optimal_client_sampling.dsgd_nonconvex optimal_client_sampling.dsgd_contraction
        optimal_client_sampling.dsgd_average_gradient optimal_client_sampling.fedavg_second_moment
        optimal_client_sampling.fedavg_strongly_convex optimal_client_sampling.fedavg_convex_clients
        optimal_client_sampling.fedavg_strongly_convex_per_client optimal_client_sampling.fedavg_nonconvex
        optimal_client_sampling.fedavg_contraction optimal_client_sampling.fedavg_average_gradient""",
}
_ASSUMES = {bound: text for text, bounds in _ASSUMED.items() for bound in bounds.split()}
PROVED: Mapping[str, Theorem] = MappingProxyType(
    {
        bound: Theorem(f"{file}.v", bound.replace(".", "_"), _ASSUMES.get(bound, ""))
        for file, bounds in _FILES.items()
        for bound in bounds.split()
    }
)
"""The theorem that proves each bound, by the bound's name."""

_VARIANT = "optimal_client_sampling.dsgd_per_client_variant"
REFUTED: Mapping[str, Theorem] = MappingProxyType(
    {_VARIANT: Theorem("Refuted.v", f"{_VARIANT.replace('.', '_')}_false")}
)
"""The theorem that a bound is false, by the bound's name."""
