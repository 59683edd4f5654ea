r"""
One federation, six methods
===========================

**SCAFFOLD and Scaffnew reach the minimizer in the fewest communications, and Scaffnew in the fewest floats. Averaging,
FedProx and FedNova stop at a floor.**

**Question.** On the same heterogeneous clients, which method comes closest to the minimizer, per round and per float
that is sent?

**Method.** All clients of a federation of quadratics with unequal curvatures, and of Synthetic(1, 1) with softmax
regression, take part with exact gradients and one step size: federated averaging, FedProx, FedNova with unequal local
steps, SCAFFOLD, Scaffnew, and EF21 with top-k, of one local step. A round of Scaffnew is a local step, so that it is
drawn against its communications. For the quadratics the stationary points of averaging and FedNova are known, and
SCAFFOLD has a theorem, the dotted line.

**Reading.** Averaging, FedProx and FedNova have floors, averaging the one that is computed. SCAFFOLD and Scaffnew have
none and need about as many communications. SCAFFOLD sends two vectors a round, its model difference and the change of
its control variate, so that against floats Scaffnew is ahead. EF21 takes one step a round and sends few coordinates of
it: it needs many rounds, but on the quadratics hardly more floats than Scaffnew, and on Synthetic as many as averaging.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import scaffold as sc
from fedtheory.plotting.bound import theory
from fedtheory.plotting.style import COLORS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Gaps of six methods against rounds and floats sent."""

    num_clients: int = 10
    """Clients K of both problems."""
    dim: int = 20
    """Coordinates of the quadratics."""
    condition: float = 20.0
    """L/mu of the quadratics."""
    local_steps: int = 5
    """Local steps tau; of FedNova's clients from 1 to tau."""
    num_rounds: int = 300
    """Communication rounds."""
    kept: int = 2
    """Coordinates that top-k keeps of the quadratics' 20, or as large a share."""
    proximal_weight: float = 0.1
    """Weight of FedProx, as a share of L."""
    seed: int = 0
    """Entropy of instances and coins."""


QUICK = Config(num_clients=4, dim=4, num_rounds=40, kept=1)

NAMES = ("FedAvg", "FedProx", "FedNova", "SCAFFOLD", "Scaffnew", "EF21")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Train every method on both problems."""
    import xarray

    problems = {"quadratics": _quadratics(config), "Synthetic(1, 1)": _synthetic(config)}
    found: dict[str, Any] = {}
    for problem, fed in problems.items():
        gaps, floats, rounds = [], [], []
        for name in progress(list(NAMES), problem):
            gap, sent = _trained(config, fed, name)
            gaps.append(gap)
            floats.append(sent)
            rounds.append(
                np.arange(config.num_rounds + 1) if name != "Scaffnew" else sent / (fed.dim * fed.num_clients)
            )
        found[problem] = (gaps, floats, rounds)
    fed = problems["quadratics"]
    bound = _promised(config, fed)
    dims = ("problem", "algorithm", "round")
    return xarray.Dataset(
        {
            "gap": (dims, [found[one][0] for one in problems]),
            "floats": (dims, [found[one][1] for one in problems]),
            "rounds": (dims, [found[one][2] for one in problems]),
            "promise": ("round", bound),
            "floor": _floor(config, fed),
        },
        coords={"problem": list(problems), "algorithm": list(NAMES)},
    )


def _quadratics(config: Config) -> Any:
    rng = np.random.default_rng(config.seed)
    curvatures = config.condition ** rng.uniform(-1, 0, (config.num_clients, config.dim))
    curvatures[0, 0], curvatures[1, 1] = 1.0, 1 / config.condition
    centers = rng.normal(size=(config.num_clients, config.dim))
    return ft.QuadraticFederation(curvatures, centers, np.full(config.num_clients, 1 / config.num_clients))


def _synthetic(config: Config) -> Any:
    data = ft.datasets.synthetic(
        1.0, 1.0, num_clients=config.num_clients, rng=config.seed, num_features=5, num_classes=3
    )
    return ft.SoftmaxFederation(data, l2=0.1)


def _step_size(config: Config, fed: Any) -> float:
    """Return the longest step that SCAFFOLD's theorem speaks about."""
    return 1 / (config.local_steps * float(fed.smoothness))


def _trained(config: Config, fed: Any, name: str) -> tuple[Any, Any]:
    """Return gaps and floats sent, at round 0 and after every communication round."""
    kept = max(1, round(config.kept / config.dim * fed.dim))
    methods: dict[str, dict[str, Any]] = {
        "FedAvg": {},
        "FedProx": {"proximal_weight": config.proximal_weight * float(fed.smoothness)},
        "FedNova": {"method": ft.methods.FedNova(), "local_steps": _unequal(config, fed)},
        "SCAFFOLD": {"method": ft.methods.Scaffold()},
        "Scaffnew": {"method": ft.methods.Scaffnew(1 / config.local_steps), "local_steps": 1,
                     "num_rounds": config.num_rounds * config.local_steps, "record_every": config.local_steps},
        "EF21": {"method": ft.methods.EF21(ft.methods.TopK(kept)), "local_steps": 1},
    }  # fmt: skip
    run_of = {"num_rounds": config.num_rounds, "local_steps": config.local_steps} | methods[name]
    found = ft.fedavg(fed, ft.selection.Full(), step_size=_step_size(config, fed), record=("gap", "uplink"), **run_of)
    return found.gap[0], found.uplink[0]


