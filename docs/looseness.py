"""Table of all bounds with the ratio to their worst case, or the reason why no worst case is computed."""

import os
from collections.abc import Iterator
from fractions import Fraction as Q
from functools import cache
from typing import Any, NamedTuple

import joblib

from fedtheory.bounds import average_drift as ad
from fedtheory.bounds import client_sampling as cs
from fedtheory.bounds import delayed, ef21, fedexp, fedlin, fedopt, fedprox, fedsplit, local_gd, participation, sgd
from fedtheory.bounds import error_feedback as ef
from fedtheory.bounds import fedalign as align
from fedtheory.bounds import fedavg as li
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds import proxskip as ps
from fedtheory.bounds import scaffold as sc
from fedtheory.bounds import stationary as st
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case import Comparison, compare

HEAD = r"""| Bound | Looseness | Case | Bound value | Worst case | $\Delta$ | $\Gamma$ | $G^2$ | $\sigma^2$ |
| --- | --: | --- | --: | --: | --- | --- | --- | --- |
"""
FOOT = """
A star marks bounds whose class differs from that of the worst case; see [Remarks](#remarks).

## Bounds without a worst case

| Bound | Reason |
| --- | --- |
"""
REMARKS = """
## Remarks

| Bound | Remark |
| --- | --- |
"""
PRINTED = """
## Printed forms

These rows have the same constants, even if these violate the printed hypotheses. Some of the forms are false.

| Bound | Looseness | Case | Bound value |
| --- | --: | --- | --: |
"""
_NUMBERS = "it is an inequality between numbers of one step or one model, without a class of functions"
_PATH = "it holds for all vectors of bounded length along a path; the form for functions is `exact_client_drift`"
_NONCONVEX = (
    "its hypothesis on dissimilarity is about all models, including those that no run visits, and is not finite"
)
_DRAWN = "sampled priority clients have too many outcomes per round; `full_participation_gap` has a worst case"
REASONS: dict[Bound, str] = {
    **dict.fromkeys((poc.averaged_distance, align.aggregated_distance, align.gradient_variance), _NUMBERS),
    **dict.fromkeys((ocs.estimator_error, ocs.estimator_second_moment, ocs.dsgd_second_moment), _NUMBERS),
    **dict.fromkeys((ocs.fedavg_second_moment, ocs.client_drift, ocs.perturbed_inner_product), _NUMBERS),
    **dict.fromkeys((poc.client_drift, align.client_drift, align.sampling_variance), _PATH),
    **dict.fromkeys((li.with_replacement_variance, li.without_replacement_variance), _PATH),
    **dict.fromkeys((ocs.dsgd_nonconvex, ocs.dsgd_average_gradient), _NONCONVEX),
    **dict.fromkeys((ocs.fedavg_nonconvex, ocs.fedavg_average_gradient), _NONCONVEX),
    **dict.fromkeys((align.partial_one_step, align.partial_participation_gap), _DRAWN),
    li.transformed_gap: "it is `without_replacement_gap` for other objectives, which has a worst case",
    sgd.fixed_step_distance: "its worst case has a path for each sequence of sampled clients; `drawn_step` has one",
    fedexp.one_round: "it is about measured updates; one client of curvature L with one step attains it",
    ad.fixed_step_distance: "two parabolas of almost the curvature mu come arbitrarily close to it for every horizon",
    fedopt.mean_gradient2: "its steps are divided by roots of averages of squared coordinates of gradients",
    st.averaging_distance: "it is attained by equal clients of curvature mu or L, so its looseness is 1",
    st.normalized_round: "it is about quadratics; for small step sizes equal clients of curvature mu attain it",
    ocs.dsgd_per_client_variant: "it is false for unequal weights; its claim refutes it",
}
CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": Q(1), "objective_gap": Q(1, 2)}
SKEWED = CLASS | {"num_selected": 1, "sigma2": Q(0), "rho_diagonal": Q(6, 5), "rho_tilde": Q(2)}
BARRED = {name: value for name, value in SKEWED.items() if name != "rho_diagonal"} | {"rho_bar": Q(6, 5)}
START = {"distance2": Q(1), "step_size": Q(1, 4)}
ROUND = SKEWED | START
HORIZON = SKEWED | {"initial_distance2": Q(1), "local_steps": 2}
QUIET = {"relative_noise": Q(0), "sigma2": Q(0)}
EQUAL = QUIET | {"max_weight": Q(1, 4), "sum_squared_weights": Q(1, 4)}
HALF = {"smallest_gamma": Q(1, 2), "mean_inverse_gamma": Q(2)}
SAMPLED = CLASS | EQUAL | {"distance2": Q(1), "step_size": Q(1, 8), "gap": Q(1, 4)}
LOCAL = CLASS | EQUAL | {"distance2": Q(1), "step_size": Q(1, 16), "server_step_size": Q(2), "local_steps": 2}
LI = CLASS | {"local_steps": 2, "G2": Q(1), "weighted_sigma2": Q(0), "initial_distance2": Q(1)}
ALIGNED = CLASS | {"sigma2": Q(0), "G2": Q(1), "distance2": Q(1), "priority_weight": Q(2, 3), "included_gap": Q(1, 6)}
ALIGNED_ROUND = CLASS | {"num_steps": 2, "local_steps": 2, "G2": Q(1), "sigma2": Q(0), "initial_distance2": Q(1)}
AT_OPTIMUM = {"mu": Q(1, 10), "L": Q(1), "distance2": Q(1), "zeta2": Q(1)}
CONTROLLED = {"mu": Q(1, 10), "L": Q(1), "step_size": Q(1, 4), "distance2": Q(1), "control_error2": Q(1)}
CONTROLLED_RUN = {"initial_distance2" if name == "distance2" else name: value for name, value in CONTROLLED.items()}
NOISY = {name: value for name, value in CONTROLLED_RUN.items() if name != "L"} | {
    "num_steps": 1,
    "probability": Q(1, 2),
}
CLASS_OF_CURVATURES = {"mu": Q(1, 10), "L": Q(1)}
CONVEX = {"L": Q(1), "step_size": Q(1, 8)}
COMPRESSED = {"mu": Q(1, 10), "L": Q(1), "compression_error": Q(1, 2)}
EF21 = COMPRESSED | {
    "client_L": Q(1),
    "step_size": Q(1, 4),
    "num_rounds": 2,
    "initial_gap": Q(1),
    "memory_error2": Q(1),
}


