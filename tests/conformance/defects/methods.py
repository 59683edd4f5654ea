"""Defects of methods with control variates in public code, and common mistakes."""

from functools import partial
from typing import Any

import numpy as np

from fedtheory.conformance import check_aggregation, check_method
from fedtheory.methods import EF21, ErrorFeedback, FedNova, RandK, Scaffnew, Scaffold, TopK


def scaffold(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault=""):
    """Train as SCAFFOLD does, but for one fault."""
    x, c = initial.copy(), np.ones_like(initial) if fault == "c not at the mean" else np.zeros_like(initial)
    variates = np.zeros((len(weights), x.size))
    shares = np.full(len(weights), 1 / len(weights)) if fault == "c by 1/K" else weights
    for _ in range(num_rounds):
        ends, before, old = [], c, variates.copy()
        for k, gradient in enumerate(gradients):
            y = x
            for _ in range(local_steps[k]):
                sign = -1 if fault == "wrong sign" else 1
                y = y - step_size * (gradient(y) + sign * (before - variates[k]))
            divisor = step_size * (1 if fault == "divided by epochs" else local_steps[k])
            reference = c if fault == "c of the clients before" else before
            variates[k] = variates[k] - reference + (x - y) / divisor
            if fault == "c of the clients before":
                c = c + shares[k] * (variates[k] - old[k])
            ends.append(y)
        if fault == "adds c_k+ itself":
            c = c + shares @ variates
        elif fault != "c of the clients before":
            c = c + shares @ (variates - old)
        x = (np.full(len(weights), 1 / len(weights)) if fault == "models by 1/K" else weights) @ np.array(ends)
    return x


def scaffnew(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault=""):
    """Train as Scaffnew with p = 1/2 does, but for one fault."""
    p = 0.5
    x, models = initial.copy(), np.tile(initial, (len(weights), 1))
    h = np.ones_like(models) if fault == "memory not at mean 0" else np.zeros_like(models)
    for _ in range(num_rounds):
        for k, gradient in enumerate(gradients):
            models[k] = models[k] - step_size * (gradient(models[k]) - h[k])
        falls = rng.random(len(weights)) < p if fault == "a coin each" else np.full(len(weights), rng.random() < p)
        if falls.any():
            x = weights @ models
            rate = step_size / p if fault == "gamma/p" else p / step_size
            sign = -1 if fault == "wrong sign" else 1
            for k in map(int, np.flatnonzero(falls)):
                h[k] = h[k] + sign * rate * (x - models[k])
                models[k] = x
    return x


def fednova(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault=""):
    """Train as FedNova does, but for one fault."""
    x = initial.copy()
    effective = 1.0 if fault == "without tau_eff" else weights @ local_steps
    for _ in range(num_rounds):
        moves = []
        for k, gradient in enumerate(gradients):
            y = x
            for _ in range(local_steps[k]):
                y = y - step_size * gradient(y)
            moves.append((y - x) / (1 if fault == "not normalized" else local_steps[k]))
        x = x + (1 if fault == "not normalized" else effective) * weights @ np.array(moves)
    return x


def _top_1(vector):
    arrived = np.zeros_like(vector)
    largest = np.argmax(np.abs(vector))
    arrived[largest] = vector[largest]
    return arrived


def error_feedback(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault=""):
    """Train with error feedback and the largest entry sent, but for one fault."""
    x, memories = initial.copy(), np.zeros((len(weights), initial.size))
    for _ in range(num_rounds):
        arrived = np.zeros_like(memories)
        for k, gradient in enumerate(gradients):
            sign = -1 if fault == "wrong sign" else 1
            wanted = step_size * gradient(x) + sign * memories[k]
            arrived[k] = _top_1(wanted)
            memories[k] = 0 if fault == "forgets" else wanted - arrived[k]
            if fault == "sends the gradient":
                arrived[k] = step_size * _top_1(gradient(x))
            if fault == "remembers what was sent":
                memories[k] = arrived[k]
        x = x - (np.full(len(weights), 1 / len(weights)) if fault == "by 1/K" else weights) @ arrived
    return x


