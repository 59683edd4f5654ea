"""Interpolation conditions on the values of a function or an operator of a class."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

from ._forms import Call, Constraint, Form, Function, Vector, blocks_of, difference, within


def of_function(one: Function, noises: Sequence[int], crossed: Sequence[tuple[int, int]] = ()) -> Iterator[Any]:
    """Yield the conditions on the calls of a function."""
    quadratic, mu, L = one.of["quadratic"], one.of["mu"], one.number("L")
    yield from () if quadratic else of_pairs(one)
    yield from of_points(one)
    for x, y in product(one.calls if L is not None and not quadratic else [], repeat=2):
        mine, theirs = (blocks_of(call.at, call.gradient) for call in (x, y))
        common = [block for block in noises if block in mine & theirs]
        for shared in range(len(common)):
            dropped = {*common[shared:]}
            seen = mine - dropped - {block for noise, block in crossed if noise in dropped}
            yield of_pair(x, y, mu, L, x._replace(at=within(x.at, seen), gradient=within(x.gradient, seen)))
    if quadratic and one.calls:
        yield from of_quadratic(one)


def of_pairs(one: Function) -> Iterator[Constraint]:
    """Yield the conditions on ordered pairs of points with their gradients and values."""
    mu, L, diameter = one.of["mu"], one.number("L"), one.number("diameter")
    for (i, x), (j, y) in permutations(enumerate(one.calls), 2):
        apart = difference(x.at, y.at)
        if L is not None:
            yield of_pair(x, y, mu, L, x)
        else:
            levels = [] if one.of["indicator"] else [(Fraction(1), y.value), (Fraction(-1), x.value)]
            yield Constraint(Form([(Fraction(1), y.gradient, apart), (mu / 2, apart, apart)], levels))
        if diameter is not None and i < j:
            yield Constraint(Form([(Fraction(1), apart, apart)], []), diameter**2)


def of_points(one: Function) -> Iterator[Constraint]:
    """Yield the conditions on single points, and on a point and the minimizer."""
    for i, x in enumerate(one.calls):
        if one.number("lipschitz") is not None:
            yield Constraint(Form([(Fraction(1), x.gradient, x.gradient)], []), one.of["lipschitz"] ** 2)
        if one.minimum is not None and one.minimum != i:
            yield from above(one, one.calls[one.minimum], x)


def of_pair(i: Call, j: Call, mu: Fraction, L: Any, seen: Call) -> Constraint:
    """Return the condition of Taylor, Hendrickx and Glineur (2017); only the part ``seen`` of i has products with j."""
    half = L / (2 * (L - mu))
    on_gradients, on_points, across = half / L, half * mu, half * 2 * mu / L
    terms = [
        (on_gradients, i.gradient, i.gradient), (on_gradients, j.gradient, j.gradient),
        (-2 * on_gradients, seen.gradient, j.gradient),
        (on_points, i.at, i.at), (on_points, j.at, j.at), (-2 * on_points, seen.at, j.at),
        (-across, i.gradient, i.at), (-across - 1, j.gradient, j.at),
        (across, seen.gradient, j.at), (across + 1, j.gradient, seen.at),
    ]  # fmt: skip
    return Constraint(Form(terms, [(Fraction(1), j.value), (Fraction(-1), i.value)]))


def above(one: Function, least: Call, call: Call) -> Iterator[Constraint]:
    """Yield conditions on a point of a function whose minimizer is known."""
    mu, L, polyak = one.of["mu"], one.number("L"), one.number("polyak")
    up, down = (Fraction(1), call.value), (Fraction(-1), least.value)
    g = call.gradient
    if mu < 0 and L is not None:
        yield Constraint(Form([(1 / (2 * L), g, g)], [(-c, f) for c, f in (up, down)]))
    if polyak is not None:
        yield Constraint(Form([(-1 / (2 * polyak), g, g)], [up, down]))


def of_quadratic(one: Function) -> Iterator[Any]:
    """Yield the conditions on one matrix with eigenvalues in [mu, L] (Bousselmi, Hendrickx, Glineur 2024)."""
    half, mu, L = Fraction(1, 2), one.of["mu"], one.of["L"]
    first = one.calls[one.minimum or 0]
    others = [call for call in one.calls if call is not first]
    moved = [(difference(call.at, first.at), difference(call.gradient, first.gradient)) for call in others]
    for call, (x, _) in zip(others, moved, strict=True):
        both = difference(call.gradient, first.gradient, d=Fraction(-1))
        levels = [(Fraction(1), call.value), (Fraction(-1), first.value)]
        yield Constraint(Form([(-half, x, both)], levels), is_equality=True)
    for blocks, pairs in by_source([(call.at, call.gradient) for call in (first, *others)], moved, one.blocks):
        yield from mapped_symmetrically(blocks, pairs, mu, L)


def mapped_symmetrically(
    blocks: Sequence[int], pairs: list[tuple[Vector, Vector]], mu: Fraction, L: Fraction
) -> Iterator[Any]:
    """Yield the conditions on pairs of vectors in some blocks for a symmetric matrix with eigenvalues in [mu, L]."""
    half = Fraction(1, 2)
    xs, ys = ([within(vector, blocks) for vector in side] for side in zip(*pairs, strict=True))
    low = [difference(y, x, d=mu) for x, y in zip(xs, ys, strict=True)]
    high = [difference(x, y, L) for x, y in zip(xs, ys, strict=True)]
    upper = combinations_with_replacement(range(len(xs)), 2)
    yield {(i, j): Form([(half, low[i], high[j]), (half, low[j], high[i])], []) for i, j in upper}
    for i, j in combinations(range(len(xs)), 2):
        yield Constraint(Form([(Fraction(1), xs[j], ys[i]), (Fraction(-1), xs[i], ys[j])], []), is_equality=True)


def by_source(
    pairs: list[tuple[Vector, Vector]], moved: list[tuple[Vector, Vector]], own: Sequence[int]
) -> Iterator[tuple[Sequence[int], list[tuple[Vector, Vector]]]]:
    """Yield the own blocks with the shifted pairs, and each other block with its nonzero pairs."""
    if moved:
        yield own, moved
    for block in sorted(blocks_of(*(vector for pair in pairs for vector in pair)) - {*own}):
        yield [block], [(x, y) for x, y in pairs if block in blocks_of(x, y)]


def of_operator(one: Function) -> Iterator[Constraint]:
    """Yield the conditions on the calls of an operator."""
    monotone, cocoercive = one.number("strongly_monotone"), one.number("cocoercive")
    lipschitz = one.number("lipschitz")
    for x, y in combinations(one.calls, 2):
        apart, between = difference(x.at, y.at), difference(x.gradient, y.gradient)
        if monotone is not None:
            yield Constraint(Form([(monotone, apart, apart), (Fraction(-1), apart, between)], []))
        if cocoercive is not None:
            yield Constraint(Form([(cocoercive, between, between), (Fraction(-1), apart, between)], []))
        if lipschitz is not None:
            yield Constraint(Form([(Fraction(1), between, between), (-(lipschitz**2), apart, apart)], []))