class Case(NamedTuple):
    """A bound with constants, and what is special about them."""

    bound: Bound
    words: str
    given: dict[str, Any]


CASES = (
    Case(poc.gradient_norm, "excess 1", {"excess": Q(1), "L": Q(1)}),
    Case(poc.loss_after_step, r"$\eta = \frac14$, excess 1", {"excess": Q(1), "step_size": Q(1, 4), "L": Q(1)}),
    Case(
        poc.exact_client_drift,
        r"$\tau = 4$, $\eta = \frac14$, $G^2 = 1$",
        {"step_size": Q(1, 4), "mu": Q(1, 10), "L": Q(1), "local_steps": 4, "G2": Q(1)},
    ),
    *(Case(poc.one_round, rf"$\tau = {tau}$, $\eta = \frac14$", ROUND | {"local_steps": tau}) for tau in (1, 2, 5)),
    Case(
        poc.one_round,
        r"$\tau = 2$, $\eta = \frac14$, $\sigma^2 = 1$",
        ROUND | {"local_steps": 2, "sigma2": Q(1)},
    ),
    Case(poc.one_step, r"first step, $\eta = \frac14$, $G^2 = 1$", ROUND | {"elapsed_step_size": Q(0), "G2": Q(1)}),
    Case(
        poc.weighted_one_step,
        r"first step, $\eta = \frac14$, $G^2 = 1$",
        {name: value for name, value in ROUND.items() if name != "num_selected"}
        | {"elapsed_step_size": Q(0), "G2": Q(1), "squared_weights": Q(1)},
    ),
    Case(poc.fixed_step_distance, r"50 rounds, $\eta = \frac14$", HORIZON | {"num_rounds": 50, "step_size": Q(1, 4)}),
    Case(poc.decaying_steps_distance, r"50 rounds, $\gamma = 40$", HORIZON | {"num_rounds": 50, "gamma": Q(40)}),
    Case(poc.averaged_rounds_gap, r"3 rounds, $\eta = \frac14$", HORIZON | {"num_rounds": 3, "step_size": Q(1, 4)}),
    Case(poc.decaying_steps_gap, "100 steps, $G^2 = 1$", HORIZON | {"num_steps": 100, "G2": Q(1)}),
    Case(poc.refined_decaying_steps_gap, "100 steps, $G^2 = 1$", HORIZON | {"num_steps": 100, "G2": Q(1)}),
    Case(
        poc.fixed_step_gap,
        r"100 steps, $\eta = \frac14$, $G^2 = 1$",
        SKEWED | {"local_steps": 2, "num_steps": 100, "step_size": Q(1, 4), "G2": Q(1), "initial_gap": Q(1, 20)},
    ),
    Case(
        poc.refined_fixed_step_gap,
        r"100 steps, $\eta = \frac14$, $G^2 = 1$",
        HORIZON | {"num_steps": 100, "step_size": Q(1, 4), "G2": Q(1)},
    ),
    Case(
        poc.derived_weighted_average_gap,
        "100 steps, $m = 2$, $G^2 = 1$",
        BARRED | {"initial_distance2": Q(1), "local_steps": 2, "num_steps": 100, "G2": Q(1), "num_selected": 2},
    ),
    Case(
        poc.weighted_average_gap,
        "100 steps, $m = 2$, $G^2 = 1$",
        HORIZON | {"num_steps": 100, "G2": Q(1), "num_selected": 2, "squared_weights": Q(1)},
    ),
    Case(li.one_step, r"first step, $\eta = \frac14$, $G^2 = 1$", {k: v for k, v in LI.items() if k[0] != "i"} | START),
    Case(li.full_participation_gap, "8 steps, $G^2 = 1$", LI | {"num_steps": 8}),
    Case(li.with_replacement_gap, "2 steps, $m = 1$, $G^2 = 1$", LI | {"num_steps": 2, "num_selected": 1}),
    Case(
        li.without_replacement_gap,
        "2 steps, 2 of 3 clients, $G^2 = 1$",
        LI | {"num_steps": 2, "num_clients": 3, "num_selected": 2},
    ),
    Case(
        li.decaying_steps_gap,
        "2 steps, $m = 1$, $G^2 = 1$",
        {k: v for k, v in LI.items() if k[0] != "w"} | {"num_steps": 2, "num_selected": 1, "sigma2": Q(0)},
    ),
    *(Case(li.one_round, rf"$\tau = {tau}$, $\eta = \frac14$", CLASS | START | {"local_steps": tau}) for tau in (2, 5)),
    Case(
        li.fixed_step_distance,
        r"10 rounds, $\eta = \frac14$",
        CLASS | {"num_rounds": 10, "step_size": Q(1, 4), "local_steps": 2, "initial_distance2": Q(1)},
    ),
    Case(li.sampled_step, r"2 of 5 clients, $\eta = \frac14$", CLASS | START | {"num_clients": 5, "num_selected": 2}),
    Case(li.gap_after_step, r"$\eta = \frac14$", START | {"mu": Q(1, 10), "L": Q(1)}),
    Case(ocs.dsgd_strongly_convex, r"2 of 4 clients, $\eta = \frac18$", SAMPLED | {"gamma": Q(1, 2)}),
    Case(
        ocs.dsgd_convex_clients,
        r"2 of 4 clients, $\eta = \frac18$",
        {k: v for k, v in SAMPLED.items() if k != "objective_gap"}
        | {"gamma": Q(1, 2), "squared_weight_optimum_gradient2": Q(1, 4)},
    ),
    Case(
        ocs.dsgd_contraction,
        r"2 of 4 clients, $\eta = \frac18$",
        {k: v for k, v in SAMPLED.items() if k != "gap"} | HALF,
    ),
    Case(
        ocs.full_participation,
        r"4 clients, $\eta = \frac18$, $\sigma^2 = 1$",
        {
            "mu": Q(1, 10),
            "L": Q(1),
            "distance2": Q(1),
            "step_size": Q(1, 8),
            "sum_squared_weights": Q(1, 4),
            "sigma2": Q(1),
        },
    ),
    Case(
        ocs.full_participation_distance,
        r"5 rounds of 4 clients, $\eta = \frac18$",
        {"mu": Q(1, 10), "L": Q(1), "initial_distance2": Q(1), "step_size": Q(1, 8), "sum_squared_weights": Q(1, 4)}
        | {"sigma2": Q(0), "num_rounds": 5},
    ),
    *(
        Case(bound, r"$R = 2$, $\eta_g = 2$, $\eta = \frac1{16}$", LOCAL | {"gap": Q(1, 4), "gamma": Q(1)})
        for bound in (ocs.fedavg_strongly_convex, ocs.fedavg_convex_clients)
    ),
    Case(
        ocs.fedavg_strongly_convex_per_client,
        r"$R = 2$, $\eta_g = 2$, $\eta = \frac1{16}$",
        LOCAL | {"gap": Q(1, 4), "gamma": Q(1), "per_client_gap": Q(1, 8)},
    ),
    Case(
        ocs.fedavg_contraction,
        r"$R = 2$, $\eta_g = 2$, $\eta = \frac1{16}$",
        LOCAL | {"smallest_gamma": Q(1), "mean_inverse_gamma": Q(1)},
    ),
    Case(align.gradient_norm, "excess 1", {"excess": Q(1), "L": Q(1)}),
    Case(align.one_step, r"$\eta = \frac14$, $\Gamma_3 = \frac12$", ALIGNED | {"step_size": Q(1, 4), "local_steps": 2}),
    Case(
        align.refined_one_step,
        r"first step, $\eta = \frac14$, $\Gamma_3 = \frac12$",
        ALIGNED | {"step_size": Q(1, 4), "elapsed_step_size": Q(0), "squared_weights": Q(1)},
    ),
    Case(
        align.recursion_gap,
        r"a round, $\Gamma_3 = \frac12$",
        ALIGNED_ROUND | {"priority_weights": [Q(2, 3)] * 2, "included_gaps": [Q(1, 6)] * 2},
    ),
    Case(
        align.full_participation_gap,
        r"a round, $\Gamma_3 = \frac12$",
        ALIGNED_ROUND | {"theta": Q(1, 60), "rho": Q(1, 12)},
    ),
    *(
        Case(
            sgd.drawn_step,
            rf"one client, $\eta = {eta}$, $\zeta^2 = 1$",
            AT_OPTIMUM | {"step_size": eta, "num_selected": 1},
        )
        for eta in (Q(1, 4), Q(1), Q(3))
    ),
    Case(
        cs.one_step,
        r"any sampling, $\eta = \frac14$, $V = 1$",
        START | {"mu": Q(1, 10), "L": Q(1), "sampling_variance": Q(1)},
    ),
    *(
        Case(
            participation.fixed_step_distance,
            rf"two clients take turns, {rounds} rounds, $\eta = \frac14$, $\delta^2 = 1$",
            {"mu": Q(1, 10), "L": Q(1), "num_rounds": rounds, "local_steps": 1, "step_size": Q(1, 4)}
            | {"initial_distance2": Q(1), "imbalance2": Q(1)},
        )
        for rounds in (2, 4)
    ),
    Case(
        sgd.subset_step,
        r"2 of 5 clients, $\eta = \frac14$, $\zeta^2 = 1$",
        AT_OPTIMUM | {"step_size": Q(1, 4), "num_clients": 5, "num_selected": 2},
    ),
    *(
        Case(
            sgd.local_steps_round,
            rf"$\tau = {tau}$, $\eta = \frac14$, $\zeta^2 = 1$",
            AT_OPTIMUM | {"step_size": Q(1, 4), "local_steps": tau},
        )
        for tau in (2, 5)
    ),
    *(
        Case(bound, rf"$\tau = {tau}$, $\eta = \frac14$, $E = 1$", CONTROLLED | {"local_steps": tau})
        for bound, tau in ((sc.one_round, 2), (sc.one_round, 4), (sc.option_one_round, 2))
    ),
    *(
        Case(
            sc.fixed_step_potential,
            rf"2 rounds, $\tau = 2$, $\eta = \frac14$, $E = {E}$",
            CONTROLLED_RUN | {"num_rounds": 2, "local_steps": 2, "control_error2": Q(E)},
        )
        for E in (0, 1)
    ),
    Case(
        sc.sampled_round,
        r"1 of 5 clients, $\tau = 2$, $\tau\eta = \frac1{10}$, $\omega = 5$, $C = \sigma^2 = 1$",
        CLASS_OF_CURVATURES
        | {"distance2": Q(1), "variate_error2": Q(1), "control_weight": Q(5), "step_size": Q(1, 20), "local_steps": 2}
        | {"num_clients": 5, "num_selected": 1, "sigma2": Q(1)},
    ),
    *(
        Case(
            fedlin.corrected_round,
            rf"$\tau = {tau}$, $\eta = \frac14$",
            CLASS_OF_CURVATURES | {"distance2": Q(1), "step_size": Q(1, 4), "local_steps": tau},
        )
        for tau in (2, 4)
    ),
    Case(
        delayed.fixed_step_distance,
        r"4 rounds, $D = 1$, $\mu = \frac12$, $\eta = \frac18$",
        {
            "mu": Q(1, 2),
            "L": Q(1),
            "largest_delay": 1,
            "step_size": Q(1, 8),
            "num_rounds": 4,
            "initial_distance2": Q(1),
        },
    ),
    Case(fedsplit.split_round, "$s = 1$", CLASS_OF_CURVATURES | {"distance2": Q(1), "step_size": Q(1)}),
    *(
        Case(
            bound,
            r"2 rounds, $\eta = \frac14$, $s = \frac12$, $G_0 = 1$",
            {name: value for name, value in EF21.items() if name in bound.domains},
        )
        for bound in (ef21.average_gradient, ef21.polyak_gap)
    ),
    *(
        Case(
            bound,
            rf"{T} steps, $\gamma = \frac14$, $p = \frac12$, $E = {E}$",
            CONTROLLED_RUN | {"num_steps": T, "probability": Q(1, 2), "control_error2": Q(E)},
        )
        for bound, T, E in (
            (ps.fixed_step_potential, 2, 0),
            (ps.refined_fixed_step_potential, 2, 0),
            (ps.refined_fixed_step_potential, 2, 1),
        )
    ),
    Case(
        ps.stochastic_potential,
        r"a step, $\gamma = \frac14$, $p = \frac12$, $A = 2$, $C = 1$",
        NOISY | {"growth": Q(2), "noise_floor": Q(1)},
    ),
    Case(
        ps.corrected_potential,
        r"a step, $\gamma = \frac14$, $p = \frac12$, $A = B = 2$, $A' = \frac12$, $B' = \frac14$, $W = 4$, $s = 1$",
        NOISY
        | {
            "growth": Q(2),
            "memory_share": Q(2),
            "memory_growth": Q(1, 2),
            "memory_rate": Q(1, 4),
            "memory_weight": Q(4),
        }
        | {"noise_floor": Q(0), "memory_floor": Q(0), "initial_memory_error": Q(1)},
    ),
    *(
        Case(bound, rf"{words}, $s = \frac12$", COMPRESSED | {"step_size": eta, "potential": Q(1)})
        for bound in (ef.ef_round, ef.ef21_round)
        for words, eta in ((r"best $\eta$", Q(20, 33)), (r"$\eta = \frac14$", Q(1, 4)))
    ),
    *(
        Case(
            bound,
            r"2 rounds, best $\eta$, $s = \frac12$",
            COMPRESSED | {"step_size": Q(20, 33), "num_rounds": 2, name: Q(1)},
        )
        for bound, name in ((ef.ef_distance, "initial_distance2"), (ef.ef21_gradient2, "initial_potential"))
    ),
    Case(
        ef.cgd_gap,
        r"2 steps, best $\eta$, $s = \frac12$",
        COMPRESSED | {"step_size": Q(40, 31), "initial_gap": Q(1), "num_rounds": 2},
    ),
    Case(
        st.inconsistency,
        r"$\chi^2 = \frac14$, $\beta^2 = 1$, $\kappa^2 = 1$",
        {"surrogate_gradient2": Q(1), "chi2": Q(1, 4), "beta2": Q(1), "kappa2": Q(1)},
    ),
    *(
        Case(bound, r"$\eta = \frac18$, $V = 1$", CONVEX | {"distance2": Q(9), "drift": Q(1), "gap": Q(1)})
        for bound in (local_gd.one_step, local_gd.long_step)
    ),
    Case(
        local_gd.round_drift,
        r"$\tau = 2$, $\eta = \frac18$, $\zeta^2 = 1$",
        CONVEX | {"local_steps": 2, "zeta2": Q(1), "gap_sum": Q(1)},
    ),
    Case(
        local_gd.averaged_gap,
        r"8 steps, $\tau = 2$, $\eta = \frac18$, $\zeta^2 = 1$",
        CONVEX | {"local_steps": 2, "zeta2": Q(1), "num_steps": 8, "initial_distance2": Q(1)},
    ),
    *(
        Case(
            fedprox.loss_change,
            rf"$B = {B}$, $\mu = {weight}$, exact answers",
            {"gradient2": Q(1), "L": Q(1), "negative_curvature": Q(0), "inexactness": Q(0)}
            | {"proximal_weight": Q(weight), "gradient_dissimilarity": Q(B)},
        )
        for B, weight in ((2, 10), (2, 16))
    ),
)


