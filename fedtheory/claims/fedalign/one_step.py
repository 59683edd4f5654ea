"""FedALIGN, Appendix A.3: every step of the proof of Lemma A.6, as printed and as meant, on any local models."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.claims._comparisons import ascending
from fedtheory.rational._alignment import AlignedRun, two_parabolas
from fedtheory.rational._noises import two_point_noise
from fedtheory.rational._rounds import Snapshot, distance2
from fedtheory.rational._run_draws import draw_alignment
from fedtheory.rational._step_sizes import short_steps
from fedtheory.rational._words import in_words
from fedtheory.rational.draws import draw_model, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2, scaled, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

Group = Literal["all", "priority", "others"]
GROUPS: tuple[Group, ...] = ("priority", "others")


@final
@dataclass(frozen=True)
class State:
    """The included clients of a round, their local models, and the step size of the step that comes.

    Attributes
    ----------
    federation
        All clients, the priority clients first.
    at
        The local models of the included clients, with their weights p'_k.
    step_size
        eta_t.
    instance
        The numbers that define the state, in words.
    """

    federation: RationalQuadratics
    at: Snapshot
    step_size: Fraction
    instance: dict[str, Any]

    @property
    def best(self) -> Vector:
        """The minimizer of the priority clients' objective."""
        return self.federation.minimizer

    @property
    def nu(self) -> Fraction:
        """``2 eta (1 - 2 L eta)``, which the paper calls gamma_t."""
        return 2 * self.step_size * (1 - 2 * self.federation.smoothness * self.step_size)

    def over(self, group: Group, value: Callable[[int, Vector], Fraction]) -> Fraction:
        """``sum_k p'_k I_k value(k, w_k)`` over some of the clients."""
        weights = self.federation.weights
        members = zip(self.at.coefficients, self.at.chosen, self.at.local, strict=True)
        return sum(
            (q * value(k, w) for q, k, w in members if group == "all" or (weights[k] > 0) == (group == "priority")),
            start=Fraction(0),
        )

    def spread(self, group: Group) -> Fraction:
        """``sum_k p'_k I_k |w_k - w|^2``."""
        return self.over(group, lambda _, w: norm2(difference(w, self.at.average)))

    def excess(self, group: Group) -> Fraction:
        """``sum_k p'_k I_k (F_k(w_k) - F_k*)``."""
        return self.over(group, self.federation.excess)

    def excess_at(self, w: Vector, group: Group) -> Fraction:
        """``sum_k p'_k I_k (F_k(w) - F_k*)`` at one model for all clients."""
        return self.over(group, lambda k, _: self.federation.excess(k, w))

    @property
    def gradient(self) -> Vector:
        """The aggregated gradient, ``sum_k p'_k I_k grad F_k(w_k)``."""
        gradients = [self.federation.gradient(k, w) for k, w in zip(self.at.chosen, self.at.local, strict=True)]
        return combination(self.at.coefficients, gradients)

    @property
    def landing2(self) -> Fraction:
        """``A_1 = |w - eta mean gradient - w*|^2``."""
        moved = difference(self.at.average, scaled(self.step_size, self.gradient))
        return norm2(difference(moved, self.best))

    @property
    def standing2(self) -> Fraction:
        """``|w - w*|^2``."""
        return norm2(difference(self.at.average, self.best))

    @property
    def priority_gap(self) -> Fraction:
        """``E_t = Gamma/(1 + s)`` given the inclusions."""
        together = self.over("priority", lambda *_: Fraction(1))
        return together * self.federation.objective_gap

    @property
    def included_gap(self) -> Fraction:
        """``D_t/2 = sum_{k not in P} p_k I_k Gamma_k/(1 + s)`` given the inclusions."""
        gaps = self.federation.excesses(self.best)
        return self.over("others", lambda k, _: gaps[k])

    def left_over(self, group: Group) -> Fraction:
        """``4 L eta^2 sum p'_k (F_k(w_k) - F_k*) - 2 eta sum p'_k (F_k(w_k) - F_k(w*))``, which is A_4 or A_5."""
        eta, excess = self.step_size, self.excess(group)
        return 4 * self.federation.smoothness * eta**2 * excess - 2 * eta * (excess - self.excess_at(self.best, group))


