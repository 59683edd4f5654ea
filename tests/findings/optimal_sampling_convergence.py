"""Changed results of the study of optimal client sampling on quadratics and wells."""

from tests.findings.changes import scaled, swapped

LONGEST = "OCS, longest steps"
CHANGED = {
    "bits": lambda data: scaled(data, "runs_reached_bits", 5, runs_strategy=LONGEST),
    "steps": lambda data: scaled(data, "runs_step", 0.5, runs_strategy=LONGEST),
    "rounds": lambda data: scaled(data, "runs_reached_rounds", 5, runs_strategy=LONGEST),
    "full": lambda data: swapped(data, "runs_strategy", "full, longest steps", LONGEST),
    "between": lambda data: swapped(data, "runs_strategy", "uniform", "OCS"),
    "orders": lambda data: data.assign(runs_bound=1 / data["runs_bound"]),
    "bounds hold": lambda data: data.assign(runs_nearest=data["runs_nearest"] / 2),
    "improvement": lambda data: scaled(data, "runs_alpha", 3),
    # In a round that is not recorded.
    "AOCS": lambda data: data.assign(runs_from_ocs=data["runs_from_ocs"] + 1e-5),
    "exact": lambda data: scaled(data, "runs_exact_third", 1.3),
    "admitted": lambda data: scaled(data, "runs_needed_gamma", 1.5),
    "closed form": lambda data: data.assign(ways_answer=data["ways_answer"].roll(ways_way=1)),
    "rescalings": lambda data: data.assign(ways_excess=data["ways_excess"].roll(ways_rescaling=1)),
    "four": lambda data: scaled(data, "ways_answer", 10, ways_measure="gap"),
    "solver": lambda data: swapped(data, "ways_way", "Clarabel, tolerances 1e-12", "Clarabel, norms of 1e-6"),
    "systematic": lambda data: data.assign(laws_ratio=data["laws_ratio"][::-1].values + 0 * data["laws_ratio"]),
    "equal": lambda data: data.assign(laws_ratio=data["laws_ratio"] + 0.1),
    "best": lambda data: swapped(data, "laws_sampling", "systematic", "best for these updates"),
    "signs": lambda data: scaled(data, "laws_sign_ratio", 0.9),
}
