"""Changed results of the study of Power-of-Choice on FashionMNIST."""

from typing import Any

from tests.findings.changes import scaled, swapped

RAND, POW_D = "rand, m = 3", "pow-d, d = 6"


def fashion(data: Any, factor: float, **labels: Any) -> Any:
    """Multiply the accuracies of the runs with the given labels."""
    return scaled(data, "fashion_accuracy", factor, **{f"fashion_{name}": label for name, label in labels.items()})


CHANGED = {
    "lead": lambda data: fashion(data, 0.8, strategy=RAND),
    "rounds": lambda data: fashion(data, 0.75, strategy=RAND),
    "accurate": lambda data: fashion(data, 0.8, strategy=RAND),
    "table 1": lambda data: fashion(data, 0.8, strategy=RAND),
    "table 2": lambda data: fashion(data, 0.8, strategy=RAND),
    "ten clients": lambda data: fashion(data, 0.8, strategy="rand, m = 10"),
    "tenth": lambda data: fashion(data, 0.8, setting="a tenth of the step"),
    "sixth": lambda data: fashion(data, 1.1, setting="a sixth of the step, one pass"),
    "sixth, all": lambda data: fashion(data, 1.2, setting="a sixth of the step, one pass"),
    "changes": lambda data: fashion(data, 0.5, setting="as published"),
    "leads": lambda data: fashion(data, 0.9, strategy=POW_D),
    "figure 8": lambda data: fashion(data, 0.9, strategy=RAND),
    "figure 9": lambda data: fashion(data, 0.9, strategy="rand, m = 10"),
    "figure 11": lambda data: fashion(data, 0.9, strategy="rand, m = 10"),
    "figure 12": lambda data: fashion(data, 0.9, strategy=RAND),
    "figure 13": lambda data: fashion(data, 0.9, strategy=RAND),
    "figure 5": lambda data: fashion(data, 0.9, strategy="pow-d, d = 15"),
    "digits, table 1": lambda data: swapped(data, "costs_strategy", POW_D, "rand, m = 10"),
    "digits, table 2": lambda data: swapped(data, "costs_strategy", POW_D, "rand, m = 10"),
    "learns": lambda data: fashion(data, 0.1, strategy=RAND),
    "losses": lambda data: scaled(data, "fashion_loss_ratio", 2),
    "dropout": lambda data: scaled(data, "fashion_dropping", 2),
    "rpow-d": lambda data: swapped(data, "costs_strategy", "cpow-d, d = 6", "rpow-d, d = 50"),
    "asking": lambda data: swapped(data, "costs_strategy", "cpow-d, d = 6", "rpow-d, d = 50"),
    "final": lambda data: scaled(data, "costs_final", 0.8, costs_strategy=POW_D),
}
