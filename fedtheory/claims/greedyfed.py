"""GreedyFed: Shapley values of a round's clients, their estimates, selection by them, and class shares of data."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims._comparisons import Chain, step
from fedtheory.datasets.class_shares import underflow_probability
from fedtheory.engine.play import after_round, play_round
from fedtheory.instances.draws import draw_model
from fedtheory.instances.vectors import Vector, combination, vector
from fedtheory.selection.greedy_shapley import GreedyShapley
from fedtheory.statistics.interval import Interval
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, mean_at_most, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement
from fedtheory.theorem.symbols import SYMBOLS, Symbol
from fedtheory.valuation.games import shapley
from fedtheory.valuation.permutations import gtg_shapley

PAPER = Paper(
    "greedyfed",
    "Greedy Shapley Client Selection for Communication-Efficient Federated Learning",
    "Singhal, Pandey, Popovski",
    2024,
    "https://arxiv.org/abs/2312.09108",
    symbols=(
        replace(SYMBOLS["num_clients"], letter="N"),
        replace(SYMBOLS["num_selected"], letter="M"),
        replace(SYMBOLS["weights"], letter="q_k"),
        replace(SYMBOLS["local_steps"], letter="E B"),
        Symbol("proximal_weight", "Weight of FedProx's term", letter=r"\mu"),
    ),
)


class RoundGame(NamedTuple):
    """A round: initial model, returned models, sizes, and the validation loss sum_j h_j/2 (w_j - c_j)^2."""

    before: Vector
    models: tuple[Vector, ...]
    sizes: tuple[int, ...]
    curvatures: Vector
    center: Vector

    def loss(self, w: Vector) -> Fraction:
        """Return the validation loss of a model."""
        apart = zip(self.curvatures, w - self.center, strict=True)
        return sum((h * x * x / 2 for h, x in apart), start=Fraction(0))

    def mean(self, players: Sequence[int]) -> Vector:
        """Return the mean model of a coalition, weighted by size, or the initial model for the empty coalition."""
        total = sum(self.sizes[k] for k in players)
        if not players:
            return self.before
        return combination([Fraction(self.sizes[k], total) for k in players], [self.models[k] for k in players])

    def utility(self, players: frozenset[int]) -> Fraction:
        """Return minus the validation loss of a coalition's model."""
        return -self.loss(self.mean(sorted(players)))

    @property
    def values(self) -> Any:
        """Return the clients' Shapley values as an array."""
        return shapley(self.utility, len(self.models))

    @property
    def instance(self) -> dict[str, Any]:
        """The numbers as text."""
        return {
            "before": str(self.before),
            "models": "; ".join(map(str, self.models)),
            "sizes": self.sizes,
            "curvatures": str(self.curvatures),
            "center": str(self.center),
        }


def draw_game(rng: np.random.Generator, most: int = 5) -> RoundGame:
    """Draw a round of one to five clients in one or two dimensions."""
    num_players, dim = whole(rng, 1, most), whole(rng, 1, 2)
    return RoundGame(
        before=draw_model(rng, dim),
        models=tuple(draw_model(rng, dim) for _ in range(num_players)),
        sizes=tuple(whole(rng, 1, 9) for _ in range(num_players)),
        curvatures=Vector(Fraction(2) ** whole(rng, -2, 2) for _ in range(dim)),
        center=draw_model(rng, dim),
    )


def draw_table(rng: np.random.Generator, num_players: int) -> list[Fraction]:
    """Draw utilities of all coalitions: multiples of 1/8 between -4 and 4, in bit order."""
    return [Fraction(whole(rng, -32, 32), 8) for _ in range(2**num_players)]


_ALGORITHM_2 = "Algorithm 2"
_READ = Statement(PAPER, _ALGORITHM_2, form="corrected")
_PRINTED = Statement(PAPER, _ALGORITHM_2)


