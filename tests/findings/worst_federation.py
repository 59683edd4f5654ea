"""Changed results of the study of random and worst federations."""

from tests.findings.changes import scaled, swapped

CHANGED = {
    "early and late": lambda data: data.assign(phase_ahead=data["phase_ahead"].roll(phase_horizon=8)),
    "floats": lambda data: swapped(data, "phase_counted", "rounds", "floats"),
    "heterogeneity": lambda data: data.assign(phase_ahead=data["phase_ahead"].roll(phase_bin=8)),
    "floor": lambda data: swapped(data, "phase_d", 4, 10),
    "candidates": lambda data: swapped(data, "phase_d", 4, 10),
    "mean field": lambda data: scaled(data, "phase_agreement", 0.8),
    "long rounds": lambda data: scaled(data, "phase_field", 0.5),
    "worst": lambda data: swapped(data, "pictures_strategy", "one at random", "the larger loss"),
    "away": lambda data: swapped(data, "pictures_strategy", "all clients", "the larger loss"),
    "attained": lambda data: scaled(data, "pictures_attained", 0.99),
    "plane": lambda data: scaled(data, "pictures_held", 0.5),
}
