"""Power-of-Choice, its variants and active federated learning on partitioned images: costs and savings of selection."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _fmnist_tables import PUBLISHED
from _images import dealt
from _repeated import fresh, mean_words, paired, span

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

PHASES, COSTS = ("early", "late"), ("floats up", "models down", "losses evaluated")
RAND, ALWAYS, TURNS = "rand", "always there", "groups take turns"


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


def turns(config: Any, progress: study.Progress) -> "Dataset":
    """Train with all clients available and with two alternating groups, on every partition."""
    import xarray

    jobs = [(c, i) for c in config.concentrations for i in range(config.turn_instances)]
    found = np.array([_turns(config, *job) for job in progress(jobs, "turns on digits")])
    dims = ("concentration", "instance", "availability", "strategy", "number")
    return xarray.Dataset(
        {"found": (dims, found.reshape(len(config.concentrations), config.turn_instances, *found.shape[1:]))},
        coords={
            "concentration": list(config.concentrations), "availability": [ALWAYS, TURNS],
            "strategy": list(_turn_strategies(config)), "number": ["early", "final", "loss ratio"],
        },
    )  # fmt: skip


def _turn_strategies(config: Any) -> dict[str, Any]:
    m, d, last = config.few, config.num_candidates, config.num_remembered
    return {
        RAND: ft.selection.Proportional(m),
        f"pow-d, d = {d}": ft.selection.PowerOfChoice(m, d),
        f"rpow-d, d = {last}": ft.selection.PowerOfChoice(m, last, loss="last"),
    }


def _turns(config: Any, concentration: float, index: int) -> list[list[list[float]]]:
    """Percent of accuracy over the first and the last tenth of the rounds, and the last loss over the first."""
    partition, training = np.random.SeedSequence([config.seed, index]).spawn(2)
    fed, turning = federation(config, concentration, partition), ft.selection.AlternatingGroups(0.1)
    found = []
    for wrap in (lambda one: one, lambda one: ft.selection.Available(one, turning)):
        runs = [
            _trained(config, fed, wrap(one), config.digits_step_sizes[-1], training, 5)
            for one in _turn_strategies(config).values()
        ]
        found.append([_numbers(run, 100 * fed.accuracy(run.models).mean(axis=0)) for run in runs])
    return found


def _numbers(run: Any, accuracy: Any) -> list[float]:
    rounds, last, loss = run.rounds, run.rounds[-1], run.loss.mean(axis=0)
    soon = (rounds > 0) & (rounds <= max(0.1 * last, rounds[1]))
    return [float(accuracy[soon].mean()), float(accuracy[rounds > 0.9 * last].mean()), float(loss[-1] / loss[0])]


def checks_of_costs(data: "Dataset") -> dict[str, Check]:
    """Test communication and evaluations, and that accuracies differ little."""
    up, down, evaluated = (data["costs"].sel(cost=cost) for cost in COSTS)
    names = [str(name) for name in data["strategy"].values]
    few, asking, silent = names[1], names[2:4], names[4]
    more = (up.sel(strategy=silent) - up.sel(strategy=few)).values
    final = data["final"].mean("instance")
    spread = float((final.max("strategy") - final.min("strategy")).max())
    downs = {name: float(down.sel(strategy=name).mean()) for name in (*asking, silent)}
    return {
        "rpow-d evaluates nothing and sends one number per selected client": Check(
            bool((evaluated.sel(strategy=silent) == 0).all() and (more == down.sel(strategy=few).values).all()),
            f"{float(more.mean()):g} more floats than rand",
        ),
        "asking candidates sends them the model": Check(
            all(downs[name] > downs[silent] for name in asking), str(downs)
        ),
        "final accuracies lie within ten points": Check(spread < 10, f"{spread:.2f} points"),
    }


def checks_of_turns(data: "Dataset") -> dict[str, Check]:
    """Test that alternating groups cost little accuracy, and that all strategies learn."""
    final = data["found"].sel(number="final").mean("instance")
    lost = float((final.sel(availability=ALWAYS) - final.sel(availability=TURNS)).max())
    lead = float((final - final.sel(strategy=RAND)).max())
    left = float(data["found"].sel(number="loss ratio").mean("instance").max())
    return {
        "taking turns costs at most five points": Check(lost < 5, f"at most {lost:.2f} points"),
        "no strategy ends ten points above rand": Check(lead < 10, f"at most {lead:.2f} points"),
        "every strategy learns": Check(left < 0.5, f"{left:.3f} of the loss is left at worst"),
    }


def ratios(data: "Dataset", concentration: float) -> dict[str, Any]:
    """Early rounds divided by the mean of those of random selection with many clients, by partition, as in Table 1."""
    rounds = data["rounds"].sel(concentration=concentration, phase=PHASES[0])
    many, names = data["strategy"].values[0], ("pow-d", "cpow-d", "rpow-d", "afl, plain losses")
    shown = [name for name in map(str, data["strategy"].values) if name.startswith(names)]
    base = rounds.sel(strategy=many).values
    return {name: rounds.sel(strategy=name).values / base for name in shown}


def said_of_costs(data: "Dataset") -> list[str]:
    """Sentences about Figure 6 and Tables 1 and 2 on digits; the paper's ratios are those of its tables."""
    rounds, final = data["rounds"].mean("instance", skipna=False), data["final"].mean("instance")
    many, _, *names = map(str, data["strategy"].values)
    ratio = (rounds / rounds.sel(strategy=many)).sel(phase=PHASES[0])
    first, second = ([f"{float(ratio.sel(concentration=c, strategy=n)):.2f}" for n in names] for c in (0.3, 2.0))
    spread = float((final.max("strategy") - final.min("strategy")).max())
    paper = [[f"{rounds / rows[0][0]:.2f}" for rounds, _ in rows[2:]] for rows in PUBLISHED.values()]
    return [
        f"final accuracies differ by at most {spread:.1f} points, not by 5",
        (
            f"over random selection with {many.partition('= ')[2]} clients pow-d needs {first[0]} times the rounds "
            f"(paper {paper[0][0]}), cpow-d {first[1]} ({paper[0][1]}), rpow-d {first[2]} ({paper[0][2]}), active "
            f"federated learning {first[3]}, and {first[4]} with plain losses ({paper[0][3]}); late, to "
            f"{data['target'].values[1]:g}%, little is left"
        ),
        (
            f"on digits pow-d {second[0]} (paper {paper[1][0]}), cpow-d {second[1]} ({paper[1][1]}), rpow-d "
            f"{second[2]} ({paper[1][2]}), active federated learning {second[3]}, and {second[4]} with plain losses "
            f"({paper[1][3]})"
        ),
    ]


