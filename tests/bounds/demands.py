"""Hypotheses of theorems: the text of each and, for hypotheses about numbers, the boundary value."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as Q
from typing import Any

World = dict[str, Any]
BIT = 1 + Q(1, 10**6)


@dataclass(frozen=True)
class Demand:
    """A demand: the phrase it is known by, and for numbers a world at the brink and one beyond it.

    A demand that others imply has its brink where one of them is broken.
    """

    phrase: str
    inside: Callable[[World], World] | None = None
    outside: Callable[[World], World] | None = None
    implied: bool = False


def limited(phrase, key, limit, *, by=BIT, strict=False, around=lambda w: {}):
    """A number may be ``limit(world)``, or less if strict, and not ``by`` times it; ``around`` sets others first."""

    def numbers(factor):
        return lambda w: {**around(w), key: limit({**w, **around(w)}) * factor}

    return Demand(phrase, numbers(1 / by if strict else 1), numbers(1 if strict else by))


at_most, at_least = limited, functools.partial(limited, by=1 / BIT)
below = functools.partial(limited, strict=True)
no_step_above, step_below = functools.partial(at_most, key="step_size"), functools.partial(below, key="step_size")


def skew(value, rho_tilde=None):
    """Both spellings of the skew, and a rho_tilde that is no smaller."""
    return {"rho_bar": value, "rho_diagonal": value, "rho_tilde": rho_tilde or 2 * value}


def least_gradients(phrase, limit):
    """A demand that G2 be at least ``limit``; the noise is small, so as not to ask for more."""
    quiet = {"sigma2": Q(1, 10**6), "weighted_sigma2": Q(1, 10**6)}
    return at_least(phrase, "G2", limit, around=lambda w: quiet)


def _above(w, factor):
    return factor * (w["mu"] ** 2 * w["initial_distance2"] + 2 * w["mu"] * w["objective_gap"])


# With a large gamma the condition on the drift is the shorter one, with a small gamma the condition on the sampling.
LARGE = {"gamma": Q(1), "smallest_gamma": Q(1), "mean_inverse_gamma": Q(1)}
SMALL = {"gamma": Q(1, 4), "smallest_gamma": Q(1, 4), "mean_inverse_gamma": Q(2)}
FEW, MANY = {"local_steps": 1, "effective_steps": Q(1)}, {"local_steps": 3, "effective_steps": Q(3)}
# One of two clients with one local step: v = 1.
ONE_OF_TWO = {"local_steps": 1, "num_clients": 2, "num_selected": 1}
ALL_WEIGHTS = {"max_weight": Q(1), "sum_squared_weights": Q(1)}
QUARTER = {"max_weight": Q(1, 4), "sum_squared_weights": Q(1, 4)}


def _drift_limit(w):
    return 1 / (8 * w["L"] * (2 + w["relative_noise"] / w["local_steps"]))


def _sampling_limit(w):
    return w["gamma"] / (8 * w["L"] * (1 + w["max_weight"] * w["relative_noise"] / w["local_steps"]))


def _damped(w):
    share = Q(w["num_clients"] - w["num_selected"], w["num_selected"] * (w["num_clients"] - 1))
    return 1 / (w["L"] * (1 + w["control_weight"] + 2 * share))


def _long_rate(w):
    # B = 1 + 3 rho/8 with rho = 8 L/mu, more than strong convexity allows, makes this limit the shorter one.
    return {**skew(8 * w["L"] / w["mu"]), "G2": 1000 * w["G2"]}


# W (1 - B') > B for W > 2.
LIGHT = {"memory_share": Q(1), "memory_rate": Q(1, 2)}


DEMANDS: dict[str, Demand] = {
    # Functions and noise: nothing to read off numbers.
    "clients smooth": Demand(r"every [Ff]_[ki]\b.*L-smooth|^F_k is L-smooth|^h is L-smooth"),
    "clients strongly convex": Demand(r"every [Ff]_[ki]\b.*mu-strongly convex|^h is .*mu-strongly convex"),
    "clients convex": Demand(r"every f_i is convex|^F_k is convex"),
    "client has a minimizer": Demand(r"^F_k .*has a minimizer"),
    "clients bounded below": Demand(r"every f_i is bounded below"),
    "objective strongly convex": Demand(r"^f is mu-strongly convex"),
    "objective bounded below": Demand(r"^f is bounded below"),
    "dissimilarity": Demand(r"\(Assumption 9\)"),
    "noise": Demand(r"unbiased, of variance at most sigma(2|_k\^2)\b.*independent across"),
    "noise independent": Demand(r"independent across (active )?clients(?!, given the model)"),
    "noise at the model": Demand(r"uncorrelated across clients \(Assumption 7"),
    "noise at local iterates": Demand(
        r"independent across clients, given the model and each local iterate \(Assumption 8\)"
    ),
    "no multiplicative noise": Demand(r"\(Assumption 7 with M = 0\)"),
    "updates unbiased": Demand(r"E \[G \| updates\] = .*updates are unbiased"),
    "gradients": Demand(r"^E \|g_k\|\^2 <= G2 for every client and iterate"),
    "gradients given the indicators": Demand(
        r"<= G2 for every client and iterate .*, also given the round's indicators"
    ),
    # A bound for every client in the mean over what happens says nothing about the clients that a selection prefers.
    "gradients of the selected": Demand(r"E sum_k 1/m \|g_k\|\^2 <= G2 over the active clients"),
    "gradients of the selected, by weight": Demand(r"E sum_k (q_k|p'_k I_k) \|g_k\|\^2 <= G2 over the active clients"),
    "gradients of the active at the start": Demand(r"<= G2 for every active client at the round's starting model"),
    "no noise": Demand(r"^gradients are exact"),
    "gradients at the start": Demand(r"E \|grad F_k\(u\)\|\^2 <= G2 for all k"),
    "selection by the model": Demand(r"selection depends on the past only through"),
    "indicators frozen": Demand(r"indicators I_k depend only on the server's model at the round's start"),
    "steps at most halve": Demand(r"step sizes do not increase, and at most halve within a round"),
    "weights sum to one": Demand(r"weights (q_k|p'_k I_k) >= 0 with sum 1"),
    "draws with replacement": Demand(r"drawn with replacement, client k with probability p_k"),
    "draws without replacement": Demand(r"drawn without replacement, uniformly"),
    "unbiased sampling": Demand(r"in which client k has the expected weight p_k"),
    "equal weights": Demand(r"^all p_k are equal"),
    "plain mean": Demand(r"a plain mean"),
    "N >= 2": Demand(
        r"^num_clients >= 2",
        lambda w: {"num_clients": 2, "num_selected": 1, "max_weight": Q(1, 2), "min_weight": Q(1, 2)},
        lambda w: {"num_clients": 1, "num_selected": 1, "max_weight": Q(1), "min_weight": Q(1)},
    ),
    # Power-of-Choice.
    "rho >= 0": Demand(r"^rho_(bar|diagonal) >= 0", lambda w: skew(Q(1, 10**6)), lambda w: skew(-Q(1, 10**6), Q(1))),
    "rho > 0": Demand(r"^rho_(bar|diagonal) > 0", lambda w: skew(Q(1, 10**6)), lambda w: skew(Q(0), Q(1))),
    "rho_tilde >= rho": at_least(r"^rho_tilde >= rho_", "rho_tilde", lambda w: w["rho_bar"]),
    "rho <= kappa": Demand(
        r"^rho_(bar|diagonal) <= L/mu",
        lambda w: {**skew(w["L"] / w["mu"]), "G2": 100 * w["G2"]},
        lambda w: {**skew(w["L"] / w["mu"] * BIT), "G2": 100 * w["G2"]},
    ),
    "step <= 1/(4L)": no_step_above(
        r"^step_size <= 1/\(4 L\)", limit=lambda w: 1 / (4 * w["L"]), around=lambda w: skew(Q(1))
    ),
    "step <= 1/(2 mu B)": no_step_above(
        r"^step_size <= 1/\(2 mu \(1 \+ 3 rho_bar/8\)\)",
        limit=lambda w: 1 / (2 * (w["mu"] + 3 * w["L"])),
        around=_long_rate,
    ),
    # A recursion whose slope is negative cannot be applied twice. It follows from rho <= kappa and eta <= 1/(4L).
    "slope not negative": Demand(
        r"^step_size <= 1/\(mu \(1 \+ 3 rho_(bar|diagonal)/8\)\)",
        lambda w: {**skew(8 * (4 * w["L"] / w["mu"] - 1) / 3), "step_size": 1 / (4 * w["L"])},
        lambda w: {**skew(8 * (4 * w["L"] / w["mu"] - 1) / 3 * BIT), "step_size": 1 / (4 * w["L"])},
        implied=True,
    ),
    "step < 1/(2(1+m)L)": step_below(
        r"^step_size < 1/\(2 \(1 \+ num_selected\) L\)", limit=lambda w: 1 / (2 * (1 + w["num_selected"]) * w["L"])
    ),
    "step < 1/L": step_below(r"^step_size < 1/L", limit=lambda w: 1 / w["L"]),
    "step < 2/L": step_below(r"^step_size < 2/L", limit=lambda w: 2 / w["L"]),
    "step (L + mu) < 2": step_below(r"^step_size \(L \+ mu\) < 2", limit=lambda w: 2 / (w["L"] + w["mu"])),
    "contraction": below(
        r"^compression_error < 1, so that the compressor is a contraction",
        "compression_error",
        lambda w: Q(1),
        around=lambda w: {"step_size": w["step_size"] / 10},
    ),
    "method": Demand(r"^clients and server run (error feedback|EF21)|^updates are compressed without error feedback"),
    "Option I": Demand(r"^clients and server run SCAFFOLD with Option I$"),
    "Option II": Demand(r"^clients and server run SCAFFOLD with Option II$"),
    "one coin": Demand(r"^clients and server run Scaffnew with one coin common to all clients"),
    "p <= 1": at_most(r"^probability <= 1", "probability", lambda w: Q(1)),
    "unbiased with one coin": Demand(r"^clients and server run Scaffnew with unbiased gradients and one coin"),
    "growth": Demand(r"^E mean \|g_k - grad F_k\(w\*\)\|\^2 <= 2 A D \+ C, with D"),
    "mu <= A": at_least(r"^mu <= A(?! \+)", "growth", lambda w: w["mu"]),
    "step A <= 1": no_step_above(r"^step_size A <= 1", limit=lambda w: 1 / w["growth"]),
    "growth with a memory": Demand(r"^E mean \|g_k - grad F_k\(w\*\)\|\^2 <= 2 A D \+ B s \+ C and E s_\+ <="),
    "heavy memory": Demand(
        r"^W \(1 - B'\) > B",
        lambda w: {**LIGHT, "memory_weight": 2 * BIT, "step_size": w["step_size"] / 10**9},
        lambda w: {**LIGHT, "memory_weight": Q(2), "step_size": w["step_size"] / 10**9},
    ),
    "mu <= A + W A'": at_least(
        r"^mu <= A \+ W A'",
        "growth",
        lambda w: w["mu"] / 2,
        around=lambda w: {**LIGHT, "memory_weight": Q(4), "memory_growth": w["mu"] / 8},
    ),
    "step (A + W A') <= 1": no_step_above(
        r"^step_size \(A \+ W A'\) <= 1",
        limit=lambda w: 1 / (w["growth"] + w["memory_weight"] * w["memory_growth"]),
    ),
    "FedNova": Demand(r"^clients and server run FedNova"),
    "FedLin": Demand(r"^clients and server run FedLin"),
    "FedSplit": Demand(r"^clients and server run FedSplit with exact proximal steps"),
    "stable local steps": step_below(
        r"^eta \(L \+ mu\) < 2", limit=lambda w: 2 / (w["L"] + w["mu"]), around=lambda w: FEW
    ),
    "fresh gradients": no_step_above(
        r"^\(eta \(L - mu\)\)\^2 \(tau - 1\) tau \(2 tau - 1\) <=",
        limit=lambda w: 1 / w["L"],
        around=lambda w: {"local_steps": 2},
    ),
    "damped": no_step_above(
        r"^h L \(1 \+ omega \+ 2 v \+ \(1 - 1/tau\) h L\) <= 1", limit=_damped, around=lambda w: {"local_steps": 1}
    ),
    "heavy control variates": at_least(
        r"^2 v \+ \(1 - 1/tau\) h L <= omega",
        "control_weight",
        lambda w: 2 / (1 - w["mu"] / (100 * w["L"])),
        around=lambda w: {**ONE_OF_TWO, "step_size": 1 / (100 * w["L"])},
    ),
    "clients smooth on average": Demand(r"^every F_k is L_k-smooth with sum_k p_k L_k\^2 <= client_L\^2"),
    "F smooth": Demand(r"^F is L-smooth"),
    "contraction on average": below(
        r"^E \|C\(v\) - v\|\^2 <= s\^2 \|v\|\^2 with s < 1",
        "compression_error",
        lambda w: Q(1),
        around=lambda w: {"step_size": w["step_size"] / 10**9},
    ),
    "Polyak-Lojasiewicz": Demand(r"^\|grad F\(w\)\|\^2 >= 2 mu"),
    "step of EF21": no_step_above(
        r"^\(step_size client_L s\)\^2 <= \(1 - step_size L\) \(1 - s\)\^2",
        # (3/4 * 2/3 * 1/2)^2 <= 1/4 * (1/2)^2
        limit=lambda w: 3 / (4 * w["L"]),
        around=lambda w: {"compression_error": Q(1, 2), "client_L": 2 * w["L"] / 3},
    ),
    "step of EF21 under PL": no_step_above(
        r"^\(step_size client_L s\)\^2 <= .* \(1 - s - step_size mu\)",
        # (1/4)^2 <= 1/2 * 1/2 * 1/4
        limit=lambda w: 1 / (2 * w["L"]),
        around=lambda w: {"compression_error": Q(1, 2), "mu": w["L"] / 2, "client_L": w["L"]},
    ),
    "step mu < 1 - s": Demand(
        r"^step_size mu < 1 - s",
        lambda w: {"compression_error": 1 - w["step_size"] * w["mu"] * BIT, "client_L": Q(1, 10**12) * w["L"]},
        lambda w: {"compression_error": 1 - w["step_size"] * w["mu"], "client_L": Q(1, 10**12) * w["L"]},
    ),
    "similar to the surrogate": at_least(r"beta2 >= 1 \(Assumption 3\)", "beta2", lambda w: Q(1)),
    "weights of the surrogate": Demand(r"^the weights q_k of the surrogate are positive with sum 1"),
    "transformed objectives": Demand(r"^client k takes its steps on num_clients p_k F_k"),
    "gradients by squared weights": Demand(r"^num_clients sum_k p_k\^2 E \|g_k\|\^2 <= weighted_G2"),
    "N max p >= 1": at_least(r"^num_clients max_weight >= 1", "max_weight", lambda w: Q(1, w["num_clients"])),
    "N min p <= 1": at_most(r"^num_clients min_weight <= 1", "min_weight", lambda w: Q(1, w["num_clients"])),
    "clients quadratic": Demand(r"^every F_k is quadratic"),
    "step < 2/(tau_eff L)": step_below(
        r"^step_size effective_steps L < 2", limit=lambda w: 2 / (3 * w["L"]), around=lambda w: MANY
    ),
    "tau_eff <= tau": at_most(r"^effective_steps <= local_steps", "effective_steps", lambda w: Q(w["local_steps"])),
    "mu < L": Demand(r"^mu < L", lambda w: {"L": w["mu"] * BIT}, lambda w: {"L": w["mu"]}),
    "step <= 1/(tau L)": no_step_above(
        r"^step_size local_steps L <= 1", limit=lambda w: 1 / (w["local_steps"] * w["L"])
    ),
    "step <= 1/(4 tau L)": no_step_above(
        r"^step_size <= 1/\(4 local_steps L\)", limit=lambda w: 1 / (4 * w["local_steps"] * w["L"])
    ),
    "step <= 2/L": no_step_above(r"^step_size <= 2/L", limit=lambda w: 2 / w["L"]),
    "eta^2 L^2 tau (tau - 1) < 1": Demand(
        r"^step_size\^2 L\^2 local_steps \(local_steps - 1\) < 1",
        lambda w: {"local_steps": 4, "step_size": Q(28, 97) / w["L"]},
        lambda w: {"local_steps": 4, "step_size": Q(97, 336) / w["L"]},
    ),
    "curvatures from below": Demand(r"^curvatures of every F_k are at least -negative_curvature"),
    "proximal problems convex": Demand(
        r"^proximal_weight > negative_curvature",
        lambda w: {"proximal_weight": w["negative_curvature"] * BIT},
        lambda w: {"proximal_weight": w["negative_curvature"]},
    ),
    "dissimilar gradients": at_least(
        r"gradient_dissimilarity\^2 \|grad F\(w\)\|\^2, gradient_dissimilarity >= 1",
        "gradient_dissimilarity",
        lambda w: Q(1),
    ),
    "inexact answers": Demand(r"^local solutions y_k have .*<= inexactness"),
    "common minimizer": Demand(r"^w\* minimizes every F_k"),
    "one client": Demand(r"^there is one client"),
    "step <= 2/((1 + s) L)": no_step_above(
        r"^step_size <= 2/\(\(1 \+ compression_error\) L\)", limit=lambda w: 2 / ((1 + w["compression_error"]) * w["L"])
    ),
    "gamma >= 2 tau kappa": at_least(
        r"^gamma >= 2 local_steps L/mu", "gamma", lambda w: 2 * w["local_steps"] * w["L"] / w["mu"]
    ),
    "tau <= gamma + 1": Demand(
        r"^local_steps <= 4 L/mu \+ 1",
        lambda w: {"L": 3 * w["mu"], "local_steps": 13, "G2": 10 * w["G2"], **skew(Q(1))},
        lambda w: {"L": 3 * w["mu"], "local_steps": 14, "G2": 10 * w["G2"], **skew(Q(1))},
    ),
    "m >= 2": Demand(r"^num_selected >= 2", lambda w: {"num_selected": 2}, lambda w: {"num_selected": 1}),
    "m B > 1": Demand(
        r"^num_selected \(1 \+ 3 rho_diagonal/8\) > 1",
        lambda w: {"num_selected": 1, "squared_weights": Q(1), **skew(Q(1, 10**6))},
        lambda w: {"num_selected": 1, "squared_weights": Q(1), **skew(Q(0), Q(1))},
    ),
    # FedALIGN, and weights.
    **{
        f"{name} <= 1": at_most(rf"^{name} <= 1", name, lambda w: Q(1))
        for name in ("theta", "priority_weight", "squared_weights", "gamma")
    },
    # Optimal client sampling: W is the largest of weights of sum 1, S2 the sum of their squares.
    "W <= 1": at_most(
        r"^max_weight <= 1", "max_weight", lambda w: Q(1), around=lambda w: {"sum_squared_weights": Q(1)}
    ),
    "W^2 <= S2": at_least(
        r"^max_weight\^2 <= sum_squared_weights", "sum_squared_weights", lambda w: w["max_weight"] ** 2
    ),
    "S2 <= W": at_most(r"^sum_squared_weights <= max_weight", "sum_squared_weights", lambda w: w["max_weight"]),
    "gamma <= 1 in every round": at_most(
        r"^smallest_gamma <= 1", "smallest_gamma", lambda w: Q(1), around=lambda w: {"mean_inverse_gamma": Q(1)}
    ),
    "E[1/gamma] >= 1": at_least(r"^mean_inverse_gamma >= 1", "mean_inverse_gamma", lambda w: Q(1)),
    "E[1/gamma] <= 1/smallest": at_most(
        r"^mean_inverse_gamma <= 1/smallest_gamma", "mean_inverse_gamma", lambda w: 1 / w["smallest_gamma"]
    ),
    "mean update by Jensen": at_most(r"^mean_update2 <= update2", "mean_update2", lambda w: w["update2"]),
    "updates by nonexpansiveness": at_most(r"^update2 <= 4 distance2", "update2", lambda w: 4 * w["distance2"]),
    # In one local step, since local gradient descent with more of them asks for shorter steps.
    "step <= 1/L": no_step_above(r"^step_size <= 1/L", limit=lambda w: 1 / w["L"], around=lambda w: FEW),
    "eq. (18) in every round": no_step_above(
        r"^step_size <= smallest_gamma/\(\(1 \+ max_weight M\) L\)",
        limit=lambda w: w["gamma"] / ((1 + w["max_weight"] * w["relative_noise"]) * w["L"]),
        around=lambda w: SMALL,
    ),
    "drift step": no_step_above(r"^step_size <= 1/\(8 L \(2 \+ M/R\)\)", limit=_drift_limit, around=lambda w: LARGE),
    "sampling step": no_step_above(
        r"^step_size <= gamma/\(8 L \(1 \+ max_weight M/R\)\)", limit=_sampling_limit, around=lambda w: SMALL
    ),
    "sampling step in every round": no_step_above(
        r"^step_size <= smallest_gamma/\(8 L \(1 \+ max_weight M/R\)\)", limit=_sampling_limit, around=lambda w: SMALL
    ),
    # All weights on one client, so that the second condition on the server's step asks for no more than 1.
    "eta_g >= 1": at_least(
        r"^server_step_size >= 1",
        "server_step_size",
        lambda w: Q(1),
        around=lambda w: {**ALL_WEIGHTS, "step_size": w["step_size"] / (10 * (1 + w["relative_noise"]))},
    ),
    "eta_g^2 >= gamma/S2": at_least(
        r"^server_step_size\^2 >= gamma/sum_squared_weights",
        "server_step_size",
        lambda w: Q(2),
        around=lambda w: {**QUARTER, "gamma": Q(1)},
    ),
    "eta_g^2 >= 1/S2": at_least(
        r"^server_step_size\^2 >= 1/sum_squared_weights", "server_step_size", lambda w: Q(2), around=lambda w: QUARTER
    ),
    "weights given sum to one": Demand(
        r"^(?!aggregation).*weights.* sum",
        lambda w: {"weights": [0.25, 0.25, 0.25, 0.25]},
        lambda w: {"weights": [0.25, 0.25, 0.25, 0.26]},
    ),
    "priority_weights <= 1": Demand(
        r"^priority_weights <= 1",
        lambda w: {"priority_weights": [Q(1) for _ in w["priority_weights"]]},
        lambda w: {"priority_weights": [BIT, *w["priority_weights"][1:]]},
    ),
    # Consequences of the hypotheses that can be read off the numbers.
    "G2 and distance": least_gradients(r"^mu\^2 initial_distance2 \+ 2 mu objective_gap <= G2", lambda w: _above(w, 1)),
    "G2, skew and distance": least_gradients(
        r"^max\(1, rho_\w+\) \(mu\^2 initial_distance2 \+ 2 mu objective_gap\) <= G2",
        lambda w: _above(w, max(1, w["rho_bar"])),
    ),
    "G2, skew and gap": least_gradients(
        r"^2 mu max\(1, rho_\w+\) \(initial_gap \+ objective_gap\) <= G2",
        lambda w: 2 * w["mu"] * max(1, w["rho_bar"]) * (w["initial_gap"] + w["objective_gap"]),
    ),
    "G2 and Gamma": least_gradients(r"^2 mu objective_gap <= G2", lambda w: 2 * w["mu"] * w["objective_gap"]),
    "G2, skew and Gamma": least_gradients(
        r"^2 mu max\(1, rho_\w+\) objective_gap <= G2",
        lambda w: 2 * w["mu"] * max(1, w["rho_bar"]) * w["objective_gap"],
    ),
    "sigma2 <= G2": at_most(r"^sigma2 <= G2", "sigma2", lambda w: w["G2"]),
    "weighted_sigma2 <= G2": at_most(r"^weighted_sigma2 <= G2", "weighted_sigma2", lambda w: w["G2"]),
    "squared_weights >= 1/m": at_least(
        r"squared_weights >= 1/num_selected", "squared_weights", lambda w: Q(1, w["num_selected"])
    ),
    "gap <= L/2 distance^2": at_most(r"gap <= L/2 distance2", "gap", lambda w: w["L"] / 2 * w["distance2"]),
    "gap >= mu/2 distance^2": at_least(r"gap >= mu/2 distance2", "gap", lambda w: w["mu"] / 2 * w["distance2"]),
}
