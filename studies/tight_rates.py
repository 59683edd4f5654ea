r"""
A worst function attains the rates of four of six methods
=========================================================

**These rates are attained at every step size. For heavy ball the worst quadratic is far from the worst function. For
local steps the known lemma is loose at long steps.**

**Question.** The rate of a method is an upper bound. How far is it from the error on the worst function, and which step
size is best for the worst function?

**Method.** Each method is written in the language of worst-case problems, for a range of step sizes. Its worst case is
proved from both sides in rational numbers. The lines are closed forms, which are computed independently. All methods
start at a squared distance of 1, with :math:`L = 1`, and :math:`\mu = 1/10` except for the fast gradient method.

* *Gradient descent*, three steps: :math:`\max\{(1 - \eta\mu)^2, (1 - \eta L)^2\}^3`.
* *Heavy ball*, three steps from rest with momentum 1/4: the worst *quadratic*, a maximum of a polynomial.
* *Fast gradients*, three steps with momentum :math:`i/(i + 3)`, no :math:`\mu`: the larger of two errors, that of a
  function that is a parabola up to some slope and linear beyond, and that of the parabola.
* *Stochastic gradients*, one step of one of ten functions with :math:`\zeta^2 = \frac1n\sum_k|\nabla F_k(w^*)|^2 =
  1/4`: :math:`(k + \sqrt{a^2 + \eta^2\zeta^2})^2` with :math:`k = \eta(L - \mu)/2`, :math:`a = 1 - \eta(L + \mu)/2`.
* *Local steps*, a round of three at each of ten clients with the same :math:`\zeta^2`: the lemma of one round.
* *Error feedback*, one step with a compressor with a relative error of at most one half: the potential contracts by
  :math:`z^2`, where :math:`z^2 = tz + s` with :math:`s = 1/2` and :math:`t = \max\{1 - s - (1 + s)\eta\mu, (1 + s)\eta
  L - (1 - s)\}`.

**Reading.** Left: theory divided by the proved worst case, whose two sides are at most 1e-07 of the value apart. For
four methods the rate is exact at every step size, not only for those up to :math:`1/L`, as in textbooks. Middle and
right: the other two. For these the best step of heavy ball on quadratics is 2.12, on all functions 1.31, and the worst
quadratic is 0.11 of the worst function at least. The lemma of a round of local steps is 1.00 to 1.01 times the worst
case up to the best step, and up to 1.56 times beyond.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check, stated
from _rated_methods import ABOVE, BELOW, EXACT, METHODS
from _repeated import span
from _slides import DASHES, finding

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Worst cases of six methods against their step sizes."""

    num_step_sizes: int = 40
    """Step sizes of each method, up to its longest one."""


QUICK = Config(num_step_sizes=5)


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


def checks(data: "Dataset") -> dict[str, Check]:
    """Test that closed forms are exact, above or below the proved worst case, as declared."""
    lower, upper, theory, form = (data[name].values for name in ("lower", "upper", "theory", "form"))
    exact, floor, bound = (form == kind for kind in (EXACT, BELOW, ABOVE))
    above, below = theory / upper - 1, 1 - theory / lower

    def nowhere(far: Any) -> Check:
        worst = float(np.max(far))
        return Check(worst <= ROUNDING, f"beyond by at most {worst:.1e} of the value")

    beside, width = float(np.max(1 - theory[floor] / lower[floor])), float(np.max((upper - lower) / upper))
    return {
        "exact closed forms lie between both sides": nowhere([above[exact], below[exact]]),
        "no quadratic is worse than the worst function": nowhere(above[floor]),
        "for long steps of heavy ball other functions are worse": Check(
            0.1 < beside < 1, f"quadratics lack {beside:.2f} of it"
        ),
        "the lemma of a round is an upper bound": nowhere(below[bound]),
        "both sides are close": Check(0 <= width <= 1e-6, f"at most {width:.1e} of the value apart"),
    }


def _of(data: "Dataset", title: str) -> "Dataset":
    return data.isel(row=data["method"].values == title)


def figure(data: "Dataset") -> "Figure":
    """Draw theory divided by the proved value for all methods, and both for the two methods where they differ."""
    import matplotlib.pyplot as plt

    with appearance():
        drawn, (left, *others) = plt.subplots(1, 3, figsize=(13, 4.2))
        for place, method in enumerate(METHODS):
            here = _of(data, method.title)
            left.plot(
                here["step_size"] / float(method.longest), here["theory"] / here["upper"], color=COLORS[place % 7],
                linestyle=DASHES[place], marker=MARKERS[place], markevery=(place, 6), label=method.title,
            )  # fmt: skip
        left.set(
            yscale="log", ylim=(0.08, 2), xlabel="step size / largest step size", ylabel="theory / proved worst case"
        )
        left.legend(fontsize=8)
        for axes, method in zip(others, (one for one in METHODS if one.theory != EXACT), strict=True):
            here = _of(data, method.title)
            axes.fill_between(
                here["step_size"],
                here["lower"],
                here["upper"],
                color=COLORS[0],
                linewidth=3,
                label="proved worst case",
            )
            axes.plot(here["step_size"], here["theory"], "--", color=COLORS[1], label=f"theory: {method.theory}")
            axes.set(title=method.title, xlabel=r"step size $\eta$, where $L = 1$", ylabel=f"largest {method.measured}")
            axes.set_ylim(0, None)
            axes.legend(fontsize=9, loc="upper left")
        exact = sum(method.theory == EXACT for method in METHODS)
        return finding(
            drawn,
            f"{exact} of {len(METHODS)} closed forms are the worst case at every step size; heavy ball's worst "
            "quadratic is not, and the lemma on local steps is loose for long steps",
        )


def said(data: "Dataset") -> list[str]:
    """Sentences of the page."""
    ball, local = (_of(data, next(one.title for one in METHODS if one.theory == kind)) for kind in (BELOW, ABOVE))
    least = [float(one["step_size"][int(one["upper"].values.argmin())]) for one in (ball, local)]
    ratio, short = local["theory"] / local["upper"], local["step_size"].values <= least[1]
    widest = float(((data["upper"] - data["lower"]) / data["upper"]).max())
    best = float(ball["step_size"][int(ball["theory"].values.argmin())])
    return [
        f"at most {widest:.0e} of the value apart",
        (
            f"{span(ratio.values[short], 2)} times the worst case up to the best step, and up to "
            f"{float(ratio.max()):.2f} times beyond"
        ),
        (
            f"the best step of heavy ball on quadratics is {best:.2f}, on all functions {least[0]:.2f}, and the worst "
            f"quadratic is {float((ball['theory'] / ball['upper']).min()):.2f} of the worst function at least"
        ),
    ]


STUDY = study.Study("tight_rates", Config(), QUICK, run, table, stated(checks), {"tight_rates": figure})

if __name__ == "__main__":
    study.main(STUDY)
