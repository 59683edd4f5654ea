"""FedALIGN, Appendix A.2: from the recursion (30) to Theorem 1 by induction, and what it has to do with Li et al."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.bounds import fedavg
from fedtheory.rational._alignment import two_parabolas
from fedtheory.rational._alignment_draws import draw_alignment
from fedtheory.rational._rounds import distance2, gap
from fedtheory.rational._words import in_words
from fedtheory.rational.draws import pick, whole
from fedtheory.rational.vectors import vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX = "Appendix A.2"
_CONSISTENCY = "Consistency of our result"


class Course(NamedTuple):
    """Constants of a run, and what is included in each of its rounds.

    Attributes
    ----------
    known
        mu, L, local_steps, G2, sigma2 and objective_gap.
    initial_distance2
        Delta_0.
    priority_weights, included_gaps
        ``E[1/(1 + s)]`` and the expected included gap of every round.
    """

    known: dict[str, Any]
    initial_distance2: Fraction
    priority_weights: list[Fraction]
    included_gaps: list[Fraction]

    @property
    def gamma(self) -> Fraction:
        """``max(8 L/mu, E)``."""
        return Fraction(max(8 * self.known["L"] / self.known["mu"], self.known["local_steps"]))

    @property
    def num_steps(self) -> int:
        """T."""
        return len(self.priority_weights) * int(self.known["local_steps"])

    def included(self, step: int) -> dict[str, Fraction]:
        """Return what the round of a step includes."""
        number = step // self.known["local_steps"]
        return {"priority_weight": self.priority_weights[number], "included_gap": self.included_gaps[number]}

    def level(self, step: int, first_step: int = 0) -> Fraction:
        """``v_t/(t + gamma)`` of (32), with sums from ``first_step``."""
        mu, delay = self.known["mu"], step + self.gamma
        rises = (self._rises(i) for i in range(first_step, step))
        squared, linear = (sum(terms, start=Fraction(0)) for terms in zip((0, 0), *rises, strict=True))
        means = 4 * squared / mu**2 + 2 * linear * delay / mu
        return Fraction(means / (delay - 2) + self.gamma * self.initial_distance2) / delay

    def _rises(self, step: int) -> tuple[Fraction, Fraction]:
        """B_t and D_t: what ``one_step`` adds to a distance of 0 for one step size and for its square."""
        eta = 1 / (4 * self.known["L"])
        terms = fa.one_step.terms(Fraction(0), step_size=eta, **self.known, **self.included(step))
        return (terms["drift"] + terms["noise"] + terms["heterogeneity"]) / eta**2, terms["bias"] / eta


def draw_course(rng: np.random.Generator) -> Course:
    """Draw constants that a run could have."""
    mu, kappa = Fraction(2) ** whole(rng, -1, 1), pick(rng, [1, 2, 32])
    distance2, objective_gap, sigma2 = (Fraction(whole(rng, 0, 4), 4) for _ in range(3))
    num_rounds = whole(rng, 1, 3)
    known = {
        "mu": mu,
        "L": kappa * mu,
        "local_steps": whole(rng, 1, 4),
        # What strong convexity asks for, and some more.
        "G2": mu**2 * distance2 + 2 * mu * objective_gap + sigma2 + whole(rng, 0, 4),
        "sigma2": sigma2,
        "objective_gap": objective_gap,
    }
    weights = [1 / (1 + Fraction(whole(rng, 0, 8), 4)) for _ in range(num_rounds)]
    return Course(known, distance2, weights, [Fraction(whole(rng, 0, 8), 4) for _ in range(num_rounds)])


def course_in_words(course: Course) -> dict[str, Any]:
    """Name the numbers of a course."""
    return {
        **{name: str(value) for name, value in course.known.items()},
        "initial_distance2": str(course.initial_distance2),
        "priority_weights": in_words(tuple(course.priority_weights)),
        "included_gaps": in_words(tuple(course.included_gaps)),
    }


@claim(
    "fedalign:equations-33-34",
    "v_0/gamma = Delta_0, and one step of (30) from v_t/(t + gamma) ends at most at v_{t+1}/(t + 1 + gamma)",
    Statement(fa.PAPER, _APPENDIX, "eqs. (32)-(34)", form="corrected"),
    hypotheses=("the sums begin with i = 0",),
    looseness=1.01,
)
def equations_33_34(rng: np.random.Generator) -> Finding:
    course = draw_course(rng)
    findings = [equal_to(course.level(0), course.initial_distance2, instance=course_in_words(course))]
    for step in range(course.num_steps):
        eta = 2 / (course.known["mu"] * (step + course.gamma))
        new = fa.one_step(course.level(step), step_size=eta, **course.known, **course.included(step))
        findings.append(at_most(new, course.level(step + 1), instance={**course_in_words(course), "step": step}))
    return worst_of(findings)


@claim(
    "fedalign:equation-34-printed",
    "Delta_{t+1} <= v_{t+1}/(t + 1 + gamma) at t = 0, with the sums of (32), which begin with i = 1",
    Statement(fa.PAPER, _APPENDIX, "eqs. (32), (34)"),
    "erratum",
    instances=(1, 1),
    remark="B_0 and D_0 are in no sum; from t = 1 on the step is right",
)
def equation_34_printed(_: np.random.Generator) -> Finding:
    run = two_parabolas(vector(1))
    known = {"mu": Fraction(1), "L": Fraction(1), "local_steps": 1, "G2": 1, "sigma2": 0, "objective_gap": 0}
    course = Course(known, Fraction(0), run.priority_weights, run.included_gaps)
    words = {"clients": "w^2/2 (priority), (w - 1)^2/2, of the same size", "thresholds": "1", "initial": "0 = w*"}
    return at_most(distance2(run, 1), course.level(1, first_step=1), instance=words)


@claim(
    "fedalign:equation-36",
    "E F(w_t) - F* <= L/2 E |w_t - w*|^2, and L/2 v_t/(t + gamma) is at most the right side of Theorem 1",
    Statement(fa.PAPER, _APPENDIX, "eq. (36)", form="corrected"),
    hypotheses=("the sums begin with i = 0",),
    looseness=1.01,
)
def equation_36(rng: np.random.Generator) -> Finding:
    course = draw_course(rng)
    mu, L, steps = (course.known[name] for name in ("mu", "L", "local_steps"))
    sums: dict[str, Any] = {"gamma": course.gamma, "local_steps": steps}
    predicted = fa.full_participation_gap(
        course.num_steps,
        **course.known,
        initial_distance2=course.initial_distance2,
        theta=fa.theta(course.priority_weights, **sums)[-1],
        rho=fa.rho(course.included_gaps, mu=mu, L=L, **sums)[-1],
    )
    drawn = draw_alignment(rng, longest_round=2)
    run, last = drawn.run, drawn.run.num_steps
    smooth = run.federation.smoothness / 2 * distance2(run, last)
    return worst_of(
        [
            at_most(L / 2 * course.level(course.num_steps), predicted, instance=course_in_words(course)),
            at_most(gap(run, last), smooth, instance=drawn.instance),
        ]
    )


@claim(
    "fedalign:equation-36-printed",
    "The right side of (36), (C_1 + C_2 theta_T Gamma) + rho_T, is that of Theorem 1",
    Statement(fa.PAPER, _APPENDIX, "eq. (36)"),
    "erratum",
    instances=(1, 1),
    remark="a factor 1/(T + gamma) is missing",
)
def equation_36_printed(_: np.random.Generator) -> Finding:
    known = {"mu": 1, "L": Fraction(1), "local_steps": 1, "G2": 1, "sigma2": 0, "objective_gap": 0}
    terms = fa.full_participation_gap.printed.terms(2, **known, initial_distance2=1, theta=0, rho=0)
    theorem = sum(terms.values(), start=Fraction(0))
    return equal_to(10 * theorem, theorem, instance={**known, "L": "1", "T": 2, "gamma": 8, "initial_distance2": 1})


@claim(
    "fedalign:li-et-al",
    "With thresholds 0 the right side of Theorem 1 is precisely that of Li et al., Theorem 1",
    Statement(fa.PAPER, "Section 3.2", _CONSISTENCY),
    "erratum",
    instances=(1, 1),
    remark="theta_T is less than 1, the variances are not weighted by p_k^2, and gamma = E > 8 L/mu changes C_1",
)
def li_et_al(_: np.random.Generator) -> Finding:
    known: dict[str, Any] = {"mu": 1, "L": Fraction(1), "local_steps": 1, "G2": 2, "objective_gap": 1}
    # T = 8, gamma = 8: theta_T = 7/14 as printed, and 12/16 is what the gap costs in Li et al.
    mine = fa.full_participation_gap.printed(8, **known, sigma2=0, initial_distance2=0, theta=Fraction(7, 14), rho=0)
    theirs = fedavg.full_participation_gap(8, **known, weighted_sigma2=0, initial_distance2=0)
    return equal_to(mine, theirs, instance={"mu = L": "1", "E": 1, "T": 8, "sigma2": 0, "Gamma": 1, "w_0": "w*"})


@claim(
    "fedalign:li-et-al-corrected",
    "With thresholds 0 and theta_T = 1, which is larger, the corrected Theorem 1 is Li et al.'s for variances sigma2",
    Statement(fa.PAPER, "Section 3.2", _CONSISTENCY, form="corrected"),
    "identity",
    hypotheses=("sum_k p_k^2 sigma_k^2 is replaced by sigma2, its bound",),
)
def li_et_al_corrected(rng: np.random.Generator) -> Finding:
    course = draw_course(rng)
    known, first, horizon = dict(course.known), course.initial_distance2, course.num_steps
    mine = fa.full_participation_gap(horizon, **known, initial_distance2=first, theta=1, rho=0)
    variance = known.pop("sigma2")
    theirs = fedavg.full_participation_gap(horizon, **known, weighted_sigma2=variance, initial_distance2=first)
    return equal_to(mine, theirs, instance=course_in_words(course))
