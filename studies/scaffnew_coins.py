r"""
How often should Scaffnew communicate?
======================================

**By its theorem with a probability p whose square is gamma mu: more frequent coins buy no better rate. Over many steps
Scaffnew is faster than the theorem says.**

**Question.** Scaffnew averages after a local step with probability p. Its theorem has the rate :math:`\max\{1 -
\gamma\mu, 1 - p^2\}`. How close is that to what happens, and which p is best?

**Method.** Parabolas with unequal curvatures and minimizers. The expected potential after few steps is exact, over all
coins and in rationals; over many steps it is simulated, with confidence limits. Beside them stand the theorem as
printed and as refined. For clients of one curvature the long-run rate is exact: the spectral radius of three second
moments.

**Reading.** Left: the potential against local steps. Both bounds hold and are loose by a rate, since the part that
control variates correct is faster in the long run than one step at its worst. Right: the exact long-run rate of the
disagreement of clients whose distances a gradient step multiplies by e, and :math:`1 - p^2`. The theorem's rate is the
larger of that and :math:`e^2`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import proxskip as ps
from fedtheory.instances.control_variates import ScaffnewState, disagreement_radius, mean_potentials
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.plotting.bound import measured, theory
from fedtheory.plotting.style import appearance, legend_below
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Expected potentials of Scaffnew, and its rate against the probability of its coin."""

    probability: float = 0.25
    """p of the left panel."""
    num_steps: int = 60
    """Steps that are simulated."""
    exact_steps: int = 8
    """Steps over whose coins the mean is exact."""
    num_replicates: int = 4000
    """Replicates."""
    num_probabilities: int = 40
    """Points of the right panel."""
    shrink: tuple[float, ...] = (0.0, 0.5, 0.9)
    """e = 1 - gamma a of the clients' curvature a, a curve each."""
    seed: int = 0
    """Entropy of the coins."""


QUICK = Config(num_steps=20, exact_steps=5, num_replicates=300, num_probabilities=8)

CURVATURES, CENTERS = (1, 2, 4), (0, 3, 5)


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Enumerate, simulate and bound."""
    import xarray

    third = (Fraction(1, 3),) * 3
    exact = RationalQuadratics(
        tuple((Fraction(h),) for h in CURVATURES), tuple((Fraction(a),) for a in CENTERS), third, (Fraction(0),) * 3
    )
    p, gamma, zero = Fraction(config.probability), Fraction(1, 4), (Fraction(0),)
    start = ScaffnewState((zero,) * 3, (zero,) * 3)
    [means] = [
        mean_potentials(exact, start, steps, step_size=gamma, probability=p)
        for steps in progress([config.exact_steps], "coins")
    ]
    fed, method, steps = exact.rounded(), ft.methods.Scaffnew(config.probability), np.arange(config.num_steps + 1)
    run_of: dict[str, Any] = {"step_size": float(gamma), "method": method}
    found = ft.fedavg(
        fed, ft.selection.Full(), num_rounds=config.num_steps, num_replicates=config.num_replicates, rng=config.seed,
        record=("states",), **run_of,
    ).recorded("states")  # fmt: skip
    right = fed.gradients(fed.minimizer)[:, 0]
    potentials = ((found[..., 0] - fed.minimizer[0]) ** 2 + (float(gamma) / config.probability) ** 2
                  * (found[..., 1] - right) ** 2).mean(axis=-1)  # fmt: skip
    lower, upper = student_mean(potentials)
    known = ft.exact.for_run(ps.fixed_step_potential, fed, ft.selection.Full(), num_rounds=1, **run_of)
    bounds = [np.array([bound(**known | {"num_steps": int(t)}) for t in steps])
              for bound in (ps.fixed_step_potential, ps.refined_fixed_step_potential)]  # fmt: skip
    grid = np.linspace(1 / config.num_probabilities, 1, config.num_probabilities)
    radii = [[disagreement_radius(Fraction(e), Fraction(q)) for q in grid] for e in config.shrink]
    return xarray.Dataset(
        {
            "exact": ("exact_step", [float(mean) for mean in means]),
            "simulated": (("side", "step"), [potentials.mean(axis=0), lower, upper]),
            "bound": (("form", "step"), bounds),
            "rate": (("shrink", "probability"), radii),
        },
        coords={"step": steps, "form": ["printed", "refined"], "shrink": list(config.shrink), "probability": grid,
                "side": ["mean", "lower", "upper"]},
    )  # fmt: skip


def table(data: "Dataset") -> study.Table:
    """One row per step whose mean is exact."""
    rows = []
    for t, exact in enumerate(data["exact"].values):
        mean, lower, upper = data["simulated"].sel(step=t).values
        row = {"step": t, "exact": float(exact), "simulated": float(mean), "+- (95%)": float(upper - lower) / 2}
        rows.append(row | {form: float(data["bound"].sel(step=t, form=form)) for form in ("refined", "printed")})
    return study.Table(rows, title="Expected potential of Scaffnew")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    few = data["exact"].size
    mean, lower, upper = data["simulated"].values[:, :few]
    width = np.maximum(upper - lower, 1e-12 * mean)
    off = float((abs(mean - data["exact"].values) / width).max())
    tight = float((data["exact"].values / data["bound"].sel(form="refined").values[:few]).max())
    rates = data["rate"].values
    slack = float((rates - np.maximum(1 - data["probability"].values ** 2, data["shrink"].values[:, None] ** 2)).max())
    return {
        "simulated means are the exact ones": study.Check(off < 1.5, f"off by {off:.2f} widths of the limits at most"),
        "the refined bound holds": study.Check(tight <= 1 + 1e-12, f"largest ratio {tight:.4f}"),
        "the long-run rate is below the theorem's": study.Check(slack < 1e-12, f"largest excess {slack:.1e}"),
    }


def coins_figure(data: "Dataset") -> "Figure":
    """Left the potential against steps, right the rate against p."""
    import matplotlib.pyplot as plt

    with appearance():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
        for rank, form in enumerate(data["form"].values):
            theory(left, data["step"].values, data["bound"].sel(form=form).values, label=f"theorem, {form}", rank=rank)
        measured(left, data["step"].values, *data["simulated"].values, label="simulated")
        left.plot(np.arange(data["exact"].size), data["exact"].values, "x", color="black", label="exact, all coins")
        left.set_yscale("log")
        left.set_xlabel("local steps")
        left.set_ylabel("expected potential")
        p = data["probability"].values
        theory(right, p, 1 - p**2, label=r"$1 - p^2$", rank=2)
        for e, line in zip(data["shrink"].values, ("-", "--", ":"), strict=False):
            right.plot(p, data["rate"].sel(shrink=e).values, line, color="black", label=f"exact rate, e = {e:g}")
        right.set_xlabel("probability p")
        right.set_ylabel("rate of the disagreement")
        return legend_below(figure, num_columns=4)


STUDY = study.Study("scaffnew_coins", Config(), QUICK, run, table, checks, figures={"scaffnew_coins": coins_figure})

if __name__ == "__main__":
    study.main(STUDY)