def ef21(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault=""):
    """Train as EF21 does, the largest entry of a change sent, but for one fault."""
    x, known = initial.copy(), np.zeros((len(weights), initial.size))
    for _ in range(num_rounds):
        for k, gradient in enumerate(gradients):
            change = gradient(x) - known[k]
            known[k] = known[k] - _top_1(change) if fault == "wrong sign" else known[k] + _top_1(change)
            if fault == "replaces":
                known[k] = _top_1(change)
        x = x - step_size * (np.full(len(weights), 1 / len(weights)) if fault == "by 1/K" else weights) @ known
    return x


def _faulty(function, fault):
    one: Any = partial(function, fault=fault)
    one.__name__ = f"{function.__name__} {fault}"
    return one


def random_coordinates_without_scale(rng, vectors, weights):
    rule, table, _ = RandK(1).compress(vectors.shape[1])
    arrived = np.array(vectors, dtype=float)
    for row in arrived:
        rule(table, rng, row)
    return weights @ arrived


SCAFFOLD, SCAFFNEW, FEDNOVA = {"like": Scaffold()}, {"like": Scaffnew(0.5)}, {"like": FedNova()}
EF, EF_21 = {"like": ErrorFeedback(TopK(1))}, {"like": EF21(TopK(1))}
CAUGHT = [
    (_faulty(error_feedback, "wrong sign"), check_method, EF, "first rounds"),
    (_faulty(error_feedback, "forgets"), check_method, EF, "first rounds"),
    (_faulty(error_feedback, "sends the gradient"), check_method, EF, "first rounds"),
    (_faulty(error_feedback, "remembers what was sent"), check_method, EF, "first rounds"),
    (_faulty(error_feedback, "by 1/K"), check_method, EF, "first rounds"),
    (_faulty(ef21, "wrong sign"), check_method, EF_21, "limit"),
    (_faulty(ef21, "replaces"), check_method, EF_21, "limit"),
    (_faulty(ef21, "by 1/K"), check_method, EF_21, "limit"),
    (_faulty(scaffold, "wrong sign"), check_method, SCAFFOLD, "limit"),
    (_faulty(scaffold, "divided by epochs"), check_method, SCAFFOLD, "first rounds"),
    (_faulty(scaffold, "c not at the mean"), check_method, SCAFFOLD, "limit"),
    (_faulty(scaffold, "c by 1/K"), check_method, SCAFFOLD, "limit"),
    (_faulty(scaffold, "models by 1/K"), check_method, SCAFFOLD, "one local step"),
    (_faulty(scaffold, "adds c_k+ itself"), check_method, SCAFFOLD, "first rounds"),
    (_faulty(scaffold, "c of the clients before"), check_method, SCAFFOLD, "first rounds"),
    (_faulty(scaffnew, "wrong sign"), check_method, SCAFFNEW, "limit"),
    (_faulty(scaffnew, "gamma/p"), check_method, SCAFFNEW, "rate"),
    (_faulty(scaffnew, "a coin each"), check_method, SCAFFNEW, "limit"),
    (_faulty(scaffnew, "memory not at mean 0"), check_method, SCAFFNEW, "limit"),
    (_faulty(fednova, "not normalized"), check_method, FEDNOVA, "limit"),
    (_faulty(fednova, "without tau_eff"), check_method, FEDNOVA, "first rounds"),
    (random_coordinates_without_scale, check_aggregation, {}, "unbiased"),
]
RIGHT = [(error_feedback, EF), (ef21, EF_21), (ErrorFeedback(TopK(1)), EF), (EF21(TopK(1)), EF_21),
         (scaffold, SCAFFOLD), (scaffnew, SCAFFNEW), (fednova, FEDNOVA), (Scaffold(), SCAFFOLD),
         (Scaffnew(0.5), SCAFFNEW), (FedNova(), FEDNOVA)]  # fmt: skip
