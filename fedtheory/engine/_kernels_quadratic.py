"""Kernels of quadratic federations: losses of some clients, local steps of one client, objective gap of a model."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (argument order: engine/contract.py)

from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.jit import compiled, inlined
from fedtheory._support.validate import Array
from fedtheory.engine.contract import Family, LocalWork, refuse_batches
from fedtheory.engine.local_steps import begin, descend, finish
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["QuadraticArrays", "quadratic_family"]


class QuadraticArrays(NamedTuple):
    """Arrays of a quadratic federation: one row per client, and one for the objective F.

    A row is curvature (1 number if isotropic, v if diagonal, v*v if full), minimum (0 for F), minimizer (v).
    """

    rows: Array
    objective: Array


def quadratic_family(fed: QuadraticFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop, with the fastest kernels for the requested local work."""
    refuse_batches(work)
    reports = work.track_losses
    nothing_else = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=reports)
    plain = work.correction.size == 0 and work[:-1] == nothing_else[:-1]
    rows, slots = fed.rows, _slots(fed, plain=plain, reports=reports)
    if fed.curvatures.ndim == 1 and not plain:
        rows = np.hstack([fed.diagonals, fed.minima[:, None], fed.centers])
    # The excess is computed from the exact minimizer, which avoids the cancellation in F(w) - F*.
    curvature = fed.weights @ np.ascontiguousarray(rows[:, : -1 - fed.dim])
    objective = np.concatenate([curvature, [0.0], fed.minimizer])[None]
    rows.setflags(write=False)
    return Family(QuadraticArrays(rows, objective), *slots, reference=fed.minimum)


def _slots(fed: QuadraticFederation, *, plain: bool, reports: bool) -> tuple[Any, Any, Any]:
    """Return the kernels for losses, training and excess."""
    if not fed.is_diagonal:
        return _full_losses, _full_train, _full_excess
    if fed.curvatures.ndim == 2 or not plain:
        return _diagonal_losses, _diagonal_train, _diagonal_excess
    return _isotropic_losses, _isotropic_report if reports else _isotropic_descend, _isotropic_excess


@compiled
def _isotropic_losses(problem, model, candidates, batch_size, rng, losses):
    for j in range(candidates.size):
        losses[j] = _isotropic_loss(problem.rows, candidates[j], model)


@inlined
def _isotropic_loss(rows, client, model):
    k = np.uint64(client)
    square = 0.0
    for i in range(model.size):
        offset = model[i] - rows[k, i + 2]
        square += offset * offset
    return 0.5 * rows[k, 0] * square + rows[k, 1]


@compiled
def _isotropic_excess(problem, model):
    return _isotropic_loss(problem.objective, 0, model)


@compiled
def _isotropic_descend(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    # A step of gradient descent moves every coordinate by the same share of its distance to the center.
    rows = problem.rows
    for j in range(chosen.size):
        k = np.uint64(chosen[j])
        share = 0.0
        for s in range(step_sizes.size):
            share += step_sizes[s] * rows[k, 0] * (1.0 - share)
        for i in range(server_model.size):
            updates[j, i] = share * (rows[k, i + 2] - server_model[i])


@compiled
def _isotropic_report(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    # All distances to the center shrink by the same factor, so the first loss determines all others.
    _isotropic_descend(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses)
    rows = problem.rows
    for j in range(chosen.size):
        k = np.uint64(chosen[j])
        left, squares = 1.0, 0.0
        for s in range(step_sizes.size):
            squares += left * left
            left -= step_sizes[s] * rows[k, 0] * left
        first = _isotropic_loss(rows, k, server_model) - rows[k, 1]
        mean_losses[j] = first * (squares / step_sizes.size) + rows[k, 1]


@compiled
def _diagonal_losses(problem, model, candidates, batch_size, rng, losses):
    for j in range(candidates.size):
        losses[j] = _diagonal_loss(problem.rows, candidates[j], model)


@inlined
def _diagonal_loss(rows, client, model):
    k, dim = np.uint64(client), model.size
    value = 0.0
    for i in range(dim):
        offset = model[i] - rows[k, dim + 1 + i]
        value += rows[k, i] * offset * offset
    return 0.5 * value + rows[k, dim]


@compiled
def _diagonal_excess(problem, model):
    return _diagonal_loss(problem.objective, 0, model)


@compiled
def _diagonal_train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    rows, dim = problem.rows, server_model.size
    for i in range(chosen.size):
        k, model, total = np.uint64(chosen[i]), updates[i], 0.0
        begin(server_model, velocity, model)
        for s in range(step_sizes.size):
            total += _diagonal_loss(rows, k, model) if work.track_losses else 0.0
            for j in range(dim):
                slope[j] = rows[k, j] * (model[j] - rows[k, dim + 1 + j])
            descend(slope, step_sizes[s], work, rng, server_model, velocity, model)
        finish(server_model, model)
        mean_losses[i] = total / step_sizes.size


@compiled
def _full_loss(row, model):
    # 1/2 (w - c)' H (w - c) + minimum, with H flattened at the beginning of the row and c at its end
    dim = model.size
    center = row[dim * dim + 1 :]
    value = 0.0
    for i in range(dim):
        slope = 0.0
        for j in range(dim):
            slope += row[i * dim + j] * (model[j] - center[j])
        value += slope * (model[i] - center[i])
    return 0.5 * value + row[dim * dim]


@compiled
def _full_losses(problem, model, candidates, batch_size, rng, losses):
    for j in range(candidates.size):
        losses[j] = _full_loss(problem.rows[candidates[j]], model)


@compiled
def _full_excess(problem, model):
    return _full_loss(problem.objective[0], model)


@compiled
def _full_train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    for i in range(chosen.size):
        row, model, total = problem.rows[chosen[i]], updates[i], 0.0
        begin(server_model, velocity, model)
        for s in range(step_sizes.size):
            total += _full_loss(row, model) if work.track_losses else 0.0
            _full_gradient(row, model, slope)
            descend(slope, step_sizes[s], work, rng, server_model, velocity, model)
        finish(server_model, model)
        mean_losses[i] = total / step_sizes.size


@inlined
def _full_gradient(row, model, slope):
    dim = model.size
    center = row[dim * dim + 1 :]
    for i in range(dim):
        slope[i] = 0.0
        for j in range(dim):
            slope[i] += row[i * dim + j] * (model[j] - center[j])
