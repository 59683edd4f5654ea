"""Changes of a study's data under which a finding must fail."""

from typing import Any


def swapped(data: Any, dim: str, first: Any, second: Any) -> Any:
    """Exchange two series: each gets the place and the label of the other."""
    labels, other = data[dim].values.tolist(), {first: second, second: first}
    exchanged = data.isel({dim: [labels.index(other.get(name, name)) for name in labels]})
    return exchanged.assign_coords({dim: labels})


def scaled(data: Any, name: str, factor: float, **where: Any) -> Any:
    """Multiply a variable by a factor, or only the part with the given labels, of dimensions or of other variables."""
    chosen = data[name] == data[name]
    for dim, labels in where.items():
        chosen = chosen & data[dim].isin(labels)
    return data.assign({name: data[name].where(~chosen, factor * data[name])})
