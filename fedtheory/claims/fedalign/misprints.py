"""FedALIGN, Appendix A.3: steps of the proof of Lemma A.6 that are false as printed, on their smallest instances."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.claims.fedalign._states import State
from fedtheory.rational._alignment import AlignedRun, two_parabolas
from fedtheory.rational._rounds import Snapshot
from fedtheory.rational.noises import two_point_noise
from fedtheory.rational.vectors import difference, norm2, scaled, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to

_APPENDIX = "Appendix A.3"
_CLIENTS = "w^2/2 (priority), (w - 1)^2/2"


def one_included(share: int) -> State:
    """Two parabolas at w* = 0, the second client included with a share, and a step of 1/4."""
    run = two_parabolas(vector(1))
    weights = (Fraction(1, 1 + share), Fraction(share, 1 + share))
    at = Snapshot(vector(0), (0, 1), weights, (vector(0), vector(0)), vector(0))
    return State(run.federation, at, Fraction(1, 4), {"clients": _CLIENTS, "shares": f"1, {share}", "w": "0 = w*"})


@claim(
    "fedalign:equation-44-printed",
    "|w_{t+1} - eta mean g - w*|^2 is at most the right side of (44), as its left side is printed",
    Statement(fa.PAPER, _APPENDIX, "eq. (44)"),
    "erratum",
    instances=(1, 1),
    remark="w_t is meant: the step is made twice",
)
def equation_44_printed(_: np.random.Generator) -> Finding:
    state = one_included(2)
    eta, ahead = state.step_size, scaled(-2 * state.step_size, state.gradient)
    # From w = w* with L = mu = 1 the first right side is 2 eta^2 sum p' (F_k - F_k*) + eta^2 sum p' |g_k|^2.
    squares = state.over("all", lambda k, w: norm2(state.federation.gradient(k, w)))
    right = 2 * eta**2 * state.excess("all") + eta**2 * squares
    return at_most(norm2(difference(ahead, state.best)), right, instance={**state.instance, "step_size": "1/4"})


@claim(
    "fedalign:equation-43-printed",
    "Eq. (43) with a^2 = eta, z_1 = w* - w and z_2 = g bounds 2 <w_k - w, g> by the terms of (42)",
    Statement(fa.PAPER, _APPENDIX, "eq. (43), its a and z_1"),
    "erratum",
    instances=(1, 1),
    remark="a^2 = 1/eta and z_1 = w_k - w are meant",
)
def equation_43_printed(_: np.random.Generator) -> Finding:
    # One client w^2/2 with w = w_k = 2, w* = 0 and eta = 1/4: both squares are 4, but their factors are exchanged.
    eta, away, gradient = Fraction(1, 4), Fraction(2), Fraction(2)
    spread = Fraction(0)
    printed = eta * away**2 + gradient**2 / eta
    return equal_to(printed, spread / eta + eta * gradient**2, instance={"F": "w^2/2", "w = w_k": "2", "eta": "1/4"})


@claim(
    "fedalign:equations-46-51-printed",
    "The factor of the spread in (47) and (52) is at most 1 with the 1/eta that (46) and (51) print: nu/eta <= 1",
    Statement(fa.PAPER, _APPENDIX, "eqs. (46), (51)"),
    "erratum",
    instances=(1, 1),
    remark="1/(2 eta) is meant, and used afterwards: nu/(2 eta) = 1 - 2 L eta <= 1",
)
def equations_46_51_printed(_: np.random.Generator) -> Finding:
    state = one_included(1)
    shorter = State(state.federation, state.at, Fraction(1, 8), state.instance)
    return at_most(shorter.nu / shorter.step_size, Fraction(1), instance={"L": "1", "step_size": "1/8"})


def noisy_pair() -> AlignedRun:
    """Two parabolas, two rounds of one step with noise -+1/2: the second client is included on one path only."""
    run = two_parabolas(vector(0, "1/2"))
    return AlignedRun(
        run.federation, run.shares, run.thresholds, 1, run.step_size, run.initial, two_point_noise(vector("1/2"))
    )


@claim(
    "fedalign:equation-49-printed",
    "Eq. (49) on every path, with D_t the expectation of (50); (45) and (48) use E_t in the same way",
    Statement(fa.PAPER, _APPENDIX, "eqs. (45), (48)-(50)"),
    "erratum",
    instances=(1, 1),
    remark="E_t and D_t have to be taken given the inclusions, and their expectations last",
)
def equation_49_printed(_: np.random.Generator) -> Finding:
    run = noisy_pair()
    # On the path that ends nearer to the second client it is included: on the other one nothing is to be bounded.
    (alone,) = (at for at in run.snapshots[1] if len(at.chosen) == 1)
    state = State(run.federation, alone, run.step_size(1), {})
    mean = 2 * run.included_gaps[1]
    right = -state.nu * state.excess("others") + state.step_size * mean
    words = {"clients": _CLIENTS, "thresholds": "0, 1/2", "noise": "-+1/2", "local_steps": 1, "path": "w_1 < 0"}
    return equal_to(state.left_over("others"), right, instance=words)
