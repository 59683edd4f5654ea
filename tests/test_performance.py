"""The performance study compares every workload with every program that is always available."""

import pytest
from _experiments import part

from tests.quick_studies import loaded, quick_result

OPTIONAL = ("JAX", "torch", "PEPit")  # rows for these are there where they are installed
ALWAYS = {
    "K = 30": ["first attempt: NumPy loop", "NumPy, rounds drawn ahead", "numba loop", "two threads"],
    "softmax": ["NumPy", "NumPy batched over clients"],
    "n = 100": ["NumPy sort", "Clarabel"],
    "n = 1000": ["NumPy sort", "NumPy sum and copy"],
    "Shapley": ["NumPy, a matrix product per coalition", "NumPy, logits computed once"],
    "MLP 784-200-10, batch 32": ["NumPy with BLAS"],
    "MLP 64-32-10, batch 10": ["NumPy with BLAS"],
    "worst case, tau = 5": ["limit of 0.03 s"],
    "worst case, tau = 6": ["limit of 2 s"],
    "worst case, 20 steps": ["limit of 15 s"],
    "program of 2 rounds": ["limit of 1 s"],
}


@pytest.mark.slow
def test_every_workload_meets_its_peers_and_limits(tmp_path_factory: pytest.TempPathFactory) -> None:
    data = part(quick_result(loaded("performance"), tmp_path_factory)[0].data, "peers")
    found: dict[str, list[str]] = {}
    for workload, peer in zip(data["workload"].values.tolist(), data["peer"].values.tolist(), strict=True):
        if not peer.startswith(OPTIONAL):
            found.setdefault(workload, []).append(peer)
    assert found == ALWAYS
