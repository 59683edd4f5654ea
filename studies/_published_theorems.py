"""Theorems of the study of published rates: their files, starts, and the findings about printed statements."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

Start = Callable[[Any], Any]


class Row(NamedTuple):
    """A file with a theorem: the name of the method, and the error before the method starts, if the bound has one."""

    file: str
    method: str
    start: Start = lambda _: 0


def of_gap(given: Any) -> Any:
    return given["L"] * given["initial_distance2"] / 2


THEOREMS = Path(__file__).parent / "theorems"
"""Folder of the files."""
ROWS = (
    Row("fedavg", "FedAvg, all clients", of_gap),
    Row("fedavg_sampled", "FedAvg, one of two clients", of_gap),
    Row("local_gradient_descent", "local GD, a step"),
    Row("averaged_local_gradient_descent", "local GD, averaged", of_gap),
    Row("fedprox", "FedProx"),
    Row("fednova", "FedNova"),
    Row("power_of_choice", "Power-of-Choice", lambda given: given["initial_distance2"]),
    Row("fedalign", "FedALIGN", of_gap),
    Row("scaffold", "SCAFFOLD, one of two clients", lambda given: given["potential"]),
    Row("scaffnew", "Scaffnew", lambda given: given["potential"]),
    Row("scaffnew_stochastic", "Scaffnew with noise", lambda given: given["potential"]),
    Row("field_guide", "local steps, field guide", of_gap),
    Row("ef21", "EF21", lambda given: given["potential"]),
    Row("ef21_smooth", "EF21, smooth losses"),
    Row("fedlin", "FedLin", lambda given: given["distance2"]),
    Row("fedsplit", "FedSplit", lambda given: given["distance2"]),
    Row("optimal_client_sampling", "Optimal Client Sampling", lambda given: given["distance2"]),
)


def above_start(name: str, start: str) -> Callable[["Dataset"], study.Finding]:
    """Return the finding that a bound promises no progress."""

    def finding(cells: "Dataset") -> study.Finding:
        ratio, share = cells["ratio"].values, cells["share"].values
        return study.Finding(
            f"{name} is larger than {start} in all {ratio.size} cells of the map, where L and the squared distance at "
            f"the start are 1 and there is no noise; it is at least {ratio.min():.3g} times the exact worst case.",
            bool((share == 0).all()),
        )

    return finding


def after_a_step(cells: "Dataset") -> study.Finding:
    ratio = cells["ratio"].values
    return study.Finding(
        f"Lemma 1 of Khaled et al. on a step of local gradient descent is at most {ratio.max():.3g} times the exact "
        "worst case.",
        bool(ratio.max() < 2),
    )


def of_decrease(cells: "Dataset") -> study.Finding:
    share = 100 * cells["share"].values
    return study.Finding(
        f"Theorem 4 of FedProx with 200 draws promises {share.min():.0f}% to {share.max():.0f}% of the decrease "
        "of the loss in the worst case with all clients.",
        bool(share.min() > 0 and share.max() < 100),
    )


def of_surrogate(cells: "Dataset") -> study.Finding:
    ratio = cells["ratio"].values
    return study.Finding(
        f"Theorem 2 of FedNova is at most {ratio.max():.2f} times the exact worst case, and {ratio.min():.3f} times "
        "in the closest cell.",
        bool(ratio.max() < 2 and ratio.min() < 1.01),
    )


def of_aligned(cells: "Dataset") -> study.Finding:
    one = cells["y"].values == "1"
    ratio, share = cells["ratio"].values, cells["share"].values
    return study.Finding(
        f"After a round of two priority clients and another one, Theorem 1 of FedALIGN is {ratio[one].min():.2f} to "
        f"{ratio[one].max():.2f} times the exact worst case with one local step; with more it is larger than "
        f"L/2 |w_0 - w*|^2, and at least {ratio[~one].min():.0f} times the worst case.",
        bool((share[one] > 0).all() and (share[~one] == 0).all() and ratio[one].max() < 2),
    )


FINDINGS = {
    "fedavg": above_start("After two rounds Theorem 1 of Li et al. on FedAvg with all clients", "L/2 |w_0 - w*|^2"),
    "fedavg_sampled": above_start(
        "After a round Theorem 3 of Li et al. on FedAvg with one of two clients", "L/2 |w_0 - w*|^2"
    ),
    "local_gradient_descent": after_a_step,
    "averaged_local_gradient_descent": above_start(
        "After two rounds Theorem 1 of Khaled et al. on local gradient descent", "L/2 |x_0 - x*|^2"
    ),
    "fedprox": of_decrease,
    "fednova": of_surrogate,
    "power_of_choice": above_start("After two rounds Theorem 3.1 of Power-of-Choice", "L/2 |w_0 - w*|^2"),
    "fedalign": of_aligned,
}