def draw_state(rng: np.random.Generator) -> State:
    """Draw the included clients of a round by their losses, any local models for them, and a step up to ``1/(4 L)``."""
    run, instance = draw_alignment(rng, longest_round=1)
    fed, start = run.federation, run.initial
    step_size = pick(rng, [Fraction(1, 4), Fraction(1, 8), Fraction(1, 4096)]) / fed.smoothness
    (cohort,) = run.begin(0, start)
    # Where every local model is one step ahead of a common one, or one behind, inequalities of means are attained.
    kind, ahead = whole(rng, 0, 2), [whole(rng, -1, 1) for _ in cohort.chosen]
    steps = [-step_size] * len(ahead) if kind == 0 else [step_size * sign for sign in ahead]
    local = tuple(
        draw_model(rng, fed.dim) if kind == 1 else added(start, scaled(step, fed.gradient(k, start)))
        for k, step in zip(cohort.chosen, steps, strict=True)
    )
    at = Snapshot(start, cohort.chosen, cohort.coefficients, local, combination(cohort.coefficients, local))
    words = {name: instance[name] for name in ("curvatures", "centers", "shares", "weights", "minima")}
    models = {"included": cohort.chosen, "local": "; ".join(map(in_words, local)), "step_size": str(step_size)}
    return State(fed, at, step_size, words | models)


_APPENDIX = "Appendix A.3"
_CLIENTS = "w^2/2 (priority), (w - 1)^2/2"


def one_included(share: int) -> State:
    """Two parabolas at w* = 0, the second client included with a share, and a step of 1/4."""
    run = two_parabolas(vector(1))
    weights = (Fraction(1, 1 + share), Fraction(share, 1 + share))
    at = Snapshot(vector(0), (0, 1), weights, (vector(0), vector(0)), vector(0))
    return State(run.federation, at, Fraction(1, 4), {"clients": _CLIENTS, "shares": f"1, {share}", "w": "0 = w*"})


@claim(
    "fedalign:equation-44-printed",
    "|w_{t+1} - eta mean g - w*|^2 is at most the right side of (44), as its left side is printed",
    Statement(fa.PAPER, _APPENDIX, "eq. (44)"),
    "erratum",
    remark="w_t is meant: the step is made twice",
)
def equation_44_printed() -> Finding:
    state = one_included(2)
    eta, ahead = state.step_size, scaled(-2 * state.step_size, state.gradient)
    # From w = w* with L = mu = 1 the first right side is 2 eta^2 sum p' (F_k - F_k*) + eta^2 sum p' |g_k|^2.
    squares = state.over("all", lambda k, w: norm2(state.federation.gradient(k, w)))
    right = 2 * eta**2 * state.excess("all") + eta**2 * squares
    return at_most(norm2(difference(ahead, state.best)), right, instance={**state.instance, "step_size": "1/4"})


@claim(
    "fedalign:equation-43-printed",
    "Eq. (43) with a^2 = eta, z_1 = w* - w and z_2 = g bounds 2 <w_k - w, g> by the terms of (42)",
    Statement(fa.PAPER, _APPENDIX, "eq. (43), its a and z_1"),
    "erratum",
    remark="a^2 = 1/eta and z_1 = w_k - w are meant",
)
def equation_43_printed() -> Finding:
    # One client w^2/2 with w = w_k = 2, w* = 0 and eta = 1/4: both squares are 4, but their factors are exchanged.
    eta, away, gradient = Fraction(1, 4), Fraction(2), Fraction(2)
    spread = Fraction(0)
    printed = eta * away**2 + gradient**2 / eta
    return equal_to(printed, spread / eta + eta * gradient**2, instance={"F": "w^2/2", "w = w_k": "2", "eta": "1/4"})


