r"""
Tightness of published rates
============================

**Question.** How far above the exact worst case are the published bounds of federated methods?

**Method.** Each theorem is a file of ``studies/theorems`` with the bound and its method as a worst-case problem.
``ft.referee`` computes the bound and the exact worst case, which is proved from both sides, on a map of two constants:
the condition number and the number of local steps where they exist. The other constants are those of the file, and step
sizes are the longest that the hypotheses allow. Statements that were compared with the text of the paper are separate
from those that another paper quotes or that are remembered, about which there are no findings.

The ratio alone can hide a slow rate: if an error contracts from :math:`\Delta` to at most :math:`b`, and in the worst
case to :math:`a`, then :math:`\log(b/\Delta)/\log(a/\Delta)` is the share of the progress that the bound promises.

**Figure.** One map for each theorem. Number and color of a cell: bound divided by the exact worst case, or worst case
divided by bound if both are negative. Below it in percent: promised share of the progress; *none* if the bound is at
least the start. A star marks theorems whose worst case has a closed form that Coq accepted in the time of the review.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from _published_theorems import FINDINGS, ROWS, THEOREMS, Row

from fedtheory import study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Ratios of published bounds to exact worst cases."""

    seconds: float = 40.0
    """Time of the review of each theorem."""
    theorems: tuple[str, ...] = tuple(row.file for row in ROWS)
    """Files of the theorems."""
    coq: tuple[str, ...] = tuple(row.file for row in ROWS)
    """Files of the theorems whose closed form Coq checks, if one is found."""


