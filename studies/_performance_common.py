"""Worst cases that PEPit's own examples compute, too: ours with proofs from both sides, theirs by Clarabel."""

import importlib
import importlib.util
from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
from _timing import interleaved, timed

import fedtheory as ft
from fedtheory import study

_FOLDERS = ("unconstrained_convex_minimization", "fixed_point_problems", "composite_convex_minimization")
MEDIAN, PEPIT = "worst cases, median", "PEPit"
GOALS = {(MEDIAN, PEPIT): 1.0}
SAME = 1e-5
"""Of the value: PEPit's numbers are what a solver says in doubles."""


def _begun(best: Callable[[Any], Any], make: Callable[[Any, Any, Any, Any], None], **kind: Any) -> Any:
    """Return a problem about one function, from a squared distance of at most 1."""
    p = ft.worst_case.Problem()
    f = p.operator(**kind) if "nonexpansive" in kind else p.function(**kind)
    at, x = best(f), p.point("start")
    p.at_most((x - at).square, 1, name="distance2")
    make(p, f, at, x)
    return p


def _descent(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        for _ in range(num_steps):
            x = x - Q(1, 3) * f.gradient(x)
        p.maximize(f.value(x) - f.value(best))

    return _begun(lambda f: f.minimizer(), make, L=3)


def _fast(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        y = x
        for i in range(num_steps):
            before, x = x, y - f.gradient(y)
            y = x + Q(i, i + 3) * (x - before)
        p.maximize(f.value(x) - f.value(best))

    return _begun(lambda f: f.minimizer(), make, L=1)


def _proximal(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        for _ in range(num_steps):
            x = f.proximal(x, 3)
        p.maximize(f.value(x) - f.value(best))

    return _begun(lambda f: f.minimizer(), make)


def _subgradients(num_steps: int) -> Any:
    def make(p: Any, f: Any, best: Any, x: Any) -> None:
        gaps = [f.value(x) - f.value(best)]
        for _ in range(num_steps):
            x = x - Q(1, 4) * f.gradient(x)
            gaps.append(f.value(x) - f.value(best))
        p.maximize(*gaps)

    return _begun(lambda f: f.minimizer(), make, lipschitz=2)


def _halpern(num_steps: int) -> Any:
    def make(p: Any, T: Any, fixed: Any, x: Any) -> None:  # noqa: ARG001
        first = x
        for k in range(num_steps):
            x = Q(1, k + 2) * first + Q(k + 1, k + 2) * T(x)
        p.maximize((x - T(x)).square)

    return _begun(lambda T: T.fixed_point(), make, nonexpansive=True)


def _proximal_gradients(num_steps: int) -> Any:
    p = ft.worst_case.Problem()
    f, g = p.function(mu=Q(1, 10), L=1), p.function()
    best, x = (f + g).minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    for _ in range(num_steps):
        x = g.proximal(x - f.gradient(x), 1)
    p.maximize((x - best).square)
    return p


EXAMPLES: dict[str, tuple[Callable[[int], Any], tuple[int, ...], str, dict[str, float]]] = {
    "gradient descent": (_descent, (4, 10), "wc_gradient_descent", {"L": 3, "gamma": 1 / 3}),
    "fast gradients": (_fast, (4, 8), "wc_accelerated_gradient_convex_simplified", {"mu": 0, "L": 1}),
    "proximal point": (_proximal, (4, 10), "wc_proximal_point", {"gamma": 3}),
    "subgradients": (_subgradients, (3,), "wc_subgradient_method", {"M": 2, "gamma": 1 / 4}),
    "Halpern": (_halpern, (3, 10), "wc_halpern_iteration", {}),
    "proximal gradients": (_proximal_gradients, (2,), "wc_proximal_gradient", {"L": 1, "mu": 0.1, "gamma": 1}),
}


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time each example, proofs included, beside PEPit where that is installed, and the median of the ratios."""
    found: list[dict[str, Any]] = []
    repetitions = config.repetitions
    has_peer = importlib.util.find_spec("PEPit") is not None
    for name, (make, lengths, called, constants) in progress(EXAMPLES.items(), "common worst cases"):
        for n in lengths:
            label = f"worst case of {name}, {n} steps"

            def ours(make: Any = make, n: int = n) -> Any:
                return make(n).solve()

            if not has_peer:
                found.append(_alone(label, [timed(ours)[0] for _ in range(repetitions)]))
                continue

            def theirs(called: str = called, n: int = n, constants: dict[str, float] = constants) -> float:
                return float(_of_pepit(called)(n=n, wrapper="cvxpy", solver="CLARABEL", verbose=-1, **constants)[0])

            value = ours().value
            apart = abs(theirs() - value) / (SAME * max(1.0, abs(value)))
            rows = interleaved(label, ours, 1, {PEPIT: (theirs, 1)}, range(repetitions))
            found += [row | {"agreement": apart} for row in rows]
    times, ratios = ([row[key] for row in found] for key in ("ours_us", "ratio"))
    median = _alone(MEDIAN, np.array(times) / 1e6)
    if has_peer:
        median |= {"peer": PEPIT, "ratio": float(np.median(ratios)), "lowest": min(ratios), "highest": max(ratios)}
    return [*found, median]


def _of_pepit(called: str) -> Any:
    """Return one of PEPit's examples."""
    folders = (importlib.import_module(f"PEPit.examples.{folder}") for folder in _FOLDERS)
    return next(getattr(folder, called) for folder in folders if hasattr(folder, called))


def _alone(label: str, seconds: Any) -> dict[str, Any]:
    """Return the row of an example without a peer, which says so."""
    nothing = float("nan")
    return {
        "workload": label, "peer": f"{PEPIT}, not installed", "ours_us": 1e6 * float(np.median(seconds)),
        "ratio": nothing, "lowest": nothing, "highest": nothing, "agreement": 0.0,
    }  # fmt: skip
