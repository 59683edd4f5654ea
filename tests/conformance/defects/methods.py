"""Defects of methods with control variates in public code, and common mistakes."""

from functools import partial
from typing import Any

import numpy as np

from fedtheory.conformance import check_aggregation, check_method
from fedtheory.methods import (
    EF21,
    Delayed,
    ErrorFeedback,
    FedAvgM,
    FedDyn,
    FedNova,
    FedOpt,
    RandK,
    Scaffnew,
    Scaffold,
    TopK,
)


def _ends(gradients, weights, x, local_steps, step_size, cohort, correct=lambda k, y: 0):
    """Return the cohort's models after their local steps."""
    ends = []
    for k in cohort:
        y = x
        for _ in range(local_steps[k]):
            y = y - step_size * (gradients[k](y) + correct(k, y))
        ends.append(y)
    return np.array(ends)


def scaffold(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault=""):
    """Train as SCAFFOLD does, but for one fault."""
    x, c = initial.copy(), np.ones_like(initial) if fault == "c not at the mean" else np.zeros_like(initial)
    variates = np.zeros((len(weights), x.size))
    shares = np.full(len(weights), 1 / len(weights)) if fault == "c by 1/K" else weights
    sign = -1 if fault == "wrong sign" else 1
    for _ in range(num_rounds):
        before, old = c, variates.copy()

        def correct(k, y, before=before, old=old):
            return sign * (before - old[k])

        ends = _ends(gradients, weights, x, local_steps, step_size, range(len(weights)), correct)
        for k, y in enumerate(ends):
            divisor = step_size * (1 if fault == "divided by epochs" else local_steps[k])
            reference = c if fault == "c of the clients before" else before
            variates[k] = old[k] - reference + (x - y) / divisor
            if fault == "c of the clients before":
                c = c + shares[k] * (variates[k] - old[k])
        if fault == "adds c_k+ itself":
            c = c + shares @ variates
        elif fault != "c of the clients before":
            c = c + shares @ (variates - old)
        x = (np.full(len(weights), 1 / len(weights)) if fault == "models by 1/K" else weights) @ ends
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
        moves = _ends(gradients, weights, x, local_steps, step_size, range(len(weights))) - x
        x = x + weights @ (moves if fault == "not normalized" else effective * moves / np.array(local_steps)[:, None])
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


def scaffold_of_cohorts(gradients, weights, initial, num_rounds, local_steps, step_size, rng, cohorts, fault=""):
    """Train as SCAFFOLD does with the clients of the cohorts, but for one fault."""
    x, c, variates = initial.copy(), np.zeros_like(initial), np.zeros((len(weights), initial.size))
    for cohort in cohorts:
        updates, changes = [], []
        for k in cohort:
            y = x
            for _ in range(local_steps[k]):
                y = y - step_size * (gradients[k](y) + c - variates[k])
            changes.append((x - y) / (local_steps[k] * step_size) - c)
            updates.append(y - x)
            variates[k] = variates[k] + changes[-1]
        if fault == "variates of idle clients are lost":
            variates[np.setdiff1d(np.arange(len(weights)), cohort)] = 0
        x = x + np.mean(updates, axis=0)
        c = c + np.sum(changes, axis=0) / len(cohort if fault == "c by 1/|S|" else weights)
    return x


def fedavgm(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault="", nesterov=False):
    """Train as FedAvgM with beta = 1/2 and s = 3/4 does, but for one fault."""
    beta, s, x, v = 0.5, 0.75, initial.copy(), np.zeros_like(initial)
    for _ in range(num_rounds):
        mean = weights @ _ends(gradients, weights, x, local_steps, step_size, range(len(weights)))
        v = np.zeros_like(v) if fault == "velocity reset in every round" else v
        v = beta * v + ((1 - beta) if fault == "damped" else s if fault == "s twice" else 1) * (mean - x)
        if fault == "momentum of the models":
            x = beta * x + (1 - beta) * mean
        elif fault == "wrong sign":
            x = x - s * v
        else:
            x = x + s * (mean - x + beta * v if nesterov else v)
    return x


