"""Hypotheses of every form of every bound, transcribed from the papers and the theory pages.

The key of a form is ``paper.bound-form``; the hypotheses are those of ``demands``.
"""

# Power-of-Choice: Assumptions 3.1 to 3.4, a strategy being a function of the current global model (section 2); and what
# Theorem R reads into them.
_CLIENTS = {"clients smooth", "clients strongly convex"}
_NOISE = {"noise", "noise independent"}
_PAPER = _CLIENTS | _NOISE | {"gradients", "selection by the model", "rho_tilde >= rho"}
_THEOREM_R = (
    _CLIENTS
    | _NOISE
    | {"gradients of the selected", "gradients at the start", "selection by the model"}
    | {"rho >= 0", "rho_tilde >= rho", "rho <= kappa"}
)
_BY_WEIGHT = _THEOREM_R - {"gradients of the selected"} | {"gradients of the selected, by weight", "weights sum to one"}
_LEMMA_B2 = {"steps at most halve"}  # "with non-increasing eta_t and eta_{t_0} <= 2 eta_t", in the proof of Lemma B.2
# By the PL inequality the mean of |grad F_k|^2 is at least 2 mu (F - F* + Gamma), over the selected rho times that.
_FROM_THE_START = {"G2, skew and distance"}
_FROM_THE_GAP = {"G2, skew and gap"}
_IN_A_ROUND = {"G2, skew and Gamma"}
_OF_EVERYBODY = {"G2 and distance"}
_VARIANCE = {"sigma2 <= G2"}  # not where gradients are bounded in a weighted mean only: one client may have more noise

# The page on worst cases: no bound on gradients at all.
_ROUNDS = _CLIENTS | _NOISE | {"selection by the model", "rho >= 0", "rho_tilde >= rho", "rho <= kappa"}

_POWER_OF_CHOICE = {
    "loss_after_step-derived": {"clients smooth", "clients convex", "client has a minimizer", "step <= 1/L"},
    "exact_client_drift-derived": _CLIENTS | {"gradients of the active at the start", "no noise", "step <= 1/L"},
    "one_round-derived": _ROUNDS | {"step <= 1/L"},
    "fixed_step_distance-derived": _ROUNDS | {"step <= 1/L"},
    "decaying_steps_distance-derived": _ROUNDS | {"rho > 0", "gamma >= 2 tau kappa"},
    "averaged_rounds_gap-derived": _ROUNDS | {"rho > 0", "step < 1/L"},
    "gradient_norm-printed": {"clients smooth", "client has a minimizer"},
    "averaged_distance-printed": set(),
    "client_drift-printed": {"gradients"} | _LEMMA_B2,
    "client_drift-refined": {"gradients of the selected"} | _LEMMA_B2,
    "decaying_steps_gap-printed": _PAPER | {"rho > 0"} | _FROM_THE_START | _VARIANCE,
    "decaying_steps_gap-corrected": _THEOREM_R | {"rho > 0"} | _FROM_THE_START | _VARIANCE,
    "refined_decaying_steps_gap-printed": _PAPER | {"rho > 0"} | _FROM_THE_START | _VARIANCE,
    "refined_decaying_steps_gap-refined": _THEOREM_R | {"rho > 0", "tau <= gamma + 1"} | _FROM_THE_START | _VARIANCE,
    "fixed_step_gap-printed": _PAPER | {"rho >= 0", "step <= 1/(4L)", "step <= 1/(2 mu B)"} | _FROM_THE_GAP | _VARIANCE,
    "fixed_step_gap-corrected": _THEOREM_R | {"step <= 1/(4L)"} | _FROM_THE_GAP | _VARIANCE,
    "refined_fixed_step_gap-printed": _PAPER
    | {"rho >= 0", "step <= 1/(4L)", "step <= 1/(2 mu B)"}
    | _FROM_THE_GAP
    | _VARIANCE,
    "refined_fixed_step_gap-refined": _THEOREM_R | {"step <= 1/(4L)"} | _FROM_THE_START | _VARIANCE,
    "one_step-printed": _PAPER
    | _LEMMA_B2
    | {"rho >= 0", "step <= 1/(4L)", "slope not negative"}
    | _IN_A_ROUND
    | _VARIANCE,
    "one_step-corrected": _THEOREM_R | {"step <= 1/(4L)", "slope not negative"} | _IN_A_ROUND | _VARIANCE,
    "weighted_one_step-printed": _PAPER
    | _LEMMA_B2
    | {"rho >= 0", "weights sum to one", "step < 1/(2(1+m)L)"}
    | _IN_A_ROUND
    | _VARIANCE,
    "weighted_one_step-corrected": _BY_WEIGHT
    | {"step <= 1/(4L)", "slope not negative", "squared_weights <= 1"}
    | _IN_A_ROUND,
    "weighted_average_gap-printed": _PAPER | {"rho > 0", "weights sum to one"} | _FROM_THE_START | _VARIANCE,
    "weighted_average_gap-corrected": _BY_WEIGHT
    | {"squared_weights <= 1", "squared_weights >= 1/m", "m B > 1"}
    | _FROM_THE_START,
    "derived_weighted_average_gap-printed": _PAPER | {"rho > 0", "weights sum to one"} | _FROM_THE_START | _VARIANCE,
    "derived_weighted_average_gap-derived": _BY_WEIGHT - {"rho >= 0"} | {"rho > 0", "m >= 2"} | _FROM_THE_START,
}

