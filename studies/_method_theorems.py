"""Theorems about rounds of SCAFFOLD, Scaffnew, compressed messages and FedProx, compared with certified worst cases."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from _experiments import part
from _method_runs import NAMES, QUADRATICS, floor, sent
from _repeated import span, with_limits

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import error_feedback, fedprox
from fedtheory.bounds import proxskip as ps
from fedtheory.bounds import scaffold as sc
from fedtheory.instances import vector
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from xarray import Dataset


@dataclass(frozen=True)
class Theorems:
    """Step sizes, weights and lengths at which theorems are compared with worst cases."""

    condition: int = 10
    """L/mu of SCAFFOLD's rounds; L is 1."""
    local_steps: tuple[int, ...] = (2, 5)
    """Local steps tau of SCAFFOLD."""
    twentieths: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 20, 23, 26, 30, 33, 36)
    """Step sizes of SCAFFOLD in twentieths of 1/L."""
    probability: float = 0.25
    """Probability p of Scaffnew."""
    num_steps: int = 60
    """Steps of Scaffnew that are simulated."""
    exact_steps: int = 8
    """Steps of Scaffnew for which the mean over all coins is exact."""
    num_replicates: int = 4000
    """Replicates of Scaffnew."""
    num_probabilities: int = 40
    """Probabilities p for which the long-run rate is exact."""
    shrink: tuple[float, ...] = (0.0, 0.5, 0.9)
    """e = 1 - gamma a of the clients' curvature a, for that rate."""
    shares: tuple[int, ...] = (1, 3, 6, 8, 10, 11)
    """Step sizes of compressed messages, in tenths of the best one of error feedback."""
    num_rounds: int = 3000
    """Rounds of compressed messages that are simulated."""
    step_size: float = 0.004
    """Step size of compressed messages."""
    weights: tuple[int, ...] = (4, 6, 8, 12, 16, 24, 32, 48)
    """Weights of FedProx's proximal term, in L."""
    dissimilarities: tuple[int, ...] = (1, 2)
    """Dissimilarities B of FedProx."""
    num_selected: tuple[int, ...] = (10, 100, 1000)
    """Sampled clients K in FedProx's published theorem."""


CLASS = {"mu": Fraction(1, 10), "L": Fraction(1), "compression_error": Fraction(1, 2)}
BEST = Fraction(20, 33)  # 2 (1 - s)/((1 + s) (L + mu))
FEDERATIONS = ("one client", "three clients, one minimizer", "three clients that differ")
MESSAGES = ("compressed gradients", "error feedback", "EF21")


def scaffold(own: Theorems, progress: study.Progress) -> "Dataset":
    """Prove the worst contraction of a round with all clients; compare with the theorem and with two quadratics.

    The potential is the squared distance plus eta^2 tau^2 times the mean squared error of the control variates.
    """
    records, mu = [], Fraction(1, own.condition)
    jobs = [(tau, Fraction(number, 20)) for tau in own.local_steps for number in own.twentieths]
    for tau, eta in progress([job for job in jobs if job[1] * (1 + mu) < 2], "rounds of SCAFFOLD"):
        lower, upper = ft.worst_case.scaffold(tau, eta, mu=mu, L=1).enclosure
        known: dict[str, Any] = {"step_size": eta, "mu": mu, "L": Fraction(1), "local_steps": tau}
        variates: Any = sc.one_round(Fraction(0), control_error2=1 / (eta * tau) ** 2, **known)
        steep: Any = sum((1 - eta) ** i for i in range(tau)) / tau
        steps = float((1 - eta * mu) ** (2 * tau))
        records.append({
            "local_steps": tau, "step_size": float(eta), "lower": float(lower), "upper": float(upper), "steps": steps,
            "bound": max(steps, float(variates)), "quadratics": max(steps, float((1 - steep) ** 2)),
        })  # fmt: skip
    return study.from_records(records)


