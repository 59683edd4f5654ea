r"""
What are the selection skews of Power-of-Choice?
================================================

**rho_bar lies below one and falls with the number of candidates, where the paper has it grow; what grows is the skew at
one and the same model.**

**Question.** In Figure 3 Cho, Wang and Joshi (2020) estimate the skew :math:`\bar\rho`, which should speed pow-d up,
and :math:`\tilde\rho/\bar\rho`, which should bias it, for growing numbers d of candidates. What are these numbers
really, and does :math:`\bar\rho` grow with d?

**Method.** On the quadratics of Appendix F the law of the selection is known, so that the skew at any two models is a
number. Every extreme comes as an interval with two certified sides: :math:`\bar\rho = \inf_{w,w'} \rho(S(w), w')` from
below by a bound over all rankings of the clients and from above by a search over w with the exact infimum over w';
:math:`\tilde\rho = \sup_w \rho(S(w), w^*)` exactly; the diagonal skew :math:`\inf_w \rho(S(w), w)` from below by
cutting planes on the base polytope and from above by a search. Beside them stands an estimator as the
paper describes it, the extreme over models (a sample of them, where it takes a grid), the skew at each pair estimated
from simulated selections. On the same sample the skews are
also computed exactly, which splits the bias of the estimator into that of the sample and that of the noise.

**Reading.** First row: :math:`\bar\rho`. It is 1 for random selection (dotted), and for pow-d with d > m it lies
*below* 1 and falls, from 0.9985 with d = m to 0.050 (K = 30) and at most 0.14 (K = 100) with d = K: by definition the
models w and w' are chosen against each other, and w' can be put where the clients selected at w are nearly optimal.
(Intervals of neighbors overlap from the second d on.) With d > m the estimator lies above the upper side, but for K =
100 with 14 candidates, where it lies on it, by a factor of up to five, because a sample hardly ever finds such a w';
with few models, as in the small size of this study, it may even exceed 1. Noise matters where d is near m, and lowers
the estimate. Second row: so :math:`\tilde\rho/\bar\rho` is larger than estimated. Third row: the diagonal skew, which
is what the corrected theorem needs, exceeds 1 with d > m, and grows with d as far as the intervals tell: from 1.1 to
between 1.4 and 1.6.

**Where this differs from the paper.** Figure 3 reports :math:`\bar\rho > 1`, growing with d. By definition (6) it is
neither; both are true of the diagonal skew. What gives the paper's picture is a minimum over the models of one run,
each compared with itself or with the models soon after it: the first row shows it as "least along a run". There it is
1.00 with d = m, 1.3 with d = 2m, 1.5 with d = K/2 and 1.7 to 1.8 with d = K, for K = 30 and for K = 100 alike. A run
meets w and w' only near the diagonal, and only where training leads, so that its minimum says how fast this run gains,
but it is no bound over all models, which is what the theorem asks for.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.exact.estimated_skews import sampled_models
from fedtheory.plotting.intervals import certified
from fedtheory.plotting.style import COLORS, appearance, label_of, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Selection skews of Power-of-Choice against the number of candidates: Figure 3 of the paper, certified."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K, one column of panels each."""
    selected_share: float = 0.1
    """Share C of the clients that is selected in a round."""
    candidate_shares: tuple[float, ...] = (0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
    """Candidates d of pow-d, as shares of the clients."""
    num_models: int = 500
    """Models that each search evaluates."""
    estimator_models: int = 20
    """Models in the sample of the estimator."""
    estimator_draws: int = 1_000
    """Simulated selections at each of them; the paper draws 10,000."""
    num_rounds: int = 15_000
    """Rounds of the run along which the skew is looked at, with two local steps of size 2e-5 as in the paper."""
    seed: int = 0
    """Entropy of instances, searches, samples and runs."""


QUICK = Config(
    num_clients=(10,), selected_share=0.2, candidate_shares=(0.2, 0.5, 1.0), num_models=60, estimator_models=6,
    estimator_draws=200,
)  # fmt: skip

SKEWS = ("rho_bar", "rho_tilde", "rho_diagonal")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Bound, estimate and sample the skews for every number of candidates."""
    import xarray

    sizes = [_size(config, size, progress) for size in config.num_clients]
    data = xarray.concat(sizes, dim="num_clients", join="exact")
    return data.assign_coords(num_clients=list(config.num_clients))


def _size(config: Config, num_clients: int, progress: study.Progress) -> "Dataset":
    import xarray

    sample, draws = np.random.SeedSequence([config.seed, num_clients]).spawn(2)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=num_clients, rng=config.seed)
    m = max(1, round(config.selected_share * num_clients))
    counts = [max(m, round(share * num_clients)) for share in config.candidate_shares]
    models = sampled_models(fed, config.estimator_models, rng=sample)
    least_ratios = ft.exact.subset_minima(fed)
    records = []
    for d in progress(counts, f"K = {num_clients}"):
        strategy = ft.selection.PowerOfChoice(m, d)
        intervals = ft.exact.selection_skew(fed, strategy, num_models=config.num_models, least_ratios=least_ratios)
        seed = np.random.SeedSequence(draws.entropy, spawn_key=(*draws.spawn_key, d))
        estimate = ft.exact.estimated_selection_skew(
            fed, strategy, models, num_draws=config.estimator_draws, rng=np.random.default_rng(seed)
        )
        records.append((
            [tuple(interval) for interval in intervals],
            [(one.value, one.standard_error) for one in estimate],
            _on_sample(fed, strategy, models),
            _least_along_a_run(config, fed, strategy),
        ))  # fmt: skip
    bounds, estimates, on_sample, along = (np.array(part) for part in zip(*records, strict=True))
    return xarray.Dataset(
        {
            "bounds": (("share", "skew", "side"), bounds),
            "estimate": (("share", "skew", "number"), estimates),
            "on_sample": (("share", "skew"), on_sample),
            "along": ("share", along),
            "candidates": ("share", np.array(counts, dtype=float)),
            "selected": m,
        },
        coords={
            "share": list(config.candidate_shares),
            "skew": list(SKEWS),
            "side": ["lower", "upper"],
            "number": ["value", "standard_error"],
        },
    )


def _on_sample(fed: Any, strategy: Any, models: Any) -> tuple[float, float, float]:
    """Extremes over the same sample of models as the estimator's, with exact selection frequencies."""
    points = np.vstack([fed.minimizer, models])
    skews = _skews(fed, strategy, points)
    return skews.min(), skews[:, 0].max(), np.diagonal(skews).min()


def _skews(fed: Any, strategy: Any, points: Any) -> Any:
    """Exact skews for all pairs of models w (rows) and w' (columns)."""
    losses = fed.losses(points)
    excess = losses - fed.local_minima
    ratios = excess / (excess @ fed.weights)[:, None]
    frequencies = [strategy.inclusion_probabilities(fed.weights, at) / strategy.num_selected for at in losses]
    return np.array(frequencies) @ ratios.T


def _least_along_a_run(config: Config, fed: Any, strategy: Any) -> float:
    """Smallest skew at the models of one run, each with itself."""
    models = ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=2, step_size=2e-5, rng=config.seed,
        initial=10 * np.random.default_rng(config.seed).standard_normal(fed.dim), record=("models",),
        record_every=config.num_rounds // 100,
    ).models[0]  # fmt: skip
    return float(np.diagonal(_skews(fed, strategy, models)).min())