def gains(table: Sequence[Fraction], order: Sequence[int], tolerance: Fraction = Fraction(0)) -> dict[int, Fraction]:
    """Return each player's gain in an order; gains are 0 once the utility is within the tolerance of the total."""
    added, arrived = dict.fromkeys(order, Fraction(0)), 0
    for player in order:
        if abs(table[-1] - table[arrived]) < tolerance:
            break
        added[player] = table[arrived | 1 << player] - table[arrived]
        arrived |= 1 << player
    return added


def mean_gain(table: Sequence[Fraction], player: int, first: int, num_players: int) -> Any:
    """Return a player's mean gain over all orders that begin with another given player."""
    orders = Law.uniform(orders_from(first, num_players))
    return orders.mean(lambda order: gains(table, order)[player])


def orders_from(first: int, num_players: int) -> Iterator[tuple[int, ...]]:
    """Yield all orders that begin with a given player."""
    others = [player for player in range(num_players) if player != first]
    return ((first, *rest) for rest in itertools.permutations(others))


def format_table(table: Sequence[Fraction]) -> dict[str, Any]:
    """Format the utilities of all coalitions."""
    return {"utilities in bit order": str([str(value) for value in table])}


class Table(NamedTuple):
    """Utilities of all coalitions of some players."""

    num_players: int
    utilities: list[Fraction]

    @property
    def instance(self) -> dict[str, Any]:
        """The numbers as text."""
        return format_table(self.utilities)


def table_of(rng: np.random.Generator, fewest: int, most: int) -> list[Table]:
    num_players = whole(rng, fewest, most)
    return [Table(num_players, draw_table(rng, num_players))]


@step(
    "greedyfed:unbiased-sweeps",
    _READ,
    lambda rng: table_of(rng, 1, 6),
    kind="identity",
    hypotheses=("no truncation", "the orders of the others are uniform"),
    instances=(10, 60),
)
def unbiased_sweeps(s: Table) -> list[Chain]:
    """the mean gain over sweeps, in which each client is first once, is the Shapley value"""
    n, exact = s.num_players, shapley(s.utilities, s.num_players)
    return [(sum(mean_gain(s.utilities, k, first, n) for first in range(n)) / n, "=", exact[k]) for k in range(n)]


@claim(
    "greedyfed:truncated-sum",
    "values of GTG-Shapley add up to U(S) - U(empty coalition) within the tolerance",
    _READ,
    looseness=1.05,
)
def truncated_sum(rng: np.random.Generator) -> Finding:
    n, tolerance = whole(rng, 1, 4), 2.0 ** -whole(rng, -2, 4)
    table = [float(value) for value in draw_table(rng, n)]
    found = gtg_shapley(lambda players: table[sum(1 << k for k in players)], n, tolerance, rng=whole(rng, 0, 999))
    off = abs(found.values.sum() - (table[-1] - table[0]))
    return at_most(float(off), tolerance, instance={"table": table, "tolerance": tolerance})


@claim(
    "greedyfed:printed-counter",
    "the printed average (tau - 1)/tau SV + gain/tau, with one tau per sweep, estimates the Shapley value",
    _PRINTED,
    "erratum",
    hypotheses=("tau starts at 1, because tau = 0 would divide by 0",),
    remark="At tau = 1 an order replaces the one before: only the last counts, which begins with the last client.",
)
def printed_counter() -> Finding:
    # Glove game: client 0 owns a left glove, clients 1 and 2 own right gloves; a pair has value 1.
    table = [Fraction(int(number & 1 and number > 1)) for number in range(8)]
    return worst_of(
        equal_to(mean_gain(table, k, 2, 3), value, instance={**format_table(table), "client": k})
        for k, value in enumerate(shapley(table, 3))
    )


_ALGORITHM_1 = "Algorithm 1"


