"""Local steps of perceptrons for the performance study, against NumPy with BLAS, JAX and torch."""

import importlib.util
from functools import partial
from typing import Any

import numpy as np
from _timing import has_avx512, interleaved

from fedtheory import study

_SHARE = 1.0 if has_avx512() else 0.7
# Features, hidden units, batch, samples, and the factor of steps for which the start-up is negligible.
_SHAPES = {"MLP 784-200-10, batch 32": (784, 200, 32, 512, 3), "MLP 64-32-10, batch 10": (64, 32, 10, 200, 30)}
_GOALS = {"NumPy with BLAS": (1.0, 4.0), "JAX, double precision": (1.0, 1.5), "torch autograd": (1.0, 8.0)}
GOALS = {(label, peer): goals[place] * _SHARE for place, label in enumerate(_SHAPES) for peer, goals in _GOALS.items()}


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time one step of stochastic gradient descent; for both shapes ours uses its kernels without BLAS."""
    import fedtheory as ft
    from fedtheory.federation.client_data import FederatedData
    from fedtheory.selection.full import Full

    found = []
    for label, (features, hidden, batch, samples, times) in _SHAPES.items():
        rng = np.random.default_rng(config.seed)
        x, y = rng.normal(size=(samples, features)), rng.integers(10, size=samples)
        fed = ft.PerceptronFederation(FederatedData.from_clients([(x, y)], num_classes=10), hidden=(hidden,))
        steps = times * config.perceptron_steps
        ours = partial(
            ft.fedavg, fed, Full(), num_rounds=1, local_steps=steps, step_size=0.01, batch_size=batch,
            initial=fed.initial(0), record=(), num_threads=1,
        )  # fmt: skip
        programs = {"NumPy with BLAS": numpy_steps}
        if importlib.util.find_spec("jax"):
            programs["JAX, double precision"] = jax_steps()
        if importlib.util.find_spec("torch"):
            programs["torch autograd"] = torch_steps
        start = _matrices(fed.initial(0), fed.shapes)
        # On all samples every program takes the same steps.
        exact = ft.fedavg(
            fed, Full(), num_rounds=1, local_steps=3, step_size=0.01, initial=fed.initial(0), record=("models",)
        ).models[0, 1]
        apart = {
            name: float(np.abs(_flat(program(start, x, y, samples, 3)) - exact).max())
            for name, program in programs.items()
        }
        ours()
        timed = {name: (partial(program, start, x, y, batch, steps), steps) for name, program in programs.items()}
        rows = interleaved(label, ours, steps, timed, progress(range(config.repetitions), label))
        found += [row | {"agreement": apart[row["peer"]] / 1e-10} for row in rows]
    return found


def _matrices(model: Any, shapes: Any) -> list[Any]:
    cut = shapes[0][0] * shapes[0][1]
    return [model[:cut].reshape(shapes[0]).copy(), model[cut:].reshape(shapes[1]).copy()]


def _flat(matrices: list[Any]) -> Any:
    return np.concatenate([np.asarray(one).ravel() for one in matrices])


def _batch(samples: int, batch: int, rng: np.random.Generator) -> Any:
    return np.arange(samples) if batch == samples else rng.permutation(samples)[:batch]


def numpy_steps(start: list[Any], x: Any, y: Any, batch: int, steps: int) -> list[Any]:
    """Write the backward pass by hand."""
    (first, last), rng = (one.copy() for one in start), np.random.default_rng(0)
    rows = np.arange(batch)
    inputs = np.column_stack([x, np.ones(len(x))])
    hidden = np.ones((batch, last.shape[1]))
    for _ in range(steps):
        chosen = _batch(len(x), batch, rng)
        a = inputs[chosen]
        np.maximum(a @ first.T, 0.0, out=hidden[:, :-1])
        q = hidden @ last.T
        np.exp(q - q.max(axis=1, keepdims=True), out=q)
        q /= q.sum(axis=1, keepdims=True)
        q[rows, y[chosen]] -= 1.0
        q /= batch
        back = (q @ last[:, :-1]) * (hidden[:, :-1] > 0)
        last -= 0.01 * (q.T @ hidden)
        first -= 0.01 * (back.T @ a)
    return [first, last]


def jax_steps() -> Any:
    """Compile all steps, a scan over batches drawn with replacement unless they hold all samples."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def loss(matrices: Any, a: Any, labels: Any) -> Any:
        hidden = jax.nn.relu(a @ matrices[0].T)
        logits = jnp.column_stack([hidden, jnp.ones(len(a))]) @ matrices[1].T
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()

    @partial(jax.jit, static_argnums=(3, 4))
    def trained(start: Any, x: Any, y: Any, batch: int, steps: int) -> Any:
        def step(matrices: Any, key: Any) -> Any:
            every = batch == len(y)
            chosen = jnp.arange(batch) if every else jax.random.randint(key, (batch,), 0, len(y))
            slopes = jax.grad(loss)(matrices, x[chosen], y[chosen])
            return [one - 0.01 * slope for one, slope in zip(matrices, slopes, strict=True)], None

        return jax.lax.scan(step, start, jax.random.split(jax.random.key(0), steps))[0]

    def program(start: list[Any], x: Any, y: Any, batch: int, steps: int) -> list[Any]:
        inputs = np.column_stack([x, np.ones(len(x))])
        found = trained([jnp.asarray(one) for one in start], inputs, y, batch, steps)
        return [np.asarray(one) for one in found]

    return program


def torch_steps(start: list[Any], x: Any, y: Any, batch: int, steps: int) -> list[Any]:
    """Two linear maps, cross-entropy, backward pass and SGD."""
    import torch

    torch.set_num_threads(1)
    inputs, labels = torch.from_numpy(np.column_stack([x, np.ones(len(x))])), torch.from_numpy(y)
    matrices = [torch.from_numpy(one.copy()).requires_grad_(True) for one in start]
    optimizer, rng, ones = torch.optim.SGD(matrices, lr=0.01), np.random.default_rng(0), torch.ones((batch, 1)).double()
    for _ in range(steps):
        chosen = torch.from_numpy(_batch(len(x), batch, rng))
        optimizer.zero_grad()
        hidden = torch.cat([torch.relu(inputs[chosen] @ matrices[0].T), ones], dim=1)
        torch.nn.functional.cross_entropy(hidden @ matrices[1].T, labels[chosen]).backward()
        optimizer.step()
    return [one.detach().numpy() for one in matrices]