QUICK = Config(theorems=("power_of_choice", "optimal_client_sampling"), coq=())


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Review each theorem; a record for each cell of its map."""
    rows = [row for row in ROWS if row.file in config.theorems]
    return study.from_records([record for row in progress(rows, "theorems") for record in records_of(row, config)])


def records_of(row: Row, config: Config) -> Iterator[dict[str, Any]]:
    import fedtheory as ft

    with tempfile.TemporaryDirectory() as folder:
        out = folder if row.file in config.coq else None
        review: Any = ft.referee(THEOREMS / f"{row.file}.py", seconds=config.seconds, out=out)
    known = {"theorem": row.file, "source": review.statement.source, "basis": review.statement.basis}
    known |= {"closed_form": closed_form_of(review)}
    columns, lines = review.tightness.axes
    for cell in review.tightness.cells:
        if cell.ratio is not None:
            x, y = (str(axis.values[place]) for axis, place in zip((columns, lines), cell.place, strict=True))
            yield known | {
                "x_name": columns.name, "y_name": lines.name, "x": x, "y": y, "column": cell.place[0],
                "line": cell.place[1], "bound": float(cell.value), "lower": float(cell.lower),
                "upper": float(cell.upper), "ratio": cell.ratio, "status": cell.status,
                "share": share_of(row.start(cell.constants), cell),
            }  # fmt: skip


def closed_form_of(review: Any) -> str:
    """Return the closed form if Coq accepts it."""
    form: Any = getattr(review.for_all_constants, "closed_form", None)
    accepted = getattr(getattr(review.machine_check, "coq", None), "is_accepted", None)
    return str(form.text) if accepted and hasattr(form, "text") else ""


def share_of(start: Any, cell: Any) -> float:
    """Return the share of the progress that the bound promises; nan if it does not bound an error with a start."""
    if cell.upper < 0 and cell.value < 0:
        return float(cell.value / cell.lower)
    if start and cell.value >= start:
        return 0.0
    return log(cell.value / start) / log(cell.upper / start) if start and cell.upper > 0 else float("nan")


def of_theorem(data: "Dataset", file: str) -> "Dataset":
    return data.isel(row=data["theorem"].values == file)


def is_printed(data: "Dataset") -> bool:
    return str(data["basis"].values[0]) == "printed"


def parts(data: "Dataset", *, printed: bool) -> list[tuple[Row, "Dataset"]]:
    """Return the rows with printed statements, or the others, each with its cells."""
    known = [(row, of_theorem(data, row.file)) for row in ROWS if row.file in data["theorem"].values]
    return [(row, cells) for row, cells in known if is_printed(cells) == printed]


def rows_of(data: "Dataset", *, printed: bool) -> list[dict[str, Any]]:
    """Return the table of one of both kinds of statements."""
    rows = []
    for row, cells in parts(data, printed=printed):
        ratio, share = cells["ratio"].values, cells["share"].values
        rows.append(
            {
                "method": row.method,
                "source": str(cells["source"].values[0]),
                "basis": str(cells["basis"].values[0]),
                "map": " x ".join(str(cells[f"{axis}_name"].values[0]) for axis in "xy"),
                "smallest ratio": float(ratio.min()),
                "largest": float(ratio.max()),
                "smallest share [%]": 100 * float(share.min()) if np.isfinite(share).all() else "",
                "largest share [%]": 100 * float(share.max()) if np.isfinite(share).all() else "",
                "above start": f"{int((share == 0).sum())} of {ratio.size}",
                "closed form": str(cells["closed_form"].values[0]),
            }
        )
    return rows


def table(data: "Dataset") -> study.Table:
    """One row per theorem: first the printed statements, then the quoted and remembered ones."""
    rows = rows_of(data, printed=True) + rows_of(data, printed=False)
    caption = "Ratio: bound / exact worst case. Share: of the progress of the worst case. Above start: no progress."
    return study.Table(rows, "Published bounds and exact worst cases", caption)


def maps(data: "Dataset", *, printed: bool) -> "Figure":
    """Draw a map for each theorem of one kind, all with one color scale."""
    import matplotlib.pyplot as plt
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    from fedtheory.plotting.style import appearance

    shown, norm = parts(data, printed=printed), LogNorm(1, 1e4)
    with appearance():
        lines = max(1, -(-len(shown) // 4))
        drawn, places = plt.subplots(lines, 4, figsize=(14, 3.4 * lines), squeeze=False, layout="constrained")
        for axes in places.flat[len(shown) :]:
            axes.set_axis_off()
        for axes, (row, cells) in zip(places.flat, shown, strict=False):
            columns, rows = (cells[name].values for name in ("column", "line"))
            grid = np.full((rows.max() + 1, columns.max() + 1), np.nan)
            grid[rows, columns] = np.maximum(cells["ratio"].values, 1)
            axes.imshow(grid, norm=norm, cmap="viridis_r", origin="lower", aspect="auto")
            for x, y, ratio, share in zip(
                columns, rows, *(cells[name].values for name in ("ratio", "share")), strict=True
            ):
                below = "" if np.isnan(share) else f"\n{100 * share:.0f}%" if share else "\nnone"
                number = f"{ratio:.3g}" if ratio < 100 else f"{ratio:,.0f}"
                color = "white" if ratio > 300 else "black"
                axes.text(x, y, f"{number}{below}", ha="center", va="center", fontsize=9, color=color)
            star = " *" if cells["closed_form"].values[0] else ""
            axes.set_title(f"{row.method}{star}", fontsize=11)
            axes.grid(visible=False)
            for axis, name, place in ((axes.xaxis, "x", "column"), (axes.yaxis, "y", "line")):
                labels = dict(zip(cells[place].values.tolist(), cells[name].values.tolist(), strict=True))
                axis.set_ticks(list(labels), list(labels.values()))
                axis.set_label_text(str(cells[f"{name}_name"].values[0]).replace("_", " "))
        scale = ScalarMappable(norm, "viridis_r")
        drawn.colorbar(scale, ax=places, label="bound / exact worst case", extend="max", shrink=0.8)
        return drawn


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """State the range of the ratios of the printed theorems, and how tight each of them is."""
    printed = parts(data, printed=True)
    ratio = np.concatenate([cells["ratio"].values for _, cells in printed])
    refuted = any((cells["status"].values == "refuted").any() for _, cells in printed)
    found = {
        "all": study.Finding(
            f"The bounds of {len(printed)} printed theorems are {ratio.min():.3g} to {ratio.max():,.0f} times the "
            f"exact worst case, and none of {ratio.size} worst cases exceeds its bound.",
            not refuted and bool(ratio.min() >= 1 - 1e-6),
        )
    }
    return found | {row.file: FINDINGS[row.file](cells) for row, cells in printed}


def printed_maps(data: "Dataset") -> "Figure":
    return maps(data, printed=True)


def other_maps(data: "Dataset") -> "Figure":
    return maps(data, printed=False)


FIGURES = {"published_rates": printed_maps, "quoted_and_remembered": other_maps}
STUDY = study.Study("published_rates", Config(), QUICK, run, table, findings, FIGURES)

if __name__ == "__main__":
    study.main(STUDY)