def table(data: "Dataset") -> study.Table:
    """One row per size and number of candidates."""
    rows = []
    for size, share in itertools.product(data["num_clients"].values, data["share"].values):
        here = data.sel(num_clients=size, share=share)
        bounds, estimate, sampled = here["bounds"], here["estimate"], here["on_sample"]
        bar, tilde, diagonal = (bounds.sel(skew=name).values for name in SKEWS)
        value, error = estimate.sel(skew="rho_bar").values
        row: dict[str, Any] = {"K": int(size), "m": int(here["selected"]), "d": int(here["candidates"])}
        row |= {"rho_bar": _interval(bar), "width": float(np.diff(bar)[0])}
        row["rho_tilde"] = float(tilde[1])
        row["rho_tilde / rho_bar"] = _interval(tilde / bar[::-1]) if bar[0] > 0 else f"at least {tilde[0] / bar[1]:.3g}"
        row |= {"diagonal skew": _interval(diagonal), "its width": float(np.diff(diagonal)[0])}
        row["least along a run"] = float(here["along"])
        row["estimated rho_bar"] = f"{value:.3f} +- {2 * error:.3f}"
        row["its bias by sample / noise"] = (
            f"{float(sampled.sel(skew='rho_bar')) - bar[1]:+.3f} / {value - float(sampled.sel(skew='rho_bar')):+.3f}"
        )
        rows.append(row)
    return study.Table(
        rows,
        title="Selection skews of pow-d on the quadratics of Appendix F",
        caption="Intervals are certified on both sides. The estimator takes extremes over sampled models; its bias by "
        "the sample is counted from the upper side. Random selection has skew 1 everywhere.",
    )