def scaffnew(own: Theorems, progress: study.Progress, seed: int) -> "Dataset":
    """Enumerate all coins of few steps, simulate more steps, and bound both; add exact long-run rates."""
    import xarray

    zero = vector(0)
    exact = ft.instances.RationalQuadratics(
        tuple(map(vector, (1, 2, 4))), tuple(map(vector, (0, 3, 5))), vector("1/3", "1/3", "1/3"), vector(0, 0, 0)
    )
    p, gamma, start = Fraction(own.probability), Fraction(1, 4), ft.instances.ScaffnewState((zero,) * 3, (zero,) * 3)
    [means] = [
        ft.instances.mean_potentials(exact, start, steps, step_size=gamma, probability=p)
        for steps in progress([own.exact_steps], "coins of Scaffnew")
    ]
    fed, steps = exact.rounded(), np.arange(own.num_steps + 1)
    run_of: dict[str, Any] = {"step_size": float(gamma), "method": ft.methods.Scaffnew(own.probability)}
    found = ft.fedavg(
        fed, ft.selection.Full(), num_rounds=own.num_steps, num_replicates=own.num_replicates, rng=seed,
        record=("states",), **run_of,
    ).recorded("states")  # fmt: skip
    right = fed.gradients(fed.minimizer)[:, 0]
    errors = (found[..., 0] - fed.minimizer[0]) ** 2, (found[..., 1] - right) ** 2
    potentials = (errors[0] + (float(gamma) / own.probability) ** 2 * errors[1]).mean(axis=-1)
    known = ft.exact.for_run(ps.fixed_step_potential, fed, ft.selection.Full(), num_rounds=1, **run_of)
    forms = (ps.fixed_step_potential, ps.refined_fixed_step_potential)
    bounds = [[float(form(**known | {"num_steps": int(t)})) for t in steps] for form in forms]
    radius = ft.instances.disagreement_radius
    grid = np.linspace(1 / own.num_probabilities, 1, own.num_probabilities)
    return xarray.Dataset(
        {
            "exact": ("exact_step", [float(mean) for mean in means]),
            "simulated": (("side", "step"), [potentials.mean(axis=0), *student_mean(potentials)]),
            "bound": (("form", "step"), bounds),
            "rate": (("shrink", "probability"), [[radius(Fraction(e), Fraction(q)) for q in grid]
                                                 for e in own.shrink]),
        },
        coords={"step": steps, "form": ["printed", "refined"], "shrink": list(own.shrink), "probability": grid,
                "side": ["mean", "lower", "upper"]},
    )  # fmt: skip


def messages(own: Theorems, progress: study.Progress) -> "Dataset":
    """Certify the worst rounds of compressed messages, and run them on three federations."""
    import xarray

    worst, promised = [], []
    for tenth in progress(own.shares, "rounds of compressed messages"):
        known: dict[str, Any] = CLASS | {"step_size": BEST * tenth / 10}
        found = [
            ft.worst_case.compressed_gradients(1, gap=1, **known),
            ft.worst_case.error_feedback(1, potential=1, **known),
            ft.worst_case.ef21(1, potential=1, **known),
        ]
        worst.append([tuple(map(float, one.enclosure)) for one in found])
        rate = float(error_feedback.ef_round(Fraction(1), **known))
        promised.append([float(error_feedback.cgd_gap(1, initial_gap=Fraction(1), **known)), rate, rate])
    gaps = [[_left(own, fed, method) for method in _ways()] for fed in progress(_three(), "compressed messages")]
    return xarray.Dataset(
        {
            "worst": (("step", "way", "side"), worst),
            "promised": (("step", "way"), promised),
            "left": (("federation", "way"), gaps),
        },
        coords={"step": [float(BEST) * tenth / 10 for tenth in own.shares], "way": list(MESSAGES),
                "side": ["lower", "upper"], "federation": list(FEDERATIONS)},
    )  # fmt: skip


def _ways() -> list[Any]:
    """Compressed gradients, error feedback and EF21, with the largest of three entries sent."""
    top = ft.methods.TopK(1)
    return [ft.methods.Compressed(top), ft.methods.ErrorFeedback(top), ft.methods.EF21(top)]


def _three() -> "list[ft.QuadraticFederation]":
    """One client, three with one minimizer whose compressed gradients diverge, and three that differ."""
    rows = np.array([[-3.0, 2, 2], [2, -3, 2], [2, 2, -3]])
    hessians = 2 * np.einsum("ki,kj->kij", rows, rows) + np.eye(3) / 2
    equal, weights = np.zeros((3, 3)), np.full(3, 1 / 3)
    return [
        ft.QuadraticFederation(hessians[:1], equal[:1], [1.0]),
        ft.QuadraticFederation(hessians, equal, weights),
        ft.QuadraticFederation(hessians, np.array([[1.0, 0, 1], [0, -2.0, 0], [1, 1, 0]]), weights),
    ]