def pairs(found: Comparison) -> Iterator[str]:
    """Yield for each constant the sensitivity of the bound and that of the worst case."""
    for name in ("distance2", "objective_gap", "G2", "gradient_noise"):
        one = found.sensitivities.get(name)
        yield f"{float(one.bound):.4f}<br>{float(one.worst_case):.4f}" if one else ""


def cited(bound: Bound) -> str:
    """Name a bound and its source."""
    return f"`{bound.__name__}`<br>{bound.statement.topic.key}, {bound.short_name}"


def row(case: Case, found: Comparison) -> str:
    """One line of the table."""
    star = r"\*" if found.remark else ""
    cells = [
        cited(case.bound),
        f"{found.looseness:.4f}{star}",
        case.words,
        f"{float(found.bound_value):.4f}",
        f"{found.worst_case.value:.4f}",
        *pairs(found),
    ]
    return f"| {' | '.join(cells)} |"


def printed_row(case: Case, found: Comparison) -> str:
    """Return the line of a printed form, whose value is in the unit of the other's."""
    others = {"rho_bar": case.given.get("rho_diagonal"), "initial_gap": Q(1, 20), "local_steps": 2, "num_selected": 1}
    printed = case.bound.printed
    given: dict[str, Any] = {name: (others | case.given)[name] for name in printed.domains}
    other = printed(**given, strict=False)[0]
    value = float(other) * float(found.bound_value) / float(case.bound(**case.given))
    return f"| {cited(case.bound)} | {value / float(found.worst_case.enclosure[0]):.4f} | {case.words} | {value:.4f} |"


@cache
def comparisons() -> list[tuple[Case, Comparison]]:
    """Return every case with its worst case, computed on all processors."""
    run = joblib.Parallel(os.cpu_count() or 1, inner_max_num_threads=1, backend="loky")
    return list(zip(CASES, run(joblib.delayed(_compared)(number) for number in range(len(CASES))), strict=True))


def _compared(number: int) -> Comparison:
    case = CASES[number]
    return compare(case.bound, **case.given)


def table() -> str:
    """Return the tables of the page."""
    found = comparisons()
    compared = {case.bound for case in CASES}
    reasons = [
        f"| {cited(bound)} | {REASONS.get(bound, 'no worst case has been computed')} |"
        for bound in known_bounds().values()
        if bound not in compared
    ]
    remarks = dict.fromkeys(f"| {cited(case.bound)} | {one.remark} |" for case, one in found if one.remark)
    printed = [printed_row(*pair) for pair in found if pair[0].bound.printed.worst_case is None]
    parts = (HEAD, [row(*pair) for pair in found], FOOT, reasons, REMARKS, remarks, PRINTED, printed)
    return "".join(part if isinstance(part, str) else "\n".join(part) + "\n" for part in parts)