@claim(
    "greedyfed:turns",
    "every client has been valued after ceil(N/M) rounds, and not earlier",
    Statement(PAPER, _ALGORITHM_1, form="corrected"),
    "identity",
    hypotheses=("all clients are available",),
)
def turns(rng: np.random.Generator) -> Finding:
    num_clients = whole(rng, 1, 12)
    num_selected = whole(rng, 1, num_clients)
    weights = np.full(num_clients, 1 / num_clients)
    rules = GreedyShapley(num_selected).rules(weights, num_clients)
    memory, draw, seen, t = rules.memory.copy(), np.random.default_rng(whole(rng, 0, 999)), set[int](), 0
    nothing = np.empty(0)
    while len(seen) < num_clients:
        played = play_round(rules, memory, weights, t, draw, lambda _: nothing, lambda who: np.zeros((who.size, 1)))
        values = draw.standard_normal(played.chosen.size)
        after_round(rules, memory, weights, t, draw, played, values=values, server_model=nothing, model=nothing)
        seen |= set(played.chosen.tolist())
        t += 1
    return equal_to(t, -(-num_clients // num_selected), instance={"N": num_clients, "M": num_selected})


@claim(
    "greedyfed:printed-turns",
    "the printed groups {t, ..., t + M - 1}, t < ceil(N/M), reach every client",
    Statement(PAPER, _ALGORITHM_1),
    "erratum",
    remark="The groups overlap: for four clients in pairs they are {0, 1} and {1, 2}.",
)
def printed_turns() -> Finding:
    num_clients, num_selected = 4, 2
    reached = {t + i for t in range(-(-num_clients // num_selected)) for i in range(num_selected)}
    return equal_to(len(reached), num_clients, instance={"N": num_clients, "M": num_selected})


_SECTION = "Section IV, data heterogeneity"
_NUM_DRAWS, _WITHIN, _CONFIDENCE = 200_000, 0.01, 1 - 1e-5


@claim(
    "greedyfed:underflow",
    "all C shares of concentration a are equal with probability (2^(-1022 a) / Gamma(1 + a))^C, within 0.01",
    Statement(FEDTHEORY, "", related=(PAPER, _SECTION), form="derived"),
    "identity",
    hypotheses=("gamma variables in double precision, raised to 2^-1022, are normalized",),
    instances=(2, 8),
    remark="0.4927 for ten classes at 1e-4; simulated logarithms of gamma variables are below it equally often.",
)
def underflow(rng: np.random.Generator) -> Finding:
    concentration, num_classes = whole(rng, 1, 12) / 10_000, whole(rng, 2, 10)
    draw = np.random.default_rng(whole(rng, 0, 999))
    shape = (_NUM_DRAWS, num_classes)
    # Logarithms do not underflow: log of a gamma variable of shape 1 + a, plus log(u)/a.
    logs = np.log(draw.standard_gamma(1 + concentration, shape)) - draw.standard_exponential(shape) / concentration
    frequency = float((logs.max(axis=1) <= -1022 * math.log(2)).mean())
    # Both of Hoeffding's limits.
    radius = math.sqrt(math.log(2 / (1 - _CONFIDENCE)) / (2 * _NUM_DRAWS))
    chance = underflow_probability(concentration, num_classes)
    instance = {"concentration": concentration, "classes": num_classes, "draws": _NUM_DRAWS}
    limits, mirrored = (Interval(side - radius, side + radius) for side in (frequency, -frequency))
    return worst_of((
        mean_at_most(limits, chance + _WITHIN, confidence=_CONFIDENCE, instance=instance),
        mean_at_most(mirrored, _WITHIN - chance, confidence=_CONFIDENCE, instance=instance),
    ))  # fmt: skip


@claim(
    "greedyfed:base-case",
    "at alpha = 1e-4, as drawn, clients without a share above 1/2 are as rare as under the Dirichlet law",
    Statement(PAPER, _SECTION),
    "erratum",
    remark="Half of the clients in the base case of Tables I to IV have equal shares of all classes and i.i.d. data.",
)
def base_case() -> Finding:
    concentration, num_classes = Fraction(1, 10_000), 10
    # E sum p^2 = (a + 1)/(C a + 1); the sum is at most 1/2 if no share exceeds 1/2, and never above 1.
    allowed = 2 * (num_classes - 1) * concentration / (num_classes * concentration + 1)
    # Gamma(1 + a) <= 1 for a <= 1, so that all shares are equal with probability at least 2^(-1022 C a) = 2^-1.022.
    percent = max(n for n in range(100) if n**1000 * 2**1022 <= 100**1000)
    return at_most(Fraction(percent, 100), allowed, instance={"concentration": 1e-4, "classes": num_classes})


_SECTION_2, _SECTION_3 = Statement(PAPER, "Section II"), Statement(PAPER, "Section III-B")
_AVERAGE = "the server's next model is the mean of the returned models, weighted by size"


@step(
    "greedyfed:efficiency",
    _SECTION_3,
    lambda rng: [draw_game(rng)],
    kind="identity",
    hypotheses=(_AVERAGE, "the value of the empty coalition is the negative loss of the model before the round"),
)
def efficiency(game: RoundGame) -> Chain:
    """sum_k SV_k = L(w_t) - L(w_t+1) on the validation samples"""
    return sum(game.values), "=", game.loss(game.before) - game.loss(game.mean(range(len(game.models))))


def twins(rng: np.random.Generator) -> list[RoundGame]:
    """Draw a round whose first and last client have equal sizes and return equal models."""
    drawn = draw_game(rng, most=4)
    return [drawn._replace(models=(*drawn.models, drawn.models[0]), sizes=(*drawn.sizes, drawn.sizes[0]))]


@step("greedyfed:symmetry", _SECTION_2, twins, kind="identity", hypotheses=("n_i = n_j and w_i = w_j",))
def symmetry(game: RoundGame) -> Chain:
    """clients of equal size that return equal models have equal values"""
    values = game.values
    return values[0], "=", values[-1]


@claim(
    "greedyfed:null-player",
    "a client whose marginal contributions are all 0 has the value 0",
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
    "the values on the union of two validation sets are the weighted means of the values on each",
    _SECTION_2,
    "identity",
    hypotheses=("the loss on both is the mean of the two losses, weighted by their sizes",),
)
def linearity(rng: np.random.Generator) -> Finding:
    first = draw_game(rng, most=4)
    n, share = len(first.models), Fraction(whole(rng, 1, 7), 8)
    other = first._replace(center=Vector(c + whole(rng, -8, 8) for c in first.center))
    together = shapley(lambda players: share * first.utility(players) + (1 - share) * other.utility(players), n)
    apart = share * first.values + (1 - share) * other.values
    return worst_of(
        equal_to(one, two, instance={**first.instance, "other center": str(other.center), "share": share})
        for one, two in zip(together, apart, strict=True)
    )


@claim(
    "greedyfed:unchanged-client",
    "a client that returns the server's model is a null player",
    Statement(FEDTHEORY, "", related=(PAPER, "Section II"), form="derived"),
    "refuted conjecture",
    remark="It dilutes the mean: the other client alone reaches the minimizer, both together go only half of the way.",
)
def unchanged_client() -> Finding:
    one, zero = vector(1), vector(0)
    game = RoundGame(before=one, models=(one, zero), sizes=(1, 1), curvatures=one, center=zero)
    return equal_to(game.values[0], 0, instance=game.instance)


def standing_still(rng: np.random.Generator) -> list[RoundGame]:
    """Draw a round that does not change the model."""
    game = draw_game(rng, most=4)
    return [game._replace(before=game.mean(range(len(game.models))))]


@step("greedyfed:vanishing-sum", _SECTION_3, standing_still, kind="identity", hypotheses=(_AVERAGE, "w_t+1 = w_t"))
def vanishing_sum(game: RoundGame) -> Chain:
    """|sum_k SV_k| is the change of the validation loss; it is 0 if the model does not change"""
    return sum(game.values), "=", 0


@claim(
    "greedyfed:vanishing-values",
    "as training converges, each |SV_k| is bounded by the change of the validation loss",
    _SECTION_3,
    "erratum",
    remark="The updates of the two clients cancel: the model never changes, with values 1 and -1 in every round.",
)
def vanishing_values() -> Finding:
    one, zero, two = map(vector, (1, 0, 2))
    game = RoundGame(before=one, models=(zero, two), sizes=(1, 1), curvatures=one, center=zero)
    change = abs(game.loss(game.before) - game.loss(game.mean((0, 1))))
    return worst_of(at_most(abs(value), change, instance=game.instance) for value in game.values)
