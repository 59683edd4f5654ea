"""Workload B of the performance study: pow-d on softmax regression, compared with alternatives."""

import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _timing import has_avx512, interleaved

import fedtheory as ft
from fedtheory import study

_LABEL = "softmax"
# Vectors of half this length gain less.
WITHOUT_AVX512 = 0.7
_SHARE = 1.0 if has_avx512() else WITHOUT_AVX512
GOALS = {
    (_LABEL, "NumPy"): 5.0 * _SHARE,
    (_LABEL, "NumPy batched over clients"): 3.5 * _SHARE,
    (_LABEL, "JAX, double precision"): 1.6 * _SHARE,
    (_LABEL, "torch autograd"): 13.0 * _SHARE,
}


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one round: three clients out of six candidates take 30 steps on batches of 50, then the global loss."""
    # 56 samples are 50 for training.
    data = ft.datasets.synthetic(1, 1, num_clients=30, rng=config.seed, min_samples=56)
    fed, rounds = ft.SoftmaxFederation(data), config.softmax_rounds
    ours = partial(
        ft.fedavg, fed, ft.selection.PowerOfChoice(3, 6), num_rounds=rounds, local_steps=30, step_size=0.05,
        batch_size=50, record=("loss",), num_threads=1, rng=config.seed,
    )  # fmt: skip
    x, y, offsets, p = (np.array(part) for part in (fed.inputs, data.labels, data.offsets, fed.weights))
    programs = _programs(Workload(x, y, offsets, p, data.num_classes, 3, 6, 30, 50, 0.05), rounds)
    means = np.log(ours(num_replicates=16).loss).mean(axis=1)
    agreement = {name: _distance(means, program(config.seed)) for name, program in programs.items()}
    repetitions = progress(range(config.repetitions), "softmax")
    timed = {name: (partial(program, config.seed), rounds) for name, program in programs.items()}
    return [
        row | {"agreement": agreement[row["peer"]]} for row in interleaved(_LABEL, ours, rounds, timed, repetitions)
    ]


def _distance(means: Any, losses: Any) -> float:
    """Distance of one run's mean log-loss from those of ours, in standard errors of one more run."""
    error = means.std(ddof=1) * np.sqrt(1 + 1 / means.size)
    return float(abs(np.log(losses).mean() - means.mean()) / error)


