"""Six methods on the same federations: gaps after rounds and floats, what a theorem promises, and a floor."""

from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import scaffold as sc

if TYPE_CHECKING:
    from xarray import Dataset

NAMES = ("FedAvg", "FedProx", "FedNova", "SCAFFOLD", "EF21", "Scaffnew")
PROBLEMS = QUADRATICS, SYNTHETIC = "quadratics", "Synthetic(1, 1)"


def race(config: Any, progress: study.Progress) -> "Dataset":
    """Train every method on several federations of both problems; gaps are shares of the first one."""
    import xarray

    jobs = [(problem, index) for problem in PROBLEMS for index in range(config.num_federations)]
    found = np.array([_raced(config, *job) for job in progress(jobs, "races")])
    found = found.reshape(len(PROBLEMS), config.num_federations, len(NAMES), 2, -1)
    known = [_known(config, _quadratics(config, index)) for index in range(config.num_federations)]
    dims = ("problem", "federation", "algorithm", "round")
    return xarray.Dataset(
        {
            # In single precision, so that what is stored stays small.
            "gap": (dims, found[..., 0, :].astype("f4")),
            "communications": (("problem", "federation", "round"), found[:, :, -1, 1].astype("i4")),
            "models": (("problem", "algorithm"), found[:, 0, :, 1, 1]),
            "promise": (("federation", "round"), [promise for promise, _ in known]),
            "floor": ("federation", [floor for _, floor in known]),
        },
        coords={"problem": list(PROBLEMS), "algorithm": list(NAMES)},
    )


def sent(data: "Dataset", problem: str, name: str) -> tuple[Any, Any]:
    """Return communications and models that a client sends, shape (federations, rounds) each."""
    here = data.sel(problem=problem)
    rounds = np.broadcast_to(np.arange(data.sizes["round"]), here["communications"].shape)
    if name == "Scaffnew":
        return here["communications"].values, here["communications"].values
    return rounds, rounds * float(here["models"].sel(algorithm=name))


def _raced(config: Any, problem: str, index: int) -> list[Any]:
    fed = _quadratics(config, index) if problem == QUADRATICS else _synthetic(config, index)
    return [_trained(config, fed, name, index) for name in NAMES]


def _quadratics(config: Any, index: int) -> Any:
    rng = np.random.default_rng([config.seed, index])
    curvatures = config.condition ** rng.uniform(-1, 0, (config.num_clients, config.dim))
    curvatures[0, 0], curvatures[1, 1] = 1.0, 1 / config.condition
    centers = rng.normal(size=(config.num_clients, config.dim))
    return ft.QuadraticFederation(curvatures, centers, np.full(config.num_clients, 1 / config.num_clients))


def _synthetic(config: Any, index: int) -> Any:
    rng = np.random.default_rng([config.seed, index])
    data = ft.datasets.synthetic(1.0, 1.0, num_clients=config.num_clients, rng=rng, num_features=5, num_classes=3)
    return ft.SoftmaxFederation(data, l2=0.1)


def _step_size(config: Any, fed: Any) -> float:
    """Return the longest step that SCAFFOLD's theorem speaks about."""
    return float(1 / (config.local_steps * fed.smoothness))


def _trained(config: Any, fed: Any, name: str, index: int) -> Any:
    """Return gaps and floats that a client sends, at round 0 and after every communication round; a round of Scaffnew
    is a local step.
    """
    kept = max(1, round(config.kept / config.dim * fed.dim))
    methods: dict[str, dict[str, Any]] = {
        "FedAvg": {},
        "FedProx": {"proximal_weight": config.proximal_weight * float(fed.smoothness)},
        "FedNova": {"method": ft.methods.FedNova(),
                    "local_steps": [1 + k % config.local_steps for k in range(fed.num_clients)]},
        "SCAFFOLD": {"method": ft.methods.Scaffold()},
        "Scaffnew": {"method": ft.methods.Scaffnew(1 / config.local_steps), "local_steps": 1,
                     "num_rounds": config.num_rounds * config.local_steps, "record_every": config.local_steps},
        "EF21": {"method": ft.methods.EF21(ft.methods.TopK(kept)), "local_steps": 1},
    }  # fmt: skip
    run_of = {"num_rounds": config.num_rounds, "local_steps": config.local_steps, "rng": index} | methods[name]
    found = ft.fedavg(fed, ft.selection.Full(), step_size=_step_size(config, fed), record=("gap", "uplink"), **run_of)
    return found.gap[0] / found.gap[0, 0], found.uplink[0] / (fed.dim * fed.num_clients)


def _known(config: Any, fed: Any) -> tuple[Any, float]:
    """Return what SCAFFOLD's theorem promises of the gap, L/2 of the squared distance, and where averaging rests.

    Clients move by ``1 - (1 - eta h)^tau`` of the way to their centers.
    """
    eta, first = _step_size(config, fed), float(fed.excess(np.zeros(fed.dim)))
    known = ft.exact.for_run(
        sc.fixed_step_potential, fed, ft.selection.Full(), num_rounds=1, local_steps=config.local_steps, step_size=eta,
        method=ft.methods.Scaffold(),
    )  # fmt: skip
    rounds = np.arange(config.num_rounds + 1)
    promise = float(fed.smoothness) / 2 * sc.fixed_step_potential(**known | {"num_rounds": rounds})
    pull = 1 - (1 - eta * fed.curvatures) ** config.local_steps
    rest = (fed.weights @ (pull * fed.centers)) / (fed.weights @ pull)
    return np.asarray(promise, dtype=float) / first, float(fed.excess(rest)) / first


def rows_of_race(data: "Dataset") -> list[dict[str, Any]]:
    """One row per problem and method, geometric means over federations."""
    rows = []
    for problem in PROBLEMS:
        for name in NAMES:
            here = data.sel(problem=problem, algorithm=name).isel(round=-1)
            gap = float(np.exp(np.log(np.maximum(here["gap"], 1e-16)).mean()))
            rows.append({"theorem or method": name, "where": problem, "share of the gap that is left": gap,
                         "models sent by a client": float(sent(data, problem, name)[1][:, -1].mean())})  # fmt: skip
    return rows


def checks_of_race(data: "Dataset") -> dict[str, study.Check]:
    """Test what a theorem promises, where averaging rests, and who ends below it, on every federation."""
    gap = data["gap"].sel(problem=QUADRATICS)
    last = gap.isel(round=-1)
    averaging = last.sel(algorithm="FedAvg")
    above = float((gap.sel(algorithm="SCAFFOLD") / data["promise"]).max())
    near = abs(averaging / data["floor"] - 1).max()
    found = {
        "SCAFFOLD keeps its theorem's promise": study.Check(above <= 1, f"largest ratio {above:.3f}"),
        "averaging settles at its stationary point": study.Check(float(near) < 0.5, f"apart by {float(near):.2g}"),
    }
    for name, where in (("SCAFFOLD", QUADRATICS), ("Scaffnew", QUADRATICS), ("SCAFFOLD", SYNTHETIC)):
        ends = data["gap"].sel(problem=where).isel(round=-1)
        ratio = float((ends.sel(algorithm=name) / ends.sel(algorithm="FedAvg")).max())
        found[f"{name} ends below averaging on {where}"] = study.Check(ratio < 1, f"at most {ratio:.2g} of it")
    return found
