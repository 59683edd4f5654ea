"""FedALIGN, Appendix A.3: every step of the proof of Lemma A.6, printed and corrected, for any local models."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.claims._comparisons import Chain, step
from fedtheory.instances.draws import draw_model
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.noise import two_point_noise
from fedtheory.instances.run_draws import draw_alignment
from fedtheory.instances.runs import AlignedRun, Snapshot, distance2, two_parabolas
from fedtheory.instances.step_sizes import short_steps
from fedtheory.instances.vectors import Vector, combination, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, worst_of
from fedtheory.theorem.paper import Statement

line = partial(Statement, fa.PAPER, "Appendix A.3")
_SHORT = ("step_size <= 1/(4 L)",)
_GIVEN = "E_t and D_t are conditional on the inclusions"
_CLIENTS = "w^2/2 (priority), (w - 1)^2/2"

Group = Literal["all", "priority", "others"]
GROUPS: tuple[Group, ...] = ("priority", "others")


class State:
    """The included clients of a round before a step: local models, weights p'_k, and the quantities of the paper.

    ``nu`` is 2 eta (1 - 2 L eta), called gamma_t in the paper, and ``g`` is the sum of p'_k I_k grad F_k(w_k).
    """

    def __init__(self, fed: RationalQuadratics, at: Snapshot, eta: Fraction, instance: dict[str, Any]) -> None:
        self.fed, self.at, self.eta, self.instance = fed, at, eta, instance
        self.mu, self.L, self.best = fed.strong_convexity, fed.smoothness, fed.minimizer
        self.w, self.away, self.g = at.average, at.average - fed.minimizer, at.mean_gradient(fed)
        self.nu = 2 * eta * (1 - 2 * self.L * eta)

    def sum(self, group: Group, value: Callable[[int, Vector], Fraction]) -> Fraction:
        """``sum_k p'_k I_k value(k, w_k)`` over the clients of a group."""
        weights = self.fed.weights
        members = zip(self.at.coefficients, self.at.chosen, self.at.local, strict=True)
        chosen = (each for each in members if group == "all" or (weights[each[1]] > 0) == (group == "priority"))
        return sum((q * value(k, w) for q, k, w in chosen), start=Fraction(0))

    def spread(self, group: Group) -> Fraction:
        """``sum_k p'_k I_k |w_k - w|^2``."""
        return self.sum(group, lambda _, w: norm2(w - self.w))

    def squares(self, group: Group) -> Fraction:
        """``sum_k p'_k I_k |grad F_k(w_k)|^2``."""
        return self.sum(group, lambda k, w: norm2(self.fed.gradient(k, w)))

    def excess(self, group: Group) -> Fraction:
        """``sum_k p'_k I_k (F_k(w_k) - F_k*)``."""
        return self.sum(group, self.fed.excess)

    def excess_at(self, w: Vector, group: Group) -> Fraction:
        """``sum_k p'_k I_k (F_k(w) - F_k*)`` at a common model w."""
        return self.sum(group, lambda k, _: self.fed.excess(k, w))

    @property
    def A_1(self) -> Fraction:
        """``|w - eta g - w*|^2``."""
        return norm2(self.away - self.eta * self.g)

    @property
    def E(self) -> Fraction:
        """``E_t = Gamma/(1 + s)`` given the inclusions."""
        return self.sum("priority", lambda *_: Fraction(1)) * self.fed.objective_gap

    @property
    def D(self) -> Fraction:
        """``D_t = 2 sum_{k not in P} p_k I_k Gamma_k/(1 + s)`` given the inclusions."""
        return 2 * self.excess_at(self.best, "others")

    def left_over(self, group: Group) -> Fraction:
        """``4 L eta^2 sum p'_k (F_k(w_k) - F_k*) - 2 eta sum p'_k (F_k(w_k) - F_k(w*))``, which is A_4 or A_5."""
        excess = self.excess(group)
        return 4 * self.L * self.eta**2 * excess - 2 * self.eta * (excess - self.excess_at(self.best, group))


