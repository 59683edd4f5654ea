r"""
Worst cases of six methods
==========================

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

**Figure.** Left: theory divided by the proved worst case. Middle and right: both for the two methods whose theory is
not the worst case. A proved worst case is drawn between its two sides.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _rated_methods import ABOVE, BELOW, EXACT, METHODS
from _repeated import span
from _slides import DASHES

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
            known = {"method": method.title, "form": method.theory, "step_size": float(step)}
            records.append(known | {"lower": lower, "upper": upper, "theory": theory})
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


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare closed forms, which are exact, above or below the proved worst case, with its two sides."""
    lower, upper, theory, form, step = (data[name].values for name in ("lower", "upper", "theory", "form", "step_size"))
    exact, ball, local = (form == kind for kind in (EXACT, BELOW, ABOVE))
    ratio, width = theory / upper, float(np.max((upper - lower) / upper))
    off = float(np.maximum(ratio[exact] - 1, 1 - theory[exact] / lower[exact]).max())
    best = [float(step[ball][values[ball].argmin()]) for values in (theory, upper)]
    short = step[local] <= step[local][upper[local].argmin()]
    beyond, up_to = ratio[local].max(), ratio[local][short]
    return {
        "exact": study.Finding(
            f"For {len(set(data['method'].values[exact]))} of {len(METHODS)} methods the closed form is the proved "
            f"worst case at each of {len(step) // len(METHODS)} step sizes.",
            off <= ROUNDING,
            f"beyond a side by at most {off:.1e} of the value",
        ),
        "heavy ball": study.Finding(
            "For heavy ball the error of the worst quadratic is at most that of the worst function, and falls to "
            f"{ratio[ball].min():.2f} times it.",
            bool(ratio[ball].max() <= 1 + ROUNDING and ratio[ball].min() < 0.9),
        ),
        "best steps": study.Finding(
            f"The best step size of heavy ball is {best[0]:.2f} for the worst quadratic and {best[1]:.2f} for the "
            "worst function.",
            best[0] > best[1],
        ),
        "local steps": study.Finding(
            f"The lemma on a round of local steps gives {span(up_to, 2)} times the worst case up to the best step "
            f"size, and up to {beyond:.2f} times with longer steps.",
            bool((theory >= (1 - ROUNDING) * lower)[local].all() and up_to.max() < 1.05 < beyond),
        ),
        "proved": study.Finding(
            f"The two sides of each worst case are at most {width:.0e} of the value apart.", 0 <= width <= 1e-6
        ),
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
        return drawn


STUDY = study.Study("tight_rates", Config(), QUICK, run, table, findings, {"tight_rates": figure})

if __name__ == "__main__":
    study.main(STUDY)
