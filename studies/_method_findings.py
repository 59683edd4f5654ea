"""How tight theorems about methods are, where averaging rests, and what is checked of both."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _method_theorems import FEDERATIONS, MESSAGES
from _methods_race import NAMES, QUADRATICS, sent
from _parts import part
from _repeated import span, with_limits
from _resting_points import floor

from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

EXACT = ("SCAFFOLD, short rounds", *MESSAGES, "one drawn client")
GOAL = 1e-6  # of the first gap


def tightness(data: "Dataset") -> dict[str, Any]:
    """Return bounds over certified worst cases at every step size; of FedProx, progress over the promise."""
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
    """Progress over the promise, where there is one."""
    return (certified / promise.where(promise > 0)).values[(promise > 0).values]


def rows_of_theorems(data: "Dataset") -> list[dict[str, Any]]:
    """One row per theorem: the least and the largest looseness."""
    return [
        {"theorem or method": name, "where": "certified worst cases", "theorem over worst case, from": float(one.min()),
         "to": float(one.max())}
        for name, one in tightness(data).items()
    ]  # fmt: skip


def checks_of_theorems(data: "Dataset") -> dict[str, study.Check]:
    """Test which theorems are worst cases, and which messages need a memory."""
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
        "few clients of FedProx are promised nothing": study.Check(nothing < 0, f"at most {nothing:.3g}"),
    }


def checks_of_resting(data: "Dataset") -> dict[str, study.Check]:
    """Test the orders of what averaging is off, and where drawn clients settle."""
    points, one = part(data, "resting"), part(data, "drawn")
    known = np.isfinite(points["averaging, simulated"].values)
    off = max(float(abs(points[f"{name}, simulated"] / points[name] - 1).values[known].max())
              for name in ("averaging", "normalized"))  # fmt: skip
    orders = {
        name: float(np.diff(np.log2(points[name].values))[-1]) for name in ("averaging", "extrapolated", "normalized")
    }
    gone = float(np.nanmax(points["scaffold, simulated"].values))
    stays = float(points["averaging, unequal"].values[-1] / points["inconsistent"].values[-1])
    sizes, settled = one["step_size"].values, one["settled"].values
    above = float((settled / floor(sizes, 1.0)[:, None]).max())
    apart = float(abs(settled[:, 0] / floor(sizes, 0.1) - 1).max())
    wanted = {"averaging": -1, "extrapolated": -2, "normalized": -1}
    return {
        "simulations come to the stationary points": study.Check(off < 1e-9, f"apart by at most {off:.1e} of the bias"),
        **{
            f"what is {name} is off in order {-order}": study.Check(
                abs(orders[name] - order) < 0.1 * abs(order), f"{orders[name]:.3f}"
            )
            for name, order in wanted.items()
        },
        "unequal steps leave another objective": study.Check(abs(stays - 1) < 0.2, f"ratio {stays:.3f}"),
        "SCAFFOLD is not off": study.Check(gone < 1e-9, f"at most {gone:.1e}"),
        "no drawn clients settle above the floor": study.Check(above < 1.15, f"largest ratio {above:.3f}"),
        "equal curvatures settle where they must": study.Check(apart < 0.2, f"apart by at most {apart:.3f}"),
    }


def sent_until(data: "Dataset", name: str) -> tuple[Any, Any]:
    """Return rounds, and models that a client sends, until a millionth of the gap is left."""
    gap = data["gap"].sel(problem=QUADRATICS, algorithm=name).values
    first = (gap <= GOAL).argmax(axis=-1)[:, None]
    rounds, models = (np.take_along_axis(one, first, axis=-1)[:, 0] for one in sent(data, QUADRATICS, name))
    return rounds, models


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
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
        f"the certified progress is {span(found['FedProx, derived'], 2)} times what derived constants promise",
        (
            f"As published FedProx's theorem promises nothing for {int(top['K'].values[0])} drawn clients with B = 2, "
            f"and for {many} from the weight {least} L on"
        ),
        f"clients of unequal curvatures settle at {span(others, 2)} times the floor",
    ]
