"""Tables I-IV of GreedyFed (N = 300, M = 3, T = 400): test accuracies in percent on FashionMNIST and on MNIST."""

from typing import NamedTuple

ALGORITHMS = ("GreedyFed", "UCB", "S-FedAvg", "FedAvg", "FedProx", "Power-of-Choice", "Centralized")
# Table, entry, what a setting's name begins with beyond its base ("" is the base itself), and the share of the rounds.
ENTRIES = {
    "alpha = 0.0001": ("I: label skew", "", 1.0),
    "alpha = 0.1": ("I: label skew", "alpha = 0.1", 1.0),
    "alpha = 100": ("I: label skew", "alpha = 100", 1.0),
    "T = 150": ("II: rounds", "", 3 / 8),
    "T = 250": ("II: rounds", "", 5 / 8),
    "T = 350": ("II: rounds", "", 7 / 8),
    "x = 0.5": ("III: stragglers", "x = 0.5", 1.0),
    "x = 0.9": ("III: stragglers", "x = 0.9", 1.0),
    "sigma = 0.05": ("IV: privacy", "sigma = 0.05", 1.0),
    "sigma = 0.1": ("IV: privacy", "sigma = 0.1", 1.0),
}


class Published(NamedTuple):
    """Mean and standard deviation of five seeds."""

    mean: float
    deviation: float


_CENTRAL = Published(86.16, 0.32)
_ROWS = {
    "alpha = 0.0001": ((85.18, 0.33), (84.41, 0.68), (81.04, 6.09), (82.84, 1.29), (82.86, 1.21), (69.46, 7.34)),
    "alpha = 0.1": ((79.16, 0.62), (77.24, 1.24), (71.77, 5.87), (72.68, 5.79), (73.62, 5.72), (73.28, 3.45)),
    "alpha = 100": ((84.83, 0.42), (83.80, 0.73), (85.38, 0.38), (85.37, 0.49), (85.29, 0.52), (85.41, 0.22)),
    "T = 150": ((82.06, 0.51), (80.53, 2.34), (76.25, 4.95), (72.07, 9.28), (73.37, 7.10), (70.13, 5.94)),
    "T = 250": ((84.02, 0.37), (82.53, 1.16), (75.04, 6.75), (72.64, 12.22), (73.47, 10.06), (71.74, 9.18)),
    "T = 350": ((84.75, 0.29), (83.04, 1.67), (80.23, 5.86), (77.69, 7.64), (78.94, 5.66), (74.93, 12.11)),
    "x = 0.5": ((84.66, 0.55), (83.58, 1.15), (82.23, 2.11), (78.93, 5.20), (79.35, 4.61), (81.49, 3.12)),
    "x = 0.9": ((84.19, 0.19), (81.86, 2.56), (74.66, 10.17), (76.20, 6.53), (76.31, 6.01), (79.03, 4.63)),
    "sigma = 0.05": ((81.23, 0.55), (76.11, 2.28), (75.45, 3.72), (74.77, 2.12), (74.81, 2.06), (69.47, 5.08)),
    "sigma = 0.1": ((77.17, 0.73), (67.26, 7.29), (57.67, 7.49), (62.18, 4.39), (62.79, 4.71), (56.08, 8.06)),
}
_OTHER_CENTRAL = {
    "alpha = 0.1": (85.75, 0.37), "alpha = 100": (85.95, 0.24), "T = 150": (83.44, 0.38), "T = 250": (84.83, 0.55),
    "T = 350": (85.64, 0.41),
}  # fmt: skip
FASHION = {
    (entry, name): Published(*numbers)
    for entry, row in _ROWS.items()
    for name, numbers in zip(ALGORITHMS, (*row, _OTHER_CENTRAL.get(entry, _CENTRAL)), strict=True)
}
# Means alone.
_MNIST = {
    "alpha = 0.0001": (94.06, 93.39, 91.94, 92.19, 92.18, 91.58, 95.37),
    "alpha = 0.1": (88.83, 87.70, 86.26, 88.86, 88.84, 88.27, 95.20),
    "alpha = 100": (93.98, 94.12, 94.77, 94.79, 94.78, 94.72, 95.32),
    "T = 150": (91.12, 90.26, 87.33, 87.56, 87.57, 85.26, 92.77),
    "T = 250": (92.90, 90.91, 91.26, 90.20, 90.22, 89.09, 94.27),
    "T = 350": (93.78, 92.40, 89.22, 89.50, 89.53, 91.20, 95.04),
    "x = 0.5": (93.70, 92.62, 91.57, 91.03, 91.05, 89.60, 95.37),
    "x = 0.9": (92.94, 91.84, 92.05, 88.44, 88.45, 90.24, 95.37),
    "sigma = 0.05": (90.79, 87.23, 79.17, 83.98, 83.95, 83.87, 95.37),
    "sigma = 0.1": (87.33, 75.36, 62.78, 63.63, 63.33, 58.22, 95.37),
}
MNIST = {(row, name): value for row, values in _MNIST.items() for name, value in zip(ALGORITHMS, values, strict=True)}
