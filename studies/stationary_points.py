r"""
Where does averaging come to rest?
==================================

**Beside the minimizer, by an amount in proportion to the step size; normalizing repairs the limit of short steps only,
extrapolating gains one order, and SCAFFOLD is not off at all.**

**Question.** With a fixed step size federated averaging does not come to the minimizer. How far off is it, what do
normalizing (FedNova) and extrapolating (Richardson and Romberg) change, and what does SCAFFOLD?

**Method.** Two clients in the plane with full Hessians, whose stationary points are exact in rationals. Distances from
the minimizer against the step size, for equal local steps and for unequal ones; long simulations beside them.

**Reading.** Equal steps (left): averaging is off in the order of the step size, the extrapolation in the order of its
square, and the first two terms of the expansion describe both. Unequal steps (right): averaging rests near the
minimizer of another objective, however short the steps; FedNova is off in the order of the step size. SCAFFOLD is not
off, and has no curve.
"""

from dataclasses import dataclass
from fractions import Fraction as Q
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.plotting.bound import theory
from fedtheory.plotting.style import appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Biases of averaging methods against the step size."""

    halvings: int = 10
    """Step sizes 1/2, 1/4, ..., so many."""
    equal: tuple[int, int] = (3, 3)
    """Local steps of the left panel."""
    unequal: tuple[int, int] = (1, 5)
    """Local steps of the right panel."""
    simulated: int = 4
    """The longest step sizes, which are simulated, too."""


QUICK = Config(halvings=5, simulated=2)

FED = StationaryPoints(
    (((Q(1), Q(0)), (Q(0), Q(1, 4))), ((Q(1, 2), Q(1, 4)), (Q(1, 4), Q(1)))), ((Q(0), Q(0)), (Q(1), Q(2))),
    (Q(1, 3), Q(2, 3)),
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Compute all stationary points, and simulate some."""
    records = []
    _, e2 = FED.bias(config.equal[0])
    e1 = FED.bias(config.equal[0])[0]
    for number in progress(list(range(config.halvings)), "step sizes"):
        eta = Q(1, 2 ** (number + 1))
        simulated = number < config.simulated
        records.append({
            "step_size": float(eta),
            "averaging": _off(FED.averaging(eta, config.equal)),
            "expansion": _size([float(eta * a + eta**2 * b) for a, b in zip(e1, e2, strict=True)]),
            "extrapolated": _off(FED.romberg(eta, config.equal[0])) if 2 * eta < 1 else np.nan,
            "second order": _size([float(2 * eta**2 * b) for b in e2]),
            "averaging, unequal": _off(FED.averaging(eta, config.unequal)),
            "normalized": _off(FED.normalized(eta, config.unequal)),
            "first order": _size([float(eta * a) for a in FED.normalized_bias(config.unequal)]),
            "inconsistent": _off(FED.inconsistent_minimizer(config.unequal)),
            "averaging, simulated": _simulated(eta, config.equal, None) if simulated else np.nan,
            "normalized, simulated": _simulated(eta, config.unequal, ft.methods.FedNova()) if simulated else np.nan,
            "scaffold, simulated": _simulated(eta, config.equal, ft.methods.Scaffold()) if simulated else np.nan,
        })  # fmt: skip
    return study.from_records(records)


def _size(vector: Any) -> float:
    return float(np.linalg.norm(np.array(vector, dtype=float)))


def _off(point: Any) -> float:
    return _size([x - best for x, best in zip(point, FED.minimizer, strict=True)])


def _simulated(eta: Q, local_steps: tuple[int, int], method: Any) -> float:
    """Distance from the minimizer after so many rounds that nothing moves any more."""
    fed = ft.QuadraticFederation(
        np.array(FED.hessians, dtype=float), np.array(FED.centers, dtype=float), [1 / 3, 2 / 3]
    )
    run = ft.fedavg(fed, ft.selection.Full(), num_rounds=int(400 / eta), local_steps=list(local_steps), method=method,
                    step_size=float(eta), record=("models",), record_every=int(400 / eta))  # fmt: skip
    return _size(run.models[0, -1] - fed.minimizer)


def table(data: "Dataset") -> study.Table:
    """One row per step size; blank where nothing is simulated, or twice the step size is too long."""
    names = [str(name) for name in data.data_vars]
    return study.Table([
        {name.replace("_", " "): float(x) if np.isfinite(x) else "" for name, x in zip(names, row, strict=True)}
        for row in zip(*(data[name].values for name in names), strict=True)
    ])  # fmt: skip


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    known = np.isfinite(data["averaging, simulated"].values)
    off = max(float(abs(data[f"{name}, simulated"].values / data[name].values - 1)[known].max())
              for name in ("averaging", "normalized"))  # fmt: skip
    tails = {
        name: float(np.diff(np.log2(data[name].values))[-1]) for name in ("averaging", "extrapolated", "normalized")
    }
    gone = float(np.nanmax(data["scaffold, simulated"].values))
    stays = float(data["averaging, unequal"].values[-1] / data["inconsistent"].values[-1])
    return {
        "simulations come to the stationary points": study.Check(off < 1e-9, f"apart by at most {off:.1e} of the bias"),
        "averaging is off in first order": study.Check(abs(tails["averaging"] + 1) < 0.1, f"{tails['averaging']:.3f}"),
        "extrapolation is off in second order": study.Check(
            abs(tails["extrapolated"] + 2) < 0.2, f"{tails['extrapolated']:.3f}"
        ),
        "normalizing is off in first order": study.Check(
            abs(tails["normalized"] + 1) < 0.1, f"{tails['normalized']:.3f}"
        ),
        "unequal steps leave another objective": study.Check(abs(stays - 1) < 0.2, f"ratio {stays:.3f}"),
        "SCAFFOLD is not off": study.Check(gone < 1e-9, f"at most {gone:.1e}"),
    }


def bias_figure(data: "Dataset") -> "Figure":
    """Left equal local steps, right unequal ones."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    eta = data["step_size"].values
    with appearance():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
        for axes, exact, approximate in (
            (left, ("averaging", "extrapolated"), ("expansion", "second order")),
            (right, ("averaging, unequal", "normalized"), ("inconsistent", "first order")),
        ):
            for name, marker in zip(exact, ("o", "s"), strict=True):
                axes.plot(eta, data[name].values, marker, color="black", fillstyle="none", label=name)
            for rank, name in enumerate(approximate, 2 * (axes is right)):
                theory(axes, eta, data[name].values, label=name, rank=rank)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel("step size")
        left.set_title("equal local steps")
        right.set_title("unequal local steps")
        left.set_ylabel("distance from the minimizer")
        return legend_below(figure, num_columns=4)


STUDY = study.Study(
    "stationary_points", Config(), QUICK, run, table, checks, figures={"stationary_points": bias_figure}
)

if __name__ == "__main__":
    study.main(STUDY)
