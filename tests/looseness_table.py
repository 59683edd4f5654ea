"""Say of every bound whose worst case is known how much it promises above it, and which constant it pays too much for.

``python -m tests.looseness_table`` writes the page ``docs/theory/looseness.md``.
"""

from collections.abc import Iterator
from fractions import Fraction as Q
from typing import Any, NamedTuple

from fedtheory.bounds import fedavg as li
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds import power_of_choice as poc
from fedtheory.paper import Bound
from fedtheory.worst_case.promises import Confrontation, confront
from tests.environment import ROOT

PAGE = ROOT / "docs" / "theory" / "looseness.md"
HEAD = r"""# How loose are the theorems?

Every bound whose worst case is known, beside it ([Worst cases](worst_cases.md)); written by `python -m
tests.looseness_table`, and computed anew by a test. Everywhere $\mu = \frac1{10}$, $L = 1$, $\Gamma = \frac12$, and the
first model lies at squared distance 1. Skewed selection has $\rho = \frac65$, $\tilde\rho = 2$ and $m = 1$, gradients
are exact unless $\sigma^2$ is given, and horizons of several rounds have $\tau = 2$.

*Looseness* is the promise over the worst case; at 1 no theorem can promise less for these constants. The last columns
hold two numbers for each constant: by how much the promise grows with it, and its multiplier in the lemma that proves
the worst case. Where the first is much larger than the second, the proof pays too much for this constant. Errors are
squared distances, and a gap is multiplied by $\frac2L$; only the theorem of Li et al. is compared as a gap.

| Bound | Case | Promise | Worst case | Looseness | $\Delta$ | $\Gamma$ | $G^2$ | $\sigma^2$ |
| --- | --- | --: | --: | --: | --- | --- | --- | --- |
"""
FOOT = """
A star: the worst case is that without a bound on gradients, so that the looseness is at least this.
"""
CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": Q(1), "objective_gap": Q(1, 2)}
SKEWED = CLASS | {"num_selected": 1, "sigma2": Q(0), "rho_diagonal": Q(6, 5), "rho_tilde": Q(2)}
ROUND = SKEWED | {"distance2": Q(1), "step_size": Q(1, 4)}
HORIZON = SKEWED | {"initial_distance2": Q(1), "local_steps": 2}
EQUAL = {"smallest_gamma": Q(1, 2), "mean_inverse_gamma": Q(2), "max_weight": Q(1, 4), "sum_squared_weights": Q(1, 4)}
# What a lemma about worst cases calls the constants that promises are affine in.
NAMES = {"distance2": "distance2", "objective_gap": "objective_gap", "G2": "G2", "sigma2": "gradient_noise"}


class Case(NamedTuple):
    """A bound with constants, and what is special about them."""

    bound: Bound
    words: str
    given: dict[str, Any]


CASES = (
    *(Case(poc.one_round, rf"$\tau = {tau}$, $\eta = \frac14$", ROUND | {"local_steps": tau}) for tau in (1, 2, 5)),
    Case(
        poc.one_round,
        r"$\tau = 2$, $\eta = \frac14$, $\sigma^2 = 1$",
        ROUND | {"local_steps": 2, "sigma2": Q(1)},
    ),
    Case(poc.one_step, r"first step, $\eta = \frac14$, $G^2 = 1$", ROUND | {"elapsed_step_size": Q(0), "G2": Q(1)}),
    Case(poc.fixed_step_distance, r"50 rounds, $\eta = \frac14$", HORIZON | {"num_rounds": 50, "step_size": Q(1, 4)}),
    Case(poc.decaying_steps_distance, r"50 rounds, $\gamma = 40$", HORIZON | {"num_rounds": 50, "gamma": Q(40)}),
    Case(poc.decaying_steps_gap, "100 steps, $G^2 = 1$", HORIZON | {"num_steps": 100, "G2": Q(1)}),
    Case(poc.refined_decaying_steps_gap, "100 steps, $G^2 = 1$", HORIZON | {"num_steps": 100, "G2": Q(1)}),
    Case(
        poc.refined_fixed_step_gap,
        r"100 steps, $\eta = \frac14$, $G^2 = 1$",
        HORIZON | {"num_steps": 100, "step_size": Q(1, 4), "G2": Q(1)},
    ),
    Case(
        li.full_participation_gap,
        "8 steps, $G^2 = 1$",
        CLASS | {"num_steps": 8, "local_steps": 2, "G2": Q(1), "weighted_sigma2": Q(0), "initial_distance2": Q(1)},
    ),
    Case(
        ocs.dsgd_contraction,
        r"2 of 4 clients, $\eta = \frac18$",
        CLASS | EQUAL | {"distance2": Q(1), "step_size": Q(1, 8), "relative_noise": Q(0), "sigma2": Q(0)},
    ),
)


def growth(case: Case, name: str) -> Q:
    """By how much the bound's value grows with a constant; exact, since bounds are affine in these or a maximum."""
    step = case.given[name] / 1000 or Q(1, 1000)
    more = case.given | {name: case.given[name] + step}
    return Q(case.bound(**more) - case.bound(**case.given)) / step


def pairs(case: Case, found: Confrontation) -> Iterator[str]:
    """Yield for each constant what the promise and what the worst case charge for it."""
    scale = found.promise / case.bound(**case.given)
    for name, word in NAMES.items():
        own = f"initial_{name}" if f"initial_{name}" in case.given else name
        if case.given.get(own):
            multiplier = found.worst.multipliers.get(word, Q(0))
            yield f"{float(scale * growth(case, own)):.4f} : {float(multiplier):.4f}"
        else:
            yield ""


def row(case: Case) -> str:
    """One line of the table."""
    found = confront(case.bound, **case.given)
    source, star = case.bound.statement, r"\*" if found.remark else ""
    cells = [
        f"`{case.bound.__name__}` ({source.paper.key}, {source.number})",
        case.words,
        f"{float(found.promise):.4f}",
        f"{found.worst.value:.4f}",
        f"{found.looseness:.4f}{star}",
        *pairs(case, found),
    ]
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """Return the text of the page."""
    return HEAD + "\n".join(map(row, CASES)) + "\n" + FOOT


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
