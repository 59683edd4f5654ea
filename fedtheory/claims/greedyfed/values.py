"""What Shapley values of a round are, and are not."""

from fractions import Fraction

import numpy as np

from fedtheory.claims.greedyfed._games import GREEDYFED, RoundGame, draw_game, draw_table
from fedtheory.rational.draws import whole
from fedtheory.theorem.paper import Statement
from fedtheory.valuation.exact import shapley
from fedtheory.valuation.games import utility_table
from fedtheory.valuation.softmax import softmax_utilities
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_SECTION_2, _SECTION_3 = Statement(GREEDYFED, "Section II"), Statement(GREEDYFED, "Section III-B")
_AVERAGE = "the server's model becomes the mean of the returned ones, weighted by size"


@claim(
    "greedyfed:efficiency",
    "sum_k SV_k = L(w_t) - L(w_t+1) on the validation samples",
    _SECTION_3,
    "identity",
    hypotheses=(_AVERAGE, "the value of the empty coalition is the negative loss of the model before the round"),
)
def efficiency(rng: np.random.Generator) -> Finding:
    game = draw_game(rng)
    n = len(game.models)
    drop = game.loss(game.before) - game.loss(game.mean(range(n)))
    return equal_to(sum(shapley(game.utility, n)), drop, instance=game.words())


@claim(
    "greedyfed:symmetry",
    "clients of one size that return one model have one value",
    _SECTION_2,
    "identity",
    hypotheses=("n_i = n_j and w_i = w_j",),
)
def symmetry(rng: np.random.Generator) -> Finding:
    drawn = draw_game(rng, most=4)
    game = drawn._replace(models=(*drawn.models, drawn.models[0]), sizes=(*drawn.sizes, drawn.sizes[0]))
    values = shapley(game.utility, len(game.models))
    return equal_to(values[0], values[-1], instance=game.words())


@claim(
    "greedyfed:null-player",
    "a client that adds nothing to any coalition has the value 0",
    _SECTION_2,
    "identity",
    hypotheses=("U(A + k) = U(A) for all A",),
)
def null_player(rng: np.random.Generator) -> Finding:
    n = whole(rng, 1, 5)
    idle, table = whole(rng, 0, n - 1), draw_table(rng, n)
    without = [table[number & ~(1 << idle)] for number in range(2**n)]
    return equal_to(shapley(without, n)[idle], 0, instance={"table": str(list(map(str, without))), "idle": idle})


@claim(
    "greedyfed:linearity",
    "values on two validation sets together are the weighted values on each",
    _SECTION_2,
    "identity",
    hypotheses=("the loss on both is the mean of the two losses, weighted by their sizes",),
)
def linearity(rng: np.random.Generator) -> Finding:
    first = draw_game(rng, most=4)
    n, share = len(first.models), Fraction(whole(rng, 1, 7), 8)
    other = first._replace(center=tuple(c + whole(rng, -8, 8) for c in first.center))
    together = shapley(lambda players: share * first.utility(players) + (1 - share) * other.utility(players), n)
    apart = share * shapley(first.utility, n) + (1 - share) * shapley(other.utility, n)
    return worst_of(
        equal_to(one, two, instance={**first.words(), "other center": str(other.center), "share": share})
        for one, two in zip(together, apart, strict=True)
    )


@claim(
    "greedyfed:unchanged-client",
    "a client that returns the server's model is a null player",
    Statement(GREEDYFED, "Section II", form="derived"),
    "refuted conjecture",
    instances=(1, 1),
    remark="It dilutes the mean: here the other client alone reaches the minimizer, and with it only half of the way.",
)
def unchanged_client(_: np.random.Generator) -> Finding:
    one, zero = (Fraction(1),), (Fraction(0),)
    game = RoundGame(before=one, models=(one, zero), sizes=(1, 1), curvatures=one, center=zero)
    return equal_to(shapley(game.utility, 2)[0], 0, instance=game.words())


@claim(
    "greedyfed:vanishing-sum",
    "|sum_k SV_k| is the change of the validation loss: where the model stands still it is 0",
    _SECTION_3,
    "identity",
    hypotheses=(_AVERAGE, "w_t+1 = w_t"),
)
def vanishing_sum(rng: np.random.Generator) -> Finding:
    game = _standing_still(draw_game(rng, most=4))
    return equal_to(sum(shapley(game.utility, len(game.models))), 0, instance=game.words())


@claim(
    "greedyfed:vanishing-values",
    "as training converges each |SV_k| is bounded by the change of the validation loss",
    _SECTION_3,
    "erratum",
    instances=(1, 1),
    remark="One client undoes the other: the model stands still for ever, with values 1 and -1 in every round.",
)
def vanishing_values(_: np.random.Generator) -> Finding:
    one, zero, two = ((Fraction(x),) for x in (1, 0, 2))
    game = RoundGame(before=one, models=(zero, two), sizes=(1, 1), curvatures=one, center=zero)
    change = abs(game.loss(game.before) - game.loss(game.mean((0, 1))))
    return worst_of(at_most(abs(value), change, instance=game.words()) for value in shapley(game.utility, 2))


def _standing_still(game: RoundGame) -> RoundGame:
    return game._replace(before=game.mean(range(len(game.models))))


@claim(
    "greedyfed:linear-logits",
    "the utilities from weighted means of logits are those of the mean models",
    Statement(GREEDYFED, "Section II", form="derived"),
    "identity",
    hypotheses=("softmax regression",),
)
def linear_logits(rng: np.random.Generator) -> Finding:
    n, classes, features, samples = whole(rng, 1, 4), whole(rng, 2, 4), whole(rng, 1, 2), whole(rng, 1, 70)
    scale = 2.0 ** whole(rng, -2, 8)
    models = scale * (2 * rng.random((n + 1, classes * (features + 1))) - 1)
    sizes = rng.integers(1, 10, size=n).astype(float)
    x, y = rng.integers(-8, 9, size=(samples, features)) / 4, rng.integers(classes, size=samples)

    def utility(players: frozenset[int]) -> float:
        some = sorted(players)
        mean = sizes[some] @ models[1:][some] / sizes[some].sum() if some else models[0]
        logits = x @ mean.reshape(classes, -1)[:, :-1].T + mean.reshape(classes, -1)[:, -1]
        logits -= logits[np.arange(samples), y][:, None]
        top = logits.max(axis=1)
        return -float(np.mean(top + np.log(np.exp(logits - top[:, None]).sum(axis=1))))

    fast = softmax_utilities(models[0], models[1:], sizes, x, y)
    instance = {"models": models.tolist(), "sizes": sizes.tolist(), "x": x.tolist(), "y": y.tolist()}
    return worst_of(
        equal_to(float(one), float(two), instance=instance, scale=scale)
        for one, two in zip(fast, utility_table(utility, n), strict=True)
    )
