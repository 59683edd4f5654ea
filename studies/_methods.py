"""Six methods on the same federations, theorems about their rounds, and fixed points of averaging."""

from dataclasses import dataclass
from fractions import Fraction as Q
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from _experiments import part
from _repeated import mean_and_limits, paired, span, with_limits

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import error_feedback, fedprox, sgd
from fedtheory.bounds import proxskip as ps
from fedtheory.bounds import scaffold as sc
from fedtheory.instances import vector
from fedtheory.statistics import student_mean

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
            rows.append({"theorem or method": name, "where": problem, "share of the gap that is left": gap,
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

    worst, boundd = [], []
    for number in progress(own.steps, "steps of a drawn client"):
        known: dict[str, Any] = {"mu": MU, "L": L, "distance2": Q(1), "step_size": Q(number, 16) / L, "num_selected": 1}
        given = [known | {"zeta2": Q(zeta2) if zeta2 else Q(1, 10**6)} for zeta2 in own.zeta2]
        sides = [ft.worst_case.heterogeneous_round(1, **one, sampling="independent").enclosure for one in given]
        worst.append([tuple(map(float, pair)) for pair in sides])
        boundd.append([float(sgd.drawn_step(**one)) for one in given])
    settled = [[_settled(own, fed, eta, seed) for fed in _two()] for eta in progress(own.settling, "drawn clients")]
    return xarray.Dataset(
        {
            "worst": (("step", "zeta2", "side"), worst),
            "boundd": (("step", "zeta2"), boundd),
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


@dataclass(frozen=True)
class Theorems:
    """Step sizes, weights and lengths at which theorems are compared with worst cases."""

    condition: int = 10
    """L/mu of SCAFFOLD's rounds; L is 1."""
    local_steps: tuple[int, ...] = (2, 5)
    """Local steps tau of SCAFFOLD."""
    twentieths: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 20, 23, 26, 30, 33, 36)
    """Step sizes of SCAFFOLD in twentieths of 1/L."""
    probability: float = 0.25
    """Probability p of Scaffnew."""
    num_steps: int = 60
    """Steps of Scaffnew that are simulated."""
    exact_steps: int = 8
    """Steps of Scaffnew for which the mean over all coins is exact."""
    num_replicates: int = 4000
    """Replicates of Scaffnew."""
    num_probabilities: int = 40
    """Probabilities p for which the long-run rate is exact."""
    shrink: tuple[float, ...] = (0.0, 0.5, 0.9)
    """e = 1 - gamma a of the clients' curvature a, for that rate."""
    shares: tuple[int, ...] = (1, 3, 6, 8, 10, 11)
    """Step sizes of compressed messages, in tenths of the best one of error feedback."""
    num_rounds: int = 3000
    """Rounds of compressed messages that are simulated."""
    step_size: float = 0.004
    """Step size of compressed messages."""
    weights: tuple[int, ...] = (4, 6, 8, 12, 16, 24, 32, 48)
    """Weights of FedProx's proximal term, in L."""
    dissimilarities: tuple[int, ...] = (1, 2)
    """Dissimilarities B of FedProx."""
    num_selected: tuple[int, ...] = (10, 100, 1000)
    """Sampled clients K in FedProx's published theorem."""


CLASS = {"mu": Q(1, 10), "L": Q(1), "compression_error": Q(1, 2)}
BEST = Q(20, 33)  # 2 (1 - s)/((1 + s) (L + mu))
FEDERATIONS = ("one client", "three clients, one minimizer", "three clients that differ")
MESSAGES = ("compressed gradients", "error feedback", "EF21")


def scaffold(own: Theorems, progress: study.Progress) -> "Dataset":
    """Prove the worst contraction of a round with all clients; compare with the theorem and with two quadratics.

    The potential is the squared distance plus eta^2 tau^2 times the mean squared error of the control variates.
    """
    records, mu = [], Q(1, own.condition)
    jobs = [(tau, Q(number, 20)) for tau in own.local_steps for number in own.twentieths]
    for tau, eta in progress([job for job in jobs if job[1] * (1 + mu) < 2], "rounds of SCAFFOLD"):
        lower, upper = ft.worst_case.scaffold(tau, eta, mu=mu, L=1).enclosure
        known: dict[str, Any] = {"step_size": eta, "mu": mu, "L": Q(1), "local_steps": tau}
        variates: Any = sc.one_round(Q(0), control_error2=1 / (eta * tau) ** 2, **known)
        steep: Any = sum((1 - eta) ** i for i in range(tau)) / tau
        steps = float((1 - eta * mu) ** (2 * tau))
        records.append({
            "local_steps": tau, "step_size": float(eta), "lower": float(lower), "upper": float(upper), "steps": steps,
            "bound": max(steps, float(variates)), "quadratics": max(steps, float((1 - steep) ** 2)),
        })  # fmt: skip
    return study.from_records(records)


def scaffnew(own: Theorems, progress: study.Progress, seed: int) -> "Dataset":
    """Enumerate all coins of few steps, simulate more steps, and bound both; add exact long-run rates."""
    import xarray

    zero = vector(0)
    exact = ft.instances.RationalQuadratics(
        tuple(map(vector, (1, 2, 4))), tuple(map(vector, (0, 3, 5))), vector("1/3", "1/3", "1/3"), vector(0, 0, 0)
    )
    p, gamma, start = Q(own.probability), Q(1, 4), ft.instances.ScaffnewState((zero,) * 3, (zero,) * 3)
    [means] = [
        ft.instances.mean_potentials(exact, start, steps, step_size=gamma, probability=p)
        for steps in progress([own.exact_steps], "coins of Scaffnew")
    ]
    fed, steps = exact.rounded(), np.arange(own.num_steps + 1)
    run_of: dict[str, Any] = {"step_size": float(gamma), "method": ft.methods.Scaffnew(own.probability)}
    found = ft.fedavg(
        fed, ft.selection.Full(), num_rounds=own.num_steps, num_replicates=own.num_replicates, rng=seed,
        record=("states",), **run_of,
    ).recorded("states")  # fmt: skip
    right = fed.gradients(fed.minimizer)[:, 0]
    errors = (found[..., 0] - fed.minimizer[0]) ** 2, (found[..., 1] - right) ** 2
    potentials = (errors[0] + (float(gamma) / own.probability) ** 2 * errors[1]).mean(axis=-1)
    known = ft.exact.for_run(ps.fixed_step_potential, fed, ft.selection.Full(), num_rounds=1, **run_of)
    forms = (ps.fixed_step_potential, ps.refined_fixed_step_potential)
    bounds = [[float(form(**known | {"num_steps": int(t)})) for t in steps] for form in forms]
    radius = ft.instances.disagreement_radius
    grid = np.linspace(1 / own.num_probabilities, 1, own.num_probabilities)
    return xarray.Dataset(
        {
            "exact": ("exact_step", [float(mean) for mean in means]),
            "simulated": (("side", "step"), [potentials.mean(axis=0), *student_mean(potentials)]),
            "bound": (("form", "step"), bounds),
            "rate": (("shrink", "probability"), [[radius(Q(e), Q(q)) for q in grid]
                                                 for e in own.shrink]),
        },
        coords={"step": steps, "form": ["printed", "refined"], "shrink": list(own.shrink), "probability": grid,
                "side": ["mean", "lower", "upper"]},
    )  # fmt: skip


def messages(own: Theorems, progress: study.Progress) -> "Dataset":
    """Certify the worst rounds of compressed messages, and run them on three federations."""
    import xarray

    worst, bound = [], []
    for tenth in progress(own.shares, "rounds of compressed messages"):
        known: dict[str, Any] = CLASS | {"step_size": BEST * tenth / 10}
        found = [
            ft.worst_case.compressed_gradients(1, gap=1, **known),
            ft.worst_case.error_feedback(1, potential=1, **known),
            ft.worst_case.ef21(1, potential=1, **known),
        ]
        worst.append([tuple(map(float, one.enclosure)) for one in found])
        rate = float(error_feedback.ef_round(Q(1), **known))
        bound.append([float(error_feedback.cgd_gap(1, initial_gap=Q(1), **known)), rate, rate])
    gaps = [[_left(own, fed, method) for method in _ways()] for fed in progress(_three(), "compressed messages")]
    return xarray.Dataset(
        {
            "worst": (("step", "way", "side"), worst),
            "bound": (("step", "way"), bound),
            "left": (("federation", "way"), gaps),
        },
        coords={"step": [float(BEST) * tenth / 10 for tenth in own.shares], "way": list(MESSAGES),
                "side": ["lower", "upper"], "federation": list(FEDERATIONS)},
    )  # fmt: skip


def _ways() -> list[Any]:
    """Compressed gradients, error feedback and EF21, with the largest of three entries sent."""
    top = ft.methods.TopK(1)
    return [ft.methods.Compressed(top), ft.methods.ErrorFeedback(top), ft.methods.EF21(top)]


def _three() -> "list[ft.QuadraticFederation]":
    """One client, three with one minimizer whose compressed gradients diverge, and three that differ."""
    rows = np.array([[-3.0, 2, 2], [2, -3, 2], [2, 2, -3]])
    hessians = 2 * np.einsum("ki,kj->kij", rows, rows) + np.eye(3) / 2
    equal, weights = np.zeros((3, 3)), np.full(3, 1 / 3)
    return [
        ft.QuadraticFederation(hessians[:1], equal[:1], [1.0]),
        ft.QuadraticFederation(hessians, equal, weights),
        ft.QuadraticFederation(hessians, np.array([[1.0, 0, 1], [0, -2.0, 0], [1, 1, 0]]), weights),
    ]


def _left(own: Theorems, fed: "ft.QuadraticFederation", method: Any) -> float:
    """Ratio of the final to the first gap."""
    found = ft.fedavg(
        fed, ft.selection.Full(), method=method, num_rounds=own.num_rounds, step_size=own.step_size,
        initial=fed.minimizer + 1.0, record_every=own.num_rounds,
    )  # fmt: skip
    return float(found.gap[0, -1] / found.gap[0, 0])


def proximal(own: Theorems, progress: study.Progress) -> "Dataset":
    """Certify the least progress of a round of FedProx; compare with its theorem, published and derived."""
    import xarray

    certified, derived, published = [], [], []
    for B in progress(own.dissimilarities, "rounds of FedProx"):
        known = {"L": Q(1), "negative_curvature": Q(0), "gradient_dissimilarity": Q(B)}
        certified.append([-float(ft.worst_case.fedprox(weight, **known).upper or 0) for weight in own.weights])
        given = [{**known, "proximal_weight": Q(one), "inexactness": Q(0)} for one in own.weights]
        derived.append([-float(fedprox.loss_change(Q(1), **one)) for one in given])
        printed = fedprox.loss_change.printed
        published.append([[-float(printed(Q(1), num_selected=K, **one)) for one in given]
                          for K in own.num_selected])  # fmt: skip
    return xarray.Dataset(
        {
            "certified": (("B", "weight"), certified),
            "derived": (("B", "weight"), derived),
            "published": (("B", "K", "weight"), published),
        },
        coords={"B": list(own.dissimilarities), "weight": list(own.weights), "K": list(own.num_selected)},
    )


EXACT = ("SCAFFOLD, short rounds", *MESSAGES, "one drawn client")


def tightness(data: "Dataset") -> dict[str, Any]:
    """Return bounds over certified worst cases at every step size; of FedProx, certified over guaranteed progress."""
    found: dict[str, Any] = {}
    scaffold, coins, sent, one = (part(data, name) for name in ("scaffold", "scaffnew", "messages", "drawn"))
    short = (scaffold["step_size"] * scaffold["local_steps"] <= 1).values
    found[EXACT[0]] = (scaffold["steps"] / scaffold["upper"]).values[short]
    found["SCAFFOLD, longer rounds"] = (scaffold["bound"] / scaffold["upper"]).values[~short]
    refined = coins["bound"].sel(form="refined").values[1 : coins["exact"].size]
    found["Scaffnew"] = refined / coins["exact"].values[1:]
    ratios = sent["bound"] / sent["worst"].mean("side")
    found |= {name: ratios.sel(way=name).values for name in MESSAGES}
    found[EXACT[-1]] = (one["bound"] / one["worst"].mean("side")).values.ravel()
    prox = part(data, "proximal")
    found["FedProx, derived"] = _over_guaranteed(prox["certified"], prox["derived"])
    found["FedProx, printed, many clients"] = _over_guaranteed(prox["certified"], prox["published"].isel(K=-1))
    return found


def _over_guaranteed(certified: Any, guaranteed: Any) -> Any:
    """Divide certified by guaranteed progress if the latter is positive."""
    return (certified / guaranteed.where(guaranteed > 0)).values[(guaranteed > 0).values]


def rows_of_theorems(data: "Dataset") -> list[dict[str, Any]]:
    """One row per theorem: the least and the largest ratio."""
    return [
        {"theorem or method": name, "where": "certified worst cases", "theorem over worst case, from": float(one.min()),
         "to": float(one.max())}
        for name, one in tightness(data).items()
    ]  # fmt: skip


def findings_of_theorems(data: "Dataset") -> dict[str, study.Finding]:
    """Compare theorems with worst cases and exact means, and messages with and without a memory."""
    found = tightness(data)
    apart = max(float(abs(found[name] - 1).max()) for name in EXACT)
    scaffold, coins, sent, prox = (part(data, name) for name in ("scaffold", "scaffnew", "messages", "proximal"))
    worse = float((scaffold["upper"] / scaffold["quadratics"]).min())
    few = coins["exact"].size
    mean, lower, upper = coins["simulated"].values[:, :few]
    off = float((abs(mean - coins["exact"].values) / np.maximum(upper - lower, 1e-12 * mean)).max())
    limits = np.maximum(1 - coins["probability"] ** 2, coins["shrink"] ** 2)
    excess, left = float((coins["rate"] - limits).max()), sent["left"]
    grown = float(left.sel(federation=FEDERATIONS[1], way=MESSAGES[0]))
    common = float(left.sel(federation=FEDERATIONS[1], way=list(MESSAGES[1:])).max())
    rest, gone = (float(left.sel(federation=FEDERATIONS[2], way=way)) for way in MESSAGES[1:])
    top, lead = prox.isel(B=-1), float((prox["derived"] - prox["published"]).min())
    clients, nothing = top["K"].values.tolist(), float(top["published"].isel(K=0).max())
    helps = float(top["weight"].where(top["published"].isel(K=-1) > 0).min())
    longer, scaffnew, derived = (found[name] for name in ("SCAFFOLD, longer rounds", "Scaffnew", "FedProx, derived"))
    return {
        "attained": study.Finding(
            f"For a round, {len(EXACT)} of {len(found)} bounds are the worst cases at every step size: "
            f"{', '.join(EXACT)}.",
            apart < 1e-6,
            f"apart by {apart:.1e} at most",
        ),
        "longer rounds": study.Finding(
            f"SCAFFOLD's bound for longer rounds is {span(longer)} times the worst case, and Scaffnew's refined bound "
            f"is {span(scaffnew, 2)} times the exact mean of its first steps.",
            bool(longer.min() > 1 - 1e-6 and longer.max() > 1.2 and scaffnew.min() > 1),
        ),
        "FedProx": study.Finding(
            f"For FedProx the certified progress is {span(derived, 2)} times what derived constants guarantee.",
            bool(derived.min() > 1 - 1e-6),
        ),
        "published": study.Finding(
            f"With B = {int(top['B'])} the published theorem on FedProx guarantees no progress for {clients[0]} drawn "
            f"clients, and for {clients[-1]} it does from the weight {helps:g} L on.",
            bool(nothing < 0 and np.isfinite(helps)),
        ),
        "derived": study.Finding(
            "The derived constants of FedProx guarantee more progress than the published ones in all cases.",
            lead > 0,
            f"least lead {lead:.3g}",
        ),
        "two quadratics": study.Finding(
            "For SCAFFOLD two quadratics are never worse than the certified worst case.",
            worse > 1 - 1e-9,
            f"{worse:.7f}",
        ),
        "coins": study.Finding(
            "The simulated means of Scaffnew are the exact ones, and its long-run rates are below the theorem's.",
            off < 1.5 and excess < 1e-12,
            f"off by {off:.2f} widths at most, excess {excess:.1e}",
        ),
        "memory": study.Finding(
            "For three clients with one minimizer compressed gradients without a memory diverge: the gap grows "
            f"{grown:.1g} times. With a memory at most {common:.1g} of it is left.",
            grown > 1e3 and common < 1e-2,
        ),
        "error feedback": study.Finding(
            f"If the minimizers differ, error feedback leaves {rest:.1g} of the gap, and EF21 {gone:.1g}.",
            gone < rest / 2,
        ),
    }


def findings_of_fixed_points(data: "Dataset") -> dict[str, study.Finding]:
    """Test the orders of the biases of averaging, and the floors of drawn clients."""
    points, one = part(data, "fixed_points"), part(data, "drawn")
    known = np.isfinite(points["averaging, simulated"].values)
    off = max(float(abs(points[f"{name}, simulated"] / points[name] - 1).values[known].max())
              for name in ("averaging", "normalized"))  # fmt: skip
    names = ("averaging", "extrapolated", "normalized")
    order, twice, unequal = (float(-np.diff(np.log2(points[name].values))[-1]) for name in names)
    gone = float(np.nanmax(points["scaffold, simulated"].values))
    stays = float(points["averaging, unequal"].values[-1] / points["inconsistent"].values[-1])
    sizes, settled = one["step_size"].values, one["settled"].values
    equal, others = settled[:, 0] / floor(sizes, 0.1), settled[:, 1] / floor(sizes, 1.0)
    above = float((settled / floor(sizes, 1.0)[:, None]).max())
    return {
        "orders": study.Finding(
            f"The bias of averaging is of order {order:.2f} in the step size, that of its extrapolation of order "
            f"{twice:.2f}, and that of FedNova with unequal local steps of order {unequal:.2f}.",
            max(abs(order - 1), abs(twice - 2) / 2, abs(unequal - 1)) < 0.1,
        ),
        "inconsistent": study.Finding(
            f"With unequal local steps averaging ends near the minimizer of another objective: at {stays:.2f} times "
            "its distance from the minimizer.",
            abs(stays - 1) < 0.2,
        ),
        "no bias": study.Finding("SCAFFOLD has no bias.", gone < 1e-9, f"at most {gone:.1e}"),
        "simulated": study.Finding(
            "Simulations end at the fixed points.", off < 1e-9, f"apart by at most {off:.1e} of the bias"
        ),
        "drawn": study.Finding(
            f"If each drawn client takes single steps alone, clients of equal curvatures settle at {span(equal, 2)} "
            f"times the floor, and clients of unequal curvatures at {span(others, 2)} times it.",
            bool(abs(equal - 1).max() < 0.2 and above < 1.15 and others.max() < 1),
        ),
    }
