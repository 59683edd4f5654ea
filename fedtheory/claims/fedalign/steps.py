"""FedALIGN, Appendix A.3: every step of the proof of Lemma A.6, on states with any local models."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.claims.fedalign._states import GROUPS, Group, State, draw_state
from fedtheory.rational._alignment_draws import draw_alignment
from fedtheory.rational._rounds import Snapshot, distance2
from fedtheory.rational._step_sizes import short_steps
from fedtheory.rational.vectors import combination, difference, inner, norm2, scaled
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX = "Appendix A.3"
_SHORT = ("step_size <= 1/(4 L)",)


@claim(
    "fedalign:equations-37-38",
    "E |w_{t+1} - w*|^2 = E |w_t - eta mean g_t - w*|^2 + eta^2 E |g_t - mean g_t|^2: E B = 0",
    Statement(fa.PAPER, _APPENDIX, "eqs. (37)-(38)"),
    "identity",
    hypotheses=("the indicators are fixed at the round's start", "noise is independent across clients"),
    instances=(100, 400),  # one run in twelve is short enough for noise
)
def equations_37_38(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, step_size=short_steps(rng))
    fed, best, findings = run.federation, run.federation.minimizer, []
    for step in range(run.num_steps):
        eta = run.step_size(step)

        def mean_square(at: Snapshot, eta: Fraction = eta) -> Fraction:
            gradients = [fed.gradient(k, w) for k, w in zip(at.chosen, at.local, strict=True)]
            moved = difference(at.average, scaled(eta, combination(at.coefficients, gradients)))
            return norm2(difference(moved, best)) + eta**2 * run.sigma2 * norm2(at.coefficients)

        predicted = run.snapshots[step].mean(mean_square)
        findings.append(equal_to(distance2(run, step + 1), predicted, instance={**instance, "step": step}))
    return worst_of(findings)


@claim(
    "fedalign:equations-39-41",
    "A_1 is the sum of |w - w*|^2, A_2 and A_3, and A_2 the sum of -2 eta p'_k I_k <w - w*, grad F_k(w_k)>",
    Statement(fa.PAPER, _APPENDIX, "eqs. (39), (41)"),
    "identity",
)
def equations_39_41(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    offset, eta = difference(state.at.average, state.best), state.step_size
    products = state.over("all", lambda k, w: inner(offset, state.federation.gradient(k, w)))
    total = state.standing2 - 2 * eta * products + eta**2 * norm2(state.gradient)
    return equal_to(state.landing2, total, instance=state.instance)


@claim(
    "fedalign:equation-40",
    "|mean g|^2 <= sum_k p'_k I_k |grad F_k(w_k)|^2 <= 2 L sum_k p'_k I_k (F_k(w_k) - F_k*)",
    Statement(fa.PAPER, _APPENDIX, "eq. (40)"),
    looseness=1.01,
)
def equation_40(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    squares = state.over("all", lambda k, w: norm2(state.federation.gradient(k, w)))
    return worst_of(
        [
            at_most(norm2(state.gradient), squares, instance=state.instance),
            at_most(
                squares,
                fa.gradient_norm(state.excess("all"), L=state.federation.smoothness),
                instance=state.instance,
            ),
        ]
    )


@claim(
    "fedalign:equations-42-43",
    "2 <w_k - w, g> <= |w_k - w|^2/eta + eta |g|^2, and F_k(w*) - F_k(w_k) - <w* - w_k, g> >= mu/2 |w_k - w*|^2",
    Statement(fa.PAPER, _APPENDIX, "eqs. (42)-(43)"),
    looseness=1.01,
)
def equations_42_43(rng: np.random.Generator) -> Finding:
    state, findings = draw_state(rng), []
    fed, eta = state.federation, state.step_size
    for k, w in zip(state.at.chosen, state.at.local, strict=True):
        gradient, offset = fed.gradient(k, w), difference(w, state.at.average)
        means = norm2(offset) / eta + eta * norm2(gradient)
        ahead = difference(w, state.best)
        above = fed.excess(k, state.best) - fed.excess(k, w) + inner(ahead, gradient)
        findings += [
            at_most(2 * inner(offset, gradient), means, instance=state.instance),
            at_most(fed.strong_convexity / 2 * norm2(ahead), above, instance=state.instance),
        ]
    return worst_of(findings)


def combined(state: State) -> Iterator[Fraction]:
    """Yield the right sides of (44), from one to the next."""
    fed, eta = state.federation, state.step_size
    squares = state.over("all", lambda k, w: norm2(fed.gradient(k, w)))
    away = state.over("all", lambda _, w: norm2(difference(w, state.best)))
    spread, excess = state.spread("all"), state.excess("all")
    above_best = excess - state.excess_at(state.best, "all")
    first = state.standing2 + 2 * fed.smoothness * eta**2 * excess + spread
    yield first + eta**2 * squares - 2 * eta * above_best - eta * fed.strong_convexity * away
    left_over = sum((state.left_over(group) for group in GROUPS), start=Fraction(0))
    yield state.standing2 - eta * fed.strong_convexity * away + spread + left_over
    yield (1 - eta * fed.strong_convexity) * state.standing2 + spread + left_over


@claim(
    "fedalign:equation-44",
    "|w - eta mean g - w*|^2 <= the three right sides of (44), each at most the next; (b) is Jensen, eq. (24)",
    Statement(fa.PAPER, _APPENDIX, "eqs. (24), (44)", form="corrected"),
    hypotheses=_SHORT,
    looseness=1.01,
    remark="the left side as printed has w_{t+1} in the place of w_t",
)
def equation_44(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    chain = [state.landing2, *combined(state)]
    return worst_of(at_most(*pair, instance=state.instance) for pair in pairwise(chain))


@claim(
    "fedalign:equations-45-49",
    "A_4 = -nu sum_P p'_k (F_k(w_k) - F*) + 4 L eta^2 Gamma/(1 + s), A_5 = -nu sum p'_k I_k (F_k(w_k) - F_k*) + eta D",
    Statement(fa.PAPER, _APPENDIX, "eqs. (45), (49)-(50)", form="corrected"),
    "identity",
    hypotheses=("E_t and D_t are taken given the inclusions",),
)
def equations_45_49(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    eta, L = state.step_size, state.federation.smoothness
    above = state.excess("priority") - state.priority_gap
    priority = -state.nu * above + 4 * L * eta**2 * state.priority_gap
    others = -state.nu * state.excess("others") + 2 * eta * state.included_gap
    return worst_of(
        [
            equal_to(state.left_over("priority"), priority, instance=state.instance),
            equal_to(state.left_over("others"), others, instance=state.instance),
        ]
    )


def from_below(state: State, group: Group) -> list[Finding]:
    """``sum p'_k I_k (F_k(w) - F_k(w_k))`` against (a) and (b) of (46) and (51), with 1/(2 eta)."""
    fed, eta, w = state.federation, state.step_size, state.at.average
    squares = state.over(group, lambda k, _: norm2(fed.gradient(k, w)))
    lost = state.excess_at(w, group) - state.excess(group)
    means = (eta * squares + state.spread(group) / eta) / 2
    smooth = eta * fed.smoothness * state.excess_at(w, group) + state.spread(group) / (2 * eta)
    return [at_most(lost, means, instance=state.instance), at_most(means, smooth, instance=state.instance)]


