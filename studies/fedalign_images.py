r"""
FedALIGN on images and with noisy helpers
=========================================

**Question.** In Figures 1 to 6 of Ravi and Shomorony (2023), a few of 60 clients have priority, and the others join a
round if they match. In every panel FedALIGN is more accurate than the priority clients alone and than all clients
together. Does this hold if accuracies are matched ("in practice") or losses (the theory), and if an update is applied
once per round or three times, as in public code? For a client without priority, is the model better than one that this
client trains alone?

**Method.** The model is softmax regression with learning rate 0.1, five local steps, 200 rounds of which 20 are
warm-up, and threshold 0.2. The paper does not state the test images; we use all test images of the priority clients'
classes. *FashionMNIST* follows the paper: features :math:`(x - .1307)/.3081`, two shards of one class per client,
batches of 32, FedProx with weight 1; accuracy is the mean over the last tenth of the rounds. *Digits*: the digits of
scikit-learn in shards of one class, losses matched, batches of 10. *Noisy helpers*: Synthetic(1, 1), ten priority
clients and ten others with noisy copies of the pooled data, noise as in Appendix B.2. Every instance draws or
partitions the data again. Differences are paired over instances, with 95% intervals.

**Figure.** Gains in accuracy, paired over instances, with 95% intervals. Left and middle: on FashionMNIST over the
priority clients alone and over all clients. Right: on digits with losses matched.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import _fedalign_images as own
import numpy as np
from _experiments import joined, part
from _slides import intervals, name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """FedALIGN compared with the priority clients alone and all clients: FashionMNIST, digits, noisy helpers."""

    images: str = "fashion-mnist"
    """Images of the first part: fashion-mnist, a folder with its four files, or digits for a small trial."""
    data: tuple[str, ...] = ("digits",)
    """Images of the other parts: digits, fashion-mnist, or four IDX files (to train on, and to test)."""
    num_clients: int = 60
    """Clients."""
    threshold: float = 0.2
    """Threshold of FedALIGN, of losses or of accuracies."""
    num_rounds: int = 200
    """Communication rounds; the first tenth is the warm-up."""
    batch_size: int = 32
    """Samples per local step of FashionMNIST, at most the number of samples of the smallest client."""
    small_batch_size: int = 10
    """Samples per local step of digits and noisy helpers."""
    step_size: float = 0.1
    """Learning rate."""
    record_every: int = 4
    """Rounds from one evaluation on FashionMNIST to the next."""
    num_instances: int = 10
    """Partitions of the shards of FashionMNIST and digits."""
    skews: tuple[float, ...] = (0.5, 1.5, 5.0)
    """Skews of the noise of the helpers: low, medium and high."""
    noisy_thresholds: tuple[float, ...] = (0.2, 0.4)
    """Thresholds with noisy helpers; the first is also used for accuracies."""
    max_samples: int = 250
    """Largest number of samples of a priority client with noisy helpers."""
    noisy_instances: int = 12
    """Data sets with noisy helpers."""
    seed: int = 0
    """Entropy of data and batches."""


QUICK = Config(
    images="digits", num_clients=30, num_rounds=40, num_instances=2, noisy_instances=3, max_samples=120,
)  # fmt: skip
# Scenarios of FashionMNIST and of the digits in the figure, with the words of its rows.
SHOWN = {
    "2 priority, accuracy": "2 priority clients", "2 priority, loss": "2, losses matched",
    "2 priority, three updates": "2, three updates", "4 priority, FedProx": "4, FedProx", "6 priority, accuracy": "6",
    "6 priority, loss": "6, losses matched", "9 priority, E = 3": "9, three local steps", "18 priority, accuracy": "18",
    "18 priority, 30%": "18, 30% per round",
}  # fmt: skip
SHOWN_DIGITS = {
    "2 priority": "2 priority clients", "4 priority, FedProx": "4, FedProx", "6 priority": "6",
    "9 priority, E = 3": "9, three local steps", "18 priority": "18", "18 priority, partial": "18, 30% per round",
}  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Run all parts."""
    return joined({name: getattr(own, name)(config, progress) for name in own.PARTS})


def table(data: "Dataset") -> study.Table:
    """One row per part and scenario."""
    rows = own.rows_of_all({name: part(data, name) for name in own.PARTS})
    caption = "Test accuracy, means over instances; differences are paired [95% interval]."
    return study.Table(rows, "FedALIGN compared with the priority clients alone and all clients", caption)


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Return the findings of all parts."""
    return own.findings_of_all({name: part(data, name) for name in own.PARTS})


def figure(data: "Dataset") -> "Figure":
    """Draw gains over both alternatives, on FashionMNIST and on digits."""
    import matplotlib.pyplot as plt

    fashion, digits = own.at_the_end(part(data, "fashion"), averaged=True), own.at_the_end(part(data, "shards"))
    rivals = {own.ALONE: "over priority clients only", own.EVERYBODY: "over all clients"}
    with appearance():
        drawn, panels = plt.subplots(1, 3, figsize=(13, 4.2), width_ratios=(1, 1, 1))
        for place, (axes, over) in enumerate(zip(panels, rivals, strict=False)):
            places = name_rows(axes, list(SHOWN.values()) if place == 0 else ["" for _ in SHOWN])
            for name, height in zip(SHOWN, places, strict=True):
                look: Any = {"color": COLORS[place], "marker": "s" if "loss" in name else "o"}
                look["markerfacecolor"] = "none" if "loss" in name or "updates" in name else COLORS[place]
                intervals(axes, [own.gain(fashion.sel(scenario=name), over)], np.array([height]), **look)
            axes.set_title(f"FashionMNIST, {rivals[over]}")
        note = "filled: accuracies matched,\none update per round"
        panels[0].text(0.03, 0.03, note, transform=panels[0].transAxes, fontsize=9)
        places = name_rows(panels[2], list(SHOWN_DIGITS.values()))
        for row, over in enumerate(rivals):
            look = {"color": COLORS[row], "marker": MARKERS[row], "label": rivals[over]}
            samples = [own.gain(digits.sel(scenario=name), over) for name in SHOWN_DIGITS]
            intervals(panels[2], samples, places - 0.2 * row, **look)
        panels[2].set(title="digits, losses matched")
        panels[2].set_ylim(top=1.6)
        panels[2].legend(loc="upper left", fontsize=8)
        for axes in panels:
            axes.axvline(0, color="black", linewidth=0.8)
            axes.set_xlabel("gain of FedALIGN in accuracy")
            axes.locator_params(axis="x", nbins=5)
        return drawn


STUDY = study.Study("fedalign_images", Config(), QUICK, run, table, findings, {"fedalign_images": figure})

if __name__ == "__main__":
    study.main(STUDY)