def _left(own: Theorems, fed: "ft.QuadraticFederation", method: Any) -> float:
    """Ratio of the final to the first gap."""
    found = ft.fedavg(
        fed, ft.selection.Full(), method=method, num_rounds=own.num_rounds, step_size=own.step_size,
        initial=fed.minimizer + 1.0, record_every=own.num_rounds,
    )  # fmt: skip
    return float(found.gap[0, -1] / found.gap[0, 0])


def proximal(own: Theorems, progress: study.Progress) -> "Dataset":
    """Certify the least progress of a round of FedProx; compare with its theorem, published and derived."""
    import xarray

    certified, derived, published = [], [], []
    for B in progress(own.dissimilarities, "rounds of FedProx"):
        known = {"L": Fraction(1), "negative_curvature": Fraction(0), "gradient_dissimilarity": Fraction(B)}
        certified.append([-float(ft.worst_case.fedprox(weight, **known).enclosure[1]) for weight in own.weights])
        given = [{**known, "proximal_weight": Fraction(one), "inexactness": Fraction(0)} for one in own.weights]
        derived.append([-float(fedprox.loss_change(Fraction(1), **one)) for one in given])
        printed = fedprox.loss_change.printed
        published.append([[-float(printed(Fraction(1), num_selected=K, **one)) for one in given]
                          for K in own.num_selected])  # fmt: skip
    return xarray.Dataset(
        {
            "certified": (("B", "weight"), certified),
            "derived": (("B", "weight"), derived),
            "published": (("B", "K", "weight"), published),
        },
        coords={"B": list(own.dissimilarities), "weight": list(own.weights), "K": list(own.num_selected)},
    )


EXACT = ("SCAFFOLD, short rounds", *MESSAGES, "one drawn client")
GOAL = 1e-6  # of the first gap


def tightness(data: "Dataset") -> dict[str, Any]:
    """Return bounds over certified worst cases at every step size; of FedProx, certified over guaranteed progress."""
    found: dict[str, Any] = {}
    scaffold, coins, sent, one = (part(data, name) for name in ("scaffold", "scaffnew", "messages", "drawn"))
    short = (scaffold["step_size"] * scaffold["local_steps"] <= 1).values
    found[EXACT[0]] = (scaffold["steps"] / scaffold["upper"]).values[short]
    found["SCAFFOLD, longer rounds"] = (scaffold["bound"] / scaffold["upper"]).values[~short]
    refined = coins["bound"].sel(form="refined").values[1 : coins["exact"].size]
    found["Scaffnew"] = refined / coins["exact"].values[1:]
    ratios = sent["promised"] / sent["worst"].mean("side")
    found |= {name: ratios.sel(way=name).values for name in MESSAGES}
    found[EXACT[-1]] = (one["promised"] / one["worst"].mean("side")).values.ravel()
    prox = part(data, "proximal")
    found["FedProx, derived"] = _promised(prox["certified"], prox["derived"])
    found["FedProx, printed, many clients"] = _promised(prox["certified"], prox["published"].isel(K=-1))
    return found


def _promised(certified: Any, promise: Any) -> Any:
    """Divide certified by guaranteed progress if the latter is positive."""
    return (certified / promise.where(promise > 0)).values[(promise > 0).values]


def rows_of_theorems(data: "Dataset") -> list[dict[str, Any]]:
    """One row per theorem: the least and the largest looseness."""
    return [
        {"theorem or method": name, "where": "certified worst cases", "theorem over worst case, from": float(one.min()),
         "to": float(one.max())}
        for name, one in tightness(data).items()
    ]  # fmt: skip


