"""Power-of-Choice, Appendices C and E: the false conditioning step, its repair, and the one-step recursions."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._instances import (
    WEIGHTED_LAWS,
    Drawn,
    constant_law,
    draw_run,
    federation_in_words,
    opposite_clients,
    short_steps,
    whole,
)
from fedtheory.claims.power_of_choice.lemmas import elapsed
from fedtheory.paper import Bound, Statement
from fedtheory.verification.claim import FAILS, Claim, Finding, at_least, at_most, worst_of
from fedtheory.verification.observed_constants import observed_gradient_bound, observed_skews
from fedtheory.verification.rational import difference, norm2, vector
from fedtheory.verification.runs import RationalRun, Snapshot, expected, no_noise
from fedtheory.verification.selections import with_replacement


def excess_of_active(run: RationalRun, at: Snapshot, *, of_start: bool) -> Fraction:
    """Mean of ``F_k - F_k*`` over the active copies, at the round's starting model or at the averaged model."""
    w = at.anchor if of_start else at.average
    return sum((run.federation.excess(k, w) for k in at.chosen), start=Fraction(0)) / len(at.chosen)


def _canceling_path(_: np.random.Generator) -> Finding:
    eta, noises = Fraction(1, 4), ((-1, 1), (1, -1))
    models, difference_sum, after_first = [Fraction(0), Fraction(0)], Fraction(0), Fraction(0)
    for step, noise in enumerate(noises):
        gradients = [w + n for w, n in zip(models, noise, strict=True)]
        models = [w - eta * g for w, g in zip(models, gradients, strict=True)]
        difference_sum += eta * (gradients[1] - gradients[0])
        if step == 0:
            after_first = (models[1] - models[0]) ** 2
    return at_most(
        after_first,
        difference_sum**2,
        instance={
            "clients": "two, F(w) = w^2/2",
            "initial": "0",
            "step_size": "1/4",
            "noises": noises,
            "local_steps": 2,
        },
    )


EQUATION_16_PATHWISE = Claim(
    key="power-of-choice:equation-16-pathwise",
    title="|w_k'_t - w_k_t|^2 <= |sum of eta_i (g_k' - g_k) over the whole round|^2 after one of two local steps",
    statement=Statement(poc.PAPER, "Lemma B.2", "eq. (16)"),
    kind="erratum",
    check=_canceling_path,
    expected=FAILS,
    instances=(1, 1),
    remark="later gradients can cancel earlier ones: sum to t - 1, and extend it after Cauchy-Schwarz; the lemma holds",
)


def _dependent_run(num_steps: int) -> RationalRun:
    fed = opposite_clients()
    return RationalRun(
        federation=fed,
        select=constant_law(with_replacement(fed.weights, 1)),
        local_steps=2,
        step_size=lambda _: Fraction(1, 4),
        initial=vector(0),
        num_steps=num_steps,
        noise=no_noise(1),
    )


def _conditioned(_: np.random.Generator) -> Finding:
    run = _dependent_run(num_steps=1)
    after_one = run.snapshots[1]
    return at_least(
        expected(after_one, lambda at: excess_of_active(run, at, of_start=False)),
        expected(after_one, lambda at: run.federation.total_excess(at.average)),  # rho_bar is 1
        instance={
            **federation_in_words(run.federation),
            "law": "proportional",
            "num_selected": 1,
            "local_steps": 2,
            "step": 1,
            "step_size": "1/4",
            "initial": "0",
        },
    )


STEP_54_55 = Claim(
    key="power-of-choice:step-54-55",
    title="E 1/m sum_{k in S_t} (F_k(w_bar_t) - F_k*) >= rho_bar (E F(w_bar_t) - sum_k p_k F_k*) inside a round",
    statement=Statement(poc.PAPER, "Appendix C", "eqs. (54)-(55)"),
    kind="erratum",
    check=_conditioned,
    expected=FAILS,
    instances=(1, 1),
    remark="inside a round the averaged model depends on the selection, so that the skew says nothing about it",
)


def _at_round_starts(rng: np.random.Generator) -> Finding:
    run, _, instance = draw_run(rng)
    rho = observed_skews(run).rho_diagonal
    return worst_of(
        at_least(
            expected(snapshots, lambda at: excess_of_active(run, at, of_start=True)),
            rho * expected(snapshots, lambda at: run.federation.total_excess(at.anchor)),
            instance={**instance, "step": step, "rho_diagonal": rho},
        )
        for step, snapshots in enumerate(run.snapshots[: run.num_steps])
    )


STEP_54_55_REPAIRED = Claim(
    key="power-of-choice:step-54-55-repaired",
    title="E 1/m sum_{k in S_t} (F_k(u) - F_k*) >= rho_diagonal (E F(u) - sum_k p_k F_k*) at the round's start u",
    statement=Statement(poc.PAPER, "Appendix C", "eqs. (54)-(55)", form="corrected"),
    kind="inequality",
    check=_at_round_starts,
    hypotheses=("the selection depends on the past only through the round's starting model",),
)


