"""Counts of arrivals among the clients that rank above, below and beside a client, integrated over time."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled kernels take what their docstrings say)

import numpy as np

from fedtheory._support.compiling import compiled, compiled_with_reordering

_BLOCK = 16  # groups whose laws are kept at a time: 256 kB at a thousand candidates, which a cache holds


@compiled
def integrate(p, starts, ends, m, d, times, time_weights, out):
    """Add up the selection probabilities over the nodes; p is ranked, starts and ends delimit groups of equal loss.

    Arrays with a last axis called count hold, in row 0, the probability that so many clients arrived before t and, in
    row 1, the expected rate of the clients that did not, on that event. Of K clients with k above some place at most
    k arrive above it and at most K - k below, so that of d arrivals only d - (K - k) to k can be above: laws are kept
    for these counts, and those that were left behind are stale.
    """
    num_clients, num_groups, largest = p.size, starts.size, np.max(ends - starts)
    above, every = np.zeros((_BLOCK, 2, m)), np.zeros((-(-num_groups // _BLOCK), 2, m))
    inside, outside, below = np.zeros((largest, 2, d)), np.zeros((2, d + 1)), np.zeros((2, d + 1))
    arrived, waiting = np.empty(num_clients), np.empty(num_clients)
    out[:] = 0.0
    for node in range(times.size):
        for k in range(num_clients):
            arrived[k], waiting[k] = -np.expm1(-p[k] * times[node]), np.exp(-p[k] * times[node])
        if _vanishes(np.sum(arrived), np.sum(waiting), num_clients, d, time_weights[node]):
            continue
        _count_above_blocks(p, arrived, waiting, starts, ends, d, every, above)
        below[:] = 0.0
        below[0, d - 1] = 1.0
        for group in range(num_groups - 1, -1, -1):
            first, end, place = starts[group], ends[group], group % _BLOCK
            if place == _BLOCK - 1 or group == num_groups - 1:
                block = slice(group - place, group + 1)
                _count_above(p, arrived, waiting, starts[block], ends[block], d, every[group // _BLOCK], above)
            _value_of_others(above[place], below, first, end, num_clients, outside)
            if end - first == 1:
                out[first] += time_weights[node] * arrived[first] * outside[1, 0]
            else:
                _leave_one_out(p, arrived, waiting, first, end, time_weights[node], inside, outside, out)
            for k in range(end - 1, first - 1, -1):
                _pull_back(p[k], arrived[k], waiting[k], below, max(0, d - 1 - num_clients + k), min(d, k))


@compiled
def _vanishes(arrivals, waiters, num_clients, d, time_weight):
    r"""Whether a node adds less than 1e-320 to every probability, which none above 1e-300 can feel.

    Given t the arrivals are independent and their expected number a is known; by Hoeffding (1956), d of K arrive with
    probability at most ``(a/d)^d ((K - a)/(K - d))^(K - d)``. Rates sum to 1.
    """
    rest = num_clients - d
    log_bound = d * np.log(arrivals / d) + rest * np.log(max(waiters, 1e-300) / rest)
    return log_bound + np.log(time_weight) < -737.0


@compiled
def _copy(law, low, high, kept):
    # Number by number: what slices of two sizes would complain of takes numba seconds to compile.
    for row in range(law.shape[0]):
        for c in range(low, high):
            kept[row, c] = law[row, c]


@compiled
def _add_client(rate, arrived, waiting, law, low, high):
    """Add one more client to the law of (count, waiting rate) for counts above low, and for low if it is 0."""
    probability, waiting_rate = law[0, low:high], law[1, low:high]
    for c in range(probability.size - 1, 0, -1):
        waiting_rate[c] = (waiting_rate[c] + probability[c] * rate) * waiting + waiting_rate[c - 1] * arrived
        probability[c] = probability[c] * waiting + probability[c - 1] * arrived
    waiting_rate[0] = (waiting_rate[0] + probability[0] * rate) * waiting
    probability[0] *= waiting


@compiled
def _count_above_blocks(p, arrived, waiting, starts, ends, d, every, above):
    """Fill ``every[b]`` with the law of the clients ranked above the groups of block b."""
    law = np.zeros(every.shape[1:])
    law[0, 0] = 1.0
    for b in range(every.shape[0]):
        _copy(law, 0, law.shape[1], every[b])
        block = slice(b * _BLOCK, (b + 1) * _BLOCK)
        _count_above(p, arrived, waiting, starts[block], ends[block], d, law, above)


@compiled
def _count_above(p, arrived, waiting, starts, ends, d, law, above):
    """Fill ``above[g]`` with the law of the clients ranked above group g, for counts below m; law moves past them."""
    num_clients, m = p.size, law.shape[1]
    for group in range(starts.size):
        low, high = max(0, d - num_clients + starts[group]), min(m, starts[group] + 1)
        _copy(law, low, high, above[group])
        for k in range(starts[group], ends[group]):
            low, high = max(0, d - num_clients + k), min(m, k + 2)
            if low < high:
                _add_client(p[k], arrived[k], waiting[k], law, low, high)


@compiled_with_reordering
def _value_of_others(above, below, first, end, num_clients, value):
    """Value of g other arrivals in the group, g < size, for a member that arrived too.

    ``value[0, g]`` sums, over the number a of arrivals above, the probability that d - 1 - a - g arrived below times
    the chance min(1, (m - a) / (g + 1)) of the member in the draw among equals; ``value[1, g]`` weighs this with the
    rate of those above and below that wait. So the integrand is ``sum_g P(g) value[1, g] + rate(g) value[0, g]``.
    All summands are positive: their order does not matter, and that they may be added in parallel saves half the time.
    """
    m, d = above.shape[1], below.shape[1] - 1
    for g in range(min(end - first, d)):
        low, high = max(0, d - 1 - g - (num_clients - end)), min(m, d - g, first + 1)
        above_probability, above_rate = above[0, low:high], above[1, low:high]
        below_probability, below_rate = below[0, low + g : high + g], below[1, low + g : high + g]
        probability, rate = 0.0, 0.0
        for i in range(above_probability.size):
            chance = min(1.0, (m - low - i) / (g + 1.0))
            probability += chance * above_probability[i] * below_probability[i]
            rate += chance * (above_probability[i] * below_rate[i] + above_rate[i] * below_probability[i])
        value[0, g], value[1, g] = probability, rate


@compiled
def _leave_one_out(p, arrived, waiting, first, end, time_weight, inside, value, out):
    """Add the selection probabilities of the clients first..end-1, which have equal losses.

    A forward pass stores the law of the members before each client; a backward pass pulls the value back through the
    members after it. ``inside[i]`` and ``value`` meet at the client that is left out, which has i members before it.
    """
    counts = min(end - first, inside.shape[2])
    inside[0, 0, 0] = 1.0
    for i in range(end - first - 1):
        k, high = first + i, min(counts, i + 2)
        _copy(inside[i], 0, high, inside[i + 1])
        _add_client(p[k], arrived[k], waiting[k], inside[i + 1], 0, high)
    value[:, counts] = 0.0
    for k in range(end - 1, first - 1, -1):
        out[k] += time_weight * arrived[k] * _expected(inside[k - first], value, min(counts, k - first + 1))
        _pull_back(p[k], arrived[k], waiting[k], value, 0, min(counts, k - first))


@compiled_with_reordering
def _expected(law, value, counts):
    probability, rate = law[0, :counts], law[1, :counts]
    value_with_rate, value = value[1, :counts], value[0, :counts]
    integrand = 0.0
    for g in range(counts):
        integrand += probability[g] * value_with_rate[g] + rate[g] * value[g]
    return integrand


@compiled
def _pull_back(rate, arrived, waiting, value, low, high):
    """Let one more client arrive or wait before the value of a count below high is known; low is the least count."""
    probability, waiting_rate = value[0, low : high + 1], value[1, low : high + 1]
    for c in range(high - low):
        waiting_rate[c] = waiting * (waiting_rate[c] + rate * probability[c]) + arrived * waiting_rate[c + 1]
    for c in range(high - low):
        probability[c] = waiting * probability[c] + arrived * probability[c + 1]
