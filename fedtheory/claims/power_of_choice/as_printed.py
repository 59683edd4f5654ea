"""Power-of-Choice: statements that are false as printed, on instances drawn from their hypotheses, for hunts to break.

The counterexamples derived by hand have claims of their own beside the statements; these draw from all there is.
"""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import expected_gaps, horizon_constants, one_step_distances, theorem_constants
from fedtheory.rational._run_draws import Drawn, draw_run
from fedtheory.rational._step_sizes import weighted_steps
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, draw_shares, whole
from fedtheory.sampling.cohorts import frequencies, power_of_choice
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, equal_to, not_applicable, worst_of

_UNBIASED = ("proportional", "full, weights p_k")
"""Laws whose skews are 1 at all models, so that no minimum over models has to be found."""
_SKEWS = {"rho_bar": Fraction(1), "rho_tilde": Fraction(1)}
_ALSO = ("the selection is unbiased, so that rho_bar = rho_tilde = 1",)
_REMARK = "a single client has no drift there, 32 m (m - 1) tau^2 G2 being 0, whatever the number of local steps"


def _draw(rng: np.random.Generator) -> Drawn:
    return draw_run(rng, laws=_UNBIASED, longest_round=12, step_size=weighted_steps)


@claim(
    "power-of-choice:equation-85-as-printed",
    "E F(w_T) - F* against eq. (85) for any m and unbiased selection",
    poc.weighted_average_gap.printed,
    "erratum",
    also=_ALSO,
    remark=_REMARK,
)
def equation_85_as_printed(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng)
    known = horizon_constants(drawn) | _SKEWS
    return expected_gaps(drawn, lambda step: poc.weighted_average_gap.printed(step, **known))


@claim(
    "power-of-choice:equation-81-as-printed",
    "One step of E |w_hat_t - w*|^2 against eq. (81) for any m and unbiased selection",
    poc.weighted_one_step.printed,
    "erratum",
    also=_ALSO,
    remark=_REMARK,
)
def equation_81_as_printed(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng)
    sizes, known = drawn.run.step_size, theorem_constants(drawn) | _SKEWS
    return one_step_distances(drawn, lambda start, t: poc.weighted_one_step.printed(start, step_size=sizes(t), **known))


@claim(
    "power-of-choice:candidates-equal-selected-as-printed",
    "d = m makes Power-of-Choice unbiased: every client has the mean weight p_k",
    Statement(poc.PAPER, "Section 4", "footnote 1"),
    "erratum",
    remark="drawing without replacement favors small p_k; with m = 1 or equal p_k it is true",
)
def candidates_equal_selected(rng: np.random.Generator) -> Finding:
    p = draw_shares(rng, whole(rng, 1, 5))
    m = whole(rng, 1, len(p))
    # The losses do not matter: all candidates are selected.
    shares = frequencies(power_of_choice(p, range(len(p)), m, m), len(p))
    return worst_of(
        equal_to(Fraction(copies) / m, share, instance={"p": in_words(p), "num_selected": m, "d": m})
        for copies, share in zip(shares, p, strict=True)
    )


@claim(
    "power-of-choice:rho-bar-as-printed",
    "rho_bar of Power-of-Choice is at least 1, what it is for d = m = 1, and so grows with d",
    Statement(poc.PAPER, "Sections 3.1 and 5", "eq. (6)"),
    "erratum",
    hypotheses=("all F_k* are equal, so that ranking by F_k is ranking by F_k - F_k*",),
    remark="where w' is near the optima of the clients that are selected at w, their losses there are below average",
)
def rho_bar_as_printed(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng, equal_minima=True)
    d = whole(rng, 2, fed.num_clients)
    m = whole(rng, 1, d)
    w, other = draw_model(rng, fed.dim), draw_model(rng, fed.dim)
    instance = {**federation_in_words(fed), "num_selected": m, "d": d, "w": in_words(w), "w'": in_words(other)}
    if not fed.total_excess(other):
        return not_applicable("the skew is 0/0 at a common minimizer", **instance)
    excesses = fed.excesses(other)
    law = power_of_choice(fed.weights, fed.losses(w), m, d)
    selected = law.mean(lambda chosen: sum(excesses[k] for k in chosen) / len(chosen))
    return at_least(Fraction(selected) / fed.total_excess(other), 1, instance=instance)
