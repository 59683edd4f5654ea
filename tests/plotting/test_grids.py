"""Lines over a grid: every point is visible, and distant points are separated."""

import pytest
from matplotlib.figure import Figure
from xarray import Dataset

from fedtheory.plotting.grids import lines_with_bands


def drawn(places: list[float]):
    """Return the Axes on which a mean over these places is drawn."""
    means = [float(k) for k in range(len(places))]
    sides = {"mean": means, "lower": [one - 1 for one in means], "upper": [one + 1 for one in means]}
    data = Dataset({side: ("step_size", values) for side, values in sides.items()}, coords={"step_size": places})
    return lines_with_bands(Figure().add_subplot(), data, "gap")


@pytest.mark.parametrize(
    ("places", "scale"),
    [([3e-4, 1e-3, 3e-3, 1e-2, 3e-2], "log"), ([1.0, 2.0, 10.0], "linear"), ([0.0, 1.0, 90.0], "linear")],
)
def test_places_of_several_sizes_have_a_logarithmic_axis(places, scale) -> None:
    assert drawn(places).get_xscale() == scale
