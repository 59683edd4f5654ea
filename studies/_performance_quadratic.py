"""Workload A of the performance study: pow-d on isotropic quadratics, compared with alternatives."""

# mypy: allow-untyped-decorators, allow-untyped-calls
import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _bare_loops import bare_rounds
from _timing import interleaved
from numba import njit

import fedtheory as ft
from fedtheory import study

_FIRST, _FLOOR = "first attempt: NumPy loop", "bare loops"
_GOALS = {
    _FIRST: (150.0, 50.0),
    "NumPy, rounds drawn ahead": (3.0, 3.0),
    "numba loop": (1 / 1.3, 1 / 1.3),
    "JAX, rounds drawn ahead": (1.0, 1.0),
    "two threads": (1 / 1.7, 1 / 1.7),
}
GOALS = {(label, peer): both[i] for peer, both in _GOALS.items() for i, label in enumerate(("K = 30", "K = 100"))}
# Number of consecutive calls, since a run takes milliseconds; the slowest program runs once.
_CALLS = 10
# Rounds whose candidates NumPy draws in one call: they stay in the cache.
_BLOCK = 25


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one round of one replicate, for every number of clients."""
    found = []
    for num_clients in config.num_clients:
        label = f"K = {num_clients}"
        ours, peers, agreement = _programs(config, num_clients)
        size = config.num_rounds * config.num_replicates
        peers[_FLOOR] = partial(bare_rounds, num_clients, size)
        repetitions = progress(range(config.repetitions), f"quadratics, {label}")
        timed = {name: (partial(_repeat, program), _CALLS * size) for name, program in peers.items()}
        timed[_FIRST] = peers[_FIRST], size
        *rows, floor = interleaved(label, partial(_repeat, ours), _CALLS * size, timed, repetitions)
        found += [row | {"agreement": agreement[row["peer"]], "floor": floor["ratio"]} for row in rows]
    return found


def _repeat(program: Any) -> None:
    for _ in range(_CALLS):
        program()


def _programs(config: Any, num_clients: int) -> tuple[Any, dict[str, Any], dict[str, float]]:
    fed = ft.datasets.power_of_choice_quadratics(num_clients, 5, config.seed)
    m, d = num_clients // 10, 3 * num_clients // 10
    ours = partial(
        ft.fedavg, fed, ft.selection.PowerOfChoice(m, d), num_rounds=config.num_rounds, local_steps=2, step_size=2e-5,
        num_replicates=config.num_replicates, rng=config.seed,
    )  # fmt: skip
    one, two = partial(ours, num_threads=1), partial(ours, num_threads=2)
    h = np.array(fed.curvatures)
    work = Workload(h, np.array(fed.centers), np.array(fed.weights), fed.minimizer, m, d, 2, 2e-5)
    size, rng = (config.num_rounds, config.num_replicates), np.random.default_rng(config.seed)
    peers: dict[str, Any] = {
        _FIRST: partial(numpy_loop, work, *size, rng),
        "NumPy, rounds drawn ahead": partial(numpy_batched, work, *size, rng),
        "numba loop": partial(numba_loop, work, *size, rng),
    }
    if importlib.util.find_spec("jax"):
        peers["JAX, rounds drawn ahead"] = partial(jax_scan(work, *size), config.seed)
    run = one()
    agreement = {name: _distance(run, program()) for name, program in peers.items()}
    agreement["two threads"] = 0.0 if run.gap.tobytes() == two().gap.tobytes() else np.inf
    return one, peers | {"two threads": two}, agreement


def _distance(run: Any, gaps: Any) -> float:
    """Distance of two mean gaps after the last round, in standard errors."""
    mine = run.gap[:, -1]
    error = mine.std(ddof=1) * np.sqrt(1 / mine.size + 1 / len(gaps))
    return float(abs(mine.mean() - gaps[:, -1].mean()) / error)


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

    @property
    def shares(self) -> Any:
        """Share of the way to its center that each client's local steps cover; together they are one affine map."""
        return 1 - (1 - self.step_size * self.h) ** self.local_steps


def numpy_loop(work: Workload, num_rounds: int, num_replicates: int, rng: np.random.Generator) -> Any:
    """NumPy inside a round, Python around rounds and replicates; gaps of shape (num_replicates, num_rounds + 1)."""
    return np.array([_one_replicate(work, num_rounds, rng) for _ in range(num_replicates)])


def _one_replicate(work: Workload, num_rounds: int, rng: np.random.Generator) -> Any:
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
    return 0.5 * work.mean_curvature * np.sum((models[..., :dim] - work.minimizer) ** 2, axis=2).T


def numba_loop(work: Workload, num_rounds: int, num_replicates: int, rng: np.random.Generator) -> Any:
    """Replicates one after the other in one compiled loop; gaps as above."""
    gaps = np.empty((num_replicates, num_rounds + 1))
    table = alias_table(work.p)
    for gap, own in zip(gaps, rng.spawn(num_replicates), strict=True):
        compiled_rounds(
            work.h, work.c, work.shares, *table, work.mean_curvature, work.minimizer, work.num_selected,
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


@njit(nogil=True)
def compiled_rounds(
    h: Any, c: Any, shares: Any, own: Any, other: Any, curvature: float, minimizer: Any, m: int, d: int, rng: Any,
    gap: Any,
) -> None:  # fmt: skip
    """Compute one replicate in a direct implementation; ``gap`` receives the gap of each round."""
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


def jax_scan(work: Workload, num_rounds: int, num_replicates: int) -> Any:
    """Compile a scan over rounds, mapped over replicates, in double precision; returns a function of a seed.

    Candidates of all rounds are drawn ahead, in single precision, for which ``top_k`` is several times as fast.
    """
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    h, c, shares, minimizer = (jnp.asarray(x) for x in (work.h, work.c, work.shares, work.minimizer))
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
        models = jnp.concatenate([models, last[None]])
        return 0.5 * work.mean_curvature * jnp.sum((models - minimizer) ** 2, axis=1)

    program = jax.jit(jax.vmap(one_replicate))

    def gaps(seed: int) -> Any:
        return program(jax.random.split(jax.random.key(seed), num_replicates)).block_until_ready()

    gaps(0)
    return gaps
