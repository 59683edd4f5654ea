"""Six methods on the same federations: runs, and what they need for a gap."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _repeated import mean_and_limits, paired, span, with_limits

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
            # In single precision to save space.
            "gap": (dims, found[..., 0, :].astype("f4")),
            "communications": (("problem", "federation", "round"), found[:, :, -1, 1].astype("i4")),
            "models": (("problem", "algorithm"), found[:, 0, :, 1, 1]),
            "bound": (("federation", "round"), [bound for bound, _ in known]),
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
    bound = float(fed.smoothness) / 2 * sc.fixed_step_potential(**known | {"num_rounds": rounds})
    pull = 1 - (1 - eta * fed.curvatures) ** config.local_steps
    rest = (fed.weights @ (pull * fed.centers)) / (fed.weights @ pull)
    return np.asarray(bound, dtype=float) / first, float(fed.excess(rest)) / first


def rows_of_race(data: "Dataset") -> list[dict[str, Any]]:
    """One row per problem and method, geometric means over federations."""
    rows = []
    for problem in PROBLEMS:
        for name in NAMES:
            here = data.sel(problem=problem, algorithm=name).isel(round=-1)
            gap = float(np.exp(np.log(np.maximum(here["gap"], 1e-16)).mean()))
            rows.append({"method": name, "problem": problem, "share of the gap that is left": gap,
                         "models sent by a client": float(sent(data, problem, name)[1][:, -1].mean())})  # fmt: skip
    return rows


GOAL = 1e-6  # of the first gap


def sent_until(data: "Dataset", name: str) -> tuple[Any, Any]:
    """Return rounds, and models that a client sends, until the gap is a millionth of the first."""
    gap = data["gap"].sel(problem=QUADRATICS, algorithm=name).values
    first = (gap <= GOAL).argmax(axis=-1)[:, None]
    rounds, models = (np.take_along_axis(one, first, axis=-1)[:, 0] for one in sent(data, QUADRATICS, name))
    return rounds, models


def findings_of_race(data: "Dataset") -> dict[str, study.Finding]:
    """Compare gaps, rounds and models of the methods on the same federations, and gaps with a theorem's bound."""
    last = data["gap"].isel(round=-1).transpose("problem", "algorithm", "federation").values
    near, far = (dict(zip(NAMES, one, strict=True)) for one in last)
    gap, names = data["gap"].sel(problem=QUADRATICS), ("SCAFFOLD", "Scaffnew", "EF21")
    above = float((gap.sel(algorithm="SCAFFOLD") / data["bound"]).max())
    off = float(abs(near["FedAvg"] / data["floor"].values - 1).max())
    laws = {
        "bound": study.Finding(
            f"SCAFFOLD stays below its theorem's bound; its gap is at most {above:.2f} times the bound.", above <= 1
        ),
        "fixed point": study.Finding(
            f"Averaging ends within {100 * off:.1g}% of the gap at its fixed point.", off < 0.5
        ),
    }
    if data.sizes["federation"] < 5:
        return laws
    reached = all((near[name] <= GOAL).all() for name in names)
    spent = {name: sent_until(data, name) for name in names}
    words = [
        f"{with_limits(rounds, 0)} rounds and {with_limits(models, 0)} models with {name}"
        for name, (rounds, models) in spent.items()
    ]
    (fast, dear), (also_fast, cheap), (slow, also_cheap) = spent.values()
    less = [
        mean_and_limits(paired(*pair))[2] < 0
        for pair in ((fast, slow), (also_fast, slow), (cheap, dear), (also_cheap, dear))
    ]
    left = {name: 100 * near[name] for name in NAMES[:3]}
    means = {name: float(np.exp(np.log(np.maximum(one, 1e-16)).mean())) for name, one in far.items()}
    return {
        "race": study.Finding(
            "On quadratics SCAFFOLD, Scaffnew and EF21 reach a millionth of the initial gap; averaging, FedProx and "
            f"FedNova stop at {span([one.mean() for one in left.values()])}% of it.",
            reached and min(one.min() for one in left.values()) > 0.1,
        ),
        "cost": study.Finding(
            f"On quadratics a client needs for a millionth of the gap {', '.join(words[:2])}, and {words[2]}.",
            reached and all(less),
        ),
        "floors": study.Finding(
            f"On quadratics averaging stops at {with_limits(left['FedAvg'])}% of the gap, FedProx at "
            f"{with_limits(left['FedProx'])}%, and FedNova at {with_limits(left['FedNova'])}%.",
            min(one.min() for one in left.values()) > 0.1,
        ),
        "synthetic": study.Finding(
            f"On Synthetic(1, 1) {means['SCAFFOLD']:.2g} of the gap is left after all rounds with SCAFFOLD, "
            f"{means['Scaffnew']:.2g} with Scaffnew, {means['FedAvg']:.2g} with averaging, and {means['EF21']:.2g} "
            "with EF21.",
            bool((far["SCAFFOLD"] < far["FedAvg"]).all()) and means["Scaffnew"] < means["FedAvg"] < means["EF21"],
        ),
        **laws,
    }