def _unequal(config: Config, fed: Any) -> list[int]:
    return [1 + k % config.local_steps for k in range(fed.num_clients)]


def _promised(config: Config, fed: Any) -> Any:
    """Return what SCAFFOLD's theorem promises of the gap, L/2 of the squared distance."""
    known = ft.exact.for_run(
        sc.fixed_step_potential, fed, ft.selection.Full(), num_rounds=1, local_steps=config.local_steps,
        step_size=_step_size(config, fed), method=ft.methods.Scaffold(),
    )  # fmt: skip
    rounds = np.arange(config.num_rounds + 1)
    return float(fed.smoothness) / 2 * sc.fixed_step_potential(**known | {"num_rounds": rounds})


def _floor(config: Config, fed: Any) -> float:
    """Return the gap where averaging rests: clients move by ``1 - (1 - eta h)^tau`` of the way to their centers."""
    pull = 1 - (1 - _step_size(config, fed) * fed.curvatures) ** config.local_steps
    return float(fed.excess((fed.weights @ (pull * fed.centers)) / (fed.weights @ pull)))


def table(data: "Dataset") -> study.Table:
    """One row per problem and method."""
    rows = []
    for problem in data["problem"].values:
        for name in data["algorithm"].values:
            here = data.sel(problem=problem, algorithm=name)
            rows.append({
                "problem": str(problem), "method": str(name), "first gap": float(here["gap"][0]),
                "last gap": float(here["gap"][-1]), "rounds": float(here["rounds"][-1]),
                "floats": float(here["floats"][-1]),
            })  # fmt: skip
    return study.Table(rows, title="Six methods on one federation")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    quadratics = data.sel(problem="quadratics")
    last = {str(name): float(quadratics["gap"].sel(algorithm=name)[-1]) for name in data["algorithm"].values}
    floor, promise = float(data["floor"]), data["promise"].values
    above = float((quadratics["gap"].sel(algorithm="SCAFFOLD").values / promise).max())
    near = last["FedAvg"] / floor
    softmax = {
        str(name): float(data["gap"].sel(problem="Synthetic(1, 1)", algorithm=name)[-1])
        for name in data["algorithm"].values
    }
    return {
        "SCAFFOLD keeps its theorem's promise": study.Check(above <= 1, f"largest ratio {above:.3f}"),
        "averaging settles at its stationary point": study.Check(0.5 < near < 2, f"{near:.3f} of its floor"),
        "SCAFFOLD ends below averaging": study.Check(last["SCAFFOLD"] < last["FedAvg"], f"{last['SCAFFOLD']:.2g}"),
        "Scaffnew ends below averaging": study.Check(last["Scaffnew"] < last["FedAvg"], f"{last['Scaffnew']:.2g}"),
        "SCAFFOLD ends below averaging on Synthetic": study.Check(
            softmax["SCAFFOLD"] < softmax["FedAvg"], f"{softmax['SCAFFOLD']:.2g} and {softmax['FedAvg']:.2g}"
        ),
    }


def methods_figure(data: "Dataset") -> "Figure":
    """Draw a row per problem: the gap against rounds, and against floats."""
    import matplotlib.pyplot as plt

    with appearance():
        figure, panels = plt.subplots(2, 2, figsize=(10, 7.5), sharey="row")
        for row, problem in zip(panels, data["problem"].values, strict=True):
            for axes, against in zip(row, ("rounds", "floats"), strict=True):
                for name, color in zip(data["algorithm"].values, COLORS, strict=False):
                    here = data.sel(problem=problem, algorithm=name)
                    positive = here["gap"].values > 1e-14
                    axes.plot(
                        here[against].values[positive], here["gap"].values[positive], color=color, label=str(name)
                    )
                axes.set_yscale("log")
                axes.set_xlabel("communication rounds" if against == "rounds" else "floats sent to the server")
            row[0].set_ylabel(f"gap, {problem}")
        most = data.sizes["round"]
        theory(
            panels[0, 0], np.arange(most), np.maximum(data["promise"].values, 1e-14), label="SCAFFOLD's theorem", rank=2
        )
        panels[0, 0].axhline(float(data["floor"]), color="grey", linewidth=0.8, label="averaging's stationary point")
        return legend_below(figure, num_columns=4)


STUDY = study.Study(
    "one_federation_six_methods", Config(), QUICK, run, table, checks,
    figures={"one_federation_six_methods": methods_figure},
)  # fmt: skip

if __name__ == "__main__":
    study.main(STUDY)
