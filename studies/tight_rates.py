r"""
How good are six methods on their worst function, and does theory say so?
=========================================================================

**Not at all in four of six methods, at every step size; for heavy ball the worst quadratic is far from the worst
function, and for local steps the known lemma is loose where steps are long.**

**Question.** The rate of a method is an upper bound, read by everybody as what the method does. How far is it from what
the method does on its worst function, and which step size is the best one then?

**Method.** Each method is written down in the language of worst-case problems, with one step size after the other, and
its worst case is proved from both sides in rational numbers. The lines are closed forms, computed apart from that. All
start at a squared distance of 1, with :math:`L = 1`; but for the fast gradient method :math:`\mu = 1/10`.

* *Gradient descent*, three steps: :math:`\max\{(1 - \eta\mu)^2, (1 - \eta L)^2\}^3`.
* *Heavy ball*, three steps from rest with momentum 1/4: the worst *quadratic*, a maximum of a polynomial.
* *Fast gradients*, three steps with momentum :math:`i/(i + 3)`, no :math:`\mu`: the error is the larger one of a
  function that is a parabola up to some slope and goes on straight, and of the parabola.
* *Stochastic gradients*, one step of one of ten functions with
  :math:`\zeta^2 = \frac1n\sum_k|\nabla F_k(w^*)|^2 = 1/4`: :math:`(k + \sqrt{a^2 + \eta^2\zeta^2})^2`
  with :math:`k = \eta(L - \mu)/2`, :math:`a = 1 - \eta(L + \mu)/2`.
* *Local steps*, a round of three at each of ten clients with the same :math:`\zeta^2`: the lemma of one round.
* *Error feedback*, one step with a compressor that is off by at most half the length: the potential contracts by
  :math:`z^2`, where :math:`z^2 = tz + s` with :math:`s = 1/2` and
  :math:`t = \max\{1 - s - (1 + s)\eta\mu, (1 + s)\eta L - (1 - s)\}`.

**Reading.** The value lies between the tips of two triangles, which touch. Theory is exact in four panels, for every
step size and not only for those up to :math:`1/L` that textbooks treat. The best step of heavy ball on quadratics is a
bad one on other functions: from somewhere on a function that is no quadratic is worse, and soon there is no contraction
left. The lemma of a round of local steps is nearly exact up to the best step, and far off for long ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as Q
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from fedtheory.worst_case import Problem

MU, L, ZETA2, STEPS = Q(1, 10), Q(1), Q(1, 4), 3


@dataclass(frozen=True)
class Config:
    """Worst cases of six methods against their step sizes."""

    num_step_sizes: int = 40
    """Step sizes of each method, up to its longest one."""


QUICK = Config(num_step_sizes=5)


def started(p: "Problem", best: Any) -> Any:
    """Return a start at a squared distance of at most 1."""
    x = p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    return x


def gradient_descent(step: Q) -> "tuple[Problem, float]":
    """Write the method, and what theory says of it."""
    p = ft.worst_case.Problem()
    f = p.function(mu=MU, L=L)
    best = f.minimizer()
    x = started(p, best)
    for _ in range(STEPS):
        x = x - step * f.gradient(x)
    p.maximize((x - best).square)
    return p, float(max((1 - step * MU) ** 2, (1 - step * L) ** 2) ** STEPS)


def heavy_ball(step: Q) -> "tuple[Problem, float]":
    """Write the method, and the worst eigenvalue of a quadratic."""
    p = ft.worst_case.Problem()
    f = p.function(mu=MU, L=L)
    best = f.minimizer()
    x = before = started(p, best)
    eigenvalue = np.polynomial.Polynomial([0, 1])
    here: Any = np.polynomial.Polynomial([1])
    last = here
    for _ in range(STEPS):
        before, x = x, x - step * f.gradient(x) + Q(1, 4) * (x - before)
        last, here = here, here - float(step) * eigenvalue * here + 0.25 * (here - last)
    p.maximize((x - best).square)
    turns = [root.real for root in here.deriv().roots() if not root.imag and MU < root.real < L]
    return p, max(float(here(at)) ** 2 for at in (*turns, float(MU), float(L)))


def fast_gradients(step: Q) -> "tuple[Problem, float]":
    """Write the method, and its errors on a parabola and on a function of a constant slope far away."""
    p = ft.worst_case.Problem()
    f = p.function(L=L)
    best = f.minimizer()
    x = y = started(p, best)
    gone = gone_y = Q(0)  # steps gone along a constant slope
    left = left_y = Q(1)  # what is left on a parabola
    for i in range(STEPS):
        share = Q(i, i + 3)
        before, x = x, y - step * f.gradient(y)
        y = x + share * (x - before)
        gone_y, gone = gone_y + 1 + share * (gone_y + 1 - gone), gone_y + 1
        left_y, left = (1 - step * L) * left_y * (1 + share) - share * left, (1 - step * L) * left_y
    p.maximize(f.value(x) - f.value(best))
    return p, float(max(L / (4 * gone * step * L + 2), L / 2 * left**2))


def stochastic_gradients(step: Q) -> "tuple[Problem, float]":
    """Write the method, and what theory says of it."""
    p = ft.worst_case.Problem()
    f = p.clients(10, mu=MU, L=L)
    best = f.minimizer()
    x = started(p, best)
    f.heterogeneity(zeta2=ZETA2)
    p.maximize((x - step * f.gradient(x) - best).square)
    across, along = step * (L - MU) / 2, 1 - step * (L + MU) / 2
    return p, float((across + np.sqrt(float(along**2 + step**2 * ZETA2))) ** 2)


def local_steps(step: Q) -> "tuple[Problem, float]":
    """Write the method, and the lemma of one round."""
    p = ft.worst_case.Problem()
    clients = p.clients(10, mu=MU, L=L)
    best = clients.minimizer()
    w = started(p, best)
    clients.heterogeneity(zeta2=ZETA2)
    for _ in range(STEPS):
        w = clients.step(w, step)
    p.maximize((clients.mean(w) - best).square)
    c = 1 - step * MU
    beta = 2 * c / (step * (L - MU)) - 1
    d = [sum(c ** (STEPS - 1 - r) for r in range(s)) for s in range(STEPS)]
    drift = (sum(one**2 for one in d) - sum(d) ** 2 / (beta + STEPS)) / beta
    return p, float(c ** (2 * STEPS) + step**2 * drift * ZETA2)


def error_feedback(step: Q) -> "tuple[Problem, float]":
    """Write the method, and what theory says of it."""
    p, s = ft.worst_case.Problem(), Q(1, 2)
    f = p.function(mu=MU, L=L)
    best, x, error = f.minimizer(), p.point("x"), p.point("error")
    p.at_most((x - best - error).square + 1 / s * error.square, 1, name="potential")
    wanted = error + step * f.gradient(x)
    sent = p.compressed(wanted, s**2)
    x, error = x - sent, wanted - sent
    p.maximize((x - best - error).square + 1 / s * error.square)
    t = float(max(1 - s - (1 + s) * step * MU, (1 + s) * step * L - (1 - s)))
    return p, ((t + np.sqrt(t**2 + 4 * float(s))) / 2) ** 2


class Method(NamedTuple):
    """A method, its longest step size, what is measured, and what its closed form is of the worst case."""

    title: str
    problem: "Callable[[Q], tuple[Problem, float]]"
    longest: Q
    measured: str
    theory: str


EXACT, BELOW, ABOVE = "the worst case", "the worst quadratic", "an upper bound"
METHODS = (
    Method("gradient descent", gradient_descent, Q(2), "$|w_3 - w^*|^2$", EXACT),
    Method("heavy ball", heavy_ball, Q(5, 2), "$|w_3 - w^*|^2$", BELOW),
    Method("fast gradients", fast_gradients, Q(2), "$F(w_3) - F^*$", EXACT),
    Method("stochastic gradients", stochastic_gradients, Q(2), "$E|w_1 - w^*|^2$", EXACT),
    Method("local steps", local_steps, Q(13, 10), "$|w_3 - w^*|^2$", ABOVE),
    Method("error feedback", error_feedback, Q(2, 3), "potential", EXACT),
)


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Prove each worst case from both sides."""
    records = []
    for method in progress(METHODS, "methods"):
        for i in range(1, config.num_step_sizes + 1):
            step = method.longest * i / config.num_step_sizes
            problem, theory = method.problem(step)
            lower, upper = map(float, problem.solve().enclosure)
            said = {"method": method.title, "form": method.theory, "step_size": float(step)}
            records.append(said | {"lower": lower, "upper": upper, "theory": theory})
    return study.from_records(records)


