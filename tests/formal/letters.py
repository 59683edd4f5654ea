"""Names of the letters of the Coq files in the bounds.

A key is a name, or a part of a statement; a value is an argument of the bound. Names that are equal in both are not
listed.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.formal import PRINTED, PROVED, REFUTED, Theorem
from tests.formal.reading import Reader, definitions, sides

BOUNDS = {**PROVED, **REFUTED}
PRINTS = {
    f"{bound}-{verdict}": (bound, theorem)
    for bound, form in PRINTED.items()
    for verdict, theorem in (("proved", form.proved), ("refuted", form.refuted))
    if theorem
}
"""The theorems about printed forms, with the bounds that are printed otherwise."""

_FIRST = {"sq (w0 - xs)": "initial_distance2", "objective_gap clients f low xs": "objective_gap"}
_MEAN = {"E P (fun o => sq (avg j o - xs))": "distance2", "eta j": "step_size", "Gamma": "objective_gap"}
_AFTER = {"tau * r + s": "num_steps", "rho": "rho_diagonal", "tau": "local_steps", "eta": "step_size"} | _FIRST
_SELECTED = _AFTER | {"m": "num_selected", "Gamma": "objective_gap", "F w0 - F xs": "initial_gap"}
_ROUND = {"sq (w - xs)": "distance2", "eta": "step_size", "tau": "local_steps"} | _FIRST
_FEEDBACK = {"s": "compression_error", "eta": "step_size", "r": "num_rounds"}
_ALIGN = {
    "tau": "local_steps",
    "K": "num_draws",
    "weight_of_step": "priority_weights",
    "gap_of_step": "included_gaps",
    "objective_gap priority f low xs": "objective_gap",
}
_LOCAL = {
    "eta": "step_size",
    "eta_g": "server_step_size",
    "eta_l": "step_size / (local_steps * server_step_size)",
    "smallest": "smallest_gamma",
    "steps": "local_steps",
    "Z": "objective_gap",
    "M": "relative_noise",
    "W": "max_weight",
    "S2": "sum_squared_weights",
    "rho": "dissimilarity",
    "gap": "gap",
    "start - inf": "initial_gap",
    "inverse": "mean_inverse_gamma",
    "per_client": "per_client_gap",
    "F x": "value",
    "F y": "value",
    "K": "num_rounds",
    "sq (x - xs)": "distance2",
    "sq (y - xs)": "distance2",
    "sq (gradF x)": "gradient2",
    "sq (gradF y)": "gradient2",
    "E (past k) (fun o => / gamma k o)": "mean_inverse_gamma",
    "E (past k) (fun o => sq (y k o - xs))": "distance2",
    "E (before k) (fun o => sq (x k o - xs))": "distance2",
    "E weights (fun i => f i xs - low i)": "objective_gap",
    "E weights (fun i => sq (g i x))": "mean_gradient2",
    "sum n (fun i => w i ^ 2 * sq (g i y))": "squared_weight_gradient2",
    "sum n (fun i => w i ^ 2 * sq (g i x))": "squared_weight_gradient2",
    "sum n (fun i => w i ^ 2 * sq (g i xs))": "squared_weight_optimum_gradient2",
    "sq (y0 - xs)": "initial_distance2",
    "mean_loss weights f y - mean_loss weights f xs": "gap",
}

# Where these are arguments; FedALIGN has another rho.
_AS_PRINTED = {"rho": "rho_bar", "noise2": "sigma2"}

LETTERS: Mapping[str, Mapping[str, str]] = {
    "average_drift": _ROUND | {"sq (w - xs)": "initial_distance2", "sq average_drift": "drift2", "r": "num_rounds"},
    "participation": _ROUND | {"sq (w - xs)": "initial_distance2", "delta2": "imbalance2", "r": "num_rounds"},
    "client_sampling": _ROUND
    | {"E draw (fun o => sq (vE (uniform m hm) (fun i => g (c o i) xs)))": "sampling_variance"},
    "error_feedback": _FEEDBACK
    | {
        "f x - f xs": "initial_gap",
        "sq (x - xs)": "initial_distance2",
        "ef_potential x e": "potential",
        "ef21_potential x d": "potential",
    },
    "error_feedback.ef21_gradient2": _FEEDBACK | {"ef21_potential x d": "initial_potential"},
    "fedalign": _ALIGN | _MEAN | _AFTER | {"f w - low": "excess", "last": "step_size"},
    "fedalign.aggregated_distance": {"sq (w k - ws)": "(distances2 k)"},
    "fedalign.gradient_variance": {
        "E past (fun o => sum (size (a o)) (fun k => weight (a o) k ^ 2))": "squared_weights"
    },
    "fedalign.full_participation_gap": _ALIGN | _AFTER | {"Gamma": "objective_gap", "rho": "rho"},
    "fedalign.partial_participation_gap": _ALIGN | _AFTER | {"Gamma": "objective_gap", "rho": "rho"},
    "fedalign.refined_one_step": _ALIGN | _MEAN | {"elapsed eta j": "elapsed_step_size"},
    "fedalign.sampling_variance": {
        "sum tau eta": "elapsed_step_size",
        "/ (1 + s)": "priority_weight",
        "K": "num_draws",
        "last": "step_size",
        "tau": "local_steps",
    },
    "fedavg": _AFTER
    | _MEAN
    | _ROUND
    | {"K": "num_selected", "m": "num_selected", "n": "num_clients", "last": "step_size"}
    | {"N": "num_clients", "sum (size clients) (fun k => weight clients k ^ 2 * sigma2 k)": "weighted_sigma2"}
    | {"sum N (fun k => (/ INR N)^2 * sigma2 k)": "weighted_sigma2"},
    "fedavg.fixed_step_distance": _ROUND | {"sq (w - xs)": "initial_distance2", "r": "num_rounds"},
    "fedexp": _ROUND
    | {
        "alpha": "server_step_size",
        "E clients (fun k => sq (update k w))": "update2",
        "sq (vE clients (fun k => update k w))": "mean_update2",
    },
    "fedprox": {
        "K": "num_selected",
        "sq (gradF w)": "gradient2",
        "negative": "negative_curvature",
        "weight": "proximal_weight",
        "B": "gradient_dissimilarity",
        "gamma": "inexactness",
    },
    "optimal_client_sampling": _LOCAL,
    "optimal_client_sampling.estimator_error": {
        "E noise (fun a => E (draw a) (fun b => sq (G a b - vE weights (fun i => U i a))))": "sampling_error",
        "E noise (fun a => sq (vE weights (fun i => U i a) - gradient))": "update_error",
    },
    "optimal_client_sampling.estimator_second_moment": {
        "spread2": "squared_weight_update2",
        "E noise (fun a => sq (vE weights (fun i => U i a)))": "mean_update2",
    },
    "optimal_client_sampling.perturbed_inner_product": {
        "h z - h y": "value_difference",
        "sq (y - z)": "distance2",
        "sq (z - x)": "displacement2",
    },
    "power_of_choice": _SELECTED | {"f w - low": "excess", "f y - low": "excess", "last": "step_size"},
    "power_of_choice.averaged_distance": {"uniform m hm": "(uniform distances2)", "sq (w k - ws)": "(distances2 k)"},
    "power_of_choice.averaged_rounds_gap": _SELECTED | {"n": "num_rounds"},
    "power_of_choice.decaying_steps_distance": _SELECTED | {"r": "num_rounds"},
    "power_of_choice.derived_weighted_average_gap": _SELECTED | {"rho": "rho_bar", "noise2": "sigma2"},
    "power_of_choice.fixed_step_distance": _SELECTED | {"r": "num_rounds"},
    "power_of_choice.one_round": _SELECTED | {"Delta r": "distance2"},
    "power_of_choice.one_step": _SELECTED | _MEAN | {"s": "elapsed_step_size"},
    "power_of_choice.weighted_one_step": _SELECTED | _MEAN | {"s": "elapsed_step_size"},
    "power_of_choice.weighted_average_gap": _SELECTED | {"noise2": "(sigma2 * squared_weights)"},
    "proxskip": {"gamma": "step_size", "p": "probability", "T": "num_steps"} | _FIRST,
    "scaffold": _ROUND | {"control_error2 ctl": "control_error2", "r": "num_rounds"},
    "scaffold.fixed_step_potential": _ROUND
    | {"(w, ctl)": "num_rounds", "sq (fst s - xs)": "initial_distance2", "r": "num_rounds"}
    | {"control_error2 clients g xs (snd s)": "control_error2"},
    "sgd": _ROUND
    | {"m": "num_selected", "n": "num_clients", "T": "num_steps", "E clients (fun k => sq (g k xs))": "zeta2"},
    "stationary": {
        "eta": "step_size",
        "tau": "local_steps",
        "r": "num_rounds",
        "mean_steps": "effective_steps",
        "sq (w - w_inf)": "stationary_distance2",
    },
}


def letters(bound: str) -> dict[str, str]:
    """The letters of a bound's theorem: its own, or those of its paper."""
    return dict(LETTERS.get(bound) or LETTERS[bound.partition(".")[0]])


def number(value: Any) -> Any:
    return [Fraction(one) for one in value] if isinstance(value, list) else Fraction(value)


def reader(bound: str, arguments: Mapping[str, Any], theorem: Theorem | None = None) -> Reader:
    """What reads the terms of a theorem, its letters being the arguments of the bound or of its printed form."""
    file, name, *_ = theorem or BOUNDS[bound]
    given = {key: number(value) for key, value in arguments.items()}
    names, words = {}, {}
    for key, value in (letters(bound) | (_AS_PRINTED if theorem else {})).items():
        if not key.isidentifier():
            words[key] = value
        elif set(re.findall(r"[a-zA-Z]\w*", value)) <= set(given):
            names[key] = Reader(given, {}, {}, {}).value(value)
    return Reader(given | names, words, sides(file, name)[0], definitions(file, name))
