"""Exact results are bit-identical for any number of threads of linear algebra."""

import hashlib

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import fedtheory as ft
from fedtheory._support.threads import pinned

DATA = ft.datasets.synthetic(1, 1, num_clients=3, num_features=40, num_classes=10, rng=0, max_samples=200)
QUADRATICS = ft.datasets.power_of_choice_quadratics(num_clients=60, dim=40, rng=0)


def threads():
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


def softmax_constants():
    fed = ft.SoftmaxFederation(DATA, l2=0.05)  # nothing is remembered of the one before
    return fed.minimizer, fed.minimum, fed.local_minima, fed.objective_gap, fed.smoothness


def floor():
    found = ft.exact.error_floor(QUADRATICS, ft.selection.PowerOfChoice(3, 9))
    return found.value, found.minimizer


# A floor large enough for threads to matter takes half a minute: `-m slow` asks it, and the next test its pin.
@pytest.mark.parametrize(
    "answer", [softmax_constants, pytest.param(floor, marks=pytest.mark.slow)], ids=lambda answer: answer.__name__
)
def test_one_two_or_eight_threads_give_the_same_bits(answer):
    digests = set()
    for number in (1, 2, 8):
        with threadpool_limits(number, user_api="blas"):
            parts = [np.asarray(part, dtype=np.float64).tobytes() for part in answer()]
        digests.add(hashlib.sha256(b"".join(parts)).hexdigest())
    assert len(digests) == 1


def test_a_pinned_solver_has_one_thread_and_gives_back_what_there_was():
    with threadpool_limits(2, user_api="blas"):
        assert pinned(threads)() == 1
        assert threads() == 2
