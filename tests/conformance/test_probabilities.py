"""Rounding tolerance of probabilities on each side, and the instances that are used."""

from typing import Any

import numpy as np

from fedtheory.conformance import check_probabilities
from fedtheory.sampling import optimal_probabilities


def test_probabilities_in_single_precision_pass_with_its_rounding_error() -> None:
    def single(norms: Any, expected_size: float) -> Any:
        return optimal_probabilities(np.float32(norms), expected_size).astype(np.float32)

    far = {"scaling": "1e-100 is 0 in single precision"}
    assert check_probabilities(single, rtol=1e-5, exceptions=far).holds
    assert not check_probabilities(single, exceptions=far).holds
