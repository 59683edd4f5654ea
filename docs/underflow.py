"""What the page of the underflow shows, from the stored results of its study: a picture, and numbers in sentences."""

import sys
from pathlib import Path
from typing import Any

from fedtheory import study
from fedtheory.datasets import underflow_probability

ROOT = Path(__file__).parent.parent
NAME = "greedyfed_fashion"


def stored() -> Any:
    """Return the stored data of the study."""
    return study.load(ROOT / "docs" / "full_size" / NAME).data


def draw(folder: Path) -> None:
    """Draw the three panels."""
    import matplotlib.pyplot as plt

    figure = _study().STUDY.figures["underflow"](stored())
    figure.savefig(folder / "underflow.png", dpi=150)
    plt.close(figure)


def table() -> str:
    """Return what was counted and measured, in sentences and a table."""
    data = stored()
    alike, single, other = (int(number) for number in data["draws"].values)
    total, chance = alike + single + other, underflow_probability(1e-4, 10)
    counted = (
        f"Of {total:,} draws {alike / total:.1%} have all ten classes alike, where the law says {chance:.1%}; "
        f"{single / total:.1%} have one class, {other / total:.1%} anything else."
    )
    head = "| Algorithm | rounds | clients | here | paper | difference | within its spread |"
    seeds = data.sizes["seed"]
    interval = "one seed, so no interval" if seeds == 1 else f"means of {seeds} seeds"
    off = next(words for words in _study().STUDY.said(data) if words.startswith("as drawn they differ"))
    over_all = f"Accuracies of all algorithms in all entries of the base case of Tables I to IV: {off}."
    lines = [counted, "", over_all, "", f"Test accuracy on FashionMNIST in percent ({interval}):", "", head]
    lines.append("| --- |" + " --- |" * 6)
    for row in _study().STUDY.table(data).rows:
        # Seven algorithms at the end, and two on the way.
        if row["entry"] != "alpha = 0.0001" and (row["algorithm"] not in ("FedAvg", "GreedyFed") or not row["clients"]):
            continue
        if row["entry"].startswith(("x = ", "sigma = ")):
            continue
        rounds = row["entry"].partition("T = ")[2] or "400"
        paper = f"{row['paper [%]']:.1f} ± {row['its std']:.1f}"
        cells = (row["algorithm"], rounds, row["clients"], f"{row['mean [%]']:.1f}", paper)
        cells += (f"{row['difference']:+.1f}", row["within its std"])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _study() -> Any:
    sys.path.insert(0, str(ROOT / "docs"))
    from full_size import loaded

    return loaded(NAME)