@claim(
    "fedalign:equations-46-51",
    "sum p'_k I_k (F_k(w) - F_k(w_k)) <= sum p'_k I_k (eta L (F_k(w) - F_k*) + |w_k - w|^2/(2 eta)), both groups",
    Statement(fa.PAPER, _APPENDIX, "eqs. (46), (51)", form="corrected"),
    looseness=1.01,
    remark="printed with 1/eta, which is true and too weak for (47) and (52)",
)
def equations_46_51(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    return worst_of(finding for group in GROUPS for finding in from_below(state, group))


def from_above(state: State, group: Group) -> list[Finding]:
    """Compare A_6 or A_7 with what (47) or (52) says."""
    eta, L, nu, w = state.step_size, state.federation.smoothness, state.nu, state.at.average
    gap = state.priority_gap if group == "priority" else Fraction(0)
    term, at_average, spread = -nu * (state.excess(group) - gap), state.excess_at(w, group), state.spread(group)
    floor = nu * eta * L * gap
    inserted = nu * (eta * L * at_average + spread / (2 * eta))
    dropped = nu * (eta * L - 1) * (at_average - gap)
    return [
        at_most(term + nu * (at_average - gap), inserted, instance=state.instance),
        equal_to(
            inserted - nu * (at_average - gap), dropped + floor + nu / (2 * eta) * spread, instance=state.instance
        ),
        at_most(term, floor + nu / (2 * eta) * spread, instance=state.instance),
        at_most(dropped, Fraction(0), instance=state.instance),
        at_most(floor + nu / (2 * eta) * spread, floor + spread, instance=state.instance),
    ]


@claim(
    "fedalign:equations-47-52",
    "A_6 <= sum_P p'_k |w_k - w|^2 + nu eta L Gamma/(1 + s) and A_7 <= sum p'_k I_k |w_k - w|^2, line by line",
    Statement(fa.PAPER, _APPENDIX, "eqs. (47), (52)"),
    hypotheses=_SHORT,
    looseness=1.01,
)
def equations_47_52(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    return worst_of(finding for group in GROUPS for finding in from_above(state, group))


@claim(
    "fedalign:equations-48-53",
    "A_4 <= sum_P p'_k |w_k - w|^2 + 6 L eta^2 Gamma/(1 + s), and A_5 <= sum p'_k I_k |w_k - w|^2 + eta D",
    Statement(fa.PAPER, _APPENDIX, "eqs. (48), (53)", form="corrected"),
    hypotheses=(*_SHORT, "E_t and D_t are taken given the inclusions"),
    looseness=1.01,
)
def equations_48_53(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    eta, L, gap = state.step_size, state.federation.smoothness, state.priority_gap
    closer = state.spread("priority") + (state.nu * eta * L + 4 * L * eta**2) * gap
    ends = state.spread("priority") + 6 * L * eta**2 * gap
    others = state.spread("others") + 2 * eta * state.included_gap
    return worst_of(
        [
            at_most(state.left_over("priority"), closer, instance=state.instance),
            at_most(closer, ends, instance=state.instance),
            at_most(state.left_over("others"), others, instance=state.instance),
        ]
    )
