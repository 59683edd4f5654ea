"""Changed results of the study of speed."""

from typing import Any

from tests.findings.changes import scaled


def steeper(data: Any) -> Any:
    """Let the time of a round grow like the square of each size."""
    return data.assign(growth_round_us=1.0 * data["growth_size"] ** 2)


CHANGED = {
    "clients": steeper,
    "round": lambda data: scaled(data, "peers_ratio", 10, peers_peer="numba loop"),
    "first": lambda data: scaled(data, "peers_ratio", 10, peers_workload="pow-d, first call"),
    "faster": lambda data: scaled(data, "peers_ratio", 0.1),
    "orders": steeper,
    "agree": lambda data: scaled(data, "peers_agreement", 10),
    "memory": lambda data: data.assign(growth_memory_mb=1.0 * data["growth_size"] ** 2),
}
