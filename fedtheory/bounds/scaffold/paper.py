"""Definitions shared by the bounds on SCAFFOLD."""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.theorem import EXACT_GRADIENTS, NONNEGATIVE, Hypothesis, Paper, Smooth, StronglyConvex, method_is
from fedtheory.theorem.symbols import GRADIENT2, Symbol

PAPER = Paper(
    key="scaffold",
    title="SCAFFOLD: Stochastic Controlled Averaging for Federated Learning",
    authors="Karimireddy, Kale, Mohri, Reddi, Stich, Suresh",
    year=2020,
    url="https://arxiv.org/abs/1910.06378",
    symbols=(
        Symbol(
            "control_error2",
            "Mean squared error of the control variates, ``sum_k p_k |c_k - c - grad F_k(w*)|^2``; if all c_k are "
            "equal, ``sum_k p_k |grad F_k(w*)|^2``",
            NONNEGATIVE._replace(of_run="control_error2"),
            GRADIENT2,
        ),
        Symbol(
            "variate_error2",
            "Mean squared error C of the clients' control variates, ``mean |c_k - grad F_k(w*)|^2``",
            NONNEGATIVE,
            GRADIENT2,
        ),
    ),
)

FUNCTIONS = (Smooth(), StronglyConvex())
METHOD = Hypothesis("clients and server run SCAFFOLD with Option II", of_run=method_is("Scaffold"))
STABLE = Hypothesis("step_size (L + mu) < 2", lambda step_size, L, mu: (step_size * (L + mu), "<", 2))
CONTROL = (*FUNCTIONS, EXACT_GRADIENTS, METHOD)


def steepness(step_size, *, mu, L):
    """Compute ``1/beta = eta (L - mu)/(2 c - eta (L - mu))``."""
    return step_size * (L - mu) / (short_of_one(step_size, mu) + short_of_one(step_size, L))


def lags(step_size, *, mu, local_steps):
    """Compute ``tau - C`` and ``sum_{k <= tau} (tau - C_k)^2``, where C_k is the sum of the first k powers of c."""
    rate, rest = step_size * mu, short_of_one(step_size, mu)
    if not isinstance(local_steps, int):
        (_, gone), (_, gone_twice) = geometric(rate, local_steps, rest), geometric(rate, 2 * local_steps, rest)
        far = local_steps - 1 / rate
        powers2 = rest**2 * gone_twice / (rate * (1 + rest))
        squares = local_steps * far**2 + 2 * far * rest * gone / rate**2 + powers2 / rate**2
        return local_steps - gone / rate, squares
    # The closed form loses digits for short steps. The sums of e_k = k - C_k, k e_k and e_k^2 over m + n steps follow
    # from those over m and n = m or 1 with positive terms: e_(m+j) = e_m + j g + p e_j with p = c^m and g = 1 - p.
    one = (0 * rate, 0 * rate, 0 * rate, 0 * rate)
    m, known = 1, one
    for digit in f"{local_steps:b}"[1:]:
        known, m = _joined(rate, rest, m, known, m, known), 2 * m
        if digit == "1":
            known, m = _joined(rate, rest, m, known, 1, one), m + 1
    lag, total, moment, squares = known
    return lag, (m - 1) * m * (2 * m - 1) // 6 + 2 * (m * total - moment) + squares


def _joined(rate, rest, m, left, n, right):
    """Return e_(m+n) and the sums of e_k, k e_k and e_k^2 up to m + n from those up to m and up to n."""
    (e, total, moment, squares), (last, others, moments, others2) = left, right
    p, g = geometric(rate, m, rest)
    ones, twos = n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) // 6
    return (
        e + n * g + p * last,
        total + n * e + ones * g + p * others,
        moment + (m * n + ones) * e + (m * ones + twos) * g + p * (m * others + moments),
        squares + n * e**2 + twos * g**2 + p**2 * others2 + 2 * (ones * e * g + e * p * others + g * p * moments),
    )


def ways(step_size, *, mu, local_steps):
    """Compute the sums over s < tau of d_s and of d_s^2, where ``d_s = c^(tau-s) C_s`` sums s powers of c."""
    rate, rest = step_size * mu, short_of_one(step_size, mu)
    if not isinstance(local_steps, int):
        (left, gone), (twice, gone2) = geometric(rate, local_steps, rest), geometric(rate, 2 * local_steps, rest)
        squares = rest**2 * gone2 / (rate * (1 + rest)) - 2 * left * rest * gone / rate + local_steps * twice
        return (rest * gone / rate - local_steps * left) / rate, squares / rate**2
    # As above, with the sums over s < n of c^(n - s) times 1 and C_s, and of its square times 1, C_s and C_s^2, and
    # with C_(m+j) = C_m + c^m C_j.
    one = (rest, 0 * rate, rest**2, 0 * rate, 0 * rate)
    m, known = 1, one
    for digit in f"{local_steps:b}"[1:]:
        known, m = _joined_ways(rate, rest, m, known, m, known), 2 * m
        if digit == "1":
            known, m = _joined_ways(rate, rest, m, known, 1, one), m + 1
    return known[1], known[4]


def drift_of_a_round(step_size, *, mu, L, local_steps):
    """Return the drift that a round of all clients adds per unit of the mean of ``|grad F_k(w*)|^2``."""
    slope, (way, squares) = steepness(step_size, mu=mu, L=L), ways(step_size, mu=mu, local_steps=local_steps)
    return step_size**2 * slope * (squares - slope * way**2 / (1 + slope * local_steps))


def _joined_ways(rate, rest, m, left, n, right):
    """Return the sums over s < m + n from those over s < m and s < n."""
    (p, gone), (once, _), (twice, _) = (geometric(rate, k, rest) for k in (m, n, 2 * n))
    (powers, total, powers2, products, squares), first = right, gone / rate
    return (
        once * left[0] + powers,
        once * left[1] + first * powers + p * total,
        twice * left[2] + powers2,
        twice * left[3] + first * powers2 + p * products,
        twice * left[4] + first**2 * powers2 + 2 * first * p * products + p**2 * squares,
    )
