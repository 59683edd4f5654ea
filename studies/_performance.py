"""Times of this library and of other programs that do the same work, in turn on one thread, and growth with sizes."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as Q
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset


@dataclass(frozen=True)
class Peers:
    """Sizes of the comparisons with other programs."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K of the quadratics; a tenth is selected out of three tenths of candidates."""
    num_rounds: int = 600
    """Rounds of every program."""
    num_replicates: int = 20
    """Replicates of every program."""
    repetitions: int = 7
    """Interleaved repetitions."""
    softmax_rounds: int = 100
    """Rounds of a run of softmax regression."""
    first_calls: int = 3
    """Repetitions of a first call, which compiles."""
    descent_steps: tuple[int, ...] = (10, 40)
    """Steps of gradient descent whose worst case is computed."""
    seed: int = 0
    """Entropy of instances and selections."""


def peers(config: Peers, progress: study.Progress) -> "Dataset":
    """Time all programs and compare their results."""
    workloads = (quadratics, first_calls, softmax, worst_cases)
    return study.from_records([row for workload in workloads for row in workload(config, progress)])


def timed(program: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds of one call with one thread in every library, by the given clock."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        start = clock()
        program()
        return clock() - start


def interleaved(
    workload: str, ours: Callable[[], Any], size: int, others: dict[str, tuple[Callable[[], Any], int, float]],
    repetitions: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Time ours and every peer in turn; a peer has its units of work per call, and its distance from our results.

    Returns a record per peer: time of ours per unit, and the median, smallest and largest ratio within a repetition.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ("ours", *others)}
    for _ in repetitions:
        seconds["ours"].append(timed(ours) / size)
        for name, (program, units, _) in others.items():
            seconds[name].append(timed(program) / units)
    return ratios_of(workload, seconds, {name: apart for name, (*_, apart) in others.items()})


def ratios_of(workload: str, seconds: dict[str, list[float]], distances: dict[str, float]) -> list[dict[str, Any]]:
    """Return a record per peer from the seconds of each program, ours included, by repetition."""
    rows = []
    for name, apart in distances.items():
        ratios = np.array(seconds[name]) / np.array(seconds["ours"])
        numbers = (1e6 * np.median(seconds["ours"]), np.median(ratios), ratios.min(), ratios.max(), apart)
        keys = ("ours_us", "ratio", "lowest", "highest", "agreement")
        rows.append({"workload": workload, "peer": name} | dict(zip(keys, map(float, numbers), strict=True)))
    return rows


class Quadratics(NamedTuple):
    """Arrays of an isotropic federation, and a run of pow-d on it."""

    h: Any
    c: Any
    p: Any
    minimizer: Any
    num_selected: int
    num_candidates: int
    local_steps: int
    step_size: float

    @property
    def shares(self) -> Any:
        """Share of the way to its center that each client's local steps cover; together they are one affine map."""
        return 1 - (1 - self.step_size * self.h) ** self.local_steps

    def gaps(self, models: Any) -> Any:
        """Gaps of models."""
        return 0.5 * (self.p @ self.h) * ((models - self.minimizer) ** 2).sum(axis=-1)


_CALLS = 10  # in a row, since a run takes milliseconds; the slowest program runs once
_BLOCK = 25  # rounds whose candidates NumPy draws in one call: they stay in the cache


def quadratics(config: Peers, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one round of one replicate of pow-d on quadratics, for every number of clients."""
    found = []
    for K in config.num_clients:
        fed = ft.datasets.power_of_choice_quadratics(K, 5, config.seed)
        h, c, p = (np.array(one) for one in (fed.curvatures, fed.centers, fed.weights))
        work = Quadratics(h, c, p, fed.minimizer, K // 10, 3 * K // 10, 2, 2e-5)
        ours = partial(
            ft.fedavg, fed, ft.selection.PowerOfChoice(K // 10, 3 * K // 10), num_rounds=config.num_rounds,
            local_steps=2, step_size=2e-5, num_replicates=config.num_replicates, rng=config.seed, num_threads=1,
        )  # fmt: skip
        size, rng = (config.num_rounds, config.num_replicates), np.random.default_rng(config.seed)
        programs = {"NumPy, loop": numpy_loop, "NumPy, rounds drawn ahead": numpy_batched, "numba loop": numba_loop}
        others: dict[str, Any] = {name: partial(program, work, *size, rng) for name, program in programs.items()}
        if importlib.util.find_spec("jax"):
            others["JAX, rounds drawn ahead"] = partial(jax_scan(work, *size), config.seed)
        apart, units = {name: _distance(ours(), program()) for name, program in others.items()}, size[0] * size[1]
        calls = {name: 1 if name == "NumPy, loop" else _CALLS for name in others}
        given = {name: (_often(one, calls[name]), calls[name] * units, apart[name]) for name, one in others.items()}
        repetitions = progress(range(config.repetitions), f"quadratics, {K} clients")
        found += interleaved(f"pow-d, {K} clients", _often(ours, _CALLS), _CALLS * units, given, repetitions)
    return found


def first_calls(config: Peers, progress: study.Progress) -> list[dict[str, Any]]:
    """Time the first call of a run of pow-d, in new processes with an empty cache of compiled code; processor time."""
    programs = ("ours", "numba loop")
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in progress(range(config.first_calls), "first calls"):
        for name in programs:
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
                said = subprocess.run(
                    [sys.executable, __file__, name], env=environment, capture_output=True, text=True, check=True
                )  # fmt: skip
            seconds[name].append(float(said.stdout))
    return ratios_of("pow-d, first call", seconds, {"numba loop": 0.0}) if config.first_calls else []


def first_call(name: str) -> float:
    """Return the processor seconds of a short run in this process."""
    fed = ft.datasets.power_of_choice_quadratics(30, 5, 0)
    work = Quadratics(fed.curvatures, fed.centers, fed.weights, fed.minimizer, 3, 9, 2, 2e-5)
    if name == "ours":
        how = dict[str, Any](num_rounds=5, local_steps=2, step_size=2e-5, num_threads=1)
        return timed(partial(ft.fedavg, fed, ft.selection.PowerOfChoice(3, 9), **how), time.process_time)
    return timed(partial(numba_loop, work, 5, 1, np.random.default_rng(0)), time.process_time)


def _often(program: Callable[[], Any], calls: int) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(calls):
            program()

    return repeated


def _distance(run: Any, gaps: Any) -> float:
    """Distance of two mean gaps after the last round, in standard errors."""
    mine = run.gap[:, -1]
    error = mine.std(ddof=1) * np.sqrt(1 / mine.size + 1 / len(gaps))
    return float(abs(mine.mean() - gaps[:, -1].mean()) / error)


def numpy_loop(work: Quadratics, num_rounds: int, num_replicates: int, rng: np.random.Generator) -> Any:
    """NumPy inside a round, Python around rounds and replicates; gaps of shape (num_replicates, num_rounds + 1)."""
    gaps = np.empty((num_replicates, num_rounds + 1))
    for gap in gaps:
        w = np.zeros(work.c.shape[1])
        for t in range(num_rounds):
            gap[t] = work.gaps(w)
            candidates = rng.choice(work.p.size, work.num_candidates, replace=False, p=work.p)
            losses = 0.5 * work.h[candidates] * np.sum((w - work.c[candidates]) ** 2, axis=1)
            chosen = candidates[np.argpartition(-losses, work.num_selected - 1)[: work.num_selected]]
            local = np.repeat(w[None], work.num_selected, axis=0)
            for _ in range(work.local_steps):
                local -= work.step_size * work.h[chosen, None] * (local - work.c[chosen])
            w = local.mean(axis=0)
        gap[num_rounds] = work.gaps(w)
    return gaps


def numpy_batched(work: Quadratics, num_rounds: int, num_replicates: int, rng: np.random.Generator) -> Any:
    """All replicates in every NumPy call, and the candidates of many rounds drawn in one; gaps as above."""
    num_clients, dim = work.c.shape
    # A model w is held as (w, |w|^2, 1): all negative losses are one product, and a step is one sum.
    losses = np.vstack([(work.h[:, None] * work.c).T, -0.5 * work.h, -0.5 * work.h * np.sum(work.c**2, axis=1)])
    moves = np.column_stack([work.shares[:, None] * work.c, work.shares]) / work.num_selected
    models = np.ones((num_rounds + 1, num_replicates, dim + 2))
    models[0, :, :-1] = 0
    for start in range(0, num_rounds, _BLOCK):
        block = min(_BLOCK, num_rounds - start)
        # The d smallest exponential clocks are a weighted draw without replacement.
        clocks = rng.standard_exponential((block, num_replicates, num_clients)) / work.p
        candidates = np.argpartition(clocks, work.num_candidates - 1, axis=2)[..., : work.num_candidates]
        absent = np.full(clocks.shape, np.inf)
        np.put_along_axis(absent, candidates, 0.0, axis=2)
        for t in range(block):
            now, after = models[start + t], models[start + t + 1]
            chosen = np.argpartition(now @ losses + absent[t], work.num_selected - 1, axis=1)[:, : work.num_selected]
            move = moves[chosen].sum(axis=1)
            after[:, :dim] = now[:, :dim] * (1 - move[:, dim:]) + move[:, :dim]
            after[:, dim] = np.einsum("ij,ij->i", after[:, :dim], after[:, :dim])
    return work.gaps(models[..., :dim]).T


def numba_loop(work: Quadratics, num_rounds: int, num_replicates: int, rng: np.random.Generator) -> Any:
    """Replicates one after the other in one compiled loop; gaps as above."""
    gaps, table, rounds = np.empty((num_replicates, num_rounds + 1)), alias_table(work.p), _compiled_rounds()
    for gap, own in zip(gaps, rng.spawn(num_replicates), strict=True):
        rounds(
            work.h, work.c, work.shares, *table, float(work.p @ work.h), work.minimizer, work.num_selected,
            work.num_candidates, own, gap,
        )  # fmt: skip
    return gaps


def alias_table(p: Any) -> tuple[Any, Any]:
    """Walker's table: the share of each column that its client has, and the client with the remainder."""
    own, other = p * p.size, np.arange(p.size)
    small, large = [int(k) for k in np.flatnonzero(own < 1)], [int(k) for k in np.flatnonzero(own >= 1)]
    while small and large:
        low, high = small.pop(), large.pop()
        other[low] = high
        own[high] -= 1 - own[low]
        (small if own[high] < 1 else large).append(high)
    own[small + large] = 1
    return own, other


@cache
def _compiled_rounds() -> Any:
    from numba import njit

    return njit(nogil=True)(numba_rounds)


def numba_rounds(
    h: Any, c: Any, shares: Any, own: Any, other: Any, curvature: float, minimizer: Any, m: int, d: int, rng: Any,
    gap: Any,
) -> None:  # fmt: skip
    """Compute the rounds of one replicate for numba; ``gap`` receives the gap of each round."""
    num_clients, dim = c.shape
    w, move, losses = np.zeros(dim), np.empty(dim), np.empty(d)
    candidates, drawn_in = np.empty(d, np.int64), np.full(num_clients, -1)
    for t in range(gap.size):
        gap[t] = 0.0
        for i in range(dim):
            gap[t] += 0.5 * curvature * (w[i] - minimizer[i]) ** 2
        if t == gap.size - 1:
            return
        n = 0
        while n < d:
            u = rng.random() * num_clients
            k = int(u)
            if u - k >= own[k]:
                k = other[k]
            if drawn_in[k] != t:
                drawn_in[k] = t
                candidates[n] = k
                losses[n] = 0.0
                for i in range(dim):
                    losses[n] += 0.5 * h[k] * (w[i] - c[k, i]) ** 2
                n += 1
        move[:] = 0.0
        for j in range(m):
            worst = j
            for q in range(j + 1, d):
                if losses[q] > losses[worst]:
                    worst = q
            k = candidates[worst]
            losses[worst], candidates[worst] = losses[j], candidates[j]
            for i in range(dim):
                move[i] += shares[k] * (c[k, i] - w[i])
        for i in range(dim):
            w[i] += move[i] / m


def jax_scan(work: Quadratics, num_rounds: int, num_replicates: int) -> Any:
    """Compile a scan over rounds, mapped over replicates, in double precision; returns a function of a seed.

    Candidates of all rounds are drawn ahead, in single precision, for which ``top_k`` is several times as fast.
    """
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    h, c, shares = (jnp.asarray(x) for x in (work.h, work.c, work.shares))
    log_p = jnp.asarray(np.log(work.p), jnp.float32)

    def one_round(w: Any, candidates: Any) -> Any:
        curvatures, centers, moves = candidates
        losses, move = curvatures * jnp.sum((w - centers) ** 2, axis=1), jnp.zeros_like(w)
        for _ in range(work.num_selected):
            worst = jnp.argmax(losses)
            move += moves[worst] * (centers[worst] - w) / work.num_selected
            losses = losses.at[worst].set(-jnp.inf)
        return w + move, w

    def one_replicate(key: Any) -> Any:
        gumbel = jax.random.gumbel(key, (num_rounds, work.p.size), jnp.float32) + log_p
        drawn = jax.lax.top_k(gumbel, work.num_candidates)[1]
        last, models = jax.lax.scan(one_round, jnp.zeros(work.c.shape[1]), (h[drawn], c[drawn], shares[drawn]))
        return work.gaps(jnp.concatenate([models, last[None]]))

    program = jax.jit(jax.vmap(one_replicate))

    def gaps(seed: int) -> Any:
        return program(jax.random.split(jax.random.key(seed), num_replicates)).block_until_ready()

    gaps(0)
    return gaps


def softmax(config: Peers, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one round: three clients out of six candidates take 30 steps on batches of 50, then the global loss."""
    # 56 samples are 50 for training.
    fed = ft.SoftmaxFederation(ft.datasets.synthetic(1, 1, num_clients=30, rng=config.seed, min_samples=56))
    rounds, how = config.softmax_rounds, dict[str, Any](local_steps=30, step_size=0.05, batch_size=50)
    ours = partial(
        ft.fedavg, fed, ft.selection.PowerOfChoice(3, 6), num_rounds=rounds, record=("loss",), num_threads=1,
        rng=config.seed, **how,
    )  # fmt: skip
    program = partial(softmax_loop, fed, 3, 6, rounds, np.random.default_rng(config.seed), **how)
    apart = _distance_of_losses(np.log(ours(num_replicates=16).loss).mean(axis=1), program())
    repetitions = progress(range(config.repetitions), "softmax")
    return interleaved("softmax regression", ours, rounds, {"NumPy, loop": (program, rounds, apart)}, repetitions)


def _distance_of_losses(means: Any, losses: Any) -> float:
    """Distance of one run's mean log-loss from those of ours, in standard errors of one more run."""
    error = means.std(ddof=1) * np.sqrt(1 + 1 / means.size)
    return float(abs(np.log(losses).mean() - means.mean()) / error)


def softmax_loop(
    fed: Any, m: int, d: int, num_rounds: int, rng: np.random.Generator, *, local_steps: int, step_size: float,
    batch_size: int,
) -> Any:  # fmt: skip
    """Loops over rounds, clients and steps, NumPy inside a step; the global loss before each round and at the end."""
    x, y, offsets = fed.inputs, fed.data.labels, fed.data.offsets
    w, losses, rows = np.zeros((fed.data.num_classes, x.shape[1])), [], np.arange(batch_size)
    for t in range(num_rounds + 1):
        of_clients = np.add.reduceat(_sample_losses(x @ w.T, y), offsets[:-1]) / np.diff(offsets)
        losses.append(fed.weights @ of_clients)
        if t == num_rounds:
            break
        candidates, returned = rng.choice(len(fed.weights), d, replace=False, p=fed.weights), []
        for k in candidates[np.argpartition(-of_clients[candidates], m - 1)[:m]]:
            local = w.copy()
            for _ in range(local_steps):
                batch = offsets[k] + rng.permutation(offsets[k + 1] - offsets[k])[:batch_size]
                logits = x[batch] @ local.T
                q = np.exp(logits - logits.max(axis=1, keepdims=True))
                q /= q.sum(axis=1, keepdims=True)
                q[rows, y[batch]] -= 1
                local -= step_size / batch_size * (q.T @ x[batch])
            returned.append(local)
        w = np.mean(returned, axis=0)
    return np.array(losses)


def _sample_losses(logits: Any, labels: Any) -> Any:
    top = logits.max(axis=1)
    return top + np.log(np.exp(logits - top[:, None]).sum(axis=1)) - logits[np.arange(len(labels)), labels]


_CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}


def worst_cases(config: Peers, progress: study.Progress) -> list[dict[str, Any]]:
    """Time worst cases with proofs here, and without proofs in PEPit if it is installed."""
    if not importlib.util.find_spec("PEPit"):
        return []
    pairs: dict[str, tuple[Any, Any]] = {
        "a round of 4 clients": (partial(ft.worst_case.fedavg, 3, Q(1, 4), **_CLASS), pepit_round)
    }
    for n in config.descent_steps:
        pairs[f"gradient descent, {n} steps"] = partial(descent, n), partial(pepit_descent, n)
    found = []
    for label, (ours, theirs) in pairs.items():
        value = ours().value
        # Our value is proved to 1e-5; PEPit's is the answer of a solver.
        given = {"PEPit": (theirs, 1, abs(theirs() - value) / (1e-5 * value))}
        repetitions = progress(range(config.repetitions), f"worst case, {label}")
        found += interleaved(f"worst case, {label}", ours, 1, given, repetitions)
    return found


def descent(num_steps: int) -> Any:
    """Prove the largest gap after steps of gradient descent, from a squared distance of 1."""
    p = ft.worst_case.Problem()
    f = p.function(L=1)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    for _ in range(num_steps):
        x = x - f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p.solve()


def pepit_descent(num_steps: int) -> float:
    """Take gradient descent from PEPit's own examples."""
    from PEPit.examples.unconstrained_convex_minimization import wc_gradient_descent

    return float(wc_gradient_descent(L=1, gamma=1, n=num_steps, wrapper="cvxpy", solver="CLARABEL", verbose=-1)[0])


def pepit_round() -> float:
    """Write a round of four clients and three local steps client by client in PEPit."""
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction

    problem, K = PEP(), 4
    clients = [problem.declare_function(SmoothStronglyConvexFunction, mu=0.1, L=1.0) for _ in range(K)]
    objective = sum(clients[1:], start=clients[0]) / K
    best, start = objective.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((start - best) ** 2 <= 1)
    excess = [client(best) - client(client.stationary_point()) for client in clients]
    problem.set_initial_condition(sum(excess[1:], start=excess[0]) / K <= 0.5)
    moved = start - start
    for client in clients:
        w = start
        for _ in range(3):
            w = w - 0.25 * client.gradient(w)
        moved = moved + w / K
    problem.set_performance_metric((moved - best) ** 2)
    return float(problem.solve(solver="CLARABEL", verbose=0))


@dataclass(frozen=True)
class Sizes:
    """Sizes that grow one at a time, while the others keep their first values."""

    num_clients: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    """Clients K."""
    dims: tuple[int, ...] = (10, 30, 100, 300, 1000)
    """Dimensions v."""
    local_steps: tuple[int, ...] = (2, 6, 20, 60, 200)
    """Local steps tau of a round."""
    num_candidates: tuple[int, ...] = (30, 60, 120, 250, 500)
    """Candidates d of pow-d."""
    num_rounds: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000)
    """Rounds."""
    repetitions: int = 5
    """Times that each is timed; the smallest counts."""
    everybody: int = 20
    """Rounds of the strategy that evaluates all clients."""


GROWING = {
    "num_clients": "clients", "dims": "dimension", "local_steps": "local steps", "num_candidates": "candidates",
    "num_rounds": "rounds",
}  # fmt: skip
EVERYBODY = "OCS"


def _strategies(d: int) -> dict[str, Any]:
    return {
        "pow-d": ft.selection.PowerOfChoice(10, d), "rand": ft.selection.Proportional(10),
        "OCS, d candidates": ft.selection.Independent(10, num_candidates=d), EVERYBODY: ft.selection.Independent(10),
    }  # fmt: skip


def growth(config: Sizes, progress: study.Progress) -> "Dataset":
    """Time every size in turn, and measure memory once."""
    cases = [
        {"axis": axis, "size": size, "strategy": strategy}
        for axis in GROWING
        for strategy in (_strategies(30) if axis == "num_clients" else ("pow-d",))
        for size in getattr(config, axis)
    ]
    seconds = np.full((len(cases), 2), np.inf)
    memory = [_measured(config, case) for case in progress(cases, "memory of growing sizes")]
    for _ in progress(range(config.repetitions), "growing sizes"):
        for i, case in enumerate(cases):
            run = _task(config, case)
            run(num_rounds=0)  # memory is allocated once before
            times = [timed(partial(run, **changed), time.process_time) for changed in ({}, {"num_rounds": 0})]
            seconds[i] = np.minimum(seconds[i], times)
    rows = []
    for case, (whole, set_up), measured in zip(cases, seconds, memory, strict=True):
        # On a busy machine the setup alone may take longer than the run, whose time is then an upper limit.
        micros = 1e6 * (whole - set_up if whole > set_up else whole) / _num_rounds(config, case)
        rows.append(case | {"round_us": micros} | measured)
    return study.from_records(rows)


def _num_rounds(config: Sizes, case: dict[str, Any]) -> int:
    if case["strategy"] == EVERYBODY:
        return config.everybody
    # Many rounds for many clients, so that the setup of a million clients is short in comparison.
    return int(case["size"] if case["axis"] == "num_rounds" else config.num_rounds[-(case["axis"] == "num_clients")])


def _task(config: Sizes, case: dict[str, Any]) -> Callable[..., Any]:
    """Return a function that runs one case on a new federation."""
    sizes = {axis: getattr(config, axis)[0] for axis in GROWING} | {case["axis"]: case["size"]}
    rng, K = np.random.default_rng(0), sizes["num_clients"]
    weights: Any = rng.uniform(1, 2, K)
    arrays = rng.uniform(1, 5, K), rng.standard_normal((K, sizes["dims"])), weights / weights.sum()
    strategy = _strategies(sizes["num_candidates"])[case["strategy"]]

    def run(num_rounds: int = _num_rounds(config, case)) -> Any:
        return ft.fedavg(
            ft.QuadraticFederation(*arrays), strategy, num_rounds=num_rounds, local_steps=sizes["local_steps"],
            step_size=0.01, rng=0, num_threads=1, record=("loss",), record_every=max(num_rounds, 1),
        )  # fmt: skip

    return run


def _measured(config: Sizes, case: dict[str, Any]) -> dict[str, float]:
    """Peak memory in megabytes; the kernels are compiled before."""
    run, rounds = _task(config, case), min(_num_rounds(config, case), 1_000)
    run(num_rounds=0)
    tracemalloc.start()
    try:
        run(num_rounds=rounds)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return {"memory_mb": peak / 1e6}


if __name__ == "__main__":
    print(first_call(sys.argv[1]))
