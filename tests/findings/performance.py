"""Changed results of the study of speed."""

from typing import Any

from tests.findings.changes import scaled


def of(data: Any, name: str, label: str, variable: str, factor: float) -> Any:
    """Multiply a variable where another one has a label."""
    return data.assign({variable: data[variable].where(data[name] != label, factor * data[variable])})


def steeper(data: Any) -> Any:
    """Let the time of a round grow like the square of each size."""
    return data.assign(growth_round_us=1.0 * data["growth_size"] ** 2)


CHANGED = {
    "clients": steeper,
    "round": lambda data: of(data, "peers_peer", "numba loop", "peers_ratio", 10),
    "first": lambda data: of(data, "peers_workload", "pow-d, first call", "peers_ratio", 10),
    "faster": lambda data: scaled(data, "peers_ratio", 0.1),
    "orders": steeper,
    "agree": lambda data: scaled(data, "peers_agreement", 10),
    "memory": lambda data: data.assign(growth_memory_mb=1.0 * data["growth_size"] ** 2),
}
