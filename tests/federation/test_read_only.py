"""The arrays and cached results of federations, data and sampling laws cannot be changed."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft


def held() -> dict[str, Any]:
    """One object of each kind that holds arrays."""
    rng = np.random.default_rng(0)
    quadratics = ft.QuadraticFederation([1.0, 2.0], [[0.0], [3.0]], [0.5, 0.5])
    data = ft.datasets.synthetic(1, 1, num_clients=3, rng=0, num_features=2)
    return {
        "quadratics": quadratics,
        "diagonal quadratics": ft.QuadraticFederation(rng.uniform(1, 2, (2, 3)), rng.normal(size=(2, 3)), [0.5, 0.5]),
        "wells": ft.federation.NonconvexFederation([1.0], [[1.0], [2.0]], [0.5, 0.5]),
        "data": data,
        "softmax": ft.SoftmaxFederation(data, weights=[0.5, 0.25, 0.25]),
        "priority": ft.federation.prioritize(quadratics, [True, False]),
    }


COMPUTED = {"priority": ("client_gaps",)}


@pytest.mark.parametrize("name", held())
def test_no_array_that_is_held_can_be_written(name: str) -> None:
    one = held()[name]
    names = [*getattr(one, "_fields", ()), *getattr(one, "__dataclass_fields__", ()), *COMPUTED.get(name, ())]
    arrays = {each: getattr(one, each) for each in names if isinstance(getattr(one, each), np.ndarray)}
    assert arrays
    writeable = {each for each, array in arrays.items() if array.flags.writeable}
    assert writeable == set()
