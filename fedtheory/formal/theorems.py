"""Table of the theorems proved in Coq."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Theorem(NamedTuple):
    """A theorem in a file of `FOLDER`, and what it assumes that is no hypothesis of the bound; usually nothing."""

    file: str
    name: str
    assumes: str = ""


class PrintedForm(NamedTuple):
    """What Coq says about the printed form of a bound, where it differs from the bound.

    ``holds_if`` is the condition on the constants under which it is proved, and ``is_open`` says for which constants
    nothing is known. The ``counterexample`` meets all hypotheses.
    """

    proved: Theorem | None = None
    refuted: Theorem | None = None
    holds_if: str = ""
    counterexample: str = ""
    is_open: str = ""

    def __str__(self) -> str:
        parts = []
        if self.proved:
            words = ("proved", self.holds_if, f"({self.proved.file}, {self.proved.name})")
            parts.append(
                " ".join(filter(None, words)) + f", assuming that {self.proved.assumes}" * bool(self.proved.assumes)
            )
        if self.refuted:
            parts.append(f"false for {self.counterexample} ({self.refuted.file}, {self.refuted.name})")
        if self.is_open:
            parts.append(f"open {self.is_open}")
        return "; ".join(parts)


FOLDER = Path(__file__).parent
FOUNDATION = ("Space", "Functions", "Certificate", "Conditions", "Calls", "Laws", "Averages", "Draws", "Families")
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

_ACTIVE = "gradients are bounded on average over the active clients"
_SKEW = "rho_bar <= L/mu, which the minimum over all models satisfies"
_RUNS = f"{_ACTIVE}, and {_SKEW}"
_OPTIMUM = "gradients are bounded at w*, too, and every F_k has a minimizer"


def _printed(bound: str, file: str, assumes: str = "") -> PrintedForm:
    """Return that the theorem named after the printed form of a bound proves it."""
    return PrintedForm(Theorem(f"{file}.v", f"{bound.replace('.', '_')}_printed", assumes))


def _partly(
    bound: str, file: str, assumes: str, *, holds_if: str, counterexample: str, is_open: str = ""
) -> PrintedForm:
    """Return that a printed form is proved under a condition, and refuted without it."""
    refuted = Theorem("RefutedPrints.v", f"{bound.replace('.', '_')}_printed_false")
    return PrintedForm(_printed(bound, file, assumes).proved, refuted, holds_if, counterexample, is_open)


_DECAYING, _FIXED = "power_of_choice.decaying_steps_gap", "power_of_choice.fixed_step_gap"
_AVERAGE = _partly(
    "power_of_choice.weighted_average_gap", "PowerOfChoicePrinted", _RUNS,
    holds_if="for num_selected >= 2 and rho_bar <= 2",
    counterexample="num_selected = 1: clients (w -+ 1)^2/2, one drawn, ten steps from 0: 50/289 > 1/6",
    is_open="for num_selected >= 2 and rho_bar > 2",
)  # fmt: skip
_PARABOLAS = "w^2/2 with priority, (w - 1)^2/2 in round 0 only, from 0: 1/128 >"
PRINTED: Mapping[str, PrintedForm] = MappingProxyType(
    {
        _DECAYING: _printed(_DECAYING, "PowerOfChoicePrinted", _RUNS),
        "power_of_choice.refined_decaying_steps_gap": _printed(_DECAYING, "PowerOfChoicePrinted", _RUNS),
        _FIXED: _printed(_FIXED, "PowerOfChoicePrinted", f"an expectation is meant on the left, {_RUNS}"),
        "power_of_choice.refined_fixed_step_gap": _printed(
            _FIXED, "PowerOfChoicePrinted", f"an expectation is meant on the left, {_RUNS}"
        ),
        "power_of_choice.one_step": _printed("power_of_choice.one_step", "PowerOfChoicePrinted", _RUNS),
        "power_of_choice.weighted_one_step": _partly(
            "power_of_choice.weighted_one_step", "PowerOfChoicePrinted", _RUNS,
            holds_if="for num_selected >= 2",
            counterexample="num_selected = 1: clients (w -+ 1)^2/2, one drawn, the third step 1/100 of a round from 0: "
            "8.82e-4 > 6.90e-4",
        ),
        "power_of_choice.weighted_average_gap": _AVERAGE,
        "power_of_choice.derived_weighted_average_gap": _AVERAGE,
        "power_of_choice.client_drift": _printed("power_of_choice.client_drift", "Averages", _ACTIVE),
        "fedalign.gradient_variance": _printed("fedalign.gradient_variance", "Averages"),
        "fedalign.sampling_variance": _printed("fedalign.sampling_variance", "Draws"),
        "fedalign.refined_one_step": PrintedForm(PROVED["fedalign.one_step"]),
        "fedalign.full_participation_gap": _partly(
            "fedalign.full_participation_gap", "FedAlignTheorems", _OPTIMUM,
            holds_if="for local_steps >= 2",
            counterexample=f"local_steps = 1: {_PARABOLAS} 0",
        ),
        "fedalign.partial_participation_gap": _partly(
            "fedalign.partial_participation_gap", "FedAlignTheorems", _OPTIMUM,
            holds_if="for 2 <= local_steps <= 8 L/mu",
            counterexample=f"local_steps = 1, num_draws = 1000: {_PARABOLAS} 8/1125",
            is_open="for local_steps > 8 L/mu",
        ),
        "fedprox.loss_change": _printed("fedprox.loss_change", "FedProx"),
    }
)  # fmt: skip
"""What Coq says about the printed form of each bound that differs from it, by the name of the bound."""


def proof_of(function: str) -> Theorem | None:
    """Return the theorem in Coq about a function of ``fedtheory.bounds``, or None.

    The name of a printed form begins with ``_printed_``; if it is refuted for some constants, it has no theorem.

    >>> proof_of("sgd.drawn_step").file, proof_of("own.bound")
    ('Sgd.v', None)
    """
    name = function.replace("._printed_", ".")
    if name == function:
        return PROVED.get(name)
    form = PRINTED.get(name, PrintedForm())
    return None if form.refuted else form.proved