@claim(
    "fedalign:equations-46-51-printed",
    "The factor of the spread in (47) and (52) is at most 1 with the 1/eta that (46) and (51) print: nu/eta <= 1",
    Statement(fa.PAPER, _APPENDIX, "eqs. (46), (51)"),
    "erratum",
    remark="1/(2 eta) is meant, and used afterwards: nu/(2 eta) = 1 - 2 L eta <= 1",
)
def equations_46_51_printed() -> Finding:
    state = one_included(1)
    shorter = State(state.federation, state.at, Fraction(1, 8), state.instance)
    return at_most(shorter.nu / shorter.step_size, Fraction(1), instance={"L": "1", "step_size": "1/8"})


def noisy_pair() -> AlignedRun:
    """Two parabolas, two rounds of one step with noise -+1/2: the second client is included on one path only."""
    run = two_parabolas(vector(0, "1/2"))
    return AlignedRun(
        run.federation, run.shares, run.thresholds, 1, run.step_size, run.initial, two_point_noise(vector("1/2"))
    )


@claim(
    "fedalign:equation-49-printed",
    "Eq. (49) on every path, with D_t the expectation of (50); (45) and (48) use E_t in the same way",
    Statement(fa.PAPER, _APPENDIX, "eqs. (45), (48)-(50)"),
    "erratum",
    remark="E_t and D_t have to be taken given the inclusions, and their expectations last",
)
def equation_49_printed() -> Finding:
    run = noisy_pair()
    # On the path that ends nearer to the second client it is included: on the other one nothing is to be bounded.
    (alone,) = (at for at in run.snapshots[1] if len(at.chosen) == 1)
    state = State(run.federation, alone, run.step_size(1), {})
    mean = 2 * run.included_gaps[1]
    right = -state.nu * state.excess("others") + state.step_size * mean
    words = {"clients": _CLIENTS, "thresholds": "0, 1/2", "noise": "-+1/2", "local_steps": 1, "path": "w_1 < 0"}
    return equal_to(state.left_over("others"), right, instance=words)


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
    bound = fa.gradient_norm(state.excess("all"), L=state.federation.smoothness)
    return ascending([norm2(state.gradient), squares, bound], state.instance)


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
    return ascending([state.landing2, *combined(state)], state.instance)


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


def from_below(state: State, group: Group) -> Finding:
    """``sum p'_k I_k (F_k(w) - F_k(w_k))`` against (a) and (b) of (46) and (51), with 1/(2 eta)."""
    fed, eta, w = state.federation, state.step_size, state.at.average
    squares = state.over(group, lambda k, _: norm2(fed.gradient(k, w)))
    lost = state.excess_at(w, group) - state.excess(group)
    means = (eta * squares + state.spread(group) / eta) / 2
    smooth = eta * fed.smoothness * state.excess_at(w, group) + state.spread(group) / (2 * eta)
    return ascending([lost, means, smooth], state.instance)


@claim(
    "fedalign:equations-46-51",
    "sum p'_k I_k (F_k(w) - F_k(w_k)) <= sum p'_k I_k (eta L (F_k(w) - F_k*) + |w_k - w|^2/(2 eta)), both groups",
    Statement(fa.PAPER, _APPENDIX, "eqs. (46), (51)", form="corrected"),
    looseness=1.01,
    remark="printed with 1/eta, which is true and too weak for (47) and (52)",
)
def equations_46_51(rng: np.random.Generator) -> Finding:
    state = draw_state(rng)
    return worst_of(from_below(state, group) for group in GROUPS)


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
    priority = ascending([state.left_over("priority"), closer, ends], state.instance)
    return worst_of([priority, at_most(state.left_over("others"), others, instance=state.instance)])
