"""Six methods on the same federations, fixed points of averaging, and error floors of single drawn clients."""

from dataclasses import dataclass
from fractions import Fraction as Q
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _experiments import part

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import scaffold as sc
from fedtheory.bounds import sgd
from fedtheory.instances import vector

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
            # In single precision to save space.
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
    """Return the longest step that SCAFFOLD's theorem allows."""
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
    """Return SCAFFOLD's bound on the gap, L/2 of the squared distance, and the gap at the fixed point of averaging.

    Clients move by the share ``1 - (1 - eta h)^tau`` of the distance to their centers.
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


def checks_of_race(data: "Dataset") -> dict[str, Check]:
    """Test a theorem's bound, the fixed point of averaging, and which methods end below it, on every federation."""
    gap = data["gap"].sel(problem=QUADRATICS)
    last = gap.isel(round=-1)
    averaging = last.sel(algorithm="FedAvg")
    above = float((gap.sel(algorithm="SCAFFOLD") / data["promise"]).max())
    near = abs(averaging / data["floor"] - 1).max()
    found = {
        "SCAFFOLD is below its theorem's bound": Check(above <= 1, f"largest ratio {above:.3f}"),
        "averaging ends at its fixed point": Check(float(near) < 0.5, f"apart by {float(near):.2g}"),
    }
    for name, where in (("SCAFFOLD", QUADRATICS), ("Scaffnew", QUADRATICS), ("SCAFFOLD", SYNTHETIC)):
        ends = data["gap"].sel(problem=where).isel(round=-1)
        ratio = float((ends.sel(algorithm=name) / ends.sel(algorithm="FedAvg")).max())
        found[f"{name} ends below averaging on {where}"] = Check(ratio < 1, f"at most {ratio:.2g} of it")
    return found


@dataclass(frozen=True)
class FixedPoints:
    """Step sizes and lengths of the runs that end at fixed points."""

    halvings: int = 10
    """Number of step sizes 1/2, 1/4, ..."""
    equal: tuple[int, int] = (3, 3)
    """Local steps of two clients."""
    unequal: tuple[int, int] = (1, 5)
    """Other local steps of two clients."""
    simulated: int = 4
    """Number of the longest step sizes, which are also simulated."""
    steps: tuple[int, ...] = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48)
    """Step sizes with one sampled client, in sixteenths of 1/L."""
    zeta2: tuple[int, ...] = (0, 1, 4)
    """Heterogeneity of sampled clients, in L^2 times the squared distance."""
    settling: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.5)
    """Step sizes of runs with sampled clients."""
    run_time: float = 400.0
    """Sum of the step sizes of such a run."""
    num_replicates: int = 40
    """Replicates of runs with sampled clients."""


MU, L = Q(1, 10), Q(1)


@lru_cache
def _plane() -> Any:
    """Two clients in the plane with full Hessians."""
    hessians = (vector(1, 0), vector(0, "1/4")), (vector("1/2", "1/4"), vector("1/4", 1))
    return ft.instances.StationaryPoints(hessians, (vector(0, 0), vector(1, 2)), vector("1/3", "2/3"))


def fixed_points(own: FixedPoints, progress: study.Progress) -> "Dataset":
    """Compute all stationary points of two clients in the plane, and simulate some."""
    e1, e2 = _plane().bias(own.equal[0])
    records = []
    for number in progress(list(range(own.halvings)), "stationary points"):
        eta, simulated = Q(1, 2 ** (number + 1)), number < own.simulated
        records.append({
            "step_size": float(eta),
            "averaging": _off(_plane().averaging(eta, own.equal)),
            "expansion": _size([float(eta * a + eta**2 * b) for a, b in zip(e1, e2, strict=True)]),
            "extrapolated": _off(_plane().romberg(eta, own.equal[0])) if 2 * eta < 1 else np.nan,
            "second order": _size([float(2 * eta**2 * b) for b in e2]),
            "averaging, unequal": _off(_plane().averaging(eta, own.unequal)),
            "normalized": _off(_plane().normalized(eta, own.unequal)),
            "first order": _size([float(eta * a) for a in _plane().normalized_bias(own.unequal)]),
            "inconsistent": _off(_plane().inconsistent_minimizer(own.unequal)),
            "averaging, simulated": _simulated(eta, own.equal, None) if simulated else np.nan,
            "normalized, simulated": _simulated(eta, own.unequal, ft.methods.FedNova()) if simulated else np.nan,
            "scaffold, simulated": _simulated(eta, own.equal, ft.methods.Scaffold()) if simulated else np.nan,
        })  # fmt: skip
    return study.from_records(records)


def _size(vector: Any) -> float:
    return float(np.linalg.norm(np.array(vector, dtype=float)))


def _off(point: Any) -> float:
    return _size([x - best for x, best in zip(point, _plane().minimizer, strict=True)])


