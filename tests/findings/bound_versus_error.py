"""Changed results of the study of bounds and errors."""

from tests.findings.changes import scaled, swapped

CHANGED = {
    "figure": lambda data: swapped(data, "form", "printed", "round lemma"),
    "ends": lambda data: scaled(data, "bound", 1e3, form="round lemma", strategy="rand"),
    "bounds hold": lambda data: scaled(data, "bound", 1 / 2, form="round lemma"),
    "order": lambda data: swapped(data, "form", "recursion", "corrected"),
    "printed": lambda data: scaled(data, "bound", 1 / 3, form="printed"),
    "drift": lambda data: data.assign(dominating=data["dominating"].str.replace("drift", "bias")),
    "unrolling": lambda data: scaled(data, "bound", 30, form="recursion", strategy="adapow-d"),
    "round lemma": lambda data: scaled(data, "bound", 3, form="round lemma", strategy="pow-d, d = 30"),
    # 30% too much error goes unnoticed under a bound that is a thousand times larger.
    "exact": lambda data: scaled(data, "error", 1.3, strategy="rand"),
}