# Li et al. (2020) in the form of Theorem R at skew 1, so with its hypotheses, where the selection has a fixed law; then
# in their own form, Assumptions 1 to 4 and the two schemes of selection.
_LI = _CLIENTS | _NOISE | {"gradients", "weighted_sigma2 <= G2"}
_SUBSETS = {"draws without replacement", "N >= 2"}
_TRANSFORMED = {"transformed objectives", "N max p >= 1", "N min p <= 1"}
_FEDAVG = {
    "decaying_steps_gap-derived": _CLIENTS
    | _NOISE
    | {"gradients", "draws with replacement", "plain mean"}
    | _OF_EVERYBODY
    | _VARIANCE,
    "one_step-printed": _LI | {"steps at most halve", "step <= 1/(4L)", "G2 and Gamma"},
    "full_participation_gap-printed": _LI | _OF_EVERYBODY,
    "with_replacement_gap-printed": _LI | _OF_EVERYBODY | {"draws with replacement"},
    "without_replacement_gap-printed": _LI | _OF_EVERYBODY | _SUBSETS | {"equal weights"},
    "transformed_gap-printed": _CLIENTS
    | _NOISE
    | {"gradients", "sigma2 <= G2"}
    | _OF_EVERYBODY
    | _SUBSETS
    | _TRANSFORMED,
    "transformed_gap-derived": _CLIENTS | _NOISE | {"gradients by squared weights"} | _SUBSETS | _TRANSFORMED,
    "with_replacement_variance-printed": {"gradients", "steps at most halve", "draws with replacement"},
    # The mean of the selected is what the server takes: p_k N/K are the weights of a mean only if all p_k are equal.
    "without_replacement_variance-printed": {"gradients", "steps at most halve", "weights sum to one"} | _SUBSETS,
    # The page on worst cases: no bound on gradients at all.
    "one_round-derived": _CLIENTS | {"no noise", "step <= 1/L"},
    "fixed_step_distance-derived": _CLIENTS | {"no noise", "step <= 1/L"},
    "sampled_step-derived": _CLIENTS | {"no noise", "step <= 1/L", "equal weights"} | _SUBSETS,
    "gap_after_step-derived": _CLIENTS | {"no noise", "step <= 1/L"},
}

# FedALIGN: Assumptions 1 to 4, with indicators frozen at the round's start (errata row on (16) and (19)).
_ALIGN = _CLIENTS | _NOISE | {"gradients", "gradients given the indicators", "indicators frozen"}
_MOVED = {"gradients", "gradients given the indicators", "indicators frozen"}
_LEMMA_A4 = {"steps at most halve"}  # "for eta_{tau(t)} <= 2 eta_t", Lemmas A.4 and A.8
_STEP = _ALIGN | {"priority_weight <= 1", "step <= 1/(4L)", "G2 and Gamma"} | _VARIANCE

