"""Changed results of the study of bounds between the theorem and the error."""

from typing import Any

import numpy as np

from tests.findings.changes import scaled, swapped


def moved(data: Any, curve: str, factor: float, **where: Any) -> Any:
    """Multiply a curve."""
    return scaled(data, "curves_gap", factor, curves_curve=curve, **where)


def lost(data: Any, factor: float, *equations: str) -> Any:
    """Multiply the losses of some inequalities."""
    labels = data["proof_inequality"].values
    chosen = [name for name in labels.tolist() if name.startswith(equations)]
    return scaled(data, "proof_carried", factor, proof_inequality=chosen)


CHANGED = {
    "gradients": lambda data: moved(data, "theorem without gradient bound", 100),
    "rand": lambda data: moved(data, "theorem without gradient bound", 1 / 100),
    "round lemma": lambda data: moved(data, "round lemma", 2),
    "quadratic": lambda data: moved(data, "worst quadratic", 0.9),
    "instances": lambda data: moved(data, "measured", 100),
    "order": lambda data: swapped(data, "curves_curve", "worst case", "round lemma"),
    "Lemma B.2": lambda data: lost(data, 1e3, "(36)"),
    "factors": lambda data: lost(data, 1e-3, "(37) (20)"),
    "before": lambda data: lost(data, 10.0, "(33)"),
    "false step": lambda data: lost(data, -1.0, "(54)"),
    "complete": lambda data: data.assign(proof_mismatch=data["proof_mismatch"] + 1e-6),
    "carried": lambda data: lost(data, 0.0, "(33)"),
    "exact": lambda data: scaled(data, "proof_expected", 1.01),
    "sampled": lambda data: data.assign(proof_sampling=data["proof_unrolled"]),
    "false": lambda data: data.assign(proof_smallest=-np.abs(data["proof_smallest"])),
    "ordered": lambda data: data.assign(proof_induction=data["proof_unrolled"] / 2),
}