def _interval(sides: Any) -> str:
    return f"[{sides[0]:.4g}, {sides[1]:.4g}]"


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    lower, upper = (data["bounds"].sel(side=side) for side in ("lower", "upper"))
    fewest, more = {"share": 0}, {"share": slice(1, None)}

    def at_most(smaller: Any, larger: Any) -> study.Check:
        ratio = float((smaller / larger).max())
        return study.Check(ratio <= 1 + 1e-9, f"largest ratio {ratio:.4g}")

    bar, diagonal = ({"skew": name} for name in ("rho_bar", "rho_diagonal"))
    rising, along = lower.sel(diagonal).values, data["along"].values
    sampled, estimate = data["on_sample"], data["estimate"].sel(number="value")
    # The estimator's extremes are extremes of noise, too: of a few hundred pairs some lie four errors out.
    noise = 5 * data["estimate"].sel(number="standard_error")
    return {
        "rho_bar is below 1 and falls with d": at_most(
            upper.sel(bar).isel(more), lower.sel(bar).isel(fewest).clip(max=1)
        ),
        "the lower side of the diagonal skew rises with d": at_most(rising[..., :-1], rising[..., 1:]),
        "the diagonal skew exceeds 1 for d > m": at_most(1.0, rising[..., 1:]),
        "rho_tilde is known exactly": at_most(*(side.sel(skew="rho_tilde") for side in (upper, lower))),
        "no sampled model leaves an interval": at_most(
            lower.sel(skew=["rho_bar", "rho_diagonal"]), sampled.sel(skew=["rho_bar", "rho_diagonal"])
        ),
        "along a run the skew grows with d": at_most(along[..., :-1], along[..., 1:]),
        "the estimator is the sample's skew up to noise": study.Check(
            bool((abs(estimate - sampled) <= noise + 1e-9).all()), f"{float(abs(estimate - sampled).max()):.3f} apart"
        ),
    }


def skew_figure(data: "Dataset") -> "Figure":
    """One column per size; rho_bar, rho_tilde / rho_bar and the diagonal skew."""
    import matplotlib.pyplot as plt

    columns = data.sizes["num_clients"]
    bar, tilde, diagonal = map(label_of, ("rho_bar", "rho_tilde", "rho_diagonal"))
    titles = {"rho_bar": f"skew {bar}", "ratio": f"{tilde} / {bar}", "rho_diagonal": f"diagonal skew {diagonal}"}
    with appearance():
        figure, panels = plt.subplots(3, columns, figsize=(1 + 4.6 * columns, 8.5), sharey="row", squeeze=False)
        for column, size in enumerate(data["num_clients"].values):
            here = data.sel(num_clients=size)
            d = here["candidates"].values
            for row, (name, title) in enumerate(titles.items()):
                axes = panels[row, column]
                if row < 2:
                    _plain_log(axes)
                certified(axes, d, *_sides(here, name), label="certified interval")
                estimate, error = _estimated(here, name)
                axes.errorbar(
                    d, estimate, 2 * error, color=COLORS[1], marker="s", linestyle="none", capsize=2,
                    label="estimated on a sample, 2 standard errors",
                )  # fmt: skip
                axes.plot(
                    d, _sampled(here, name), color=COLORS[2], linestyle=(0, (4, 1.5)), label="exact on its sample"
                )
                if row == 0:
                    axes.plot(d, here["along"], color=COLORS[3], marker="D", label="least along a run")
                axes.axhline(1.0, color="black", linestyle=":", label="random selection")
                if column == 0:
                    axes.set_ylabel(title)
                if row == 0:
                    axes.set_title(f"K = {size} clients, m = {int(here['selected'])} selected")
            panels[2, column].set_xlabel("candidates d")
        return legend_below(figure, num_columns=min(3, 2 * columns))