def table(data: "Dataset") -> study.Table:
    """One row per method, at its best step and at its longest."""
    rows = []
    for method in METHODS:
        here = data.isel(row=data["method"].values == method.title)
        least = here.isel(row=int(here["upper"].values.argmin()))
        rows.append(
            {
                "method": method.title,
                "theory is": method.theory,
                "best step": float(least["step_size"]),
                "at least": float(least["lower"]),
                "at most": float(least["upper"]),
                "theory": float(least["theory"]),
                "theory / worst, largest": float((here["theory"] / here["upper"]).max()),
                "smallest": float((here["theory"] / here["upper"]).min()),
            }
        )
    widest = float(((data["upper"] - data["lower"]) / data["upper"]).max())
    return study.Table(rows, "Worst cases and theory", f"The two sides are at most {widest:.1e} of the value apart.")


ROUNDING = 1e-12
"""Of the value: closed forms and proved numbers are rounded to floats."""


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Theory is where it says to be."""
    lower, upper, theory, form = (data[name].values for name in ("lower", "upper", "theory", "form"))
    exact, floor, bound = (form == kind for kind in (EXACT, BELOW, ABOVE))
    above, below = theory / upper - 1, 1 - theory / lower

    def nowhere(far: Any) -> study.Check:
        worst = float(np.max(far))
        return study.Check(worst <= ROUNDING, f"beyond by at most {worst:.1e} of the value")

    beside, width = float(np.max(1 - theory[floor] / lower[floor])), float(np.max((upper - lower) / upper))
    return {
        "exact closed forms lie between both sides": nowhere([above[exact], below[exact]]),
        "no quadratic is worse than the worst function": nowhere(above[floor]),
        "for long steps of heavy ball other functions are worse": study.Check(
            0.1 < beside < 1, f"quadratics lack {beside:.2f} of it"
        ),
        "the lemma of a round is an upper bound": nowhere(below[bound]),
        "both sides are close": study.Check(0 <= width <= 1e-6, f"at most {width:.1e} of the value apart"),
    }


def rate_figure(data: "Dataset") -> "Figure":
    """Draw a panel for each method: both sides, and what theory says."""
    import matplotlib.pyplot as plt

    lines = {EXACT: "-", BELOW: ":", ABOVE: "--"}
    with appearance():
        figure, panels = plt.subplots(2, 3, figsize=(10, 6.4))
        for method, axes in zip(METHODS, panels.ravel(), strict=True):
            here = data.isel(row=data["method"].values == method.title)
            label = f"theory: {method.theory}"
            axes.plot(here["step_size"], here["theory"], lines[method.theory], color=COLORS[1], label=label)
            sides = {"linestyle": "none", "markersize": 4, "markeredgewidth": 0}
            axes.plot(here["step_size"], here["upper"], **sides, marker=7, color=COLORS[0], label="proved: at most")
            axes.plot(here["step_size"], here["lower"], **sides, marker=6, color=COLORS[2], label="proved: at least")
            axes.set_yscale("log")
            axes.set_yticks(np.geomspace(here[["lower", "theory"]].to_array().min(), here["theory"].max(), 5))
            axes.minorticks_off()
            axes.yaxis.set_major_formatter("{x:.2g}")
            axes.set_title(method.title)
            axes.set_xlabel(r"step size $\eta$, where $L = 1$")
            axes.set_ylabel(f"largest {method.measured}")
        return legend_below(figure, num_columns=5)


STUDY = study.Study("tight_rates", Config(), QUICK, run, table, checks, {"rates": rate_figure})

if __name__ == "__main__":
    study.main(STUDY)