_FEDALIGN = {
    "gradient_norm-printed": {"clients smooth"},
    "aggregated_distance-printed": {"weights sum to one", "weights given sum to one"},
    "client_drift-printed": _MOVED | _LEMMA_A4,
    "gradient_variance-printed": _NOISE | {"weights sum to one"},
    "gradient_variance-refined": _NOISE | {"weights sum to one", "squared_weights <= 1"},
    "one_step-printed": _STEP | _LEMMA_A4,
    "refined_one_step-printed": _STEP | _LEMMA_A4,
    # Minkowski's inequality in the mean with the weights p'_k I_k: all that the drift needs.
    "refined_one_step-refined": _CLIENTS
    | _NOISE
    | {"gradients of the selected, by weight", "indicators frozen"}
    | {"priority_weight <= 1", "squared_weights <= 1", "step <= 1/(4L)"},
    "partial_one_step-refined": _STEP | _LEMMA_A4 | {"draws with replacement"},
    "sampling_variance-printed": _MOVED | _LEMMA_A4 | {"draws with replacement"},
    "sampling_variance-refined": _MOVED | {"draws with replacement", "priority_weight <= 1"},
    "full_participation_gap-printed": _ALIGN | {"theta <= 1"} | _OF_EVERYBODY | _VARIANCE,
    "full_participation_gap-corrected": _ALIGN | {"theta <= 1"} | _OF_EVERYBODY | _VARIANCE,
    "partial_participation_gap-printed": _ALIGN | {"theta <= 1", "draws with replacement"} | _OF_EVERYBODY | _VARIANCE,
    "partial_participation_gap-corrected": _ALIGN
    | {"theta <= 1", "draws with replacement"}
    | _OF_EVERYBODY
    | _VARIANCE,
    "recursion_gap-refined": _ALIGN | {"priority_weights <= 1"} | _OF_EVERYBODY | _VARIANCE,
}

# Optimal client sampling; that the sampling is independent is part of the scheme.
_WEIGHTS = {"W <= 1", "W^2 <= S2", "S2 <= W"}
_ROUND = _WEIGHTS | {"gamma <= 1"}
_ROUNDS = _WEIGHTS | {"gamma <= 1 in every round", "E[1/gamma] >= 1", "E[1/gamma] <= 1/smallest"}
_DSGD = {"clients smooth", "noise at the model"}
_LOCAL = {"clients smooth", "noise at local iterates"}
_BOUNDED = {"clients bounded below"}
_GAP = {"gap <= L/2 distance^2", "gap >= mu/2 distance^2"}
_FEDAVG_STEPS = {"drift step", "sampling step", "eta_g >= 1", "eta_g^2 >= gamma/S2"}
_FEDAVG_STEPS_ALWAYS = {"drift step", "sampling step in every round", "eta_g >= 1", "eta_g^2 >= 1/S2"}
_NONCONVEX = {"objective bounded below", "dissimilarity"}

