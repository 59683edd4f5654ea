"""Rounds of error feedback, EF21 and compressed gradients with any compressor, and parabolas that attain rates."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import error_feedback
from fedtheory.claims.error_feedback._runs import (
    compressed,
    draw_constants,
    draw_run,
    ef21_round,
    ef_round,
    gradient_potential,
    memory_potential,
)
from fedtheory.rational.draws import draw_model, whole
from fedtheory.rational.vectors import combination, difference, norm2, scaled
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to


@claim(
    "error-feedback:ef-round",
    "A round of error feedback of quadratic clients with one minimizer, any memories, weights, step size, compressor",
    error_feedback.ef_round,
    looseness=1.01,
)
def one_ef_round(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, common=True)
    fed, c = drawn.federation, drawn.constants
    memories = [draw_model(rng, fed.dim) for _ in fed.weights]
    model, left_out = ef_round(rng, drawn, drawn.model, memories)
    before, after = (
        memory_potential(fed.weights, difference(w, fed.minimizer), e, c.compression_error)
        for w, e in ((drawn.model, memories), (model, left_out))
    )
    return at_most(after, error_feedback.ef_round(before, **c.known), instance=drawn.words)


@claim(
    "error-feedback:ef-distance",
    "Up to four rounds of error feedback from empty memories, quadratic clients with one minimizer",
    error_feedback.ef_distance,
    looseness=1.01,
)
def ef_distance(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=True), whole(rng, 1, 4)
    fed, model = drawn.federation, drawn.model
    memories = [scaled(0, model)] * fed.num_clients
    for _ in range(num_rounds):
        model, memories = ef_round(rng, drawn, model, memories)
    start, end = (norm2(difference(w, fed.minimizer)) for w in (drawn.model, model))
    bound = error_feedback.ef_distance(num_rounds, initial_distance2=start, **drawn.constants.known)
    return at_most(end, bound, instance=drawn.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:ef21-round",
    "A round of EF21 of any quadratic clients, any memories, weights, step size, compressor",
    error_feedback.ef21_round,
    looseness=1.01,
)
def one_ef21_round(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, common=False)
    fed, s = drawn.federation, drawn.constants.compression_error
    memories = [draw_model(rng, fed.dim) for _ in fed.weights]
    model, after = ef21_round(rng, drawn, drawn.model, memories)
    bound = error_feedback.ef21_round(gradient_potential(fed, drawn.model, memories, s), **drawn.constants.known)
    return at_most(gradient_potential(fed, model, after, s), bound, instance=drawn.words)


@claim(
    "error-feedback:ef21-gradient2",
    "|grad F|^2 after up to four rounds of EF21 whose clients send their first gradients as they are",
    error_feedback.ef21_gradient2,
    looseness=1.01,
)
def ef21_gradient2(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=False), whole(rng, 1, 4)
    fed, s, model = drawn.federation, drawn.constants.compression_error, drawn.model
    memories = list(fed.gradients(model))
    start = gradient_potential(fed, model, memories, s)
    for _ in range(num_rounds):
        model, memories = ef21_round(rng, drawn, model, memories)
    bound = error_feedback.ef21_gradient2(num_rounds, initial_potential=start, **drawn.constants.known)
    end = norm2(combination(fed.weights, fed.gradients(model)))
    return at_most(end, bound, instance=drawn.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:cgd-gap",
    "Up to four compressed gradient steps of one quadratic client, any compressor",
    error_feedback.cgd_gap,
    looseness=1.01,
)
def cgd_gap(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=True), whole(rng, 1, 4)
    fed, c, model = drawn.federation, drawn.constants, drawn.model
    eta = 2 * Fraction(whole(rng, 1, 20), 20) / ((1 + c.compression_error) * c.L)
    for _ in range(num_rounds):
        step = compressed(rng, combination(fed.weights, fed.gradients(model)), c.compression_error)
        model = difference(model, scaled(eta, step))
    known = c.known | {"step_size": eta}
    bound = error_feedback.cgd_gap(num_rounds, initial_gap=fed.gap(drawn.model), **known)
    return at_most(fed.gap(model), bound, instance=drawn.words | {"step_size": str(eta), "num_rounds": num_rounds})


@claim(
    "error-feedback:ef-attained",
    "A parabola and the compressor (1 + s) v attain the rate of error feedback in every round, at every step size",
    error_feedback.ef_round,
    "identity",
    instances=(20, 1000),
)
def ef_attained(rng: np.random.Generator) -> Finding:
    c, num_rounds = draw_constants(rng), whole(rng, 1, 4)
    s, k, Z = c.compression_error, c.curvature, c.z if c.curvature == c.mu else -c.z
    x, e = Fraction(1), (1 - Z) / (1 + s) - c.step_size * k
    bound = memory_potential((Fraction(1),), (x,), [(e,)], s)
    for _ in range(num_rounds):
        wanted = e + c.step_size * k * x
        x, e = x - (1 + s) * wanted, -s * wanted
        bound = error_feedback.ef_round(bound, **c.known)
    after = memory_potential((Fraction(1),), (x,), [(e,)], s)
    return equal_to(after, bound, instance=c.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:ef21-attained",
    "A parabola and the compressor (1 + s) v attain the rate of EF21 in every round, at every step size",
    error_feedback.ef21_round,
    "identity",
    instances=(20, 1000),
)
def ef21_attained(rng: np.random.Generator) -> Finding:
    c, num_rounds = draw_constants(rng), whole(rng, 1, 4)
    s, k, Z = c.compression_error, c.curvature, c.z if c.curvature == c.mu else -c.z
    x, d = Fraction(1), (1 - Z) / c.step_size
    bound = s * (k * x) ** 2 + (k * x - d) ** 2
    for _ in range(num_rounds):
        x -= c.step_size * d
        d += (1 + s) * (k * x - d)
        bound = error_feedback.ef21_round(bound, **c.known)
    after = s * (k * x) ** 2 + (k * x - d) ** 2
    return equal_to(after, bound, instance=c.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:cgd-attained",
    "A parabola and the compressor (1 - s) v or (1 + s) v attain the rate of compressed gradient descent",
    error_feedback.cgd_gap,
    "identity",
    instances=(20, 1000),
)
def cgd_attained(rng: np.random.Generator) -> Finding:
    c, num_rounds = draw_constants(rng), whole(rng, 1, 4)
    s = c.compression_error
    eta = 2 * Fraction(whole(rng, 1, 20), 20) / ((1 + s) * c.L)
    known = c.known | {"step_size": eta}
    k, share = max(((c.mu, 1 - s), (c.L, 1 + s)), key=lambda pair: abs(1 - eta * pair[0] * pair[1]))
    x = (1 - eta * k * share) ** num_rounds
    bound = error_feedback.cgd_gap(num_rounds, initial_gap=k / 2, **known)
    return equal_to(k / 2 * x**2, bound, instance={name: str(value) for name, value in known.items()})
