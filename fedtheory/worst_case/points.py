"""Where the points of a worst case lie, as arrays and as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.worst_case._certificates import FeasiblePoint
from fedtheory.worst_case._classes import FunctionClass
from fedtheory.worst_case._gram import Program, Vector
from fedtheory.worst_case._written import Known
from fedtheory.worst_case.instances import Interpolant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Points"]


@final
class Points(Mapping[str, Array]):
    """Coordinates of points by name, along axes of which the first hold the most.

    Attributes
    ----------
    dim
        Number of coordinates.
    """

    def __init__(self, places: Mapping[str, Array], functions: Mapping[str, tuple[FunctionClass, Array, Array, Array]]):
        self._places, self._functions = dict(places), dict(functions)
        self.dim = next((place.size for place in self._places.values()), 0)

    def __getitem__(self, name: str) -> Array:
        return self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        some = [*self._places]
        shown = ", ".join([*some[:6], "..."] if len(some) > 6 else some)
        return f"Points({len(some)} in dimension {self.dim}: {shown})"

    def plot_functions(self, axes: Axes) -> Axes:
        """Draw the smooth convex functions along the line from the first point to the minimizer; return the Axes.

        The curve is the largest function of the class with the values and gradients of the worst case; dots are points
        of the run, where they are nearest to the line.

        Parameters
        ----------
        axes
            Where to draw.

        Returns
        -------
        Axes
            The same Axes.

        Raises
        ------
        ValueError
            If there is no such function.
        """
        smooth = {
            name: one
            for name, one in self._functions.items()
            if one[0].exact and not one[0].quadratic and one[0].L is not None and one[0].mu >= 0
        }
        if not smooth or len(self) < 2:
            message = "a function that is drawn must be smooth and convex, got none"
            raise ValueError(message)
        for name, (of, at, gradients, values) in smooth.items():
            f = Interpolant(at, gradients, values, float(of.mu), float(of.L or 0))
            start, end = next(iter(self._places.values())), at[int(values.argmin())]
            way = end - start
            length = float(np.linalg.norm(way)) or 1.0
            nearest = (at - start) @ way / length
            along = np.linspace(min(nearest) - 0.1 * length, max(nearest) + 0.1 * length, 151)
            axes.plot(along, [f.loss(start + step / length * way) for step in along], label=name)
            axes.plot(nearest, values, "o", color=axes.get_lines()[-1].get_color())
        axes.set_xlabel("along the line from the start to the minimizer")
        axes.set_ylabel("value")
        axes.legend()
        return axes

    def plot_plane(self, axes: Axes) -> Axes:
        """Draw the points in the plane of the first two axes; return the Axes.

        Parameters
        ----------
        axes
            Where to draw. The label says which share of all squared distances is in the plane: all of it where the
            worst case needs no more than two dimensions.

        Returns
        -------
        Axes
            The same Axes.
        """
        places = np.array([*self._places.values()])
        apart = places - places.mean(axis=0)
        _, lengths, turned = np.linalg.svd(apart, full_matrices=False)
        flat = np.zeros((len(places), 2))
        flat[:, : min(2, len(turned))] = apart @ turned[:2].T
        axes.plot(*flat.T, "o")
        for name, place in zip(self._places, flat, strict=True):
            axes.annotate(name, (place[0], place[1]), xytext=(4, 4), textcoords="offset points")
        total = float((lengths**2).sum())
        axes.set_xlabel(f"{float((lengths[:2] ** 2).sum()) / (total or 1.0):.0%} of the squared distances")
        axes.set_aspect("equal", adjustable="datalim")
        return axes


def every_point(points: Mapping[str, Vector], known: Sequence[Known]) -> dict[str, Vector]:
    """Return the named points, and those of the functions, each once."""
    found = dict(points)
    there = {vector.key for vector in found.values()}
    for actor in known:
        for number, point in enumerate(actor.points):
            if point.at.key not in there:
                there.add(point.at.key)
                found[f"{actor.name}.x{number}"] = point.at
    return found


def points_of(program: Program, point: FeasiblePoint, points: Mapping[str, Vector], known: Sequence[Known]) -> Points:
    """Return the points of a feasible point."""
    axes = _axes(point)
    offsets = np.cumsum([0, *(one.shape[1] for one in axes)])

    def placed(vector: Vector) -> Array:
        there = np.zeros(offsets[-1])
        for (block, row), c in vector.coordinates.items():
            there[offsets[block] : offsets[block + 1]] += float(c) * axes[block][row]
        return there

    def level(value: Any) -> float:
        number = program.values.get(value)
        return 0.0 if number is None else float(point.values[number])

    functions = {
        actor.name: (
            actor.of,
            np.array([placed(one.at) for one in actor.points]),
            np.array([placed(one.gradient) for one in actor.points]),
            np.array([level(one.value) for one in actor.points]),
        )
        for actor in known
        if isinstance(actor.of, FunctionClass)
        and len({b for one in actor.points for b, _ in one.gradient.coordinates}) == 1
    }
    return Points({name: placed(vector) for name, vector in every_point(points, known).items()}, functions)


def _axes(point: FeasiblePoint) -> list[Array]:
    """Return rows whose inner products are the Gram matrices, without directions that hardly occur."""
    found = []
    for gram in point.grams:
        values, vectors = np.linalg.eigh(
            np.array([[float(entry) for entry in row] for row in gram]).reshape(len(gram), len(gram))
        )
        kept = values > 1e-7 * max(values.max(initial=0), 1e-300)
        found.append((vectors * np.sqrt(np.maximum(values, 0)))[:, kept][:, ::-1])
    return found
