r"""
From the error to the bound of Power-of-Choice
==============================================

**Question.** Theorem 3.1 of Power-of-Choice is orders of magnitude above the measured error. Which steps of its proof
lose how much? How much do better theorems gain? How much is lost because a theorem uses only the constants of a
federation?

**Method.** The clients are the quadratics of Appendix F of Cho, Wang and Joshi (2020), with step sizes :math:`1/(\mu(t
+ \gamma))`, :math:`\gamma = 4L/\mu`, and two local steps in a round. The first part compares these values, converted to
gaps by :math:`\frac L2\|w - w^*\|^2`: the value of the corrected *theorem* and of its *refined* form;
the *theorem without gradient bound*; the *round lemma*, the inequality of a whole round, unrolled; the *worst
case*, which is the largest error over all federations and selection laws with these constants and skews, from small
semidefinite programs with proofs in rational numbers, also for quadratic clients alone; and the mean *measured* gap.

The second part computes both sides of the 27 inequalities (27) to (67) on quadratics. The amount that inequality j adds
at step t is propagated by :math:`\Lambda_{t+1} = (1 - \eta_t\mu B)\Lambda_t + \ell_t`. The unrolled bound is then
exactly the error plus the sum of the propagated losses. Expectations over cohorts enumerate all cohorts, so this
federation is small.

**Figure.** Left: the bounds and the error after all steps. Right: the largest losses of single inequalities. Lemma B.2
is used twice, in (37) and (53). It replaces squared gradients by G2, which bounds them at the start of the run, and
:math:`\eta_{t_0}` by :math:`2\eta_t`.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _experiments import joined, part
from _power_of_choice_bounds import CURVES, gap_curves
from _proof_of_theorem_31 import findings_of_chain, findings_of_losses, inequalities, losses, slack_of_the_proof
from _repeated import span
from _slides import name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Values between the theorem of Power-of-Choice and the measured error, and the losses in its proof."""

    num_clients: int = 30
    """Clients K of the first part."""
    num_selected: int = 3
    """Clients per round m."""
    num_candidates: tuple[int, ...] = (6, 9, 30)
    """Candidates d of pow-d in the first part."""
    num_rounds: int = 1000
    """Communication rounds of the first part."""
    local_steps: int = 2
    """Local steps tau per round."""
    initial_scale: float = 10.0
    """Standard deviation of each coordinate of the starting model."""
    num_replicates: int = 100
    """Replicates per strategy in the first part."""
    proof_clients: int = 12
    """Clients K of the second part, which enumerates all cohorts."""
    proof_candidates: int = 6
    """Candidates d of pow-d in the second part."""
    proof_rounds: int = 2_000
    """Communication rounds of the second part."""
    num_paths: int = 20
    """Simulated runs of pow-d that give the models at the starts of its rounds."""
    seed: int = 0
    """Entropy of instance, starting model and selections."""


QUICK = Config(
    num_clients=5, num_selected=2, num_candidates=(4,), num_rounds=12, num_replicates=10, proof_clients=6,
    proof_candidates=4, proof_rounds=120, num_paths=10,
)  # fmt: skip
UNBOUNDED = "theorem without gradient bound"
DRAWN = {"theorem": "Theorem 3.1, corrected", "refined theorem": "refined constants", UNBOUNDED: "no gradient bound",
         "worst case": "worst case", "measured": "measured"}  # fmt: skip