def fedopt(
    gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault="", rule="adam", bias_correction=False
):
    """Train as FedOpt with s = 1/10, beta1 = 1/2, beta2 = 3/4, epsilon = v_0 = 1/100 does, but for one fault."""
    s, beta1, beta2, epsilon, x = 0.1, 0.5, 0.75, 0.01, initial.copy()
    m, v = np.zeros_like(x), np.full_like(x, epsilon)
    for t in range(1, num_rounds + 1):
        d = weights @ _ends(gradients, weights, x, local_steps, step_size, range(len(weights))) - x
        if fault == "state lost between rounds":
            m, v = np.zeros_like(x), np.full_like(x, epsilon)
        m = d if fault == "update for momentum" else beta1 * m + (1 - beta1) * d
        square = m**2 if fault == "square of m" else d**2
        if rule == "adagrad":
            v = v + square
        elif rule == "yogi":
            v = v - (1 - beta2) * square * np.sign(v - square)
        else:
            v = beta2 * v + (1 - beta2) * square
        exponent = t + 1 if fault == "exponent of the next round" else t
        first, second = (1 - beta1**exponent, 1 - beta2**exponent) if bias_correction else (1, 1)
        root = np.sqrt(v / second + epsilon) if fault == "epsilon inside" else np.sqrt(v / second) + epsilon
        x = x - s * m / first / root if fault == "wrong sign" else x + s * m / first / root
    return x


def delayed(gradients, weights, initial, num_rounds, local_steps, step_size, rng, delay=1):
    """Train with updates that are some rounds old."""
    models = [initial.copy()]
    for t in range(num_rounds):
        old = models[max(t - delay, 0)]
        ends = _ends(gradients, weights, old, local_steps, step_size, range(len(weights)))
        models.append(models[-1] + weights @ ends - old)
    return models[-1]


def local_momentum(gradients, weights, initial, num_rounds, local_steps, step_size, rng, fault=""):
    """Train as federated averaging with local momentum 1/2 does, but for one fault."""
    beta, x, velocities = 0.5, initial.copy(), np.zeros((len(weights), initial.size))
    for _ in range(num_rounds):
        ends = []
        for k, gradient in enumerate(gradients):
            y, v = x, velocities[k] if fault == "velocity kept between rounds" else np.zeros_like(x)
            for _ in range(local_steps[k]):
                v = beta * v + (1 - beta if fault == "damped" else 1) * gradient(y)
                y = y - step_size * v
            velocities[k] = v
            ends.append(y)
        x = weights @ np.array(ends)
    return x


def averaging_of_cohorts(gradients, weights, initial, num_rounds, local_steps, step_size, rng, cohorts, fault=""):
    """Train as federated averaging does with the clients of the cohorts; idle clients may count with update 0."""
    x = initial.copy()
    for cohort in cohorts:
        ends = _ends(gradients, weights, x, local_steps, step_size, cohort)
        x = x + np.sum(ends - x, axis=0) / len(weights if fault == "idle clients count" else cohort)
    return x


def feddyn(gradients, weights, initial, num_rounds, local_steps, step_size, rng, cohorts=None, fault=""):
    """Train as FedDyn with alpha = 2 does, with the clients of the cohorts or all, but for one fault."""
    alpha, x, h, estimates = 2.0, initial.copy(), np.zeros_like(initial), np.zeros((len(weights), initial.size))
    every = np.tile(np.arange(len(weights)), (num_rounds, 1))
    sign = -1 if fault == "wrong sign" else 1
    for cohort in every if cohorts is None else cohorts:

        def correct(k, y, x=x):
            return alpha * (y - x) - sign * estimates[k]

        ends = _ends(gradients, weights, x, local_steps, step_size, cohort, correct)
        if fault != "no estimates":
            estimates[cohort] -= alpha * (ends - x)
        if fault == "the sum minus one model":
            h = h - alpha * (weights[cohort] @ ends - x / len(weights))
        elif fault == "h by 1/|S|":
            h = h - alpha * np.mean(ends - x, axis=0)
        else:
            h = h - alpha * weights[cohort] @ (ends - x)
        mean = weights @ ends if cohorts is None else np.mean(ends, axis=0)
        x = mean - (0 if fault == "h unused" else h if fault == "h without 1/alpha" else h / alpha)
    return x


