"""Every invalid input is rejected with one sentence: what, wanted, got."""

import re
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.bounds import power_of_choice as poc

FED = ft.QuadraticFederation([1.0, 2.0], [[1.0], [-1.0]], [0.5, 0.5])
POC = ft.selection.PowerOfChoice(1, 2)
DATA = ft.federation.FederatedData
PAIR = np.array([2, 2])
MASKED = np.ma.array([1.0, 2.0], mask=[True, False])
UNKNOWN = "fed must be of a family whose kernels are registered with fedtheory.engine.layout.register"
NUMBERS = "must be the numbers 0, 1, ... of classes, as np.unique(labels, return_inverse=True)[1]"
STEPS = "must be a number, an array with one number per local step, or a schedule"
HIDDEN = "must be an array without a mask, got a masked array"


class Tensor:
    """An object that refuses to become an array, as a tensor that needs gradients."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("use detach()")


def run(fed=FED, strategy=POC, **changes):
    return ft.fedavg(fed, strategy, **{"num_rounds": 2, "step_size": 0.1, **changes})


def quadratics(curvatures, centers=((1.0,), (-1.0,)), **changes):
    return ft.QuadraticFederation(curvatures, centers, [0.5, 0.5], **changes)


def data(labels, **changes):
    return DATA.from_clients([([[0.0]] * len(labels), labels)], **changes)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        # masked arrays
        (lambda: quadratics(MASKED), TypeError, f"curvatures {HIDDEN}"),
        (lambda: run(local_steps=np.ma.array([1, 2])), TypeError, f"local_steps {HIDDEN}"),
        (lambda: run(initial=MASKED[:1]), TypeError, f"initial {HIDDEN}"),
        (lambda: run(returned_noise=MASKED), TypeError, f"returned_noise {HIDDEN}"),
        (lambda: ft.sampling.variance(MASKED, [0.5, 0.5]), TypeError, f"norms {HIDDEN}"),
        (lambda: ft.sampling.variance([1.0, 2.0], MASKED / 4), TypeError, f"probabilities {HIDDEN}"),
        (lambda: ft.federation.prioritize(FED, MASKED > 0), TypeError, f"priority {HIDDEN}"),
        (lambda: DATA.from_partition([[1.0], [2.0]], [0, 1], [np.ma.array([0]), [1]]), TypeError, f"part 0 {HIDDEN}"),
        (
            lambda: run(strategy=ft.selection.Available(POC, ft.selection.BernoulliAvailability(MASKED / 4))),
            TypeError,
            f"probability {HIDDEN}",
        ),
        # quadratic federations
        (
            lambda: ft.datasets.power_of_choice_quadratics(rng=0, curvature_range=(2.0, 1.0)),
            ValueError,
            "curvature_range must be increasing, got (2.0, 1.0)",
        ),
        (lambda: quadratics([1.0, 2.0], normalize="yes"), TypeError, "normalize must be True or False, got 'yes'"),
        (lambda: FED.excess([1.0, 2.0, 3.0]), ValueError, "w must have shape (..., 1), got (3,)"),
        (lambda: FED.excess(1.0), ValueError, "w must have shape (..., 1), got ()"),
        (
            lambda: quadratics([5e-324, 1.0]),
            ValueError,
            "curvatures must be at least 1e-100, got 5e-324 for client 0",
        ),
        (
            lambda: quadratics([1.0, 1e308]),
            ValueError,
            "curvatures must be at most 1e+200 in absolute value, got 1e+308 at index 1",
        ),
        (lambda: quadratics([1.0, -1.0]), ValueError, "curvatures must be positive definite, got -1.0 for client 1"),
        (
            lambda: quadratics(np.array([[[1.0]], [[1e-200]]])),
            ValueError,
            "curvatures must be at least 1e-100, got eigenvalue 1e-200 for client 1",
        ),
        (
            lambda: quadratics([1.0, 1.0], [[1.0], [-1e200]]),
            ValueError,
            "centers must be at most 1e+50 in absolute value, got -1e+200 at index (1, 0)",
        ),
        (
            lambda: quadratics([1.0, 1.0], minima=1e308),
            ValueError,
            "minima must be at most 1e+100 in absolute value, got 1e+308",
        ),
        (
            lambda: ft.federation.NonconvexFederation.hetero([[1e308]], [[0.0]], [1.0]),
            ValueError,
            "amplitudes must be at most 1e+100 in absolute value, got 1e+308 at index (0, 0)",
        ),
        # generators and data
        (
            lambda: ft.datasets.synthetic(1e308, 1.0, num_clients=2),
            ValueError,
            "alpha must be at most 1e+100 in absolute value, got 1e+308",
        ),
        (
            lambda: ft.datasets.synthetic(1.0, PAIR, num_clients=2),
            ValueError,
            "beta must be one number, got an array of shape (2,)",
        ),
        (
            lambda: data([0, 10**18]),
            ValueError,
            "num_classes must be given for labels from 100000 on, got the label 1000000000000000000",
        ),
        # where one number is due
        (
            lambda: ft.selection.Proportional(PAIR),
            ValueError,
            "num_selected must be one number, got an array of shape (2,)",
        ),
        (
            lambda: ft.SoftmaxFederation(data([0, 1]), l2=PAIR),
            ValueError,
            "l2 must be one number, got an array of shape (2,)",
        ),
        *(
            (
                lambda name=name: run(**{name: PAIR}),
                ValueError,
                f"{name} must be one number, got an array of shape (2,)",
            )
            for name in (
                "num_rounds",
                "num_replicates",
                "record_every",
                "gradient_noise",
                "relative_noise",
                "momentum",
                "batch_size",
                "num_batches",
                "server_step_size",
                "proximal_weight",
                "num_threads",
            )
        ),
        (lambda: run(gradient_noise=10**400), ValueError, "gradient_noise must be at most 1.8e308, got about 10^400"),
        *(
            (
                lambda name=name: ft.exact.expected_gap(FED, ft.selection.Full(), 2, 1, 0.1, [0.0], **{name: PAIR}),
                ValueError,
                f"{name} must be one number, got an array of shape (2,)",
            )
            for name in ("gradient_noise", "relative_noise", "server_step_size")
        ),
        # things of another kind
        *(
            (
                lambda fed=fed: run(fed),
                TypeError,
                f"{UNKNOWN}, got {type(fed).__name__}",
            )
            for fed in (None, "fed", 3)
        ),
        *(
            (
                lambda strategy=strategy: run(strategy=strategy),
                TypeError,
                f"strategy must be a value with a method rules(weights, num_rounds), got {strategy!r}",
            )
            for strategy in (None, "pow-d")
        ),
        *(
            (
                lambda d=d: ft.selection.PowerOfChoice(2, d),
                TypeError,
                f"num_candidates must be a whole number, 'all' or a schedule with a method counts, got {d!r}",
            )
            for d in (None, [2, 3])
        ),
        *(
            (
                lambda given=given: run(record=given),
                TypeError,
                f"record must be a sequence of names, as ('gap', 'loss'), got {given!r}",
            )
            for given in (None, 5, "gap")
        ),
        (
            lambda: ft.methods.ErrorFeedback(compressor=None),
            TypeError,
            "compressor must be a value with a method compress(dim), as TopK(3), got None",
        ),
        (lambda: ft.methods.RandK(k=1, scaled="no"), TypeError, "scaled must be True or False, got 'no'"),
        (
            lambda: ft.exact.for_run(poc.fixed_step_gap, None, POC, num_rounds=2, step_size=0.1),
            TypeError,
            "fed must be a federation, with num_clients, dim, weights, got None",
        ),
        (
            lambda: ft.engine.inclusions(FED, POC, run()),
            TypeError,
            f"aligned must be a Prioritized federation, got {str(FED)[:50]}... of type QuadraticFederation",
        ),
        (
            lambda: ft.instances.mean_potentials(None, None, num_steps=1, step_size=Q(1), probability=Q(1)),
            TypeError,
            "fed must be a RationalQuadratics, got None of type NoneType",
        ),
        (
            lambda: ft.statistics.against_law([1], {1: 1}),
            TypeError,
            "law must be a Law, got {1: 1} of type dict",
        ),
        (
            lambda: ft.statistics.against_law(1, ft.statistics.Law.certain(1)),
            TypeError,
            "draws must be a sequence of outcomes, got 1 of type int",
        ),
        (
            lambda: ft.sampling.solver_probabilities([1.0, 2.0], 1, "CLARABEL", unit=[1j, 1]),
            TypeError,
            "unit must contain real numbers, got an array of complex128",
        ),
        (
            lambda: ft.datasets.class_shares_partition([0, 1], 1, 1e308, min_samples=1),
            ValueError,
            "concentration must be at most 1e+100, got 1e+308",
        ),
        # words
        (lambda: run(batches="half"), ValueError, "batches must be one of 'step', 'epoch', got 'half'"),
        (
            lambda: ft.selection.matches([[1.0, 2.0]], [0.5, 0.5], 1.0, "=="),
            ValueError,
            "comparison must be one of '<', '<=', got '=='",
        ),
        (
            lambda: ft.valuation.permutation_shapley(len, 2, first="last"),
            ValueError,
            "first must be one of 'any', 'each', got 'last'",
        ),
        (
            lambda: ft.selection.PowerOfChoice(1, "some"),
            ValueError,
            "num_candidates must be one of 'all', got 'some'",
        ),
        (lambda: data(["cat", "dog"]), TypeError, f"labels of client 0 {NUMBERS}, got 'cat'"),
        (lambda: ft.datasets.shard_partition(["cat"] * 4, 2), TypeError, f"labels {NUMBERS}, got 'cat'"),
        (lambda: ft.datasets.class_shares_partition(["cat"] * 99, 2, 1.0), TypeError, f"labels {NUMBERS}, got 'cat'"),
        (
            lambda: DATA.from_clients([([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0, 1, 1])]),
            ValueError,
            "features of client 0 must have one row per label, 3, got shape (2, 3)",
        ),
        (
            lambda: DATA.from_clients([(Tensor(), [0])]),
            TypeError,
            "features of client 0 must be a number or an array, got a Tensor: use detach()",
        ),
        (
            lambda: ft.selection.GreedyShapley(1, valuation="xx"),
            ValueError,
            "valuation must be one of 'exact', 'gtg', 'permutation', got 'xx'",
        ),
        (
            lambda: ft.exact.expected_gap(FED, ft.selection.Full, 1, 1, 0.1, [0.0]),
            TypeError,
            "strategy must be a value with a method law(weights), got the class Full",
        ),
        (lambda: run(fed=ft.QuadraticFederation), TypeError, f"{UNKNOWN}, got the class QuadraticFederation"),
        (
            lambda: run(fed=POC, strategy=FED),
            TypeError,
            f"{UNKNOWN}, got PowerOfChoice, a strategy, which is the second argument",
        ),
        (lambda: run(step_size=ft.engine.InverseTime), TypeError, f"step_size {STEPS}, got the class InverseTime"),
        (lambda: run(step_size=None), TypeError, f"step_size {STEPS}, got None"),
        (lambda: run(rng=None), TypeError, "rng must be a whole number, a SeedSequence or a Generator, got None"),
        (
            lambda: ft.sampling.clustered_covariance([[0.5, 0.6]]),
            ValueError,
            "each of distributions must sum to 1, got 1.1",
        ),
        (
            lambda: ft.exact.average_drift(FED, 3, 1e300),
            ValueError,
            "step_size must give a finite drift after 3 local steps, got 1e+300",
        ),
        (lambda: run(progress=5), TypeError, "progress must be True, False or a function, got 5"),
        (lambda: run(validation=3), TypeError, "validation must be a QuadraticFederation as fed is, got a int"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call, error, sentence):
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()


def test_extreme_federations_that_are_taken_have_finite_constants():
    for curvature in (1e-100, 1e200):
        for center in (0.0, 1e-100, 1e50):
            fed = quadratics([curvature, curvature], [[center], [-center]], minima=-1e100)
            constants = (fed.minimizer, fed.minimum, fed.objective_gap, fed.losses([center]), fed.gradients([-center]))
            assert all(np.isfinite(value).all() for value in constants)
    assert data([0, 10**6], num_classes=10**6 + 1).num_classes == 10**6 + 1