def _simulated(eta: Q, local_steps: tuple[int, int], method: Any) -> float:
    """Distance from the minimizer after convergence."""
    fed = ft.QuadraticFederation(
        np.array(_plane().hessians, dtype=float), np.array(_plane().centers, dtype=float), [1 / 3, 2 / 3]
    )
    run = ft.fedavg(fed, ft.selection.Full(), num_rounds=int(400 / eta), local_steps=list(local_steps), method=method,
                    step_size=float(eta), record=("models",), record_every=int(400 / eta))  # fmt: skip
    return _size(run.models[0, -1] - fed.minimizer)


def drawn(own: FixedPoints, progress: study.Progress, seed: int) -> "Dataset":
    """Certify the worst steps of one drawn client, and simulate the floors of two federations."""
    import xarray

    worst, promised = [], []
    for number in progress(own.steps, "steps of a drawn client"):
        known: dict[str, Any] = {"mu": MU, "L": L, "distance2": Q(1), "step_size": Q(number, 16) / L, "num_selected": 1}
        given = [known | {"zeta2": Q(zeta2) if zeta2 else Q(1, 10**6)} for zeta2 in own.zeta2]
        sides = [ft.worst_case.heterogeneous_round(1, **one, sampling="independent").enclosure for one in given]
        worst.append([tuple(map(float, pair)) for pair in sides])
        promised.append([float(sgd.drawn_step(**one)) for one in given])
    settled = [[_settled(own, fed, eta, seed) for fed in _two()] for eta in progress(own.settling, "drawn clients")]
    return xarray.Dataset(
        {
            "worst": (("step", "zeta2", "side"), worst),
            "promised": (("step", "zeta2"), promised),
            "settled": (("step_size", "federation"), settled),
        },
        coords={
            "step": np.array(own.steps) / 16, "zeta2": list(own.zeta2), "side": ["lower", "upper"],
            "step_size": list(own.settling), "federation": ["curvatures mu", "curvatures mu and L"],
        },
    )  # fmt: skip


def _two() -> "list[ft.QuadraticFederation]":
    """Two clients whose gradients at the minimizer 0 are 1 and -1, with equal and with unequal curvatures."""
    equal = ft.QuadraticFederation([0.1, 0.1], [[10.0], [-10.0]], [0.5, 0.5])
    return [equal, ft.QuadraticFederation([0.1, 1.0], [[10.0], [-1.0]], [0.5, 0.5])]


def _settled(own: FixedPoints, fed: "ft.QuadraticFederation", step_size: float, seed: int) -> float:
    """Mean squared distance from w*, in units of zeta2 = 1, over the second half of a run that starts at w*."""
    steps = round(own.run_time / step_size)
    found = ft.fedavg(
        fed, ft.selection.Proportional(1), num_rounds=steps, step_size=step_size, initial=fed.minimizer,
        num_replicates=own.num_replicates, rng=seed, record=("models",), record_every=max(1, steps // 2000),
    )  # fmt: skip
    away = ((found.models - fed.minimizer) ** 2).sum(axis=-1)
    return float(away[:, away.shape[1] // 2 :].mean())


def floor(step_size: Any, curvature: float) -> Any:
    """Return the floor for zeta2 = 1 if the last factor has this curvature."""
    return step_size / (0.1 * (2 - step_size * curvature))


def checks_of_fixed_points(data: "Dataset") -> dict[str, Check]:
    """Test the orders of the biases of averaging, and the floors of drawn clients."""
    points, one = part(data, "fixed_points"), part(data, "drawn")
    known = np.isfinite(points["averaging, simulated"].values)
    off = max(float(abs(points[f"{name}, simulated"] / points[name] - 1).values[known].max())
              for name in ("averaging", "normalized"))  # fmt: skip
    orders = {
        name: float(np.diff(np.log2(points[name].values))[-1]) for name in ("averaging", "extrapolated", "normalized")
    }
    gone = float(np.nanmax(points["scaffold, simulated"].values))
    stays = float(points["averaging, unequal"].values[-1] / points["inconsistent"].values[-1])
    sizes, settled = one["step_size"].values, one["settled"].values
    above = float((settled / floor(sizes, 1.0)[:, None]).max())
    apart = float(abs(settled[:, 0] / floor(sizes, 0.1) - 1).max())
    wanted = {"averaging": -1, "extrapolated": -2, "normalized": -1}
    return {
        "simulations end at the fixed points": Check(off < 1e-9, f"apart by at most {off:.1e} of the bias"),
        **{
            f"the bias of {name} is of order {-order}": Check(
                abs(orders[name] - order) < 0.1 * abs(order), f"{orders[name]:.3f}"
            )
            for name, order in wanted.items()
        },
        "unequal steps leave another objective": Check(abs(stays - 1) < 0.2, f"ratio {stays:.3f}"),
        "SCAFFOLD has no bias": Check(gone < 1e-9, f"at most {gone:.1e}"),
        "no drawn clients settle above the floor": Check(above < 1.15, f"largest ratio {above:.3f}"),
        "clients of equal curvatures settle at the floor": Check(apart < 0.2, f"apart by at most {apart:.3f}"),
    }
