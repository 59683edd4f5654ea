"""Changed results of the study of six methods."""

from tests.findings.changes import scaled, swapped

CHANGED = {
    "race": lambda data: swapped(data, "race_algorithm", "EF21", "FedAvg"),
    "cost": lambda data: swapped(data, "race_algorithm", "EF21", "SCAFFOLD"),
    "floors": lambda data: scaled(data, "race_gap", 1e-3, race_algorithm="FedNova"),
    "synthetic": lambda data: swapped(data, "race_problem", "quadratics", "Synthetic(1, 1)"),
    "bound": lambda data: scaled(data, "race_bound", 0.1),
    "fixed point": lambda data: scaled(data, "race_floor", 3),
    "attained": lambda data: scaled(data, "messages_bound", 1 + 1e-5),
    "longer rounds": lambda data: scaled(data, "scaffold_bound", 0.5),
    "FedProx": lambda data: scaled(data, "proximal_derived", 1.5),
    "published": lambda data: scaled(data, "proximal_published", -1),
    "derived": lambda data: scaled(data, "proximal_derived", 0.5),
    "two quadratics": lambda data: scaled(data, "scaffold_quadratics", 1 + 1e-6),
    "coins": lambda data: scaled(data, "scaffnew_exact", 1.2),
    "memory": lambda data: swapped(data, "messages_way", "compressed gradients", "EF21"),
    "error feedback": lambda data: swapped(data, "messages_way", "error feedback", "EF21"),
    "orders": lambda data: data.assign(fixed_points_averaging=data["fixed_points_extrapolated"]),
    "inconsistent": lambda data: scaled(data, "fixed_points_inconsistent", 2),
    "no bias": lambda data: data.assign({"fixed_points_scaffold, simulated": data["fixed_points_averaging"]}),
    "simulated": lambda data: scaled(data, "fixed_points_averaging", 1 + 1e-6),
    "drawn": lambda data: swapped(data, "drawn_federation", "curvatures mu", "curvatures mu and L"),
}
