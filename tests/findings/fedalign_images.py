"""Changed results of the study of FedALIGN on images."""

from typing import Any

from tests.findings.changes import scaled, swapped


def worse(data: Any, part: str, **where: Any) -> Any:
    """Lower the accuracy of FedALIGN."""
    labels = {f"{part}_{dim}": label for dim, label in ({"strategy": "FedALIGN"} | where).items()}
    return scaled(data, f"{part}_accuracy", 0.8, **labels)


def better(data: Any, part: str) -> Any:
    """Raise the accuracy of FedALIGN."""
    return scaled(data, f"{part}_accuracy", 1.2, **{f"{part}_strategy": "FedALIGN"})


CHANGED = {
    "gains": lambda data: swapped(data, "fashion_strategy", "FedALIGN", "priority only"),
    "losses": lambda data: worse(data, "fashion", scenario="6 priority, loss"),
    "figure 1": lambda data: swapped(data, "fashion_scenario", "2 priority, accuracy", "6 priority, accuracy"),
    "figure 4": lambda data: better(data, "fashion"),
    "figure 5": lambda data: worse(data, "fashion", scenario="18 priority, 30%"),
    "figure 6": lambda data: swapped(data, "fashion_strategy", "FedALIGN", "priority only"),
    "included": lambda data: swapped(data, "fashion_scenario", "2 priority, accuracy", "2 priority, loss"),
    "digits": lambda data: better(data, "shards"),
    "figure 3": lambda data: swapped(data, "shards_model", "FedALIGN", "local"),
    "figure 2": lambda data: swapped(data, "noisy_strategy", "FedALIGN 0.2", "all"),
    "noisy accuracy": lambda data: swapped(data, "noisy_level", "low", "high"),
    "helpers": lambda data: swapped(data, "noisy_strategy", "priority only", "all"),
    "lowest loss": lambda data: swapped(data, "shards_strategy", "priority only", "all"),
    "served": lambda data: swapped(data, "shards_who", "included", "not included"),
    "high noise": lambda data: swapped(data, "noisy_strategy", "FedALIGN 0.2", "all"),
    "clean": lambda data: data.assign(noisy_included=1 - data["noisy_included"]),
}