def said_of_turns(data: "Dataset") -> list[str]:
    """Sentences about Figure 8 on digits; 10 is the paper's number."""
    mean = data["found"].mean("instance")
    pow_d = str(data["strategy"].values[1])
    soon, late = (
        mean.sel(number=name, strategy=pow_d) - mean.sel(number=name, strategy=RAND) for name in ("early", "final")
    )
    final = mean.sel(number="final")
    lost = float(abs(final - final.sel(availability=ALWAYS)).max())
    return [
        f"pow-d is {span(soon)} points ahead early and {span(late)} at the end, where the paper has 10",
        f"no accuracy by more than {lost:.2f} points",
    ]


def rows_of_digits(costs: "Dataset", turns: "Dataset") -> list[dict[str, Any]]:
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
    for concentration in turns["concentration"].values:
        for name in map(str, turns["strategy"].values):
            both = turns["found"].sel(concentration=concentration, availability=TURNS, number="final")
            rows.append(dict.fromkeys(rows[0], "") | {
                "setting": f"digits, {TURNS}", "concentration": float(concentration), "strategy": name,
                "partitions": turns.sizes["instance"], "accuracy [%]": mean_words(both.sel(strategy=name).values),
                "lead over rand, m = few": mean_words(paired(both.sel(strategy=name), both.sel(strategy=RAND))),
            })  # fmt: skip
    return rows