_OPTIMAL_CLIENT_SAMPLING = {
    "estimator_error-printed": {"updates unbiased"},
    "estimator_second_moment-derived": {"gamma <= 1"},
    "perturbed_inner_product-printed": {"clients smooth", "clients strongly convex"},
    "dsgd_second_moment-derived": {"noise at the model"} | _ROUND,
    "dsgd_strongly_convex-derived": _DSGD | {"objective strongly convex"} | _BOUNDED | _ROUND | _GAP,
    "dsgd_per_client_variant-variant": _DSGD | {"objective strongly convex"} | _BOUNDED | _ROUND | _GAP,
    "dsgd_convex_clients-derived": _DSGD | {"objective strongly convex", "clients convex"} | _ROUND | _GAP,
    "dsgd_nonconvex-derived": _DSGD | _NONCONVEX | _ROUND,
    "dsgd_contraction-derived": _DSGD | {"objective strongly convex", "eq. (18) in every round"} | _BOUNDED | _ROUNDS,
    "dsgd_average_gradient-derived": _DSGD | _NONCONVEX | {"eq. (18) in every round"} | _ROUNDS,
    "full_participation-printed": _DSGD | {"objective strongly convex", "no multiplicative noise", "step <= 1/L"},
    "full_participation_distance-printed": _DSGD
    | {"objective strongly convex", "no multiplicative noise", "step <= 1/L"},
    "client_drift-derived": _LOCAL | {"drift step", "eta_g >= 1"},
    "fedavg_second_moment-derived": _LOCAL | _ROUND,
    "fedavg_strongly_convex-derived": _LOCAL | {"clients strongly convex"} | _BOUNDED | _ROUND | _FEDAVG_STEPS | _GAP,
    "fedavg_strongly_convex_per_client-derived": _LOCAL
    | {"clients strongly convex"}
    | _BOUNDED
    | _ROUND
    | _FEDAVG_STEPS
    | _GAP,
    "fedavg_convex_clients-derived": _LOCAL
    | {"objective strongly convex", "clients convex"}
    | _BOUNDED
    | _ROUND
    | _FEDAVG_STEPS
    | _GAP,
    "fedavg_nonconvex-derived": _LOCAL | _NONCONVEX | _ROUND | _FEDAVG_STEPS,
    "fedavg_contraction-derived": _LOCAL
    | {"objective strongly convex", "clients convex"}
    | _BOUNDED
    | _ROUNDS
    | _FEDAVG_STEPS_ALWAYS,
    "fedavg_average_gradient-derived": _LOCAL | _NONCONVEX | _ROUNDS | _FEDAVG_STEPS_ALWAYS,
}

_DRAWN = _CLIENTS | {"no noise", "draws with replacement"}
_SGD = {
    "drawn_step-derived": _DRAWN,
    "fixed_step_distance-derived": _DRAWN | {"step < 2/L"},
    "subset_step-derived": _CLIENTS | {"no noise", "draws without replacement", "equal weights", "N >= 2"},
    "local_steps_round-derived": _CLIENTS | {"no noise", "step (L + mu) < 2"},
}

_COMPRESSED = _CLIENTS | {"no noise", "contraction", "method"}
_ERROR_FEEDBACK = {
    **dict.fromkeys(("ef_round-derived", "ef_distance-derived"), _COMPRESSED | {"common minimizer"}),
    **dict.fromkeys(("ef21_round-derived", "ef21_gradient2-derived"), _COMPRESSED),
    "cgd_gap-derived": _COMPRESSED | {"one client", "step <= 2/((1 + s) L)"},
}

_PROXIMAL = {
    "clients smooth", "curvatures from below", "proximal problems convex", "dissimilar gradients",
    "inexact answers",
}  # fmt: skip
_FEDPROX = dict.fromkeys(("loss_change-printed", "loss_change-derived"), _PROXIMAL | {"draws with replacement"})

# All clients take part with exact gradients. The potential of Option I has the weight 1/(L - mu).
_CONTROLLED = _CLIENTS | {"no noise"}
_SCAFFOLD = {
    "one_round-derived": _CONTROLLED | {"Option II", "step (L + mu) < 2"},
    "fixed_step_potential-derived": _CONTROLLED | {"Option II", "step <= 1/(tau L)"},
    "option_one_round-derived": _CONTROLLED | {"Option I", "step (L + mu) < 2", "mu < L"},
    "sampled_round-derived": _CLIENTS
    | _NOISE
    | {"Option II", "draws without replacement", "equal weights", "N >= 2", "damped", "heavy control variates"},
}
_FEDLIN = {"corrected_round-derived": _CONTROLLED | {"FedLin", "stable local steps", "fresh gradients"}}
_FEDSPLIT = {"split_round-derived": _CLIENTS | {"FedSplit"}}
_COMPRESSED = {"F smooth", "clients smooth on average", "no noise", "method", "contraction on average"}
_EF21 = {
    "average_gradient-refined": _COMPRESSED | {"step of EF21"},
    "polyak_gap-refined": _COMPRESSED | {"Polyak-Lojasiewicz", "step of EF21 under PL", "step mu < 1 - s"},
}
_PROXSKIP = {
    "fixed_step_potential-printed": _CONTROLLED | {"one coin", "p <= 1", "step <= 1/L"},
    "refined_fixed_step_potential-refined": _CONTROLLED | {"one coin", "p <= 1"},
    "stochastic_potential-refined": {
        *("clients strongly convex", "unbiased with one coin", "p <= 1", "growth", "mu <= A", "step A <= 1")
    },
    "corrected_potential-refined": {
        *("clients strongly convex", "unbiased with one coin", "p <= 1", "growth with a memory", "heavy memory"),
        *("mu <= A + W A'", "step (A + W A') <= 1"),
    },
}
# Linear convergence for 0 < eta < 2/L; longer steps have many stationary points, or none.
# FedNova: the order of matrices, so quadratics, and I - (I - eta H)^t <= eta t H for eta L <= 1.
_STATIONARY = {
    "inconsistency-printed": {"similar to the surrogate", "weights of the surrogate"},
    "inconsistency-derived": {"similar to the surrogate", "weights of the surrogate"},
    "averaging_distance-derived": _CONTROLLED | {"step < 2/L"},
    "normalized_round-derived": _CONTROLLED
    | {"FedNova", "clients quadratic", "step <= 1/L", "step < 2/(tau_eff L)", "tau_eff <= tau"},
}