def faulty(function, fault):
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
SOME_SCAFFOLD = {"like": Scaffold(), "num_selected": 2}
FEDAVGM, NESTEROV = {"like": FedAvgM(0.5, 0.75)}, {"like": FedAvgM(0.5, 0.75, nesterov=True)}
ADAM, CORRECTED, ADAGRAD, YOGI = (
    {"like": FedOpt(rule, 0.1, 0.5, 0.75, 0.01, 0.01, corrected)}
    for rule, corrected in (("adam", False), ("adam", True), ("adagrad", False), ("yogi", False))
)
LATE, MOMENTUM, SOME = {"like": Delayed((0, 1))}, {"like": None, "momentum": 0.5}, {"like": None, "num_selected": 2}
FEDDYN, SOME_FEDDYN = {"like": FedDyn(2.0)}, {"like": FedDyn(2.0), "num_selected": 2}
FIRST, LIMIT = "first rounds", "limit"
FAULTS: list[tuple[Any, dict[str, Any], dict[str, str]]] = [
    (scaffold_of_cohorts, SOME_SCAFFOLD, {"variates of idle clients are lost": FIRST}),
    (fedavgm, FEDAVGM, {"velocity reset in every round": FIRST, "s twice": FIRST, "momentum of the models": FIRST}),
    (fedavgm, FEDAVGM, {"wrong sign": LIMIT}),
    (fedopt, ADAM, dict.fromkeys(("state lost between rounds", "square of m", "epsilon inside", "wrong sign"), FIRST)),
    (local_momentum, MOMENTUM, {"velocity kept between rounds": FIRST, "damped": "one local step"}),
    (averaging_of_cohorts, SOME, {"idle clients count": FIRST}),
    (feddyn, FEDDYN, {"the sum minus one model": LIMIT}),
    (feddyn, FEDDYN, dict.fromkeys(("h unused", "h without 1/alpha", "no estimates", "wrong sign"), FIRST)),
    (feddyn, SOME_FEDDYN, {"h by 1/|S|": FIRST}),
    (error_feedback, EF, dict.fromkeys(("wrong sign", "forgets", "sends the gradient", "by 1/K"), FIRST)),
    (ef21, EF_21, dict.fromkeys(("wrong sign", "replaces", "by 1/K"), LIMIT)),
    (scaffold, SCAFFOLD, dict.fromkeys(("wrong sign", "c not at the mean", "c by 1/K"), LIMIT)),
    (scaffold, SCAFFOLD, {"models by 1/K": "one local step", "c of the clients before": FIRST}),
    (scaffnew, SCAFFNEW, {"wrong sign": LIMIT, "gamma/p": "rate", "a coin each": LIMIT, "memory not at mean 0": LIMIT}),
    (fednova, FEDNOVA, {"not normalized": LIMIT, "without tau_eff": FIRST}),
]
CAUGHT = [
    *((faulty(method, fault), check_method, options, check)
      for method, options, faults in FAULTS for fault, check in faults.items()),
    (fedavgm, check_method, NESTEROV, FIRST),
    (fedopt, check_method, CORRECTED, FIRST),
    (partial(fedopt, bias_correction=True), check_method, ADAM, FIRST),
    (partial(fedopt, bias_correction=True, fault="exponent of the next round"), check_method, CORRECTED, FIRST),
    (fedopt, check_method, YOGI, FIRST),
    (delayed, check_method, {"like": None}, FIRST),
    (partial(delayed, delay=2), check_method, LATE, FIRST),
    (local_momentum, check_method, {"like": None}, FIRST),
    (random_coordinates_without_scale, check_aggregation, {}, "unbiased"),
]  # fmt: skip
RIGHT = [(error_feedback, EF), (ef21, EF_21), (ErrorFeedback(TopK(1)), EF), (EF21(TopK(1)), EF_21),
         (scaffold, SCAFFOLD), (scaffnew, SCAFFNEW), (fednova, FEDNOVA), (Scaffold(), SCAFFOLD),
         (Scaffnew(0.5), SCAFFNEW), (FedNova(), FEDNOVA),
         (scaffold_of_cohorts, SOME_SCAFFOLD), (Scaffold(), SOME_SCAFFOLD), (fedavgm, FEDAVGM),
         (partial(fedavgm, nesterov=True), NESTEROV), (feddyn, FEDDYN), (feddyn, SOME_FEDDYN),
         (FedDyn(2.0), SOME_FEDDYN), (fedopt, ADAM), (partial(fedopt, bias_correction=True), CORRECTED),
         (partial(fedopt, rule="adagrad"), ADAGRAD), (partial(fedopt, rule="yogi"), YOGI), (delayed, LATE),
         (local_momentum, MOMENTUM), (averaging_of_cohorts, SOME),
         (faulty(averaging_of_cohorts, "idle clients count"), SOME | {"server_step_size": 2 / 3})]  # fmt: skip
