"""Changed results of the study of GreedyFed's tables."""

from typing import Any

from tests.findings.changes import scaled, swapped

GREEDY, FEDAVG = "GreedyFed, mean", "FedAvg"


def fashion(data: Any, factor: float, variant: str, **where: Any) -> Any:
    """Multiply accuracies of a variant on FashionMNIST."""
    labels = {f"fashion_{dim}": label for dim, label in where.items()}
    return scaled(data, "fashion_accuracy", factor, fashion_variant=variant, **labels)


def exchanged(data: Any) -> Any:
    """Exchange clients as drawn and clients of one class."""
    names = data["fashion_setting"].values.tolist()
    other = {"one class": "as drawn", "as drawn": "one class"}
    order = [names.index(", ".join(other.get(word, word) for word in name.split(", "))) for name in names]
    return data.assign(fashion_accuracy=data["fashion_accuracy"][order].values + 0 * data["fashion_accuracy"])


def leads(data: Any, factor: float, *changes: str, algorithm: str = "GreedyFed") -> Any:
    """Multiply accuracies on digits."""
    return scaled(data, "leads_accuracy", factor, leads_algorithm=algorithm, leads_change=list(changes))


EVERY = ["base", "step_size=0.01", "averaging=0", "averaging=0.5", "concentration=0.1"]
CHANGED = {
    "leads": exchanged,
    "base case": exchanged,
    "paired": exchanged,
    "seeds": exchanged,
    "ranking": exchanged,
    "UCB": lambda data: fashion(data, 0.9, "UCB, 0.01"),
    "best variants": lambda data: fashion(data, 1.1, "S-FedAvg, 0.75"),
    "parameters": lambda data: fashion(data, 0.8, GREEDY),
    "accuracies": exchanged,
    "skews": lambda data: fashion(data, 1.1, GREEDY, setting="alpha = 100"),
    "stragglers, as drawn": exchanged,
    "stragglers, one class": exchanged,
    "noise, as drawn": exchanged,
    "noise, one class": lambda data: swapped(data, "fashion_variant", GREEDY, FEDAVG),
    "behind": lambda data: leads(data, 1.2, "concentration=0.1"),
    "overtaken": lambda data: swapped(data, "leads_change", "base", "step_size=0.01"),
    "effective": lambda data: swapped(data, "leads_algorithm", "GreedyFed", "FedAvg"),
    "forgetting": lambda data: leads(data, 0.5, "base"),
    "less skew": lambda data: leads(data, 0.5, "concentration=0.1"),
    "draws": lambda data: data.assign(fashion_draws=("fashion_kind", [9_900, 19_800, 300])),
    "one class": lambda data: scaled(data, "fashion_shares", 0.5),
    "learns": lambda data: data.assign(fashion_accuracy=data["fashion_accuracy"].clip(max=15)),
    "complete": lambda data: data.assign(fashion_accuracy=data["fashion_accuracy"].where(data["fashion_round"] < 300)),
    "early": lambda data: data.assign(
        leads_accuracy=data["leads_accuracy"].where(data["leads_algorithm"] != "GreedyFed", 5.0)
    ),
    "fewer clients": lambda data: data.assign(leads_found=1 / data["leads_found"]),
    "bias": lambda data: swapped(data, "quadratics_strategy", "GreedyFed, mean", "uniform"),
    "cohorts": lambda data: swapped(data, "quadratics_strategy", "GreedyFed, mean", "uniform"),
    "two clients": lambda data: data.assign(quadratics_first=1 - data["quadratics_first"]),
    "latest": lambda data: scaled(data, "quadratics_late", 1.5, quadratics_number="bias"),
    "frequencies": lambda data: scaled(data, "quadratics_late", 1.5, quadratics_number="bias"),
}