# A round contracts by (1 - eta mu)^tau where eta (L + mu) < 2.
_AVERAGE_DRIFT = {"fixed_step_distance-derived": _CONTROLLED | {"step (L + mu) < 2"}}
# Whatever clients take part, with weights of sum 1: the step is at most 1/L.
_PARTICIPATION = {"fixed_step_distance-derived": _CONTROLLED | {"weights sum to one", "step <= 1/L"}}
# Whatever the law of the sampling, the expected mean of the gradients at w* must be 0.
_CLIENT_SAMPLING = {"one_step-derived": _CONTROLLED | {"unbiased sampling"}}
# Extrapolation: convex clients with one minimizer, and updates that are measured.
_FEDEXP = {
    "one_round-derived": {
        *("clients smooth", "clients convex", "no noise", "common minimizer", "step < 2/L"),
        *("mean update by Jensen", "updates by nonexpansiveness"),
    }
}

# Convex clients and all of them, with exact gradients; Lemma 2 and Theorem 1 as printed with rounds of length 1/(4 L).
_CONVEX = {"clients smooth", "clients convex", "no noise"}
_LOCAL_GD = {
    "long_step-printed": _CONVEX | {"gap <= L/2 distance^2"},
    "one_step-printed": _CONVEX | {"step <= 1/(4L)", "gap <= L/2 distance^2"},
    "one_step-derived": _CONVEX | {"step <= 1/L", "gap <= L/2 distance^2"},
    "round_drift-printed": _CONVEX | {"step <= 1/(4 tau L)"},
    "round_drift-derived": _CONVEX | {"step <= 2/L"},
    "averaged_gap-printed": _CONVEX | {"step <= 1/(4 tau L)"},
    "averaged_gap-derived": _CONVEX | {"step <= 1/L", "eta^2 L^2 tau (tau - 1) < 1"},
}

EXPECTED: dict[str, set[str]] = {
    f"{paper}.{name}": demands
    for paper, table in {
        "average_drift": _AVERAGE_DRIFT,
        "participation": _PARTICIPATION,
        "client_sampling": _CLIENT_SAMPLING,
        "power_of_choice": _POWER_OF_CHOICE,
        "fedavg": _FEDAVG,
        "fedexp": _FEDEXP,
        "fedalign": _FEDALIGN,
        "optimal_client_sampling": _OPTIMAL_CLIENT_SAMPLING,
        "fedprox": _FEDPROX,
        "local_gd": _LOCAL_GD,
        "sgd": _SGD,
        "error_feedback": _ERROR_FEEDBACK,
        "scaffold": _SCAFFOLD,
        "proxskip": _PROXSKIP,
        "stationary": _STATIONARY,
        "fedlin": _FEDLIN,
        "fedsplit": _FEDSPLIT,
        "ef21": _EF21,
    }.items()
    for name, demands in table.items()
}
