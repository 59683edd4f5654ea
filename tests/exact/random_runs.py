"""Random runs of ``fedavg`` for all bounds, with the options that each bound covers.

``NAMED``, the options that each statement covers, was transcribed from the papers and the theory pages and not from the
code.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.engine.heterogeneity import Stragglers
from fedtheory.engine.schedule import Halving
from fedtheory.exact.runs import for_run
from fedtheory.methods import EF21, Compressed, ErrorFeedback, FedNova, Scaffnew, Scaffold, TopK
from fedtheory.selection import (
    ActiveFederated,
    AlternatingGroups,
    Available,
    BernoulliAvailability,
    Full,
    Independent,
    LossMatching,
    Periodic,
    PowerOfChoice,
    Proportional,
    SizeWeighted,
    Uniform,
)
from tests.bounds.hypotheses_of_the_documents import EXPECTED

ALL = {
    name if form is bound else f"{name}.printed": form
    for name, bound in known_bounds().items()
    for form in (bound.printed, bound)
}


def _in_the_documents(name: str) -> str:
    """What a form is called where its hypotheses are listed."""
    bare = name.removesuffix(".printed")
    return f"{bare}-{'printed' if name != bare else ALL[name].statement.form}"


# Whoever lists what a bound assumes has read the document that says about which runs it speaks.
FORMS = {name: form for name, form in ALL.items() if _in_the_documents(name) in EXPECTED}

NOISE, STEPS, RELATIVE, SERVER = "gradient_noise", "local_steps", "relative_noise", "server_step_size"
METHOD = "method"
EVERYTHING = {"everything"}
_EXACT = {
    "power_of_choice.exact_client_drift": {STEPS},
    "power_of_choice.loss_after_step": {STEPS},
    "fedavg.fixed_step_distance": {STEPS},
    "fedavg.one_round": {STEPS},
    "fedavg.sampled_step": set[str](),
    "fedavg.gap_after_step": set[str](),
    "sgd.drawn_step": set[str](),
    "sgd.subset_step": set[str](),
    "sgd.fixed_step_distance": set[str](),
    "sgd.local_steps_round": {STEPS},
    "stationary.averaging_distance": {STEPS},
    # of objectives that no run has
    "fedavg.transformed_gap": set[str](),
    "fedavg.transformed_gap.printed": set[str](),
    # of methods that no run has
    "fedlin.corrected_round": set[str](),
    "fedsplit.split_round": set[str](),
    "scaffold.sampled_round": {METHOD, STEPS, NOISE},
    "proxskip.stochastic_potential": set[str](),
    "proxskip.corrected_potential": set[str](),
    "ef21.average_gradient": set[str](),
    "ef21.polyak_gap": set[str](),
    # about the gradients at one model, whose dissimilarity no run tells
    "stationary.inconsistency": set[str](),
    "stationary.inconsistency.printed": set[str](),
    "average_drift.fixed_step_distance": {STEPS},
    "participation.fixed_step_distance": {STEPS},  # of any strategy
    "client_sampling.one_step": set[str](),
    "fedexp.one_round": {STEPS, SERVER},
    # about a function h and three points: no run at all
    "optimal_client_sampling.perturbed_inner_product": set[str](),
    # about any models, whatever has led to them
    "power_of_choice.gradient_norm": EVERYTHING,
    "power_of_choice.averaged_distance": EVERYTHING,
    "fedalign.gradient_norm": EVERYTHING,
    "fedalign.aggregated_distance": EVERYTHING,
    "optimal_client_sampling.estimator_second_moment": EVERYTHING,
}


_OF_METHODS = {
    "local_gd": {STEPS},
    "error_feedback": {METHOD},
    "proxskip": {METHOD},
    "scaffold": {METHOD, STEPS},
    "stationary": {METHOD, STEPS},
}


def _named(name: str) -> set[str]:
    paper, short = name.split(".")[:2]
    if name in _EXACT:
        return _EXACT[name]
    if paper in _OF_METHODS:
        return _OF_METHODS[paper]
    if paper != "optimal_client_sampling":
        return {NOISE, STEPS}
    if short.startswith("full_participation"):
        return {NOISE}
    if short.startswith("dsgd") or short == "estimator_error":
        return {NOISE, RELATIVE}
    return {NOISE, RELATIVE, STEPS} if short == "fedavg_second_moment" else {NOISE, RELATIVE, STEPS, SERVER}


NAMED = {name: _named(name) for name in FORMS}

# What was found false, in print or as a variant, is kept for what it promises, and promises too little.
PROVED = {name for name, form in FORMS.items() if not name.endswith(".printed") and form.statement.form != "variant"}


@dataclass
class Case:
    """A run and what is known of it; ``changed`` are the options that matter and are not as by default."""

    name: str
    fed: Any
    strategy: Any
    run: dict[str, Any]
    known: dict[str, Any]

    @property
    def bound(self):
        return FORMS[self.name]

    @property
    def tau(self):
        steps = self.run.get(STEPS, 1)
        if isinstance(steps, Stragglers):
            return steps.num_epochs * steps.num_batches
        return int(np.max(steps))

    @property
    def changed(self):
        found = set(self.run) - {"num_rounds", "initial", "step_size", STEPS}
        steps = self.run.get(STEPS, 1)
        return found | ({STEPS} if steps != 1 else set()) | (set() if isinstance(steps, int) else {"own local steps"})

    @property
    def unnamed(self):
        """The options that the statement does not name."""
        return set() if NAMED[self.name] is EVERYTHING else self.changed - NAMED[self.name]

    def arguments(self):
        return for_run(self.bound, self.fed, self.strategy, **self.run, **self.known)


CHANGES = {
    NOISE: lambda rng, fed: float(rng.choice([0.5, 3.0, 100.0])),
    RELATIVE: lambda rng, fed: float(rng.choice([0.2, 1.0, 5.0])),
    SERVER: lambda rng, fed: float(rng.choice([0.5, 1.5, 4.0])),
    "proximal_weight": lambda rng, fed: 0.5,
    "momentum": lambda rng, fed: 0.9,
    "returned_noise": lambda rng, fed: 1.0,
    "batch_size": lambda rng, fed: 1,
    "batches": lambda rng, fed: "epoch",
    "num_batches": lambda rng, fed: 2,
    "validation": lambda rng, fed: fed,
    METHOD: lambda rng, fed: Scaffold(),
    STEPS: lambda rng, fed: [*map(int, rng.integers(1, 4, fed.num_clients - 1)), 4],
}


def draw_federation(rng):
    """Two to five clients of any curvatures; weights that are equal, or not, or 0; now and then a common minimizer."""
    K, v = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    form = rng.choice(["isotropic", "diagonal", "matrix", "equal"])
    spread = 10 ** rng.uniform(0, 1, (K, v)) if rng.random() < 0.5 else 1
    curvatures = rng.uniform(0.5, 1, (K, v)) * spread
    if form == "matrix":
        turned = np.linalg.qr(rng.normal(size=(K, v, v)))[0]
        curvatures = np.einsum("kij,kj,klj->kil", turned, curvatures, turned)
        curvatures = (curvatures + curvatures.transpose(0, 2, 1)) / 2
    elif form != "diagonal":
        curvatures = curvatures[:, 0] if form == "isotropic" else np.full(K, curvatures[0, 0])
    centers = rng.normal(size=(K, v)) * rng.choice([0.1, 1, 3])
    if rng.random() < 0.12:
        centers = np.broadcast_to(centers[0], (K, v)).copy()
    weights = np.ones(K) if rng.random() < 0.4 else np.maximum(rng.dirichlet(np.full(K, rng.choice([0.3, 1, 5]))), 1e-3)
    if rng.random() < 0.05:
        weights[-1] = 0.0
    minima = np.zeros(K) if rng.random() < 0.5 else rng.normal(size=K)
    return ft.QuadraticFederation(curvatures, centers, weights, minima, normalize=True)


def draw_strategy(rng, fed):
    """Any strategy that a theorem here might speak about, and some that none does."""
    K, busy = fed.num_clients, int((fed.weights > 0).sum())
    m, d = int(rng.integers(1, K + 1)), int(rng.integers(1, busy + 1))
    fewer, size = int(rng.integers(1, d + 1)), float(rng.uniform(0.5, K))
    plain = [Full(), Proportional(m), Uniform(m), Uniform(m, "weighted"), PowerOfChoice(fewer, d)]
    plain += [Independent(size, law) for law in ("optimal", "uniform", "approximate")]
    strategy = plain[int(rng.integers(len(plain)))]
    others = [
        Available(strategy, BernoulliAvailability(0.7), str(rng.choice(["refuse", "allow"]))),
        Available(strategy, AlternatingGroups()),
        SizeWeighted(strategy),
        PowerOfChoice(fewer, d, loss=str(rng.choice(["last", "minibatch"]))),
        ActiveFederated(m, (1,) * K),
    ]
    return others[int(rng.integers(len(others)))] if rng.random() < 0.15 else strategy


def draw_method(name, rng, fed):
    """The method of a statement, on clients that it speaks about: one, or several with one minimizer, or any."""
    paper = name.split(".")[0]
    if paper != "error_feedback":
        return fed, {"scaffold": Scaffold(), "stationary": FedNova(), "proxskip": Scaffnew(rng.choice([0.3, 1.0]))}[
            paper
        ]
    if name == "error_feedback.cgd_gap":
        return ft.QuadraticFederation(fed.curvatures[:1], fed.centers[:1], [1.0]), Compressed(TopK(1))
    if "ef21" in name:
        return fed, EF21(TopK(1))
    centers = np.broadcast_to(fed.centers[0], fed.centers.shape)
    return ft.QuadraticFederation(fed.curvatures, centers, fed.weights, fed.minima), ErrorFeedback(TopK(1))


def draw_aligned(rng, fed):
    """A federation with priority clients and FedALIGN on it; now and then with the objective of all clients."""
    mask = rng.random(fed.num_clients) < 0.6
    mask[0] = True
    busy = ft.QuadraticFederation(fed.curvatures, fed.centers, fed.weights + 1e-3, fed.minima, normalize=True)
    prioritized = ft.federation.prioritize(busy, mask)
    draws = {"num_draws": int(rng.integers(1, 4))}
    priority = [{}, {}, draws, draws, {"fraction": 0.6}][int(rng.integers(5))]
    threshold = float(rng.choice([0, 0.3, 10]))
    strategy = LossMatching(tuple(mask), prioritized.shares, threshold, **priority)
    return (prioritized.federation if rng.random() < 0.9 else fed), strategy


def draw(name, rng):
    """A random case, more often than not one that the bound should accept."""
    bound, fed, method = FORMS[name], draw_federation(rng), None
    if METHOD in NAMED[name] and rng.random() < 0.9:
        fed, method = draw_method(name, rng, fed)
    if name.startswith("fedalign"):
        fed, strategy = draw_aligned(rng, fed)
    else:
        strategy = draw_strategy(rng, fed)
        wanted = rng.random() < 0.9
        while wanted and not bound.statement.accepts(strategy.scheme):
            strategy = draw_strategy(rng, fed)
    if name.startswith("participation") and rng.random() < 0.5:
        rows = rng.dirichlet(np.ones(fed.num_clients), int(rng.integers(1, 4))) * rng.integers(2, size=fed.num_clients)
        strategy = Periodic((rows + 1e-3) / (rows + 1e-3).sum(axis=1, keepdims=True))
    start = fed.minimizer + rng.normal(size=fed.dim) * rng.choice([0.0, 0.3, 3.0])
    run: dict[str, Any] = {"num_rounds": int(rng.integers(1, 7)), "initial": start}
    if method is not None:
        run[METHOD] = method
    if rng.random() < (0.5 if STEPS in NAMED[name] else 0.1):
        run[STEPS] = int(rng.integers(2, 5))
    if SERVER in bound.domains and rng.random() < 0.8:
        run[SERVER] = float(np.sqrt(1.001 / np.sum(fed.weights**2)) * rng.choice([1.0, 1.5]))
    chances = np.array([6, 3, 3] + [1] * (len(CHANGES) - 3)) / (9 + len(CHANGES))
    for option in rng.choice(list(CHANGES), size=rng.choice([0, 0, 1, 1, 1, 2]), replace=False, p=chances):
        run[str(option)] = CHANGES[option](rng, fed)
    if rng.random() < 0.02:
        run[STEPS] = Stragglers(0.5, 3)
    case = Case(name, fed, strategy, run, {})
    short = 0.01 / case.tau if SERVER in bound.domains else 1.0
    size = short * 10 ** rng.uniform(-2, 0) * rng.choice([1, 0.25, 0.1]) / fed.smoothness
    times = np.arange(run["num_rounds"] * case.tau) + 4 * fed.smoothness / fed.strong_convexity
    schedules: tuple[Any, ...] = (1 / (fed.strong_convexity * times), Halving(size, (1, 3)))
    if bound.step_sizes is None or rng.random() < 0.3:
        run["step_size"] = schedules[int(rng.integers(2))] if rng.random() < 0.1 else size
    return Case(name, fed, strategy, run, truths(case, rng))


def rest_point(case, size):
    """Where rounds of averaging, normalized or not, would leave the model."""
    fed = case.fed
    steps = np.broadcast_to(case.run.get(STEPS, 1), fed.num_clients)
    shares = fed.weights / (steps if METHOD in case.run else 1)
    left = [np.linalg.matrix_power(np.eye(fed.dim) - size * H, tau) for H, tau in zip(fed.matrices, steps, strict=True)]
    moves = np.array([share * (np.eye(fed.dim) - one) for share, one in zip(shares, left, strict=True)])
    return np.linalg.solve(moves.sum(axis=0), np.einsum("kij,kj->i", moves, fed.centers))


def truths(case, rng):
    """The arguments that no run tells, true at its first model or for all of it."""
    fed, start, bound = case.fed, case.run["initial"], case.bound
    p, gradients, at_optimum = fed.weights, fed.gradients(start), fed.gradients(fed.minimizer)
    mean, gaps = fed.gradient(start), fed.excesses(fed.minimizer)
    kappa, T = fed.smoothness / fed.strong_convexity, case.run["num_rounds"] * case.tau
    delay, worst = max(8 * kappa, case.tau), float(gaps.max())
    size = case.run.get("step_size")
    unsent = np.sqrt(1 - 1 / fed.dim)
    fresh = float(unsent * mean @ mean + p @ (gradients**2).sum(axis=1))  # EF21 with empty memories
    potential = fresh if "ef21" in case.name else float(np.sum((start - fed.minimizer) ** 2))
    m = getattr(case.strategy, "num_selected", 1)
    drawn = 1 / m if isinstance(case.strategy, Proportional) else (len(p) - m) / (m * max(len(p) - 1, 1))
    known = {
        "sampling_variance": drawn * float(p @ (at_optimum**2).sum(axis=1)),
        "potential": potential,
        "initial_potential": potential,
        "distance2": float(np.sum((start - fed.minimizer) ** 2)),
        "gap": float(fed.excess(start)),
        "value": float(fed.loss(start)),
        "gradient2": float(mean @ mean),
        "excess": float(fed.excesses(start)[0]),
        "elapsed_step_size": case.tau * size if bound.__name__ == "sampling_variance" and np.isscalar(size) else 0.0,
        "per_client_gap": float(p**2 @ gaps),
        "squared_weight_optimum_gradient2": float(p**2 @ (at_optimum**2).sum(axis=1)),
        "mean_gradient2": float(p @ (gradients**2).sum(axis=1)),
        "squared_weight_gradient2": float(p**2 @ (gradients**2).sum(axis=1)),
        "variate_error2": float(p @ (at_optimum**2).sum(axis=1)),  # control variates of 0
        "control_weight": 9.0,
        "priority_weight": 1.0,
        **({"squared_weights": 1.0} if case.name.startswith("fedalign") else {}),
        "included_gap": worst,
        "priority_weights": [1.0] * T,
        "included_gaps": [worst] * T,
        "theta": min(1.0, T / (T + delay - 2)),
        "rho": 2 * kappa * T * worst / (T + delay - 2),
        "weights": [0.5, 0.5],
        "distances2": [1.0, 2.0],
        # of local models and updates, which only lemmas that are not sampled here take
        **dict.fromkeys(("drift", "sampling_error", "update_error", "squared_weight_update2", "mean_update2"), 1.0),
        **dict.fromkeys(("value_difference", "displacement2", "gap_sum"), 1.0),
    }
    if case.name.startswith("fedexp") and np.isscalar(size):
        models = np.tile(start, (fed.num_clients, 1))
        for _ in range(case.tau):
            models = models - size * np.einsum("kij,kj->ki", fed.matrices, models - fed.centers)
        known |= {"update2": float(p @ ((models - start) ** 2).sum(axis=1))}
        known |= {"mean_update2": float(((p @ models - start) ** 2).sum())}
    if bound.__name__ == "decaying_steps_distance" and rng.random() < 0.9:
        known["gamma"] = 2 * case.tau * kappa * float(rng.choice([1.0, 1.3, 5.0]))
    if case.name.startswith("fedalign") and NOISE in case.run and rng.random() < 0.8:
        known["G2"] = ft.federation.gradient_bound(fed, start, 1 / (4 * fed.smoothness), case.run[NOISE]).G2
    if (
        "stationary_distance2" in bound.domains
        and np.isscalar(size)
        and not isinstance(case.run.get(STEPS), Stragglers)
    ):
        known["stationary_distance2"] = float(np.sum((start - rest_point(case, size)) ** 2))
        known["effective_steps"] = float(p @ np.broadcast_to(case.run.get(STEPS, 1), fed.num_clients))
    if not isinstance(case.strategy, Full | Periodic):
        # The gradients at w* of R rounds of tau steps add up to at most this.
        longest = float(np.sqrt((at_optimum**2).sum(axis=1).max()))
        known["imbalance2"] = (case.tau * case.run["num_rounds"] * longest) ** 2
    return {name: value for name, value in known.items() if name in bound.domains}


# What a bound is about, by its name: objective gap or squared distance of the last model, of that after one round, and
# so on.
_ABOUT = {
    "gap": (
        *("decaying_steps_gap", "refined_decaying_steps_gap", "fixed_step_gap", "refined_fixed_step_gap"),
        *("weighted_average_gap", "derived_weighted_average_gap", "full_participation_gap", "with_replacement_gap"),
        *("without_replacement_gap", "partial_participation_gap", "recursion_gap", "cgd_gap"),
    ),
    "distance": (
        "fixed_step_distance",
        "decaying_steps_distance",
        "full_participation_distance",
        "ef_distance",
        "fixed_step_potential",
    ),
    "distance after a round": (
        *("one_round", "dsgd_strongly_convex", "dsgd_convex_clients", "dsgd_contraction", "fedavg_strongly_convex"),
        *("fedavg_strongly_convex_per_client", "fedavg_convex_clients", "fedavg_contraction", "full_participation"),
        *("sampled_step", "local_steps_round"),
    ),
    "distance after a step": (
        *(
            "one_step",
            "weighted_one_step",
            "refined_one_step",
            "partial_one_step",
            "drawn_step",
            "subset_step",
            "long_step",
        ),
    ),
    "gap after a round": ("gap_after_step",),
    "loss after a round": ("dsgd_nonconvex", "fedavg_nonconvex"),
    "mean squared gradient": ("dsgd_average_gradient", "fedavg_average_gradient"),
    "gap of averaged starts": ("averaged_rounds_gap",),
    "squared gradient": ("ef21_gradient2",),
}
_KINDS = {name: kind for kind, names in _ABOUT.items() for name in names}
_OF_MODELS = {
    "gap": lambda fed, models, _: fed.excess(models[:, -1]),
    "distance": lambda fed, models, _: ((models[:, -1] - fed.minimizer) ** 2).sum(axis=-1),
    "loss": lambda fed, models, _: fed.loss(models[:, -1]),
    "mean squared gradient": lambda fed, models, _: (fed.gradient(models[:, :-1]) ** 2).sum(axis=-1).mean(axis=1),
    "squared gradient": lambda fed, models, _: (fed.gradient(models[:, -1]) ** 2).sum(axis=-1),
    "gap of averaged starts": lambda fed, models, shares: fed.excess(np.einsum("rtv,t->rv", models[:, :-1], shares)),
}
_SPREADS = {"power_of_choice.client_drift", "power_of_choice.exact_client_drift", "fedalign.client_drift"}


def samples(case, arguments, num_replicates, seed):
    """Draw what a bound bounds from simulated runs, shape (R,); None for lemmas about what runs do not show."""
    sizes, kind = _step_sizes(case, arguments), _KINDS.get(case.bound.__name__)
    if case.name in _SPREADS:
        return _spread(case, sizes, num_replicates, seed)
    if case.name == "optimal_client_sampling.client_drift":
        paths = _local_models(case, sizes, num_replicates, seed)[:-1]
        return np.einsum("srk,k->r", ((paths - case.run["initial"]) ** 2).sum(axis=-1), case.fed.weights) / len(paths)
    # The server's model of Scaffnew is the clients' mean at the last coin that fell, not at the last step.
    if kind is None or case.name.startswith("proxskip"):
        return None
    quantity, _, after = kind.partition(" after a ")
    run = case.run | {"num_rounds": 1 if after else case.run["num_rounds"]}
    tau = 1 if after == "step" else case.tau
    run |= {"step_size": sizes[: run["num_rounds"] * tau], **({STEPS: 1} if after == "step" else {})}
    recorded = ft.fedavg(
        case.fed, case.strategy, num_replicates=num_replicates, rng=seed, record=("models",), **run
    ).records["models"]
    growth = 1 - arguments.get("step_size", 0.0) * arguments.get("mu", 0.0)
    shares = growth ** (-tau * np.arange(run["num_rounds"], dtype=float))
    return _OF_MODELS[quantity](case.fed, recorded, shares / shares.sum())


def _step_sizes(case, arguments):
    """The step sizes of the run, those of the theorem if none were given, shape (T,)."""
    T, size = case.run["num_rounds"] * case.tau, case.run.get("step_size")
    if size is None and case.bound.step_sizes is not None:
        names = list(inspect.signature(case.bound.step_sizes).parameters)[1:]
        return case.bound.step_sizes(T, **{name: arguments[name] for name in names})
    if hasattr(size, "step_sizes"):
        return size.step_sizes(case.run["num_rounds"], case.tau)
    return np.full(T, np.nan if size is None else size)


def _local_models(case, sizes, num_replicates, seed):
    """Models of all clients along a round's local steps, each with noise of its own, shape (tau + 1, R, K, v)."""
    fed, rng = case.fed, np.random.default_rng(seed)
    models = np.broadcast_to(case.run["initial"], (num_replicates, fed.num_clients, fed.dim))
    paths = [models]
    for size in sizes[: case.tau]:
        slopes = np.einsum("kij,rkj->rki", fed.matrices, models - fed.centers)
        variances = case.run.get(NOISE, 0.0) + case.run.get(RELATIVE, 0.0) * (slopes**2).sum(axis=-1, keepdims=True)
        models = models - size * (slopes + rng.normal(size=slopes.shape) * np.sqrt(variances / fed.dim))
        paths.append(models)
    return np.array(paths)


def _spread(case, sizes, num_replicates, seed):
    """Mean squared distance of some clients' models from their average before the round's last step."""
    models = _local_models(case, sizes, num_replicates, seed)[case.tau - 1]
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(case.fed.num_clients)[: int(rng.integers(1, case.fed.num_clients + 1))]
    if case.name.startswith("fedalign"):
        chosen = np.flatnonzero(case.strategy.priority)
    models = models[:, chosen]
    return ((models - models.mean(axis=1, keepdims=True)) ** 2).sum(axis=-1).mean(axis=1)