def state(rng: np.random.Generator) -> list[State]:
    """Draw included clients of a round, arbitrary local models for them, and a step size up to ``1/(4 L)``."""
    run, instance = draw_alignment(rng, longest_round=1)
    fed, start = run.federation, run.initial
    eta = pick(rng, [Fraction(1, 4), Fraction(1, 8), Fraction(1, 4096)]) / fed.smoothness
    (cohort,) = run.begin(0, start)
    # If every local model is one step ahead of, or behind, a common model, Jensen's inequalities are attained.
    kind, ahead = whole(rng, 0, 2), [whole(rng, -1, 1) for _ in cohort.chosen]
    signs = [-1] * len(ahead) if kind == 0 else ahead
    local = tuple(
        draw_model(rng, fed.dim) if kind == 1 else start + sign * eta * fed.gradient(k, start)
        for k, sign in zip(cohort.chosen, signs, strict=True)
    )
    at = Snapshot(start, cohort.chosen, cohort.coefficients, local, combination(cohort.coefficients, local))
    numbers = {name: instance[name] for name in ("curvatures", "centers", "shares", "weights", "minima")}
    models = {"included": cohort.chosen, "local": format_vectors(local), "step_size": str(eta)}
    return [State(fed, at, eta, numbers | models)]


def one_included(share: int, eta: Fraction = Fraction(1, 4)) -> State:
    """Two parabolas at w* = 0; the second client is included with the given share."""
    zero, weights = vector(0), vector(1, share) / (1 + share)
    at = Snapshot(zero, (0, 1), weights, (zero, zero), zero)
    instance = {"clients": _CLIENTS, "shares": f"1, {share}", "w": "0 = w*", "step_size": str(eta)}
    return State(two_parabolas(vector(1)).federation, at, eta, instance)


@claim(
    "fedalign:equation-44-printed",
    "|w_{t+1} - eta mean g - w*|^2 is at most the right-hand side of (44), with its printed left-hand side",
    line("eq. (44)"),
    "erratum",
    remark="w_t is correct; as printed the step is taken twice",
)
def equation_44_printed() -> Finding:
    s = one_included(2)
    # At w = w* with L = mu = 1 the first right-hand side is 2 eta^2 sum p' (F_k - F_k*) + eta^2 sum p' |g_k|^2.
    right = 2 * s.eta**2 * s.excess("all") + s.eta**2 * s.squares("all")
    return at_most(norm2(s.away - 2 * s.eta * s.g), right, instance=s.instance)


@claim(
    "fedalign:equation-43-printed",
    "Eq. (43) with a^2 = eta, z_1 = w* - w and z_2 = g bounds 2 <w_k - w, g> by the terms of (42)",
    line("eq. (43), its a and z_1"),
    "erratum",
    remark="a^2 = 1/eta and z_1 = w_k - w are correct",
)
def equation_43_printed() -> Finding:
    # One client w^2/2 with w = w_k = 2, w* = 0 and eta = 1/4: both squares are 4, but their factors are swapped.
    eta, away, g, spread = Fraction(1, 4), Fraction(2), Fraction(2), Fraction(0)
    instance = {"F": "w^2/2", "w = w_k": "2", "eta": "1/4"}
    return equal_to(eta * away**2 + g**2 / eta, spread / eta + eta * g**2, instance=instance)


@claim(
    "fedalign:equations-46-51-printed",
    "The factor of the spread in (47) and (52) is at most 1 with the 1/eta printed in (46) and (51): nu/eta <= 1",
    line("eqs. (46), (51)"),
    "erratum",
    remark="1/(2 eta) is correct and is used in later lines: nu/(2 eta) = 1 - 2 L eta <= 1",
)
def equations_46_51_printed() -> Finding:
    s = one_included(1, Fraction(1, 8))
    return at_most(s.nu / s.eta, Fraction(1), instance={"L": "1", "step_size": "1/8"})


def noisy_pair() -> AlignedRun:
    """Two parabolas, two rounds of one step with noise -1/2 or 1/2; the second client is included on one path only."""
    return replace(two_parabolas(vector(0, "1/2")), noise=two_point_noise(vector("1/2")))