class Workload(NamedTuple):
    """Reference workload B: samples of all clients (client k owns offsets[k]:offsets[k + 1]), and the run."""

    inputs: Any
    labels: Any
    offsets: Any
    p: Any
    num_classes: int
    num_selected: int
    num_candidates: int
    local_steps: int
    batch_size: int
    step_size: float

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a model."""
        return self.num_classes, int(self.inputs.shape[1])


def _programs(work: Workload, num_rounds: int) -> dict[str, Any]:
    """Programs that take a seed and return the global loss before each round and after the last."""
    found = {
        "NumPy": lambda seed: numpy_loop(work, num_rounds, np.random.default_rng(seed)),
        "NumPy batched over clients": lambda seed: numpy_batched(work, num_rounds, np.random.default_rng(seed)),
    }
    if importlib.util.find_spec("jax"):
        found["JAX, double precision"] = jax_rounds(work, num_rounds)
    if importlib.util.find_spec("torch"):
        found["torch autograd"] = torch_loop(work, num_rounds)
    return found


def _sample_losses(logits: Any, labels: Any) -> Any:
    top = logits.max(axis=1)
    return top + np.log(np.exp(logits - top[:, None]).sum(axis=1)) - logits[np.arange(len(labels)), labels]


def _client_losses(work: Workload, w: Any) -> Any:
    """All F_k, evaluated once a round for recording and for selection."""
    sums = np.add.reduceat(_sample_losses(work.inputs @ w.T, work.labels), work.offsets[:-1])
    return sums / np.diff(work.offsets)


def _cohort(work: Workload, losses: Any, rng: np.random.Generator) -> Any:
    candidates = rng.choice(work.p.size, work.num_candidates, replace=False, p=work.p)
    return candidates[np.argpartition(-losses[candidates], work.num_selected - 1)[: work.num_selected]]


def _batches(work: Workload, k: int, rng: np.random.Generator) -> Any:
    """Rows of the batches of all local steps, each drawn without replacement, shape (tau, b)."""
    first, last = work.offsets[k], work.offsets[k + 1]
    return np.stack([first + rng.permutation(last - first)[: work.batch_size] for _ in range(work.local_steps)])


def numpy_loop(work: Workload, num_rounds: int, rng: np.random.Generator) -> Any:
    """Loops over rounds, clients and steps, NumPy inside a step."""
    w, losses = np.zeros(work.shape), np.empty(num_rounds + 1)
    ones = np.arange(work.batch_size)
    for t in range(num_rounds):
        of_clients = _client_losses(work, w)
        losses[t] = work.p @ of_clients
        returned = []
        for k in _cohort(work, of_clients, rng):
            local = w.copy()
            for rows in _batches(work, k, rng):
                x, logits = work.inputs[rows], work.inputs[rows] @ local.T
                q = np.exp(logits - logits.max(axis=1, keepdims=True))
                q /= q.sum(axis=1, keepdims=True)
                q[ones, work.labels[rows]] -= 1
                local -= work.step_size / work.batch_size * (q.T @ x)
            returned.append(local)
        w = np.mean(returned, axis=0)
    losses[num_rounds] = work.p @ _client_losses(work, w)
    return losses


def numpy_batched(work: Workload, num_rounds: int, rng: np.random.Generator) -> Any:
    """Loops over rounds and steps; the clients of a round side by side in every NumPy call."""
    w, losses = np.zeros(work.shape), np.empty(num_rounds + 1)
    onehot = np.eye(work.num_classes)[work.labels]
    for t in range(num_rounds):
        of_clients = _client_losses(work, w)
        losses[t] = work.p @ of_clients
        rows = np.stack([_batches(work, k, rng) for k in _cohort(work, of_clients, rng)], axis=1)
        local = np.repeat(w[None], work.num_selected, axis=0)
        for batch in rows:
            x = work.inputs[batch]
            logits = x @ local.transpose(0, 2, 1)
            q = np.exp(logits - logits.max(axis=2, keepdims=True))
            q /= q.sum(axis=2, keepdims=True)
            q -= onehot[batch]
            local -= work.step_size / work.batch_size * (q.transpose(0, 2, 1) @ x)
        w = local.mean(axis=0)
    losses[num_rounds] = work.p @ _client_losses(work, w)
    return losses


def jax_rounds(work: Workload, num_rounds: int) -> Any:
    """Compile a round (scan over steps, vmap over clients) in double precision; batches are drawn with replacement.

    A draw without replacement would need a permutation of the largest client per step, which is much slower.
    """
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    x, y, p = jnp.asarray(work.inputs), jnp.asarray(work.labels), jnp.asarray(work.p)
    offsets = jnp.asarray(work.offsets)
    owners = jnp.repeat(jnp.arange(work.p.size), jnp.diff(offsets), total_repeat_length=len(work.labels))
    shape = (work.local_steps, work.batch_size)

    def client_losses(w: Any) -> Any:
        log_q = jax.nn.log_softmax(x @ w.T)
        picked = -jnp.take_along_axis(log_q, y[:, None], axis=1)[:, 0]
        return jax.ops.segment_sum(picked, owners, num_segments=work.p.size) / jnp.diff(offsets)

    def trained(w: Any, k: Any, key: Any) -> Any:
        chance = jax.random.uniform(key, shape)
        rows = offsets[k] + (chance * (offsets[k + 1] - offsets[k])).astype(int)

        def step(local: Any, batch: Any) -> Any:
            q = jax.nn.softmax(x[batch] @ local.T) - jax.nn.one_hot(y[batch], work.num_classes, dtype=x.dtype)
            return local - work.step_size / work.batch_size * (q.T @ x[batch]), None

        return jax.lax.scan(step, w, rows)[0]

    def one_round(w: Any, key: Any) -> Any:
        losses = client_losses(w)
        first, second = jax.random.split(key)
        gumbel = jax.random.gumbel(first, p.shape) + jnp.log(p)
        candidates = jax.lax.top_k(gumbel, work.num_candidates)[1]
        cohort = candidates[jax.lax.top_k(losses[candidates], work.num_selected)[1]]
        keys = jax.random.split(second, work.num_selected)
        return jax.vmap(trained, (None, 0, 0))(w, cohort, keys).mean(axis=0), p @ losses

    def program(keys: Any) -> Any:
        w, losses = jax.lax.scan(one_round, jnp.zeros(work.shape), keys)
        return jnp.append(losses, p @ client_losses(w))

    compiled = jax.jit(program)

    def losses(seed: int) -> Any:
        return np.asarray(compiled(jax.random.split(jax.random.key(seed), num_rounds)).block_until_ready())

    losses(0)
    return losses


def torch_loop(work: Workload, num_rounds: int) -> Any:
    """Loops over rounds, clients and steps with a linear layer, cross-entropy, backward pass and SGD."""
    import torch

    torch.set_num_threads(1)
    x, y = torch.from_numpy(work.inputs), torch.from_numpy(work.labels)

    def client_losses(w: Any) -> Any:
        with torch.no_grad():
            each = torch.nn.functional.cross_entropy(x @ w.T, y, reduction="none").numpy()
        return np.add.reduceat(each, work.offsets[:-1]) / np.diff(work.offsets)

    def trained(w: Any, k: int, rng: np.random.Generator) -> Any:
        local = w.clone().requires_grad_(True)
        optimizer = torch.optim.SGD([local], lr=work.step_size)
        for rows in torch.from_numpy(_batches(work, k, rng)):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(x[rows] @ local.T, y[rows]).backward()
            optimizer.step()
        return local.detach()

    def losses(seed: int) -> Any:
        rng, found = np.random.default_rng(seed), np.empty(num_rounds + 1)
        w = torch.zeros(work.shape, dtype=torch.float64)
        for t in range(num_rounds):
            of_clients = client_losses(w)
            found[t] = work.p @ of_clients
            w = torch.stack([trained(w, k, rng) for k in _cohort(work, of_clients, rng)]).mean(dim=0)
        found[num_rounds] = work.p @ client_losses(w)
        return found

    return losses
