"""Interpolation conditions on the values of a function or an operator of a class."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

from ._forms import Call, Constraint, Form, Function, Vector, blocks_of, difference, exact, within

__all__: list[str] = []


def of_function(one: Function, noises: Sequence[int], crossed: Sequence[tuple[int, int]] = ()) -> Iterator[Any]:
    """Yield the conditions on the calls of a function."""
    if "restricted_secant" in one.of:
        yield from of_secants(one)
        return
    quadratic, mu, L = one.of["quadratic"], one.of["mu"], one.number("L")
    yield from () if quadratic else of_pairs(one)
    yield from of_points(one)
    for call in (call for call in one.calls if call.epsilon):
        yield from above_minorant(one, call)
    smooth = [call for _, call in exact(one.calls)] if L is not None and not quadratic else []
    for x, y in product(smooth, repeat=2):
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
    for (i, x), (j, y) in permutations(exact(one.calls), 2):
        apart = difference(x.at, y.at)
        if L is not None:
            yield of_pair(x, y, mu, L, x)
        elif one.of["support"]:
            yield Constraint(Form([(Fraction(1), x.at, difference(y.gradient, x.gradient))], []))
        else:
            levels = [] if one.of["indicator"] else [(Fraction(1), y.value), (Fraction(-1), x.value)]
            yield Constraint(Form([(Fraction(1), y.gradient, apart), (mu / 2, apart, apart)], levels))
        if diameter is not None and i < j:
            yield Constraint(Form([(Fraction(1), apart, apart)], []), diameter**2)


def of_points(one: Function) -> Iterator[Constraint]:
    """Yield the conditions on single points, and on a point and the minimizer."""
    for i, x in exact(one.calls):
        if one.number("lipschitz") is not None:
            yield Constraint(Form([(Fraction(1), x.gradient, x.gradient)], []), one.of["lipschitz"] ** 2)
        if one.minimum is not None and one.minimum != i:
            yield from above(one, one.calls[one.minimum], x)


def of_secants(one: Function) -> Iterator[Constraint]:
    """Yield the restricted secant inequality and the error bound at each point, and the bounds of its value."""
    m, M = one.of["restricted_secant"], one.number("error_bound")
    for i, x in enumerate(one.calls) if one.minimum is not None else ():
        least = one.calls[one.minimum or 0]
        if i != one.minimum:
            away, up, down = difference(x.at, least.at), (Fraction(1), x.value), (Fraction(-1), least.value)
            yield Constraint(Form([(m, away, away), (Fraction(-1), x.gradient, away)], []))
            yield Constraint(Form([(m / 2, away, away)], [(-c, f) for c, f in (up, down)]))
            if M is not None:
                yield Constraint(Form([(Fraction(1), x.gradient, x.gradient), (-(M**2), away, away)], []))
                yield Constraint(Form([(-M / 2, away, away)], [up, down]))


def above_minorant(one: Function, minorant: Call) -> Iterator[Constraint]:
    """Yield that a function is above an affine minorant of slope g, by at least a parabola if it is smooth."""
    L, lipschitz, g = one.number("L"), one.number("lipschitz"), minorant.gradient
    for _, x in exact(one.calls):
        turn = difference(x.gradient, g)
        terms = [(Fraction(1), g, difference(x.at, minorant.at))] + ([] if L is None else [(1 / (2 * L), turn, turn)])
        has_value = not one.of["indicator"] and x.value != minorant.value
        levels = [(Fraction(1), minorant.value), (Fraction(-1), x.value)] if has_value else []
        yield Constraint(Form(terms, levels), minorant.epsilon)
    if lipschitz is not None:
        yield Constraint(Form([(Fraction(1), g, g)], []), lipschitz**2)


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
    mu, L, growth, polyak = one.of["mu"], one.number("L"), one.number("quadratic_growth"), one.number("polyak")
    up, down = (Fraction(1), call.value), (Fraction(-1), least.value)
    g = call.gradient
    if mu < 0 and L is not None:
        yield Constraint(Form([(1 / (2 * L), g, g)], [(-c, f) for c, f in (up, down)]))
    if growth is not None:
        yield Constraint(Form([(Fraction(1), g, difference(least.at, call.at)), (1 / (2 * growth), g, g)], [up, down]))
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


def of_operator(one: Function, adjoint: Sequence[Call]) -> Iterator[Any]:
    """Yield the conditions on the calls of an operator."""
    monotone, cocoercive = one.number("strongly_monotone"), one.number("cocoercive")
    lipschitz = one.number("lipschitz")
    if one.of["linear"] and "least" in one.of:
        for blocks, some in by_source([(call.at, call.gradient) for call in one.calls], [], []):
            yield from mapped_symmetrically(blocks, some, one.of["least"], one.of["most"])
        return
    if one.of["linear"]:
        yield from of_linear(one.calls, adjoint, lipschitz or Fraction(0))
        yield from of_skew(one.calls) if one.of["skew"] else ()
        return
    for x, y in combinations(one.calls, 2):
        apart, between = difference(x.at, y.at), difference(x.gradient, y.gradient)
        if monotone is not None:
            yield Constraint(Form([(monotone, apart, apart), (Fraction(-1), apart, between)], []))
        if cocoercive is not None:
            yield Constraint(Form([(cocoercive, between, between), (Fraction(-1), apart, between)], []))
        if lipschitz is not None:
            yield Constraint(Form([(Fraction(1), between, between), (-(lipschitz**2), apart, apart)], []))


def of_linear(calls: Sequence[Call], adjoint: Sequence[Call], largest: Fraction) -> Iterator[Any]:
    """Yield the conditions on one linear operator and its adjoint (Bousselmi, Hendrickx, Glineur 2024)."""
    known = [[(call.at, call.gradient) for call in some] for some in (calls, adjoint)]
    for pairs in known:
        for blocks, some in by_source(pairs, [], []):
            xs, ys = ([within(vector, blocks) for vector in side] for side in zip(*some, strict=True))
            upper = combinations_with_replacement(range(len(xs)), 2)
            yield {(i, j): Form([(largest**2, xs[i], xs[j]), (Fraction(-1), ys[i], ys[j])], []) for i, j in upper}
    for (x, y), (u, v) in product(*known):
        for block in blocks_of(x, y) & blocks_of(u, v):
            parts = [within(vector, [block]) for vector in (x, v, y, u)]
            terms = [(Fraction(1), parts[0], parts[1]), (Fraction(-1), parts[2], parts[3])]
            yield Constraint(Form(terms, []), is_equality=True)


def of_skew(calls: Sequence[Call]) -> Iterator[Constraint]:
    """Yield that exchanging point and image in a product changes its sign."""
    for x, u in combinations_with_replacement(calls, 2):
        for block in sorted(blocks_of(x.at, x.gradient) & blocks_of(u.at, u.gradient)):
            parts = [within(vector, [block]) for vector in (x.at, u.gradient, x.gradient, u.at)]
            terms = [(Fraction(1), parts[0], parts[1]), (Fraction(1), parts[2], parts[3])]
            yield Constraint(Form(terms, []), is_equality=True)


def by_source(
    pairs: list[tuple[Vector, Vector]], moved: list[tuple[Vector, Vector]], own: Sequence[int]
) -> Iterator[tuple[Sequence[int], list[tuple[Vector, Vector]]]]:
    """Yield the own blocks with the shifted pairs, and each other block with its nonzero pairs."""
    if moved:
        yield own, moved
    for block in sorted(blocks_of(*(vector for pair in pairs for vector in pair)) - {*own}):
        yield [block], [(x, y) for x, y in pairs if block in blocks_of(x, y)]