WORDS = {"step sizes by 2 eta_t": r"$\eta_{t_0} \leq 2\eta_t$", "gradients by G2": r"$|\nabla f|^2 \leq G^2$",
         "sum for the maximum": "maximum by a sum"}  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Compute both parts."""
    return joined({"curves": gap_curves(config, progress), "proof": slack_of_the_proof(config, progress)})


def table(data: "Dataset") -> study.Table:
    """One row per bound, as a multiple of the error, and one per inequality with its loss over the error."""
    curves, proof = part(data, "curves"), part(data, "proof")
    gaps, names = curves["gap"].isel(step=-1), [str(name) for name in curves["strategy"].values]
    rows: list[dict[str, Any]] = [
        {"what": curve} | {name: float(gaps.sel(strategy=name, curve=curve) / gaps.sel(strategy=name, curve="measured"))
                           for name in names}
        for curve in CURVES
    ]  # fmt: skip
    found = {str(name): losses(proof, str(name)) for name in proof["strategy"].values}
    for place, step in enumerate(inequalities(proof)):
        own = {name: float(found[name][place]) if name in found else "" for name in names}
        rows.append({"what": step} | own)
    steps = int(curves["step"][-1]), int(proof["step"][-1])
    caption = f"First part, after {steps[0]} local steps: bound over error. Second, {steps[1]} steps: loss over error."
    return study.Table(rows, "From the error to the bound of Theorem 3.1", caption)


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare the bounds with each other, the losses of the inequalities, and test that the chain is complete."""
    curves, proof = part(data, "curves"), part(data, "proof")
    gap = {name: curves["gap"].sel(curve=name).values for name in CURVES}
    last = {name: values[:, -1] for name, values in gap.items()}
    total, cost = (np.log10(last["theorem"] / last[name]) for name in ("measured", UNBOUNDED))
    above, biased = 100 * (last["round lemma"] / last["worst case"] - 1), slice(2, None)
    alone = 100 * float((1 - gap["worst quadratic"] / gap["worst case"]).max())
    chain = ("measured", "worst quadratic", "worst case", "round lemma", UNBOUNDED)
    ordered = [float((gap[low] / gap[high]).max()) for low, high in itertools.pairwise(chain)]
    ordered += [float((gap["worst case"] / gap["refined theorem"]).max())]
    return {
        "gradients": study.Finding(
            f"The bound on gradients accounts for {span(100 * cost / total, 0)}% of the {span(total)} orders of "
            "magnitude between the error and Theorem 3.1.",
            bool((cost / total > 0.2).all() and (cost / total < 0.65).all()),
        ),
        "rand": study.Finding(
            f"For random selection the bound on gradients costs {cost[1]:.1f} of {total[1]:.1f} orders of magnitude.",
            bool(0.2 * total[1] < cost[1] < 0.65 * total[1]),
        ),
        "round lemma": study.Finding(
            f"The round lemma, which has no bound on gradients, ends {span(above[:2], 0)}% above the worst case of its "
            f"class for full participation and random selection, and at most {np.ceil(above[biased].max()):.0f}% above "
            "it for pow-d.",
            bool(above.min() >= 0 and above.max() < 50),
        ),
        "quadratic": study.Finding(
            f"A restriction to quadratic clients makes the worst case at most {alone:.2f}% smaller.", 0 <= alone < 0.1
        ),
        "instances": study.Finding(
            f"The worst case of the class is {span(np.log10(last['worst case'] / last['measured']))} orders of "
            "magnitude above the errors that were measured.",
            bool((last["worst case"] > 2 * last["measured"]).all()),
        ),
        "order": study.Finding(
            "At every step the measured error, the worst quadratic, the worst case, the round lemma, and the theorem "
            "without gradient bound increase in this order, and the refined theorem is above the worst case.",
            max(ordered) <= 1 + 1e-6,
            f"largest ratios {np.round(ordered, 6)}",
        ),
        **findings_of_losses(proof),
        **findings_of_chain(proof),
    }


def figure(data: "Dataset") -> "Figure":
    """Draw on the left bounds over the error by strategy, on the right the largest losses of single inequalities."""
    import matplotlib.pyplot as plt

    curves, proof = part(data, "curves"), part(data, "proof")
    last = curves["gap"].isel(step=-1)
    powers: Any = np.log10((last / last.sel(curve="measured")).sel(curve=list(DRAWN)).transpose("strategy", "curve"))
    powers = powers.values
    names = [str(name) for name in curves["strategy"].values]
    with appearance():
        drawn, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
        places = name_rows(left, ["random selection" if name == "rand" else name for name in names])
        left.hlines(places, powers.min(axis=1), powers.max(axis=1), color="0.7", zorder=0)
        for column, (words, marker) in enumerate(zip(DRAWN.values(), MARKERS, strict=False)):
            left.plot(powers[:, column], places, marker, color=COLORS[column], markersize=7, label=words)
        left.set(xlabel="orders of magnitude above the measured error", title="bounds after all steps")
        left.legend(loc="lower right")
        rand, pow_d = (losses(proof, str(name)) for name in proof["strategy"].values)
        largest, labels = np.argsort(-rand)[:6], [_label(label) for label in inequalities(proof)]
        places = name_rows(right, [labels[place] for place in largest])
        right.plot(rand[largest], places, "o", color=COLORS[0], label="random selection", markersize=7)
        right.plot(pow_d[largest], places, "D", color=COLORS[1], label="pow-d", markersize=7)
        right.hlines(places, pow_d[largest], rand[largest], color="0.7", zorder=0)
        right.set(xscale="log", title="largest losses", xlabel=r"loss of the inequality / error $F - F^*$")
        right.legend(loc="lower right")
        return drawn


def _label(inequality: str) -> str:
    """Return a description of an inequality, above its equation number in the paper."""
    equation, words = inequality.split("  ")
    return f"{WORDS.get(words, words)}\neq. {equation}"


STUDY = study.Study("closing_the_gap", Config(), QUICK, run, table, findings, {"closing_the_gap": figure})

if __name__ == "__main__":
    study.main(STUDY)