@claim(
    "fedalign:equation-49-printed",
    "Eq. (49) on every path, with D_t the expectation of (50); (45) and (48) use E_t in the same way",
    line("eqs. (45), (48)-(50)"),
    "erratum",
    remark="E_t and D_t must be conditional on the inclusions, with the expectation taken last",
)
def equation_49_printed() -> Finding:
    run = noisy_pair()
    # The second client is included on the path that ends nearer to it; on the other path D_t must be 0.
    (alone,) = (at for at in run.snapshots[1] if len(at.chosen) == 1)
    words = {"clients": _CLIENTS, "thresholds": "0, 1/2", "noise": "-+1/2", "local_steps": 1, "path": "w_1 < 0"}
    s = State(run.federation, alone, run.step_size(1), words)
    expected_D = 2 * run.included_gaps[1]
    return equal_to(s.left_over("others"), -s.nu * s.excess("others") + s.eta * expected_D, instance=s.instance)


@claim(
    "fedalign:equations-37-38",
    "E |w_{t+1} - w*|^2 = E |w_t - eta mean g_t - w*|^2 + eta^2 E |g_t - mean g_t|^2: E B = 0",
    line("eqs. (37)-(38)"),
    "identity",
    hypotheses=("the indicators are fixed at the round's start", "noise is independent across clients"),
    instances=(100, 400),  # about one run in twelve is short enough for enumerating the noise
)
def equations_37_38(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, step_size=short_steps(rng))
    fed = run.federation

    def predicted(eta: Fraction, at: Snapshot) -> Fraction:
        A_1 = norm2(at.average - eta * at.mean_gradient(fed) - fed.minimizer)
        return A_1 + eta**2 * run.sigma2 * norm2(at.coefficients)

    return worst_of(
        equal_to(
            distance2(run, t + 1),
            run.snapshots[t].mean(partial(predicted, run.step_size(t))),
            instance={**instance, "step": t},
        )
        for t in range(run.num_steps)
    )


@step("fedalign:equations-39-41", line("eqs. (39), (41)"), state, kind="identity")
def equations_39_41(s: State) -> Chain:
    """A_1 is the sum of |w - w*|^2, A_2 and A_3, and A_2 the sum of -2 eta p'_k I_k <w - w*, grad F_k(w_k)>"""
    A_2 = -2 * s.eta * s.sum("all", lambda k, w: s.away @ s.fed.gradient(k, w))
    return s.A_1, "=", norm2(s.away) + A_2 + s.eta**2 * norm2(s.g)


@step("fedalign:equation-40", line("eq. (40)"), state)
def equation_40(s: State) -> Chain:
    """|mean g|^2 <= sum_k p'_k I_k |grad F_k(w_k)|^2 <= 2 L sum_k p'_k I_k (F_k(w_k) - F_k*)"""
    return norm2(s.g), "<=", s.squares("all"), "<=", fa.gradient_norm(s.excess("all"), L=s.L)


@step("fedalign:equations-42-43", line("eqs. (42)-(43)"), state)
def equations_42_43(s: State) -> list[Chain]:
    """2 <w_k - w, g> <= |w_k - w|^2/eta + eta |g|^2, and F_k(w*) - F_k(w_k) - <w* - w_k, g> >= mu/2 |w_k - w*|^2"""
    F, lines = s.fed.excess, list[Chain]()
    for k, w_k in zip(s.at.chosen, s.at.local, strict=True):
        g, apart, away = s.fed.gradient(k, w_k), w_k - s.w, w_k - s.best
        lines += [
            (2 * apart @ g, "<=", norm2(apart) / s.eta + s.eta * norm2(g)),
            (s.mu / 2 * norm2(away), "<=", F(k, s.best) - F(k, w_k) + away @ g),
        ]
    return lines


def right_of_44(s: State) -> Iterator[Fraction]:
    """Yield the right-hand sides of (44) in their order."""
    away2 = s.sum("all", lambda _, w: norm2(w - s.best))
    spread, excess = s.spread("all"), s.excess("all")
    above_best = excess - s.excess_at(s.best, "all")
    first = norm2(s.away) + 2 * s.L * s.eta**2 * excess + spread
    yield first + s.eta**2 * s.squares("all") - 2 * s.eta * above_best - s.eta * s.mu * away2
    left_over = s.left_over("priority") + s.left_over("others")
    yield norm2(s.away) - s.eta * s.mu * away2 + spread + left_over
    yield (1 - s.eta * s.mu) * norm2(s.away) + spread + left_over


