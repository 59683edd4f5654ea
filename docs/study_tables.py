"""What pages show of the studies' stored results: tables, and a picture."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fedtheory import study

ROOT = Path(__file__).parent.parent
LESS = "less the paper's"


def stored(name: str) -> Any:
    """Return the stored results of a study."""
    return study.load(ROOT / "docs" / "full_size" / name)


def _module(name: str) -> Any:
    """Return a study's module, or a helper module of the studies."""
    sys.path.insert(0, str(ROOT / "docs"))
    from full_size import loaded

    return loaded(name) if not name.startswith("_") else __import__(name)


def draw(folder: Path) -> None:
    """Draw the picture of the page about the underflow."""
    import matplotlib.pyplot as plt

    figure = _module("greedyfed_tables").STUDY.figures["greedyfed_tables"](stored("greedyfed_tables").data)
    figure.savefig(folder / "underflow.png", dpi=150)
    plt.close(figure)


def tables() -> dict[str, str]:
    """Return what pages include, by the name of the file that they include."""
    makers = {
        "underflow": underflow,
        "greedyfed_leads": leads,
        "skews": skews,
        "floors": floors,
        "speed": speed,
        "scaling": scaling,
    }
    return {name: make() for name, make in makers.items()}


def _short(number: float) -> str:
    """Return a number with three digits."""
    return f"{float(format(number, '.3g')):,.0f}" if number >= 1000 else f"{number:.3g}"


def markdown(rows: Iterable[Mapping[str, Any]], cells: Mapping[str, Callable[[Mapping[str, Any]], str]]) -> str:
    """Return a table of some columns of rows."""
    lines = [f"| {' | '.join(cells)} |", "| --- |" + " ---: |" * (len(cells) - 1)]
    lines += [f"| {' | '.join(cell(row) for cell in cells.values())} |" for row in rows]
    return "\n".join(lines) + "\n"


def underflow() -> str:
    """Return the accuracies of GreedyFed's base case."""
    _module("greedyfed_tables")
    own, data = _module("_greedyfed_fashion"), _module("_experiments").part(stored("greedyfed_tables").data, "fashion")
    # Seven algorithms at the end, and two on the way.
    rows = [
        row
        for row in own.rows_of_fashion(data)
        if row["entry"] == "alpha = 0.0001"
        or (row["algorithm"] in ("FedAvg", "GreedyFed") and row["entry"].startswith("T = "))
    ]
    shown = markdown(rows, {
        "Algorithm": lambda row: row["algorithm"],
        "rounds": lambda row: row["entry"].partition("T = ")[2] or "400",
        "clients": lambda row: row["clients"],
        "here": lambda row: f"{row['mean [%]']:.1f}",
        "paper": lambda row: f"{row['paper [%]']:.1f} ± {row['its std']:.1f}",
        "difference": lambda row: f"{row[LESS]:+.1f}",
        "within its spread": lambda row: row["within its std"],
    })  # fmt: skip
    what = f"Test accuracy on FashionMNIST in percent (means of {data.sizes['seed']} seeds, the best variant):"
    return f"{what}\n\n{shown}"


def leads() -> str:
    """Return how long GreedyFed leads on digits, when one number is changed."""
    _module("greedyfed_tables")
    data = _module("_experiments").part(stored("greedyfed_tables").data, "leads")
    rows = _module("_greedyfed_causes").rows_of_leads(data)
    own, other = "effective {}", "effective {}, FedAvg"
    return markdown(rows, {
        "Changed": lambda row: "nothing" if row["entry"] == "base" else f"`{row['entry']}`",
        "largest lead": lambda row: f"{row['largest lead']:.0f}",
        "in round": lambda row: f"{row['at round']}",
        "behind from": lambda row: f"{row['behind from round']}",
        "at the end": lambda row: row["less FedAvg"],
        **{f"effective {kind}, of FedAvg": lambda row, kind=kind: (
            f"{row[own.format(kind)]:.1f}, {row[other.format(kind)]:.1f}") for kind in ("clients", "classes")},
    })  # fmt: skip


def skews() -> str:
    """Return the skews of the quadratics of Power-of-Choice's appendix, with certified sides."""
    return markdown(stored("selection_skew").table.rows, {
        **{f"${name}$": lambda row, name=name: f"{row[name]}" for name in "Kmd"},
        r"$\bar\rho$": lambda row: row["rho_bar"],
        "width": lambda row: f"{row['width']:.1g}",
        r"$\tilde\rho$": lambda row: f"{row['rho_tilde']:.4g}",
        r"$\rho_d$": lambda row: row["diagonal skew"],
        "its width": lambda row: f"{row['its width']:.1g}",
        r"estimated $\bar\rho$": lambda row: row["estimated rho_bar"].replace("+-", "±"),
    })  # fmt: skip


def floors() -> str:
    """Return predicted and simulated error floors."""
    return markdown(stored("error_floor").table.rows, {
        **{f"${name}$": lambda row, name=name: f"{row[name]}" for name in "Kd"},
        "floor": lambda row: f"{row['floor F - F*']:.4g}",
        "duality gap": lambda row: f"{row['duality gap']:.0e}",
        "simulated": lambda row: f"{row['simulated']:.4g} ± {row['+- (95%)']:.1g}",
        "mean field / floor": lambda row: f"{1 + row['mean field / floor - 1']:.4f}",
        "small-step bias / floor": lambda row: f"{row['small-step bias / floor']:.2g}",
        "printed bias / floor": lambda row: f"{float(format(row['printed bias / floor'], '.2g')):,.0f}",
    })  # fmt: skip


def speed() -> str:
    """Return the ratios of the performance study."""
    rows = [row for row in stored("performance").table.rows if row["peer"] and row["peer / ours"] != ""]
    return markdown(rows, {
        "workload": lambda row: row["workload"],
        "peer": lambda row: row["peer"],
        "ours [µs]": lambda row: _short(row["ours [us]"]),
        "peer / ours": lambda row: _short(row["peer / ours"]),
        "lowest to highest": lambda row: f"{_short(row['lowest'])} to {_short(row['highest'])}",
    })  # fmt: skip


def scaling() -> str:
    """Return how the time of a round grows with the number of clients."""
    rows = [row for row in stored("performance").table.rows if row["growing"] == "clients"]
    return markdown(rows, {
        "strategy": lambda row: row["strategy"],
        f"µs per round, {rows[0]['from']:,.0f} clients": lambda row: _short(row["us per round"]),
        f"{rows[0]['to']:,.0f}": lambda row: _short(row["at the largest"]),
        "times": lambda row: _short(row["at the largest"] / row["us per round"]),
        "exponent [95% interval]": lambda row: row["exponent"],
        "memory [MB]": lambda row: f"{row['memory [MB]']:.0f}",
    })  # fmt: skip