def _distance2(run: RationalRun, step: int) -> Any:
    best = run.federation.minimizer
    return expected(run.snapshots[step], lambda at: norm2(difference(at.average, best)))


def one_step_findings(drawn: Drawn, bound: Bound = poc.one_step) -> list[Finding]:
    """Compare every step of a run with the repaired one-step bound, or with a variant of it."""
    run = drawn.run
    skews = observed_skews(run)
    known = {"rho_diagonal": skews.rho_diagonal, "rho_tilde": skews.rho_tilde, **drawn.constants}
    findings = []
    for step in range(run.num_steps):
        predicted = bound(
            _distance2(run, step),
            step_size=run.step_size(step),
            elapsed_step_size=elapsed(run, step),
            num_selected=drawn.num_selected,
            G2=observed_gradient_bound(run, step, step + 1),
            **known,
        )
        findings.append(at_most(_distance2(run, step + 1), predicted, instance={**drawn.instance, "step": step}))
    return findings


ONE_STEP = Claim(
    key="power-of-choice:one-step",
    title="The repaired recursion for E |w_bar_t - w*|^2, for any step sizes up to 1/(4 L)",
    statement=poc.one_step.statement,
    kind="inequality",
    check=lambda rng: worst_of(one_step_findings(draw_run(rng, step_size=short_steps(rng), longest_round=6))),
    bound=poc.one_step,
)


def _printed_one_step(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng)
    run, skews = drawn.run, observed_skews(drawn.run)
    G2 = observed_gradient_bound(run)
    return worst_of(
        at_most(
            _distance2(run, step + 1),
            poc.one_step.printed(
                _distance2(run, step),
                step_size=run.step_size(step),
                local_steps=run.local_steps,
                num_selected=drawn.num_selected,
                G2=G2,
                rho_bar=skews.rho_bar,
                rho_tilde=skews.rho_tilde,
                **drawn.constants,
            ),
            instance={**drawn.instance, "step": step},
        )
        for step in range(run.num_steps)
    )


ONE_STEP_PRINTED = Claim(
    key="power-of-choice:one-step-printed",
    title="The printed recursion for E |w_bar_t - w*|^2 (its proof has a gap, the statement is true for rho_bar <= 79)",
    statement=poc.one_step.printed.statement,
    kind="inequality",
    check=_printed_one_step,
    bound=poc.one_step.printed,
)


def _weighted_one_step(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=WEIGHTED_LAWS, step_size=short_steps(rng), longest_round=6)
    run, skews = drawn.run, observed_skews(drawn.run)
    findings = []
    for step in range(run.num_steps):
        predicted = poc.weighted_one_step(
            _distance2(run, step),
            step_size=run.step_size(step),
            elapsed_step_size=elapsed(run, step),
            G2=observed_gradient_bound(run, step, step + 1),
            rho_diagonal=skews.rho_diagonal,
            rho_tilde=skews.rho_tilde,
            squared_weights=max(norm2(at.coefficients) for at in run.snapshots[step]),
            **drawn.constants,
        )
        findings.append(at_most(_distance2(run, step + 1), predicted, instance={**drawn.instance, "step": step}))
    return worst_of(findings)


WEIGHTED_ONE_STEP = Claim(
    key="power-of-choice:weighted-one-step",
    title="The repaired recursion for weighted averages, q_k >= 0 of sum one",
    statement=poc.weighted_one_step.statement,
    kind="inequality",
    check=_weighted_one_step,
    bound=poc.weighted_one_step,
)


def _weighted_slope(num_selected: int, x: Fraction) -> Fraction:
    return 2 * (1 - (1 + num_selected) * x) * (1 - x)


def _step_of_80_as_printed(_: np.random.Generator) -> Finding:
    x = Fraction(9, 40)  # below 1/(2 (1 + m)) = 1/4
    return at_least(_weighted_slope(1, x), Fraction(1), instance={"num_selected": 1, "L eta": str(x)})


STEP_80_PRINTED = Claim(
    key="power-of-choice:step-80-printed",
    title="eta < 1/(2 L (1 + m)) gives 2 (1 - (1 + m) L eta)(1 - L eta) >= 1, which eq. (80) needs",
    statement=Statement(poc.PAPER, "Appendix E", "eqs. (79)-(80)"),
    kind="erratum",
    check=_step_of_80_as_printed,
    expected=FAILS,
    instances=(1, 1),
    remark="a step of the proof only: the step sizes of eq. (85) are half as long",
)


def _step_of_80(rng: np.random.Generator) -> Finding:
    m = whole(rng, 1, 30)
    x = Fraction(whole(rng, 1, 64), 64) / (4 * (1 + m))
    return at_least(_weighted_slope(m, x), Fraction(1), instance={"num_selected": m, "L eta": str(x)})


STEP_80 = Claim(
    key="power-of-choice:step-80",
    title="eta <= 1/(4 L (1 + m)) gives 2 (1 - (1 + m) L eta)(1 - L eta) >= 1",
    statement=Statement(poc.PAPER, "Appendix E", "eqs. (79)-(80)", form="corrected"),
    kind="inequality",
    check=_step_of_80,
)
