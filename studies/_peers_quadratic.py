"""What others would write for pow-d on isotropic quadratics: what the performance study times ours against."""

from typing import Any, NamedTuple

import numpy as np


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
