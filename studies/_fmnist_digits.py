"""Power-of-Choice, its variants and active federated learning on partitioned images: costs and savings of selection."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _fmnist import PUBLISHED
from _images import dealt
from _repeated import fresh, mean_words, paired, span

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

PHASES, COSTS = ("early", "late"), ("floats up", "models down", "losses evaluated")


def _trained(config: Any, fed: Any, strategy: Any, step_size: float, seed: Any, every: int) -> Any:
    return ft.fedavg(
        fed, strategy, num_rounds=config.digits_rounds, local_steps=config.digits_steps, batch_size=config.digits_batch,
        step_size=ft.engine.Halving(step_size, config.digits_halve_at), num_replicates=config.num_replicates,
        record=("loss", "models", "uplink", "broadcasts", "evaluations"), record_every=every, rng=fresh(seed),
    )  # fmt: skip


def costs(config: Any, progress: study.Progress) -> "Dataset":
    """Count rounds to an early and a late accuracy, and communication and evaluations, on every partition."""
    import xarray

    jobs = [(c, i) for c in config.concentrations for i in range(config.cost_instances)]
    found = [_costs(config, *job) for job in progress(jobs, "costs on digits")]
    shape, names = (len(config.concentrations), config.cost_instances), list(cost_strategies(config, [1], 2))
    arrays = {name: np.array([one[name] for one in found]) for name in found[0]}
    last = {"rounds": ("phase",), "final": (), "costs": ("cost",)}
    dims = ("concentration", "instance", "strategy")
    return xarray.Dataset(
        {name: ((*dims, *last[name]), values.reshape(*shape, *values.shape[1:])) for name, values in arrays.items()},
        coords={
            "concentration": list(config.concentrations), "strategy": names, "phase": list(PHASES), "cost": list(COSTS),
            "target": ("phase", list(config.digits_targets)),
        },
    )  # fmt: skip


def cost_strategies(config: Any, sample_counts: Any, num_classes: int) -> dict[str, Any]:
    """Strategies of Tables 1 and 2; three versions of active federated learning, which is underspecified."""
    m, d, last, many = config.few, config.num_candidates, config.num_remembered, config.many
    # The model starts at zero, where every sample's loss is log C.
    start, equal = float(np.log(num_classes)), (1,) * len(sample_counts)
    return {
        f"rand, m = {many}": ft.selection.Proportional(many),
        f"rand, m = {m}": ft.selection.Proportional(m),
        f"pow-d, d = {d}": ft.selection.PowerOfChoice(m, d),
        f"cpow-d, d = {d}": ft.selection.PowerOfChoice(m, d, loss="minibatch"),
        f"rpow-d, d = {last}": ft.selection.PowerOfChoice(m, last, loss="last"),
        "afl": ft.selection.ActiveFederated(m, sample_counts, initial_loss=start),
        "afl, plain losses": ft.selection.ActiveFederated(m, equal, explored=1 / 3, initial_loss=start),
        "afl by reports": ft.selection.ActiveFederatedByReports(m),
    }


def federation(config: Any, concentration: float, partition: Any) -> Any:
    """Partition digits, a tenth held out by each client, or images with a test set; a full batch always remains."""
    how = {"concentration": concentration, "min_samples": config.digits_batch + 1}
    return ft.SoftmaxFederation(dealt(config.data, config.digits_clients, partition, **how))


def _costs(config: Any, concentration: float, index: int) -> dict[str, Any]:
    partition, training = np.random.SeedSequence([config.seed, index]).spawn(2)
    fed = federation(config, concentration, partition)
    found: dict[str, list[Any]] = {"rounds": [], "final": [], "costs": []}
    for strategy in cost_strategies(config, fed.sample_counts, fed.data.num_classes).values():
        runs = [_trained(config, fed, strategy, size, training, 2) for size in config.digits_step_sizes]
        accuracies = [100 * fed.accuracy(run.models).mean(axis=0) for run in runs]
        rounds, last = runs[0].rounds, runs[0].rounds[-1]
        reached = [accuracy >= target for accuracy, target in zip(accuracies, config.digits_targets, strict=True)]
        found["rounds"].append([rounds[one.argmax()] if one.any() else np.nan for one in reached])
        found["final"].append(accuracies[-1][rounds > 0.9 * last].mean())
        sent = [runs[-1].recorded(name)[:, -1].mean() / last for name in ("uplink", "broadcasts", "evaluations")]
        found["costs"].append(sent)
    return found


def laws_of_costs(data: "Dataset") -> dict[str, study.Finding]:
    """Test communication and evaluations, and that accuracies differ little."""
    up, down, evaluated = (data["costs"].sel(cost=cost) for cost in COSTS)
    names = [str(name) for name in data["strategy"].values]
    few, asking, silent = names[1], names[2:4], names[4]
    more = (up.sel(strategy=silent) - up.sel(strategy=few)).values
    final = data["final"].mean("instance")
    spread = float((final.max("strategy") - final.min("strategy")).max())
    downs = {name: float(down.sel(strategy=name).mean()) for name in (*asking, silent)}
    return {
        "rpow-d": study.Finding(
            f"Random selection sends {float(more.mean()):g} floats per round less than rpow-d, which evaluates no "
            "losses.",
            bool((evaluated.sel(strategy=silent) == 0).all() and (more == down.sel(strategy=few).values).all()),
        ),
        "asking": study.Finding(
            f"On digits pow-d and cpow-d send the model to {span([downs[name] for name in asking], 0)} clients per "
            f"round, rpow-d to {downs[silent]:g}.",
            all(downs[name] > downs[silent] for name in asking),
        ),
        "final": study.Finding(f"On digits final accuracies differ by at most {spread:.1f} points.", spread < 10),
    }


def ratios(data: "Dataset", concentration: float) -> dict[str, Any]:
    """Early rounds divided by the mean of those of random selection with many clients, by partition, as in Table 1."""
    rounds = data["rounds"].sel(concentration=concentration, phase=PHASES[0])
    many, names = data["strategy"].values[0], ("pow-d", "cpow-d", "rpow-d", "afl, plain losses")
    shown = [name for name in map(str, data["strategy"].values) if name.startswith(names)]
    base = rounds.sel(strategy=many).values
    return {name: rounds.sel(strategy=name).values / base for name in shown}


def findings_of_costs(data: "Dataset") -> dict[str, study.Finding]:
    """Compare rounds on digits with those of Figure 6 and of Tables 1 and 2."""
    rounds = data["rounds"].mean("instance", skipna=False)
    many, _, *names = map(str, data["strategy"].values)
    ratio = (rounds / rounds.sel(strategy=many)).sel(phase=PHASES[0])
    found = {}
    for number, (alpha, rows) in enumerate(PUBLISHED.items(), 1):
        own = [float(ratio.sel(concentration=alpha, strategy=name)) for name in names]
        pow_d, cpow_d, rpow_d, default, plain, _ = (f"{one:.2f}" for one in own)
        paper = [f"{rounds / rows[0][0]:.2f}" for rounds, _ in rows[2:]]
        found[f"digits, table {number}"] = study.Finding(
            f"On digits at concentration {alpha:g}, over random selection with {many.partition('= ')[2]} clients, "
            f"pow-d needs {pow_d} times the rounds to {data['target'].values[0]:g}% (paper {paper[0]}), cpow-d "
            f"{cpow_d} ({paper[1]}), rpow-d {rpow_d} ({paper[2]}), active federated learning {default}, and {plain} "
            f"with plain losses ({paper[3]}).",
            own[0] < own[1] < 1 < own[3],
        )
    return found


def rows_of_digits(costs: "Dataset") -> list[dict[str, Any]]:
    """One row per concentration and strategy: rounds to both targets, accuracy, lead, and costs per round."""
    rows = []
    for concentration in costs["concentration"].values:
        for name in map(str, costs["strategy"].values):
            here, base = (
                costs.sel(concentration=concentration, strategy=n) for n in (name, costs["strategy"].values[1])
            )
            rows.append({
                "setting": "digits", "concentration": float(concentration), "strategy": name,
                "partitions": costs.sizes["instance"],
                "rounds to the target": mean_words(here["rounds"].sel(phase=PHASES[0]).values, 0), "paper: rounds": "",
                "accuracy [%]": mean_words(here["final"].values), "paper: accuracy": "",
                "lead over rand, m = few": mean_words(paired(here["final"], base["final"])),
                "floats up": float(here["costs"].sel(cost=COSTS[0]).mean()),
                "models down": float(here["costs"].sel(cost=COSTS[1]).mean()),
            })  # fmt: skip
    return rows