@step(
    "fedalign:equation-44",
    line("eqs. (24), (44)", form="corrected"),
    state,
    hypotheses=_SHORT,
    remark="the printed left-hand side has w_{t+1} in place of w_t",
)
def equation_44(s: State) -> Chain:
    """|w - eta mean g - w*|^2 <= the three right-hand sides of (44), in ascending order; (b) is eq. (24)"""
    first, second, third = right_of_44(s)
    return s.A_1, "<=", first, "<=", second, "<=", third


@step(
    "fedalign:equations-45-49",
    line("eqs. (45), (49)-(50)", form="corrected"),
    state,
    kind="identity",
    hypotheses=(_GIVEN,),
)
def equations_45_49(s: State) -> list[Chain]:
    """A_4 = -nu sum_P p'_k (F_k(w_k) - F*) + 4 L eta^2 Gamma/(1 + s),
    A_5 = -nu sum p'_k I_k (F_k(w_k) - F_k*) + eta D"""
    priority = -s.nu * (s.excess("priority") - s.E) + 4 * s.L * s.eta**2 * s.E
    others = -s.nu * s.excess("others") + s.eta * s.D
    return [(s.left_over("priority"), "=", priority), (s.left_over("others"), "=", others)]


@step(
    "fedalign:equations-46-51",
    line("eqs. (46), (51)", form="corrected"),
    state,
    remark="the printed factor 1/eta is true, but too weak for (47) and (52)",
)
def equations_46_51(s: State) -> list[Chain]:
    """sum p'_k I_k (F_k(w) - F_k(w_k)) <= sum p'_k I_k (eta L (F_k(w) - F_k*) + |w_k - w|^2/(2 eta)), both groups"""

    def lines(group: Group) -> Chain:
        squares = s.sum(group, lambda k, _: norm2(s.fed.gradient(k, s.w)))
        at_average, spread = s.excess_at(s.w, group), s.spread(group)
        means = (s.eta * squares + spread / s.eta) / 2
        smooth = s.eta * s.L * at_average + spread / (2 * s.eta)
        return at_average - s.excess(group), "<=", means, "<=", smooth

    return [lines(group) for group in GROUPS]


def from_above(s: State, group: Group) -> list[Chain]:
    """Compare A_6 or A_7 with the lines of (47) or (52)."""
    nu, eta, L, at_average, spread = s.nu, s.eta, s.L, s.excess_at(s.w, group), s.spread(group)
    gap = s.E if group == "priority" else Fraction(0)
    term, floor = -nu * (s.excess(group) - gap), nu * eta * L * gap
    inserted = nu * (eta * L * at_average + spread / (2 * eta))
    dropped = nu * (eta * L - 1) * (at_average - gap)
    left = floor + nu / (2 * eta) * spread
    return [
        (term + nu * (at_average - gap), "<=", inserted),
        (inserted - nu * (at_average - gap), "=", dropped + left),
        (term, "<=", left),
        (dropped, "<=", Fraction(0)),
        (left, "<=", floor + spread),
    ]


@step("fedalign:equations-47-52", line("eqs. (47), (52)"), state, hypotheses=_SHORT)
def equations_47_52(s: State) -> list[Chain]:
    """A_6 <= sum_P p'_k |w_k - w|^2 + nu eta L Gamma/(1 + s) and A_7 <= sum p'_k I_k |w_k - w|^2, line by line"""
    return [chain for group in GROUPS for chain in from_above(s, group)]


@step("fedalign:equations-48-53", line("eqs. (48), (53)", form="corrected"), state, hypotheses=(*_SHORT, _GIVEN))
def equations_48_53(s: State) -> list[Chain]:
    """A_4 <= sum_P p'_k |w_k - w|^2 + 6 L eta^2 Gamma/(1 + s), and A_5 <= sum p'_k I_k |w_k - w|^2 + eta D"""
    closer = s.spread("priority") + (s.nu * s.eta * s.L + 4 * s.L * s.eta**2) * s.E
    ends = s.spread("priority") + 6 * s.L * s.eta**2 * s.E
    others = s.spread("others") + s.eta * s.D
    return [(s.left_over("priority"), "<=", closer, "<=", ends), (s.left_over("others"), "<=", others)]
