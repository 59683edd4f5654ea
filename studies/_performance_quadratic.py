"""Workload A of the performance study: pow-d on isotropic quadratics, against what others would write."""

import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _timing import Programs, interleaved

import fedtheory as ft
from fedtheory import study

GOALS = {
    ("K = 30", "NumPy loop"): 150.0,
    ("K = 30", "NumPy batched"): 7.0,
    ("K = 30", "JAX scan + vmap"): 10.0,
    ("K = 30", "two threads"): 1 / 1.7,
    ("K = 100", "NumPy loop"): 50.0,
    ("K = 100", "NumPy batched"): 3.0,
    ("K = 100", "JAX scan + vmap"): 12.0,
    ("K = 100", "two threads"): 1 / 1.7,
}


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one round of one replicate, for every number of clients."""
    found = []
    for num_clients in config.num_clients:
        label = f"K = {num_clients}"
        ours, peers, agreement = _programs(config, num_clients)
        repetitions = progress(range(config.repetitions), f"quadratics, {label}")
        rows = interleaved(label, ours, config.num_rounds * config.num_replicates, peers, repetitions)
        found += [row | {"agreement": agreement[row["peer"]]} for row in rows]
    return found


def _programs(config: Any, num_clients: int) -> tuple[Any, Programs, dict[str, float]]:
    fed = ft.datasets.power_of_choice_quadratics(num_clients, 5, config.seed)
    m, d = num_clients // 10, 3 * num_clients // 10
    ours = partial(
        ft.fedavg, fed, ft.selection.PowerOfChoice(m, d), num_rounds=config.num_rounds, local_steps=2, step_size=2e-5,
        num_replicates=config.num_replicates, rng=config.seed,
    )  # fmt: skip
    two = partial(ours, num_threads=2)
    h = np.array(fed.curvatures)
    work = Workload(h, np.array(fed.centers), np.array(fed.weights), fed.minimizer, m, d, 2, 2e-5)
    rng, rounds, replicates = np.random.default_rng(config.seed), config.batched_rounds, config.num_replicates
    peers: dict[str, Any] = {
        "NumPy loop": (partial(numpy_loop, work, config.loop_rounds, rng), config.loop_rounds),
        "NumPy batched": (partial(numpy_batched, work, rounds, replicates, rng), rounds * replicates),
    }
    if importlib.util.find_spec("jax"):
        peers["JAX scan + vmap"] = (partial(jax_scan(work, rounds, replicates), config.seed), rounds * replicates)
    one = ours(num_threads=1)
    agreement = {name: _distance(one, program()) for name, (program, _) in peers.items()}
    agreement["two threads"] = 0.0 if one.gap.tobytes() == two().gap.tobytes() else np.inf
    return partial(ours, num_threads=1), {**peers, "two threads": (two, config.num_rounds * replicates)}, agreement


def _distance(run: Any, gaps: Any) -> float:
    """Distance of two mean gaps at the last round of both, in standard errors."""
    gaps = np.atleast_2d(gaps)
    last = min(gaps.shape[1], run.gap.shape[1]) - 1
    mine = run.gap[:, last]
    error = mine.std(ddof=1) * np.sqrt(1 / mine.size + 1 / len(gaps))
    return float(abs(mine.mean() - gaps[:, last].mean()) / error)


class Workload(NamedTuple):
    """Reference workload A: arrays of an isotropic federation, and the run."""

    h: Any
    c: Any
    p: Any
    minimizer: Any
    num_selected: int
    num_candidates: int
    local_steps: int
    step_size: float

    @property
    def mean_curvature(self) -> float:
        """Curvature of F."""
        return float(self.p @ self.h)


def numpy_loop(work: Workload, num_rounds: int, rng: np.random.Generator) -> Any:
    """One replicate, NumPy inside a round, Python between rounds; gaps of shape (num_rounds + 1,)."""
    w, gaps = np.zeros(work.c.shape[1]), np.empty(num_rounds + 1)
    for t in range(num_rounds):
        gaps[t] = 0.5 * work.mean_curvature * np.sum((w - work.minimizer) ** 2)
        candidates = rng.choice(work.p.size, work.num_candidates, replace=False, p=work.p)
        losses = 0.5 * work.h[candidates] * np.sum((w - work.c[candidates]) ** 2, axis=1)
        chosen = candidates[np.argpartition(-losses, work.num_selected - 1)[: work.num_selected]]
        local = np.repeat(w[None], work.num_selected, axis=0)
        for _ in range(work.local_steps):
            local -= work.step_size * work.h[chosen, None] * (local - work.c[chosen])
        w = local.mean(axis=0)
    gaps[num_rounds] = 0.5 * work.mean_curvature * np.sum((w - work.minimizer) ** 2)
    return gaps


def numpy_batched(work: Workload, num_rounds: int, num_replicates: int, rng: np.random.Generator) -> Any:
    """All replicates side by side in every NumPy call; gaps of shape (num_replicates, num_rounds + 1)."""
    w, gaps = np.zeros((num_replicates, work.c.shape[1])), np.empty((num_replicates, num_rounds + 1))
    rows = np.arange(num_replicates)[:, None]
    for t in range(num_rounds):
        gaps[:, t] = 0.5 * work.mean_curvature * np.sum((w - work.minimizer) ** 2, axis=1)
        # The d smallest exponential clocks are a weighted draw without replacement.
        clocks = rng.exponential(size=(num_replicates, work.p.size)) / work.p
        candidates = np.argpartition(clocks, work.num_candidates - 1, axis=1)[:, : work.num_candidates]
        losses = 0.5 * work.h[candidates] * np.sum((w[:, None] - work.c[candidates]) ** 2, axis=2)
        chosen = candidates[rows, np.argpartition(-losses, work.num_selected - 1, axis=1)[:, : work.num_selected]]
        local = np.repeat(w[:, None], work.num_selected, axis=1)
        for _ in range(work.local_steps):
            local -= work.step_size * work.h[chosen][..., None] * (local - work.c[chosen])
        w = local.mean(axis=1)
    gaps[:, num_rounds] = 0.5 * work.mean_curvature * np.sum((w - work.minimizer) ** 2, axis=1)
    return gaps


def jax_scan(work: Workload, num_rounds: int, num_replicates: int) -> Any:
    """Compile a scan over rounds, mapped over replicates, in double precision; returns a function of a seed."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    h, c, log_p, minimizer = (jnp.asarray(x) for x in (work.h, work.c, np.log(work.p), work.minimizer))

    def one_round(w: Any, key: Any) -> Any:
        gumbel = jax.random.gumbel(key, log_p.shape) + log_p
        candidates = jax.lax.top_k(gumbel, work.num_candidates)[1]
        losses = 0.5 * h[candidates] * jnp.sum((w - c[candidates]) ** 2, axis=1)
        chosen = candidates[jax.lax.top_k(losses, work.num_selected)[1]]
        local = jnp.repeat(w[None], work.num_selected, axis=0)
        for _ in range(work.local_steps):
            local = local - work.step_size * h[chosen, None] * (local - c[chosen])
        return local.mean(axis=0), 0.5 * work.mean_curvature * jnp.sum((w - minimizer) ** 2)

    def one_replicate(key: Any) -> Any:
        return jax.lax.scan(one_round, jnp.zeros(work.c.shape[1]), jax.random.split(key, num_rounds))[1]

    program = jax.jit(jax.vmap(one_replicate))

    def gaps(seed: int) -> Any:
        return program(jax.random.split(jax.random.key(seed), num_replicates)).block_until_ready()

    gaps(0)
    return gaps