def _plain_log(axes: "Axes") -> None:
    """Write 0.2 and 5 on a logarithmic axis, which may span less than a decade."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _sides(here: "Dataset", name: str) -> tuple[Any, ...]:
    bounds = here["bounds"]
    if name != "ratio":
        return bounds.sel(skew=name, side="lower").values, bounds.sel(skew=name, side="upper").values
    tilde, bar = (bounds.sel(skew=skew) for skew in ("rho_tilde", "rho_bar"))
    sides = (("lower", "upper"), ("upper", "lower"))
    return tuple(tilde.sel(side=one).values / bar.sel(side=other).values for one, other in sides)


def _estimated(here: "Dataset", name: str) -> tuple[Any, Any]:
    def of(skew: str) -> tuple[Any, Any]:
        both = here["estimate"].sel(skew=skew)
        return both.sel(number="value").values, both.sel(number="standard_error").values

    if name != "ratio":
        return of(name)
    (tilde, tilde_error), (bar, bar_error) = of("rho_tilde"), of("rho_bar")
    return tilde / bar, tilde / bar * np.hypot(tilde_error / tilde, bar_error / bar)


def _sampled(here: "Dataset", name: str) -> Any:
    of = here["on_sample"]
    if name != "ratio":
        return of.sel(skew=name).values
    return of.sel(skew="rho_tilde").values / of.sel(skew="rho_bar").values


def said(data: "Dataset") -> list[str]:
    """Numbers of the page, and of the page about all figures."""
    d, m, K = data["candidates"].values, data["selected"].values, data["num_clients"].values
    lower, upper = (data["bounds"].sel(side=side) for side in data["side"].values)
    rho_bar, diagonal = ("rho_bar", "rho_diagonal")
    last_low, last_high = (float(upper.sel(num_clients=size, skew=rho_bar).isel(share=-1)) for size in K)
    along = data["along"].values
    double, half = ([along[i][d[i] == wanted[i]] for i in (0, 1)] for wanted in (2 * m, K // 2))
    first, at_double, at_half = (
        f"{np.mean(values):.{digits}f}" for values, digits in ((along[:, 0], 2), (double, 1), (half, 1))
    )
    ends = f"{along[:, -1].min():.1f} to {along[:, -1].max():.1f}"
    least = float(lower.sel(skew=diagonal).isel(share=1).min())
    most = [
        f"{float(end):.1f}"
        for end in (lower.sel(skew=diagonal).isel(share=-1).min(), upper.sel(skew=diagonal).isel(share=-1).max())
    ]
    return [
        "It is 1 for random selection (dotted), and for pow-d with d > m it lies *below* 1",
        (
            f"from {float(upper.sel(skew=rho_bar).isel(share=0).min()):.4f} with d = m to {last_low:.3f} (K = "
            f"30) and at most {last_high:.2f} (K = 100)"
        ),
        f"K = 100 with {d[1, 1]:g} candidates",
        "it may even exceed 1",
        "exceeds 1 with d > m",
        f"from {least:.1f} to between {most[0]} and {most[1]}",
        f"{first} with d = m, {at_double} with d = 2m, {at_half} with d = K/2 and {ends} with d = K",
        "below 1 and falls with d, between certified limits; the *diagonal* skew exceeds 1 and grows",
        f"comes from a minimum over the models of one run: {at_double} with d = 2m, {ends} with d = K",
    ]


STUDY = study.Study("selection_skew", Config(), QUICK, run, table, checks, {"selection_skew": skew_figure}, said=said)

if __name__ == "__main__":
    study.main(STUDY)