def checks_of_theorems(data: "Dataset") -> dict[str, study.Check]:
    """Test which theorems are worst cases, and which messages require a memory."""
    found = tightness(data)
    apart = max(float(abs(found[name] - 1).max()) for name in EXACT)
    below = min(float(one.min()) for one in found.values())
    scaffold, coins, sent, prox = (part(data, name) for name in ("scaffold", "scaffnew", "messages", "proximal"))
    worse = float((scaffold["upper"] / scaffold["quadratics"]).min())
    slower = float((scaffold["lower"] / scaffold["steps"]).max())
    few = coins["exact"].size
    mean, lower, upper = coins["simulated"].values[:, :few]
    off = float((abs(mean - coins["exact"].values) / np.maximum(upper - lower, 1e-12 * mean)).max())
    promised = np.maximum(1 - coins["probability"] ** 2, coins["shrink"] ** 2)
    excess = float((coins["rate"] - promised).max())
    left = sent["left"]
    grown = float(left.sel(federation=FEDERATIONS[1], way=MESSAGES[0]))
    common = float(left.sel(federation=FEDERATIONS[1], way=list(MESSAGES[1:])).max())
    rest, gone = (float(left.sel(federation=FEDERATIONS[2], way=way)) for way in MESSAGES[1:])
    lead, nothing = float((prox["derived"] - prox["published"]).min()), float(prox["published"].isel(K=0, B=-1).max())
    return {
        "five theorems are worst cases": study.Check(apart < 1e-6, f"apart by {apart:.1e} at most"),
        "no theorem is below a worst case": study.Check(below > 1 - 1e-6, f"smallest ratio {below:.7f}"),
        "two quadratics are no worse than the worst of SCAFFOLD": study.Check(worse > 1 - 1e-9, f"{worse:.7f}"),
        "long rounds of SCAFFOLD are worth less": study.Check(slower > 1.001, f"largest ratio {slower:.3f}"),
        "simulated means of Scaffnew are the exact ones": study.Check(off < 1.5, f"off by {off:.2f} widths at most"),
        "Scaffnew's long-run rate is below the theorem's": study.Check(excess < 1e-12, f"excess {excess:.1e}"),
        "three clients without a memory diverge": study.Check(grown > 1e3, f"the gap grew by {grown:.2g}"),
        "with a memory they converge": study.Check(common < 1e-2, f"at most {common:.2g} of the first gap is left"),
        "EF21 goes below error feedback": study.Check(gone < rest / 2, f"{gone:.2g} and {rest:.2g} are left"),
        "FedProx's derived constants are never worse": study.Check(lead > 0, f"least lead {lead:.3g}"),
        "FedProx's theorem guarantees nothing with few clients": study.Check(nothing < 0, f"at most {nothing:.3g}"),
    }


def sent_until(data: "Dataset", name: str) -> tuple[Any, Any]:
    """Return rounds, and models that a client sends, until the gap is a millionth of the first."""
    gap = data["gap"].sel(problem=QUADRATICS, algorithm=name).values
    first = (gap <= GOAL).argmax(axis=-1)[:, None]
    rounds, models = (np.take_along_axis(one, first, axis=-1)[:, 0] for one in sent(data, QUADRATICS, name))
    return rounds, models


def said(data: "Dataset") -> list[str]:
    """Sentences of the page."""
    race, found = part(data, "race"), tightness(data)
    left = {name: race["gap"].sel(problem=QUADRATICS, algorithm=name).isel(round=-1).values for name in NAMES[:3]}
    words = []
    for name in NAMES[3:]:
        rounds, models = sent_until(race, name)
        words.append(f"{with_limits(rounds, 0)} rounds and {with_limits(models, 0)} models with {name}")
    apart = max(float(abs(found[name] - 1).max()) for name in EXACT)
    prox, one = part(data, "proximal"), part(data, "drawn")
    top = prox.isel(B=-1)
    many = int(top["K"].values[-1])
    least = int(top["weight"].values[(top["published"].isel(K=-1) > 0).values].min())
    sizes = one["step_size"].values
    others = one["settled"].values[:, 1] / floor(sizes, 1.0)
    return [
        f"A millionth of the gap takes a client {words[0]}, {words[2]}, {words[1]}",
        (
            f"Averaging stops at {with_limits(100 * left['FedAvg'])}% of the gap, FedProx at "
            f"{with_limits(100 * left['FedProx'])}%, FedNova at {with_limits(100 * left['FedNova'])}%"
        ),
        f"of {len(found)} theorems {len(EXACT)} are the worst cases, up to {apart:.0e}",
        f"SCAFFOLD's bound for longer rounds is {span(found['SCAFFOLD, longer rounds'])} times the worst case",
        f"Scaffnew's refined bound {span(found['Scaffnew'], 2)} times the exact mean of its first steps",
        f"the certified progress is {span(found['FedProx, derived'], 2)} times what derived constants guarantee",
        (
            f"As published FedProx's theorem guarantees nothing for {int(top['K'].values[0])} drawn clients with B = "
            f"2, and for {many} from the weight {least} L on"
        ),
        f"clients of unequal curvatures settle at {span(others, 2)} times the floor",
    ]
